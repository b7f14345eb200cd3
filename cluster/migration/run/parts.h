// SPDX-License-Identifier: Apache-2.0
// What travels with a container beside its image, as streams of bytes: volumes, what the
// application saved, the writable layer, CRIU's checkpoint, the log. The sender reads a container
// that is stopped; the receiver writes into a copy that was created and never started, and believes
// nothing that it did not check. Every folder is one that the local engine named.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/migration/plan/archive.h"
#include "ctrl/async.h"
#include "ctrl/engine/client.h"
#include "ctrl/pull.h"

namespace flowcon::cluster::migration {

enum class PartKind {
  volume,      ///< of the local driver: a tar archive, packed by gzip
  path,        ///< a file or folder of the container's own file system: a tar archive
  layer,       ///< all that was written over the image (overlay): a tar archive
  checkpoint,  ///< of CRIU: a tar archive of files
  log,         ///< lines of JSON, see log_lines.h
};

struct Part {
  std::string name;  ///< "volume-0", "path", "layer", "checkpoint", "log"
  PartKind kind = PartKind::volume;
  /// volume: its destination in the container; path: the file or folder, absolute; checkpoint: its
  /// name; log: "open" where the job goes on in the line that it was in (CRIU), else that line
  /// ends.
  std::string where;
};

/// Asked before so many bytes more are written. Errors: there is no room for them.
using Room = std::function<Async<Result<void>>(std::uint64_t bytes)>;

/// What a part may be at most, unpacked. Units: bytes.
struct PartLimits {
  std::uint64_t bytes = 1ULL << 40;
  std::uint64_t entries = 1'000'000;
  Room room;                           ///< none: there is always room
  std::shared_ptr<TreeBudget> memory;  ///< for the names of an archive, which others share
};

/// The same bytes, each piece once `room` was asked for it.
[[nodiscard]] ctrl::Pull with_room(ctrl::Pull body, Room room);

/// A volume of the local driver.
struct VolumePlace {
  std::string name;
  std::string destination;  ///< in the container
  std::string folder;       ///< on the host
};

/// Where a container's things are on this host, as its engine says. Each folder lies below the
/// engine's own root.
struct CopyPlace {
  std::string id;
  std::string upper;   ///< of the writable layer; "" where the engine has no such folder
  std::string folder;  ///< the engine's folder of this container
  std::string log_driver;
  bool has_terminal = false;
  bool is_running = false;
  bool is_fresh = false;  ///< created, and never started
  std::string group;      ///< that it is a task of; "" = of none
  std::vector<VolumePlace> volumes;
  std::string lives;  ///< where logs of earlier hosts are kept: STATE_DIR/lives
};

/// `id`: 64 hexadecimal digits. Errors: no such container (ENOENT); the engine's; an answer that
/// names folders elsewhere than below the engine's root.
Async<Result<CopyPlace>> find_place(ctrl::engine::Client& engine, std::string id,
                                    std::string state_dir);

/// Source. `engine` has to outlive the Pull. Errors, at once or from the Pull, where the part ends
/// too early then: the container runs, the part is not there (a sentence that names it), cannot be
/// read, changed meanwhile.
Async<Result<ctrl::Pull>> send_part(ctrl::engine::Client& engine, CopyPlace from, Part part);

/// Target. What is in the part's place is replaced at once when all of it has come, so that a
/// folder whose archive is cut is as it was; may be repeated. Errors: the copy is not fresh, the
/// part is cut, damaged, beyond `limits`, or not what it may be; the disk is full (ENOSPC). The
/// copy must not be started then.
Async<Result<void>> take_part(ctrl::engine::Client& engine, CopyPlace into, Part part,
                              ctrl::Pull body, PartLimits limits);

/// Deletes what take_part() may have kept of a container outside of its engine. Errors: the
/// kernel's; none where nothing is there.
[[nodiscard]] Result<void> forget_past_log(const std::string& lives, const std::string& id);

}  // namespace flowcon::cluster::migration
