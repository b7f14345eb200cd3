// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/tail_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "ctrl/logs/tail_inflate.h"

namespace flowcon::ctrl::logs {
namespace {

constexpr unsigned kWanted = STATX_TYPE | STATX_INO | STATX_BTIME | STATX_NLINK | STATX_SIZE;

Result<FileId> identity(const struct statx& info, const std::string& shown) {
  if (!S_ISREG(info.stx_mode)) {
    const int number = S_ISLNK(info.stx_mode) ? ELOOP : EINVAL;
    return errno_error(number, shown + " is not a regular file");
  }
  FileId id{info.stx_dev_major, info.stx_dev_minor, info.stx_ino, 0};
  if ((info.stx_mask & STATX_BTIME) != 0) {
    id.born_ns = info.stx_btime.tv_sec * 1000000000LL + info.stx_btime.tv_nsec;
  }
  return id;
}

}  // namespace

Result<int> open_again(int fd, const std::string& shown) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  // Each read of a growing file would write its time of access to disk. Only the owner may ask so.
  int file = ::open(own_path(fd).c_str(), kFlags | O_NOATIME);
  if (file < 0 && errno == EPERM) file = ::open(own_path(fd).c_str(), kFlags);
  if (file < 0) return errno_error(errno, "open " + shown);
  return file;
}

LogFile::LogFile() = default;
LogFile::LogFile(int fd, FileId id) : fd_(fd), id_(id) {}

LogFile::LogFile(LogFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      is_resting_(std::exchange(other.is_resting_, false)),
      id_(std::exchange(other.id_, {})),
      inflater_(std::move(other.inflater_)) {}

LogFile& LogFile::operator=(LogFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(is_resting_, other.is_resting_);
  std::swap(id_, other.id_);
  std::swap(inflater_, other.inflater_);
  return *this;
}

LogFile::~LogFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::size_t> LogFile::read(char* to, std::size_t count, std::uint64_t offset) const {
  if (inflater_) return inflater_->read(to, count, offset);
  while (true) {
    const ssize_t got = ::pread(fd_, to, count, static_cast<off_t>(offset));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return errno_error(errno, "read the log");
  }
}

Result<std::uint64_t> LogFile::size() const {
  struct stat info {};
  if (::fstat(fd_, &info) != 0) return errno_error(errno, "stat the log");
  return static_cast<std::uint64_t>(info.st_size);
}

double LogFile::changed() const {
  struct stat info {};
  if (::fstat(fd_, &info) != 0) return 0;
  return static_cast<double>(info.st_mtim.tv_sec) + static_cast<double>(info.st_mtim.tv_nsec) / 1e9;
}

bool LogFile::is_deleted() const {
  struct stat info {};
  return ::fstat(fd_, &info) == 0 && info.st_nlink == 0;
}

std::uint64_t LogFile::next_data(std::uint64_t offset) const {
  const off_t found = ::lseek(fd_, static_cast<off_t>(offset), SEEK_DATA);
  if (found >= 0) return static_cast<std::uint64_t>(found);
  if (errno != ENXIO) return offset;
  const auto end = size();
  return end ? *end : offset;
}

Result<void> LogFile::uncompress() {
  auto opened = Inflater::open(fd_);
  if (!opened) return opened.error();
  inflater_ = std::move(*opened);
  return {};
}

// Closing an open file asks its file system (FUSE_FLUSH), and at the end of a process without an
// end; a descriptor with O_PATH is the kernel's alone.
void LogFile::rest() {
  if (fd_ < 0 || is_resting_ || is_compressed()) return;
  const int held = ::open(own_path(fd_).c_str(), O_PATH | O_CLOEXEC);
  if (held < 0) return;
  ::close(std::exchange(fd_, held));
  is_resting_ = true;
}

Result<void> LogFile::wake() {
  if (!is_resting_) return {};
  const auto opened = open_again(fd_, "the log");
  if (!opened) return opened.error();
  ::close(std::exchange(fd_, *opened));
  is_resting_ = false;
  return {};
}

Fingerprint LogFile::fingerprint(std::uint64_t from, std::size_t count) const {
  std::array<char, kFingerprintBytes> bytes;
  const auto got = read(bytes.data(), std::min(count, bytes.size()), from);
  return got ? fingerprint_of(std::string_view(bytes.data(), *got)) : Fingerprint{};
}

Fingerprint LogFile::head() const { return fingerprint(0, kFingerprintBytes); }

Fingerprint LogFile::before(std::uint64_t offset) const {
  const std::uint64_t count = std::min<std::uint64_t>(offset, kFingerprintBytes);
  return fingerprint(offset - count, static_cast<std::size_t>(count));
}

bool LogFile::has_head(const Fingerprint& head) const {
  if (head.bytes == 0 || head.bytes > kFingerprintBytes) return false;
  return fingerprint(0, static_cast<std::size_t>(head.bytes)) == head;
}

Result<LogFile> open_log_file(const std::string& path) {
  // O_NONBLOCK: opening a FIFO that somebody put there must not wait for its writer.
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  // Each read of a growing file would write its time of access to disk. Only the owner may ask so.
  int fd = ::open(path.c_str(), kFlags | O_NOATIME);
  if (fd < 0 && errno == EPERM) fd = ::open(path.c_str(), kFlags);
  if (fd < 0) return errno_error(errno, "open " + path);
  const auto id = identify(fd, path);
  if (!id) {
    ::close(fd);
    return id.error();
  }
  return LogFile(fd, *id);
}

Result<FileId> look_up(const std::string& path) {
  struct statx info {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, kWanted, &info) != 0) {
    return errno_error(errno, "stat " + path);
  }
  return identity(info, path);
}

Result<FileId> identify(int fd, const std::string& shown) {
  struct statx info {};
  if (::statx(fd, "", AT_EMPTY_PATH, kWanted, &info) != 0) {
    return errno_error(errno, "stat " + shown);
  }
  return identity(info, shown);
}

}  // namespace flowcon::ctrl::logs
