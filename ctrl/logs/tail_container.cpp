// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/tail_container.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace flowcon::ctrl::logs {
namespace {

// Interfaces to the kernel: reading them may wait, or change something.
constexpr std::array<std::uint64_t, 12> kNotForLogs = {
    PROC_SUPER_MAGIC, SYSFS_MAGIC,        CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
    DEBUGFS_MAGIC,    TRACEFS_MAGIC,      SECURITYFS_MAGIC,   BPF_FS_MAGIC,
    PSTOREFS_MAGIC,   DEVPTS_SUPER_MAGIC, SELINUX_MAGIC,      EFIVARFS_MAGIC};

/// Resolves `path` with `root` as the root: absolute links and ".." stay inside, links of the
/// kernel
/// (/proc/PID/fd, /proc/PID/root) are refused.
int open_in_root(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

std::string own_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

bool is_same_folder(int a, int b) {
  struct stat one {};
  struct stat other {};
  return ::fstat(a, &one) == 0 && ::fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

/// A second descriptor, for reading, of the file that `fd` (O_PATH) is. Only now, when it is known
/// to be a regular file, something is opened: that of a FIFO or a device could have an effect.
Result<LogFile> reopen(int fd, const std::string& path) {
  const auto id = identify(fd, path);
  if (!id) return id.error();
  struct statfs system {};
  if (::fstatfs(fd, &system) != 0) return errno_error(errno, "look at " + path);
  const auto kind = static_cast<std::uint64_t>(system.f_type);
  if (std::find(kNotForLogs.begin(), kNotForLogs.end(), kind) != kNotForLogs.end()) {
    return errno_error(EINVAL, path + " is a file of the kernel's own, not a log");
  }
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int file = ::open(own_path(fd).c_str(), kFlags | O_NOATIME);
  if (file < 0 && errno == EPERM) file = ::open(own_path(fd).c_str(), kFlags);
  if (file < 0) return errno_error(errno, "open " + path);
  return LogFile(file, *id);
}

class ContainerFolder : public Folder {
 public:
  ContainerFolder(std::shared_ptr<const ContainerView> view, std::string path)
      : view_(std::move(view)), path_(std::move(path)) {}

  Result<LogFile> open(const std::string& name) const override {
    return view_->open_file(path_of(name));
  }
  Result<FileId> look_up(const std::string& name) const override {
    const auto file = open(name);
    if (!file) return file.error();
    return file->id();
  }
  Result<std::vector<std::string>> list() const override {
    const auto fd = view_->open_folder(path_, false);
    if (!fd) return fd.error();
    return list_names(*fd);
  }
  Result<int> watch(int inotify, std::uint32_t mask) const override {
    const auto fd = view_->open_folder(path_, true);
    if (!fd) return fd.error();
    const int watch = ::inotify_add_watch(inotify, own_path(*fd).c_str(), mask);
    const int number = errno;
    ::close(*fd);
    if (watch < 0) return errno_error(number, "watch " + path_);
    return watch;
  }
  std::string path_of(const std::string& name) const override {
    return path_ + (path_ == "/" ? "" : "/") + name;
  }

 private:
  std::shared_ptr<const ContainerView> view_;
  std::string path_;
};

}  // namespace

Result<std::shared_ptr<const ContainerView>> ContainerView::open(pid_t pid,
                                                                 const std::vector<Mount>& mounts) {
  const std::string path = "/proc/" + std::to_string(pid) + "/root";
  const int root = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return errno_error(errno, "look into the container's root " + path);
  std::vector<Kept> kept;
  for (const Mount& mount : mounts) {
    const int outside = ::open(mount.source.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int inside = open_in_root(root, mount.destination, O_PATH | O_DIRECTORY);
    const bool is_it = outside >= 0 && inside >= 0 && is_same_folder(outside, inside);
    if (inside >= 0) ::close(inside);
    if (is_it) {
      kept.push_back({mount.destination, outside});
    } else if (outside >= 0) {
      ::close(outside);
    }
  }
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) {
    return a.destination.size() > b.destination.size();
  });
  return std::shared_ptr<const ContainerView>(new ContainerView(root, std::move(kept)));
}

ContainerView::~ContainerView() {
  for (const Kept& mount : mounts_) ::close(mount.fd);
  ::close(root_);
}

Result<int> ContainerView::resolve(const std::string& path, int flags) const {
  const int fd = open_in_root(root_, path, flags);
  if (fd >= 0) return fd;
  const int number = errno;
  if (number != ENOENT) return errno_error(number, "open " + path);
  // When the last process has gone, so have its mounts.
  for (const Kept& mount : mounts_) {
    if (!path.starts_with(mount.destination)) continue;
    std::string rest = path.substr(mount.destination.size());
    if (!rest.empty() && rest.front() != '/' && mount.destination != "/") continue;
    rest.erase(0, rest.find_first_not_of('/'));
    const int below = open_in_root(mount.fd, rest.empty() ? "." : rest, flags);
    if (below >= 0) return below;
    break;
  }
  return errno_error(number, "open " + path);
}

Result<LogFile> ContainerView::open_file(const std::string& path) const {
  const auto fd = resolve(path, O_PATH);
  if (!fd) return fd.error();
  auto file = reopen(*fd, path);
  ::close(*fd);
  return file;
}

Result<int> ContainerView::open_folder(const std::string& path, bool only_path) const {
  return resolve(path, O_DIRECTORY | (only_path ? O_PATH : O_RDONLY));
}

std::unique_ptr<Folder> container_folder(std::shared_ptr<const ContainerView> view,
                                         std::string path) {
  return std::make_unique<ContainerFolder>(std::move(view), std::move(path));
}

}  // namespace flowcon::ctrl::logs
