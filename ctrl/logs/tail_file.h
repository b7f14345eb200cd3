// SPDX-License-Identifier: Apache-2.0
// One file of a log: which one it is, whatever its name, and its bytes. A file that the engine has
// compressed reads like the one it was made of. Never writes. Linux only (statx).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ctrl/logs/framing_position.h"

namespace flowcon::ctrl::logs {

class Inflater;

/// One open log file. Movable; closes itself.
class LogFile {
 public:
  LogFile();
  LogFile(int fd, FileId id);
  LogFile(LogFile&& other) noexcept;
  LogFile& operator=(LogFile&& other) noexcept;
  ~LogFile();
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] const FileId& id() const { return id_; }
  /// Bytes read at `offset`, 0 at the end. Errors: the kernel's errno; EIO a damaged compressed
  /// file.
  [[nodiscard]] Result<std::size_t> read(char* to, std::size_t count, std::uint64_t offset) const;
  /// Of the file itself, compressed or not. Errors: the kernel's errno.
  [[nodiscard]] Result<std::uint64_t> size() const;
  /// When it was written last. Units: seconds since the epoch; 0 = not known.
  [[nodiscard]] double changed() const;
  /// True if no name leads to it any more.
  [[nodiscard]] bool is_deleted() const;
  /// Where the next bytes begin that are in no hole, at `offset` or behind it; `offset` itself
  /// where that cannot be told.
  [[nodiscard]] std::uint64_t next_data(std::uint64_t offset) const;

  /// From now on offsets are those of the file that this one, written by gzip, was made of. Reading
  /// goes forward cheaply, backward from the beginning. Errors: ENOMEM.
  [[nodiscard]] Result<void> uncompress();
  [[nodiscard]] bool is_compressed() const { return inflater_ != nullptr; }

  /// Until wake() it cannot be read, and neither it nor the end of the process asks its file system
  /// anything: only the file's place in the kernel is held, whatever its name becomes. Not for a
  /// compressed one, which stays as it is.
  void rest();
  [[nodiscard]] bool is_resting() const { return is_resting_; }
  /// Errors: ENOENT, ESTALE the file is there no more; else the kernel's errno.
  [[nodiscard]] Result<void> wake();

  /// Of the first bytes that there are, at most kFingerprintBytes.
  [[nodiscard]] Fingerprint head() const;
  /// Of the bytes right before `offset`.
  [[nodiscard]] Fingerprint before(std::uint64_t offset) const;
  /// True if the file begins so. False for a fingerprint of nothing.
  [[nodiscard]] bool has_head(const Fingerprint& head) const;

 private:
  [[nodiscard]] Fingerprint fingerprint(std::uint64_t from, std::size_t count) const;
  int fd_ = -1;
  bool is_resting_ = false;
  FileId id_;
  std::unique_ptr<Inflater> inflater_;
};

/// Opens `path` on the host, following no link in its last part. Errors: ENOENT; ELOOP a link;
/// EINVAL not a regular file; else the kernel's errno.
[[nodiscard]] Result<LogFile> open_log_file(const std::string& path);

/// What `path` names now. Errors: as open_log_file.
[[nodiscard]] Result<FileId> look_up(const std::string& path);

/// Which file the descriptor `fd` is of; `shown` is its name for a person. Takes no ownership.
/// Errors: ELOOP a link, EINVAL not a regular file.
[[nodiscard]] Result<FileId> identify(int fd, const std::string& shown);

/// The path of what the descriptor `fd` of this process is.
[[nodiscard]] inline std::string own_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

/// A second descriptor, for reading, of the regular file that `fd` (O_PATH) is. Errors: the
/// kernel's errno.
[[nodiscard]] Result<int> open_again(int fd, const std::string& shown);

}  // namespace flowcon::ctrl::logs
