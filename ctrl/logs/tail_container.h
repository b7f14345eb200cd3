// SPDX-License-Identifier: Apache-2.0
// The file system as one container sees it, for reading a file that the container names. Its links
// and mounts are the container's to make, so each path is walked name by name inside the
// container's root, and no file system is asked anything that could keep its asker waiting, unless
// the asker may wait. Nothing but a regular file of a real file system is opened. Linux only.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cgroups/mounts.h"
#include "ctrl/logs/tail_folder.h"

namespace flowcon::ctrl::logs {

/// A file system of the network or of a user's program, which may not answer, or what else takes
/// long.
struct SlowMount {
  std::string device;  ///< equal ones are one thread's; "" = there is none
  std::string shown;   ///< for a person: "nfs4 at /datasets"
};

/// The mount of the host that holds `path`, an absolute path without links, where it may not
/// answer; nothing is asked of it. To be called on one thread only.
[[nodiscard]] SlowMount slow_mount_of(const std::string& path);

class ContainerView {
 public:
  /// What answers a question that must not be asked here: see slow_mount() and allow_waiting().
  static constexpr int kMayWait = EREMOTE;

  /// Of the container `id` whose first process is `pid`; of any process where `id` is "". While
  /// the container lives its own view counts, in which all mounts are. The mounts on the way to
  /// what was opened last, and no others, are held, so that a file in a volume can be read to its
  /// end when the container has gone.
  /// Errors: ENOENT there is no such process; a sentence without a code: it is not the
  /// container's; else the kernel's errno.
  [[nodiscard]] static Result<std::shared_ptr<const ContainerView>> open(
      pid_t pid, const std::string& id = "");
  ~ContainerView();
  ContainerView(const ContainerView&) = delete;
  ContainerView& operator=(const ContainerView&) = delete;

  /// A descriptor of the regular file `path`. Errors: ENOENT; ELOOP too many links, or one of the
  /// kernel's own (/proc/self/fd); EINVAL not a regular file, or of a file system that is an
  /// interface to the kernel; kMayWait; else the kernel's errno.
  [[nodiscard]] Result<LogFile> open_file(const std::string& path) const;
  /// A descriptor of the folder `path`, for reading its names or (`only_path`) for watching it.
  /// Errors: ENOENT, ENOTDIR, else as open_file().
  [[nodiscard]] Result<int> open_folder(const std::string& path, bool only_path) const;

  /// The names in the folder `path`, at most Folder::kMaxNames. Errors: as open_folder(), and
  /// kMayWait where there are many.
  [[nodiscard]] Result<std::vector<std::string>> list_folder(const std::string& path) const;

  /// Where the last question stopped with kMayWait.
  [[nodiscard]] const SlowMount& slow_mount() const { return slow_; }
  /// From now on it is used on a thread that may wait, and on that one only.
  void allow_waiting() const { may_wait_ = true; }

 private:
  struct Level;
  struct Kept {
    std::uint64_t mount = 0;
    int fd = -1;
  };
  explicit ContainerView(int process) : process_(process) {}
  [[nodiscard]] Result<void> read_mounts() const;
  [[nodiscard]] Result<void> open_root() const;
  [[nodiscard]] bool is_slow(const cgroups::MountEntry& mount) const;
  [[nodiscard]] Result<int> step(const Level& from, const std::string& name,
                                 const std::string& path, const cgroups::MountEntry* mount) const;
  [[nodiscard]] Result<int> walk(const std::string& path, bool is_log) const;
  void keep(const std::vector<Level>& way, bool is_log) const;

  int process_;  ///< its folder in /proc: another process of its number is not it
  // What a look learns. A view is used by one thread at a time.
  mutable int root_ = -1;
  mutable std::uint64_t root_mount_ = 0;
  mutable cgroups::MountTable mounts_;
  mutable std::vector<Kept> kept_;
  mutable SlowMount slow_;
  mutable bool may_wait_ = false;
  mutable bool knows_mounts_ = false;
};

/// A folder of the container, `path` absolute as the container names it.
[[nodiscard]] std::unique_ptr<Folder> container_folder(std::shared_ptr<const ContainerView> view,
                                                       std::string path);

}  // namespace flowcon::ctrl::logs
