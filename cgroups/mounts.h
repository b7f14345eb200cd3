// SPDX-License-Identifier: Apache-2.0
// The mounts of a process, and where the cgroup hierarchies are among them, from the text of
// /proc/PID/mountinfo. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cgroups/cgroup_fs.h"

namespace flowcon::cgroups {

/// One mount. Its texts may be chosen by whoever mounted it.
struct MountEntry {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::string device;   ///< "8:1": equal ones are one file system
  std::string root;     ///< which part of the file system it shows
  std::string point;    ///< absolute, as the process sees it
  std::string type;     ///< "ext4", "nfs4", "fuse.sshfs"
  std::string options;  ///< of the file system
};

/// In the order of the text. Lines that are not mountinfo are skipped.
[[nodiscard]] std::vector<MountEntry> parse_mounts(std::string_view text);

/// The tree that they are. Entries are found along a path, since one mount can hide others.
class MountTable {
 public:
  MountTable() = default;
  explicit MountTable(std::vector<MountEntry> entries);
  [[nodiscard]] bool is_empty() const { return entries_.empty(); }
  /// What is mounted at "/"; null where the process's root is inside of a mount (chroot).
  [[nodiscard]] const MountEntry* root() const;
  /// What is seen at `point` by one who comes there in the mount `parent`; null: nothing else.
  [[nodiscard]] const MountEntry* child(std::uint64_t parent, const std::string& point) const;
  [[nodiscard]] const MountEntry* by_id(std::uint64_t id) const;
  /// The one that holds `path`, absolute and without links. Null as root().
  [[nodiscard]] const MountEntry* holding(std::string_view path) const;
  /// Has it an overlay of the same layers? Those of one that was mounted elsewhere may name other
  /// folders by the same paths.
  [[nodiscard]] bool has_overlay(const MountEntry& entry) const;

 private:
  std::vector<MountEntry> entries_;
  std::unordered_set<std::string> overlays_;  ///< their options
  std::unordered_multimap<std::string, std::size_t> by_point_;
};

/// Of a file system whose questions are answered by this kernel and its disks alone. One of any
/// other type (network, FUSE, or not known here) may keep who asks waiting for good.
[[nodiscard]] bool is_local_type(std::string_view type);

/// The folders of the host that an overlay is made of, as far as it names them from the root; none
/// for another type.
[[nodiscard]] std::vector<std::string> layers_of(const MountEntry& entry);

/// Mount points as absolute paths without a slash at the end.
struct Mounts {
  std::map<std::string, std::string, std::less<>> v1;  ///< by controller ("cpu", "memory", …)
  std::string unified;                                 ///< of cgroup2, or ""
};

/// Takes the first mount of each hierarchy that shows it from its root; a mount of a part of one
/// (as inside containers) is ignored, because paths of /proc/PID/cgroup do not fit it. Named
/// hierarchies without a controller ("name=systemd") are left out. Lines that are not mountinfo
/// are skipped.
[[nodiscard]] Mounts parse_mountinfo(std::string_view text);

/// v1, v2 or hybrid, see Mode.
[[nodiscard]] Mode mode_of(const Mounts& mounts);

}  // namespace flowcon::cgroups
