// SPDX-License-Identifier: Apache-2.0
// The file system as one container sees it, for reading a file that the container names. Its links
// are the container's to make, so each path is resolved inside the container's root by the kernel
// (openat2), and nothing but a regular file of a real file system is opened. Linux only.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/logs/tail_folder.h"

namespace flowcon::ctrl::logs {

/// What the engine says about a volume or a bind: `source` on the host is `destination` inside.
struct Mount {
  std::string destination;
  std::string source;
};

class ContainerView {
 public:
  /// Of the container whose first process is `pid`; the caller makes sure afterwards that it still
  /// was that one. While the container lives its own view counts, in which all mounts are. What
  /// `mounts` names is kept open where it is the very folder that the container sees there, so that
  /// files in volumes can be read to their end when the container has gone.
  /// Errors: ENOENT there is no such process; else the kernel's errno.
  [[nodiscard]] static Result<std::shared_ptr<const ContainerView>> open(
      pid_t pid, const std::vector<Mount>& mounts);
  ~ContainerView();
  ContainerView(const ContainerView&) = delete;
  ContainerView& operator=(const ContainerView&) = delete;

  /// A descriptor of the regular file `path`. Errors: ENOENT; ELOOP too many links, or one of the
  /// kernel's own (/proc/self/fd); EINVAL not a regular file, or of a file system that is an
  /// interface to the kernel; else the kernel's errno.
  [[nodiscard]] Result<LogFile> open_file(const std::string& path) const;
  /// A descriptor of the folder `path`, for reading its names or (`only_path`) for watching it.
  /// Errors: ENOENT, ENOTDIR, else as open_file().
  [[nodiscard]] Result<int> open_folder(const std::string& path, bool only_path) const;

 private:
  struct Kept {
    std::string destination;
    int fd = -1;
  };
  ContainerView(int root, std::vector<Kept> mounts) : root_(root), mounts_(std::move(mounts)) {}
  [[nodiscard]] Result<int> resolve(const std::string& path, int flags) const;
  int root_;
  std::vector<Kept> mounts_;  ///< the longest destination first
};

/// A folder of the container, `path` absolute as the container names it.
[[nodiscard]] std::unique_ptr<Folder> container_folder(std::shared_ptr<const ContainerView> view,
                                                       std::string path);

}  // namespace flowcon::ctrl::logs
