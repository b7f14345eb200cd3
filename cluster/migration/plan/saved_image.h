// SPDX-License-Identifier: Apache-2.0
// Images as engines describe, save and load them. Pure: what an engine or a peer says, held to what
// it may be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace flowcon::cluster::migration {

/// The most layers of an image that travels: engines take 127.
inline constexpr std::size_t kMaxLayers = 256;

/// An image by what it is made of: its id is the sum of its configuration, which names the layers.
struct ImageInfo {
  std::string id;                   ///< "sha256:" and 64 hexadecimal digits
  std::vector<std::string> layers;  ///< diff ids, the lowest first, each as the id
  std::uint64_t bytes = 0;          ///< as its engine says; 0: not known
  std::string architecture = {};    ///< plan/architecture.h; "" = not known
};

/// "sha256:" and 64 hexadecimal digits, lower case?
[[nodiscard]] bool is_digest(std::string_view text);

/// Errors: an id or a layer that is no digest, no layers, more than kMaxLayers.
[[nodiscard]] Result<void> check_image(const ImageInfo& image);

/// The engine's answer to GET /images/ID/json. Errors: not JSON; those of check_image().
[[nodiscard]] Result<ImageInfo> parse_image(std::string_view json);

/// Has the image a name or a digest of a registry? Of the same answer.
[[nodiscard]] bool has_name(std::string_view json);

/// What a moved image is called where its own name means nothing: no registry can have this one
/// (RFC 2606), so that nobody gets an image of a peer who asks for another.
inline constexpr std::string_view kMovedRegistry = "moved.flowcon.invalid/";

/// The name under kMovedRegistry of an image that its user calls `name`, which comes from a peer.
/// `is_taken`: that of another image; this one's bears its id.
[[nodiscard]] std::string moved_name(std::string_view name, const std::string& id, bool is_taken);

/// What the engine calls it, best first: `wanted`, a name of its own, one under kMovedRegistry. Of
/// the engine's answer to GET /images/ID/json.
[[nodiscard]] std::vector<std::string> names_of(std::string_view json, std::string_view wanted);

/// Is it called something under kMovedRegistry, and nothing else?
[[nodiscard]] bool is_moved_only(std::string_view json);

/// An image that has only such names. Units: bytes, also of layers that it shares with others;
/// seconds since the epoch.
struct MovedImage {
  std::string id;
  std::uint64_t bytes = 0;
  double wanted = 0;  ///< when it was given a name last; 0: its engine does not say
};

/// Of the engine's answer to GET /images/ID/json.
[[nodiscard]] MovedImage parse_moved_image(std::string_view json);

/// Bytes of the layers from `there` on, of an image with so many layers. Of the answer to GET
/// /images/ID/history, which names each step, but not whether one without bytes made a layer; empty
/// where that matters, or it is no such answer.
[[nodiscard]] std::optional<std::uint64_t> bytes_from(std::string_view history, std::size_t layers,
                                                      std::size_t there);

/// With how many layers both begin alike.
[[nodiscard]] std::size_t common_layers(const std::vector<std::string>& one,
                                        const std::vector<std::string>& other);

/// Of the answer to GET /info: are images kept in containerd's store? Their ids are other sums.
[[nodiscard]] bool keeps_images_in_containerd(std::string_view json);

/// Of the answer to POST /images/load, which is 200 whatever came of it: the engine's error, as the
/// engine says it; empty: none.
[[nodiscard]] std::string load_error(std::string_view answer);

/// The configuration that belongs to `image`. Errors: its sum is another; it names other layers.
[[nodiscard]] Result<void> check_config(std::string_view config, const ImageInfo& image);

/// The greatest configuration and the greatest manifest of an image, in bytes.
inline constexpr std::uint64_t kMaxConfigBytes = 8U << 20;

}  // namespace flowcon::cluster::migration
