// SPDX-License-Identifier: Apache-2.0
// An image from one engine to another, by its digest, without the layers that are there already.
// Names and tags do not travel: a peer can neither set one nor bring another image than promised.
// What it brought is called something under kMovedRegistry, which no user can mean by accident.
// For engines that keep images in their own store; those with containerd's have other ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/migration/plan/saved_image.h"
#include "ctrl/async.h"
#include "ctrl/engine/client.h"
#include "ctrl/pull.h"

namespace flowcon::cluster::migration {

/// What the source says of an image of its engine, `id` or a name.
/// Errors: ENOENT no such image; the engine's; those of parse_image().
Async<Result<ImageInfo>> image_info(ctrl::engine::Client& engine, std::string id);

/// How long the engine may be silent, in seconds: one that is asked for an image writes all of it
/// to its disk before it sends a byte, one that loads an image unpacks it before it answers. For
/// whoever waits for the other side's answer too.
inline constexpr double kImageIdle = 900;

/// With how many layers an image of this engine begins like `image`: those need not be sent. All of
/// them if and only if `image` itself is there.
/// Errors: the engine's; its images are in containerd's store, and `image` is not there.
Async<Result<std::size_t>> layers_there(ctrl::engine::Client& engine, ImageInfo image);

/// The image as it goes to a peer (save_filter.h), without its first `layers_there` layers. Returns
/// when the engine begins to send.
/// Errors, also of the Pull: the engine's; its images are in containerd's store; all layers are
/// there; what the engine sends is not this image.
Async<Result<ctrl::Pull>> send_image(ctrl::engine::Client& engine, ImageInfo image,
                                     std::size_t layers_there);

/// Loads what send_image() sends at the other end, with no more than `max_bytes` in its layers. The
/// image is there afterwards, without a name, or nothing of it is.
/// Errors: those of `body` and of LoadFilter (load_filter.h), the engine's.
Async<Result<void>> take_image(ctrl::engine::Client& engine, ImageInfo image,
                               std::size_t layers_there, ctrl::Pull body, std::uint64_t max_bytes);

/// What to call an image of this engine that its user calls `name` there: that name if it means
/// this image, else another of its names, else its id. One that was `brought` gets a name first,
/// under kMovedRegistry; one that has only such a name is wanted now (MovedImage).
/// Errors: ENOENT no such image; the engine's.
Async<Result<std::string>> call_image(ctrl::engine::Client& engine, ImageInfo image,
                                      std::string name, bool is_brought);

enum class ImageName { none, moved };

/// Removes an image that has no name (take_image() undone), or only that of call_image(), and that
/// no container uses. One that is called anything else, or is not there, is left and is no error.
/// Errors: the engine's.
Async<Result<void>> remove_image(ctrl::engine::Client& engine, std::string id, ImageName called);

/// Those that have only names of call_image(). Errors: the engine's.
Async<Result<std::vector<MovedImage>>> moved_images(ctrl::engine::Client& engine);

}  // namespace flowcon::cluster::migration
