// SPDX-License-Identifier: Apache-2.0
// The files of one log, as Docker rotates them: path is the youngest, path.1 older, path.2 older
// still. Opens regular files only, follows no link, and never writes. Linux only (statx).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace flowcon::ctrl::logs {

/// Which file it is. A name changes with every rotation, and a deleted file's inode number is soon
/// given to the next one, so its birth (ns; 0 where the file system has none) counts as well.
struct FileId {
  std::uint64_t device_major = 0;
  std::uint64_t device_minor = 0;
  std::uint64_t inode = 0;
  std::int64_t born_ns = 0;
  bool operator==(const FileId&) const = default;
};

/// One open log file. Movable; closes itself.
class LogFile {
 public:
  LogFile() = default;
  LogFile(int fd, FileId id) : fd_(fd), id_(id) {}
  LogFile(LogFile&& other) noexcept;
  LogFile& operator=(LogFile&& other) noexcept;
  ~LogFile();
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] const FileId& id() const { return id_; }
  /// Bytes read at `offset`, 0 at the end. Errors: the kernel's errno.
  [[nodiscard]] Result<std::size_t> read(char* to, std::size_t count, std::uint64_t offset) const;
  /// Errors: the kernel's errno.
  [[nodiscard]] Result<std::uint64_t> size() const;
  /// True if no name leads to it any more.
  [[nodiscard]] bool is_deleted() const;

 private:
  int fd_ = -1;
  FileId id_;
};

/// Opens `path`. Errors: ENOENT; ELOOP a link; EINVAL not a regular file; else the kernel's errno.
[[nodiscard]] Result<LogFile> open_log_file(const std::string& path);

/// What `path` names now. Errors: as open_log_file.
[[nodiscard]] Result<FileId> look_up(const std::string& path);

/// A file of the log and the next older one at that moment ({} where there is none).
struct Opened {
  LogFile file;
  FileId older;
};

/// The file with that inode among path, path.1, path.2 …; without one (or inode 0) the oldest.
/// Errors: as open_log_file for `path`, where none of them can be opened.
[[nodiscard]] Result<Opened> open_first(const std::string& path, std::uint64_t inode);

/// The file that was begun right after `current`, whose next older one was `older`; rotations
/// while this looks are coped with. `current` itself where it is still the youngest.
/// Errors: as open_log_file for `path`.
[[nodiscard]] Result<Opened> open_next(const std::string& path, const FileId& current,
                                       const FileId& older);

}  // namespace flowcon::ctrl::logs
