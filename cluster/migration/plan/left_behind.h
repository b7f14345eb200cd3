// SPDX-License-Identifier: Apache-2.0
// What a container has written into its writable layer, which does not travel with a job that saves
// itself. Pure; the engine's list may be long, and the names in it are the job's own.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace flowcon::cluster::migration {

/// As much of the engine's list as is read, in bytes.
inline constexpr std::size_t kMaxChangesBytes = 8U << 20;

/// Where there are more of them than are looked at.
inline constexpr const char* kTooManyChanges =
    "it has changed more files of its image than flowcond checks, and learnt state may be among "
    "them: name where it saves in the label flowcon.checkpoint.path";

struct ChangedPaths {
  std::vector<std::string> paths;
  bool is_cut = false;  ///< there are more
};

/// Paths in the container that were added or changed and that none of the others lies below. Of the
/// engine's answer to GET /containers/ID/changes, or as much of it as came.
[[nodiscard]] ChangedPaths changed_paths(std::string_view answer);

/// Is it in a mount of `body` (of POST /containers/create), or above one?
[[nodiscard]] bool is_of_mount(const boost::json::object& body, std::string_view path);

/// Does the engine make it, for each container?
[[nodiscard]] bool is_of_engine(std::string_view path);

/// May it be lost, by its place: below /tmp, /var/tmp and /run, in a cache, Python's bytecode?
[[nodiscard]] bool is_passing(std::string_view path);

/// "'/a', '/b' and 3 more", for people.
[[nodiscard]] std::string some_of(const std::vector<std::string>& paths);

}  // namespace flowcon::cluster::migration
