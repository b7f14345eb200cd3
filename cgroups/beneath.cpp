// SPDX-License-Identifier: Apache-2.0
#include "cgroups/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace flowcon::cgroups {
namespace {

constexpr std::size_t kMaxFileBytes = 1024 * 1024;

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&&) = delete;
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

Result<Fd> open_beneath(const std::string& directory, const std::string& path, int flags) {
  const Fd base(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (base.get() < 0) return errno_error(errno, "open " + directory);
  // The mount point itself may be reached over links (/sys/fs/cgroup/cpu -> cpu,cpuacct); below it
  // there is nothing of the kind in a cgroup file system, so whatever looks so is refused.
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  const std::string target = path.empty() ? "." : path;
  const long fd = ::syscall(SYS_openat2, base.get(), target.c_str(), &how, sizeof how);
  if (fd < 0) return errno_error(errno, "open " + directory + "/" + path);
  return Fd(static_cast<int>(fd));
}

Result<std::string> read_all(const Fd& file, const std::string& name) {
  std::string text;
  std::array<char, 4096> buffer;
  while (text.size() < kMaxFileBytes) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "read " + name);
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

Result<std::string> read_beneath(const std::string& directory, const std::string& path) {
  const auto file = open_beneath(directory, path, O_RDONLY);
  if (!file) return file.error();
  return read_all(*file, directory + "/" + path);
}

Result<void> write_beneath(const std::string& directory, const std::string& path,
                           const std::string& text) {
  const auto file = open_beneath(directory, path, O_WRONLY);
  if (!file) return file.error();
  const ssize_t put = ::write(file->get(), text.data(), text.size());
  if (put < 0) return errno_error(errno, "write \"" + text + "\" to " + directory + "/" + path);
  if (static_cast<std::size_t>(put) != text.size()) {
    return errno_error(EIO, "write \"" + text + "\" to " + directory + "/" + path);
  }
  return {};
}

Result<void> try_open_beneath(const std::string& directory, const std::string& path) {
  const auto file = open_beneath(directory, path, O_WRONLY);
  if (!file) return file.error();
  return {};
}

Result<void> find_directory_beneath(const std::string& directory, const std::string& path) {
  const auto found = open_beneath(directory, path, O_PATH | O_DIRECTORY);
  if (!found) return found.error();
  return {};
}

Result<std::uint64_t> inode_beneath(const std::string& directory, const std::string& path) {
  const auto found = open_beneath(directory, path, O_PATH | O_DIRECTORY);
  if (!found) return found.error();
  struct stat status {};
  if (::fstat(found->get(), &status) != 0) return errno_error(errno, "stat " + path);
  return static_cast<std::uint64_t>(status.st_ino);
}

Result<std::string> read_proc(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return errno_error(errno, "open " + path);
  return read_all(file, path);
}

}  // namespace flowcon::cgroups
