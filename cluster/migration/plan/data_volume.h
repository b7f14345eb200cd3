// SPDX-License-Identifier: Apache-2.0
// Volumes that a job of the queue only reads: its data. A host that runs such jobs for another has
// one copy of each for all of them, by a name that says what is in it, and keeps it for later ones.
// Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/migration/plan/description.h"

namespace flowcon::cluster::migration {

/// The label of such a copy: the id of the host that it came from, and no other may use it.
inline constexpr const char* kDataLabel = "org.flowcon.data";

/// What the copy of the volume `name` of the host `host` is called. `content` stands for what is in
/// it: the same text, the same content.
[[nodiscard]] std::string data_volume_name(const std::string& host, const std::string& name,
                                           const std::string& content);

/// "flowcon-data-" and 32 hexadecimal digits?
[[nodiscard]] bool is_data_volume(std::string_view name);

/// Marks the volumes that it mounts at one place, and only to read.
void mark_data(Description& description);

/// In the body of POST /containers/create what is mounted from the volume `name` is from `copy`.
void rename_volume(boost::json::object& body, const std::string& name, const std::string& copy);

/// The copy that is mounted at `destination`; "" = what is there is no such copy.
[[nodiscard]] std::string data_volume_at(const boost::json::object& body,
                                         const std::string& destination);

/// A copy on this host, of data or of an image. Units: bytes; seconds since the epoch.
struct CachedCopy {
  std::string name;       ///< the volume's, or the image's id
  bool is_used = false;   ///< a container has it
  bool is_whole = false;  ///< all of it has come
  std::uint64_t bytes = 0;
  double used = 0;  ///< when it was wanted last
};

/// Which go: of those that no container has, what is not whole, and what was wanted longest ago,
/// until all together are at most `most` bytes.
[[nodiscard]] std::vector<std::string> copies_to_remove(std::vector<CachedCopy> copies,
                                                        double most);

}  // namespace flowcon::cluster::migration
