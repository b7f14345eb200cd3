// SPDX-License-Identifier: Apache-2.0
// The folder in which a log's files are named: one of the host, or one that a container sees.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/logs/tail_file.h"

namespace flowcon::ctrl::logs {

class Folder {
 public:
  Folder() = default;
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  virtual ~Folder() = default;
  /// Errors: ENOENT; ELOOP a link that may not be followed; EINVAL not a regular file; else the
  /// kernel's errno.
  [[nodiscard]] virtual Result<LogFile> open(const std::string& name) const = 0;
  /// What `name` leads to now. Errors: as open().
  [[nodiscard]] virtual Result<FileId> look_up(const std::string& name) const = 0;
  /// Names in it, in no order, at most kMaxNames. Errors: ENOENT, ENOTDIR, else the kernel's errno.
  [[nodiscard]] virtual Result<std::vector<std::string>> list() const = 0;
  /// Has the inotify descriptor watch it. Gives the watch's number. Errors: the kernel's errno.
  [[nodiscard]] virtual Result<int> watch(int inotify, std::uint32_t mask) const = 0;
  /// For a person.
  [[nodiscard]] virtual std::string path_of(const std::string& name) const = 0;

  /// A folder with more names than that is read up to here; who may fill it must not stop the loop.
  static constexpr std::size_t kMaxNames = 10000;
  /// One with so many is no matter of the loop.
  static constexpr std::size_t kManyNames = 1000;
};

/// A folder of the host; no link in the last part of a file's path is followed.
[[nodiscard]] std::unique_ptr<Folder> host_folder(std::string path);

/// `most` of the names in the folder of descriptor `fd`, which this closes. Errors: as
/// Folder::list().
[[nodiscard]] Result<std::vector<std::string>> list_names(int fd,
                                                          std::size_t most = Folder::kMaxNames);

}  // namespace flowcon::ctrl::logs
