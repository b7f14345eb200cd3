// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/tail_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <utility>

namespace flowcon::ctrl::logs {
namespace {

// Docker's max-file has no upper bound of its own; nobody needs more of a training's past.
constexpr int kMaxPredecessors = 100;

constexpr unsigned kWanted = STATX_TYPE | STATX_INO | STATX_BTIME | STATX_NLINK | STATX_SIZE;

Result<FileId> identify(const struct statx& info, const std::string& path) {
  if (!S_ISREG(info.stx_mode)) {
    const int number = S_ISLNK(info.stx_mode) ? ELOOP : EINVAL;
    return errno_error(number, path + " is not a regular file");
  }
  FileId id{info.stx_dev_major, info.stx_dev_minor, info.stx_ino, 0};
  if ((info.stx_mask & STATX_BTIME) != 0) {
    id.born_ns = info.stx_btime.tv_sec * 1000000000LL + info.stx_btime.tv_nsec;
  }
  return id;
}

std::string numbered(const std::string& path, int number) {
  return number == 0 ? path : path + "." + std::to_string(number);
}

/// Walks from the youngest file to older ones until `is_stop` says that a file is known; gives the
/// last one before it. A rotation during the walk shifts files towards the walker, so that it may
/// see one twice but passes none, except that a name is missing for a moment: one gap is no end.
Result<Opened> walk(const std::string& path, const std::function<bool(const FileId&)>& is_stop) {
  auto youngest = open_log_file(path);
  Opened found;
  Error error;
  if (youngest) {
    found.file = std::move(*youngest);
  } else {
    error = youngest.error();
  }
  int gaps = found.file.is_open() ? 0 : 1;
  for (int number = 1; number <= kMaxPredecessors && gaps < 2; ++number) {
    auto candidate = open_log_file(numbered(path, number));
    if (!candidate) {
      ++gaps;
      continue;
    }
    gaps = 0;
    if (is_stop(candidate->id())) break;
    found.file = std::move(*candidate);
  }
  if (!found.file.is_open()) return error;
  return found;
}

}  // namespace

LogFile::LogFile(LogFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), id_(std::exchange(other.id_, {})) {}

LogFile& LogFile::operator=(LogFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(id_, other.id_);
  return *this;
}

LogFile::~LogFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::size_t> LogFile::read(char* to, std::size_t count, std::uint64_t offset) const {
  while (true) {
    const ssize_t got = ::pread(fd_, to, count, static_cast<off_t>(offset));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return errno_error(errno, "read the log");
  }
}

Result<std::uint64_t> LogFile::size() const {
  struct stat info {};
  if (::fstat(fd_, &info) != 0) return errno_error(errno, "look at the log");
  return static_cast<std::uint64_t>(info.st_size);
}

bool LogFile::is_deleted() const {
  struct stat info {};
  return ::fstat(fd_, &info) == 0 && info.st_nlink == 0;
}

Result<LogFile> open_log_file(const std::string& path) {
  // O_NONBLOCK: opening a FIFO that somebody put there must not wait for its writer.
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  // Each read of a growing file would write its time of access to disk. Only the owner may ask so.
  int fd = ::open(path.c_str(), kFlags | O_NOATIME);
  if (fd < 0 && errno == EPERM) fd = ::open(path.c_str(), kFlags);
  if (fd < 0) return errno_error(errno, "open " + path);
  struct statx info {};
  const bool looked = ::statx(fd, "", AT_EMPTY_PATH, kWanted, &info) == 0;
  const auto id =
      looked ? identify(info, path) : Result<FileId>(errno_error(errno, "look at " + path));
  if (!id) {
    ::close(fd);
    return id.error();
  }
  return LogFile(fd, *id);
}

Result<FileId> look_up(const std::string& path) {
  struct statx info {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, kWanted, &info) != 0) {
    return errno_error(errno, "look at " + path);
  }
  return identify(info, path);
}

Result<Opened> open_first(const std::string& path, std::uint64_t inode) {
  int gaps = 0;
  for (int number = 0; inode != 0 && number <= kMaxPredecessors && gaps < 2; ++number) {
    auto candidate = open_log_file(numbered(path, number));
    if (!candidate) {
      ++gaps;
    } else if (candidate->id().inode == inode) {
      const auto older = look_up(numbered(path, number + 1));
      return Opened{std::move(*candidate), older ? *older : FileId()};
    } else {
      gaps = 0;
    }
  }
  return walk(path, [](const FileId&) { return false; });
}

Result<Opened> open_next(const std::string& path, const FileId& current, const FileId& older) {
  auto youngest = open_log_file(path);
  if (youngest && youngest->id() == current) return Opened{std::move(*youngest), older};
  auto opened = walk(
      path, [&](const FileId& id) { return id == current || (older.inode != 0 && id == older); });
  if (opened) opened->older = current;
  return opened;
}

}  // namespace flowcon::ctrl::logs
