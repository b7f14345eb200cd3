// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/tail_container.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "base/text.h"
#include "cgroups/beneath.h"
#include "ctrl/logs/tail_file.h"

namespace flowcon::ctrl::logs {
namespace {

// Interfaces to the kernel: reading them may wait, or change something.
constexpr std::array<std::uint64_t, 12> kNotForLogs = {
    PROC_SUPER_MAGIC, SYSFS_MAGIC,        CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
    DEBUGFS_MAGIC,    TRACEFS_MAGIC,      SECURITYFS_MAGIC,   BPF_FS_MAGIC,
    PSTOREFS_MAGIC,   DEVPTS_SUPER_MAGIC, SELINUX_MAGIC,      EFIVARFS_MAGIC};

constexpr std::size_t kMostProcBytes = 16 * 1024 * 1024;
// A container that has more of them than an engine gives, and steps of a path than people do, made
// them itself.
constexpr std::size_t kManyMountBytes = 256 * 1024;
constexpr int kManySteps = 500;
// As many links a path may have in the kernel, too.
constexpr int kMostLinks = 40;
constexpr std::size_t kMostLinkBytes = 4096;

/// One name below one folder; a link is opened itself, and what the kernel knows as a mount of its
/// own is another step.
int open_name(int folder, const std::string& name, bool crosses) {
  open_how how{};
  how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (!crosses) how.resolve |= RESOLVE_NO_XDEV;
  return static_cast<int>(::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how));
}

Result<std::string> read_text(int folder, const char* name, std::size_t most = kMostProcBytes) {
  const int fd = ::openat(folder, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno_error(errno, std::string("open /proc/PID/") + name);
  std::string text;
  std::array<char, 8192> bytes;
  ssize_t got = 0;
  while (text.size() < most && (got = ::read(fd, bytes.data(), bytes.size())) > 0) {
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  const int number = errno;
  ::close(fd);
  if (got < 0) return errno_error(number, std::string("read /proc/PID/") + name);
  return text;
}

/// Which mount `fd` is in, without asking the file system; 0 where that cannot be told.
std::uint64_t mount_id_of(int fd) {
  const auto text = cgroups::read_proc("/proc/self/fdinfo/" + std::to_string(fd));
  const std::size_t at = text ? text->find("mnt_id:") : std::string::npos;
  return at == std::string::npos ? 0 : std::strtoull(text->c_str() + at + 7, nullptr, 10);
}

SlowMount slow(const cgroups::MountEntry& mount) {
  return {mount.device, printable(mount.type, 40) + " at " + printable(mount.point, 100)};
}

/// The mounts of this process, read again where they have changed.
const cgroups::MountTable& host_mounts() {
  static const int file = ::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  static cgroups::MountTable table;
  pollfd changes{file, POLLPRI, 0};
  const bool has_changed = ::poll(&changes, 1, 0) != 0;
  if (!has_changed && !table.is_empty()) return table;
  const auto text = read_text(AT_FDCWD, "/proc/self/mountinfo");
  if (text) table = cgroups::MountTable(cgroups::parse_mounts(*text));
  return table;
}

/// What in the end answers for `mount`: for an overlay of this host the first of its layers' mounts
/// that may not. Null: an overlay whose layers are not known here, since a container has made it.
const cgroups::MountEntry* answering(const cgroups::MountEntry& mount) {
  if (mount.type == "overlay" && !host_mounts().has_overlay(mount)) return nullptr;
  // An overlay on an overlay (an engine in a container) is looked at no deeper.
  for (const std::string& layer : cgroups::layers_of(mount)) {
    const auto* below = host_mounts().holding(layer);
    if (below != nullptr && !cgroups::is_local_type(below->type)) return below;
  }
  return &mount;
}

/// A second descriptor, for reading, of the file that `fd` (O_PATH) is. Only now, when it is known
/// to be a regular file, something is opened: that of a FIFO or a device could have an effect.
Result<LogFile> reopen(int fd, const std::string& path) {
  const auto id = identify(fd, path);
  if (!id) return id.error();
  struct statfs system {};
  if (::fstatfs(fd, &system) != 0) return errno_error(errno, "stat the file system of " + path);
  const auto kind = static_cast<std::uint64_t>(system.f_type);
  if (std::find(kNotForLogs.begin(), kNotForLogs.end(), kind) != kNotForLogs.end()) {
    return errno_error(EINVAL, path + " is a file of the kernel's own, not a log");
  }
  const auto file = open_again(fd, path);
  if (!file) return file.error();
  return LogFile(*file, *id);
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
  Result<std::vector<std::string>> list() const override { return view_->list_folder(path_); }
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

SlowMount slow_mount_of(const std::string& path) {
  const cgroups::MountEntry* mount = host_mounts().holding(path);
  if (mount == nullptr) return {};
  mount = answering(*mount);
  return cgroups::is_local_type(mount->type) ? SlowMount{} : slow(*mount);
}

/// A folder or a link on the way.
struct ContainerView::Level {
  std::string path;  ///< "" is the root
  std::uint64_t mount = 0;
  std::shared_ptr<const int> fd;
  bool is_mount_point = false;
};

Result<std::shared_ptr<const ContainerView>> ContainerView::open(pid_t pid, const std::string& id) {
  const std::string path = "/proc/" + std::to_string(pid);
  const int process = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (process < 0) return errno_error(errno, "open the container's root " + path);
  std::shared_ptr<const ContainerView> view(new ContainerView(process));
  if (!id.empty()) {
    const auto groups = read_text(process, "cgroup");
    if (!groups) return groups.error();
    if (groups->find(id) == std::string::npos) {
      return bad_input("process " + std::to_string(pid) +
                       " is not the container's: it has left the container's control group, or "
                       "the container has ended");
    }
  }
  auto opened = view->read_mounts();
  if (opened && !view->knows_mounts_) {
    return errno_error(ENOENT, "read the mounts of " + path);
  }
  if (opened) opened = view->open_root();
  if (!opened && opened.error().code.value() != kMayWait) return opened.error();
  return view;
}

ContainerView::~ContainerView() {
  for (const Kept& mount : kept_) ::close(mount.fd);
  if (root_ >= 0) ::close(root_);
  ::close(process_);
}

/// When its last process has gone, so have its mounts; then what was read before counts.
Result<void> ContainerView::read_mounts() const {
  const auto text = read_text(process_, "mountinfo", may_wait_ ? kMostProcBytes : kManyMountBytes);
  if (!may_wait_ && text && text->size() >= kManyMountBytes) {
    slow_ = {"containers of many mounts", "a container of very many mounts"};
    return errno_error(kMayWait, "read the container's mounts");
  }
  if (text) {
    mounts_ = cgroups::MountTable(cgroups::parse_mounts(*text));
    knows_mounts_ = true;
  }
  return {};
}

bool ContainerView::is_slow(const cgroups::MountEntry& mount) const {
  if (may_wait_) return false;
  const cgroups::MountEntry* answers = answering(mount);
  if (answers != nullptr && cgroups::is_local_type(answers->type)) return false;
  slow_ = answers != nullptr ? slow(*answers)
                             : SlowMount{"overlay " + std::to_string(mount.id),
                                         "an overlay of the container's own"};
  return true;
}

Result<void> ContainerView::open_root() const {
  if (root_ >= 0) return {};
  const std::string doing = "open the container's root";
  const cgroups::MountEntry* mount = mounts_.root();
  if (mount != nullptr && is_slow(*mount)) return errno_error(kMayWait, doing);
  const int root = ::openat(process_, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return errno_error(errno, doing);
  root_mount_ = mount_id_of(root);
  // In a chroot: the mount that it is in is none of its own, but perhaps one of the host's.
  if (mount == nullptr && !may_wait_) {
    const cgroups::MountEntry* outside = host_mounts().by_id(root_mount_);
    if (outside == nullptr || is_slow(*outside)) {
      ::close(root);
      if (outside == nullptr) slow_ = {"root " + std::to_string(root_mount_), "its root"};
      return errno_error(kMayWait, doing);
    }
  }
  root_ = root;
  return {};
}

/// Opens `name`, which is `path` for the container, and where that is a mount point its `mount`.
Result<int> ContainerView::step(const Level& from, const std::string& name, const std::string& path,
                                const cgroups::MountEntry* mount) const {
  if (mount == nullptr) {
    const int fd = open_name(*from.fd, name, false);
    if (fd >= 0) return fd;
    // EXDEV: something was mounted there since the mounts were read.
    return errno_error(errno == EXDEV ? ENOENT : errno, "open " + path);
  }
  if (is_slow(*mount)) return errno_error(kMayWait, "open " + path);
  for (const Kept& held : kept_) {
    if (held.mount != mount->id) continue;
    const int fd = ::fcntl(held.fd, F_DUPFD_CLOEXEC, 0);
    return fd >= 0 ? Result<int>(fd) : errno_error(errno, "open " + path);
  }
  const int fd = open_name(*from.fd, name, true);
  if (fd < 0) return errno_error(errno, "open " + path);
  if (mount_id_of(fd) == mount->id) return fd;
  ::close(fd);
  return errno_error(ENOENT, "open " + path);
}

namespace {

/// The names of `path`, the last one first.
void push_names(std::vector<std::string>& names, const std::string& path) {
  std::size_t end = path.size();
  while (end > 0) {
    const std::size_t slash = path.rfind('/', end - 1);
    const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
    if (end > start) names.push_back(path.substr(start, end - start));
    end = slash == std::string::npos ? 0 : slash;
  }
}

std::shared_ptr<const int> owned(int fd) {
  return {new int(fd), [](const int* held) {
            ::close(*held);
            delete held;
          }};
}

}  // namespace

Result<int> ContainerView::walk(const std::string& path, bool is_log) const {
  slow_ = {};
  if (const auto seen = read_mounts(); !seen) return seen.error();
  if (const auto opened = open_root(); !opened) return opened.error();
  std::vector<Level> way{{"", root_mount_, std::make_shared<const int>(root_), false}};
  std::vector<std::string> names;
  push_names(names, path);
  for (int links = 0, steps = 0; !names.empty(); ++steps) {
    if (steps > kManySteps) return errno_error(ELOOP, "open " + path);
    const std::string name = std::move(names.back());
    names.pop_back();
    if (name == ".") continue;
    if (name == "..") {
      if (way.size() > 1) way.pop_back();
      continue;
    }
    const Level& from = way.back();
    const std::string here = from.path + "/" + name;
    const cgroups::MountEntry* mount = mounts_.child(from.mount, here);
    const auto fd = step(from, name, here, mount);
    if (!fd) return fd.error();
    Level level{here, mount != nullptr ? mount->id : from.mount, owned(*fd), mount != nullptr};
    struct stat info {};
    if (::fstat(*fd, &info) != 0) return errno_error(errno, "open " + path);
    if (!S_ISLNK(info.st_mode)) {
      way.push_back(std::move(level));
      continue;
    }
    struct statfs system {};
    std::array<char, kMostLinkBytes> target;
    const bool is_kernels = ::fstatfs(*fd, &system) != 0 || system.f_type == PROC_SUPER_MAGIC;
    const ssize_t size = ::readlinkat(*fd, "", target.data(), target.size());
    if (is_kernels || ++links > kMostLinks) return errno_error(ELOOP, "open " + path);
    if (size < 0) return errno_error(errno, "open " + path);
    const std::string leads_to(target.data(), static_cast<std::size_t>(size));
    if (leads_to.starts_with("/")) way.erase(way.begin() + 1, way.end());
    push_names(names, leads_to);
  }
  const int found = ::fcntl(*way.back().fd, F_DUPFD_CLOEXEC, 0);
  if (found < 0) return errno_error(errno, "open " + path);
  keep(way, is_log);
  return found;
}

/// Holds the mounts on that way, and lets go of others where it leads to the log.
void ContainerView::keep(const std::vector<Level>& way, bool is_log) const {
  std::vector<Kept> now;
  for (const Level& level : way) {
    if (!level.is_mount_point) continue;
    const auto held = std::find_if(kept_.begin(), kept_.end(), [&level](const Kept& one) {
      return one.fd >= 0 && one.mount == level.mount;
    });
    const int fd =
        held != kept_.end() ? std::exchange(held->fd, -1) : ::fcntl(*level.fd, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0) now.push_back({level.mount, fd});
  }
  for (const Kept& other : kept_) {
    if (other.fd < 0) continue;
    if (is_log) {
      ::close(other.fd);
    } else {
      now.push_back(other);
    }
  }
  kept_ = std::move(now);
}

Result<LogFile> ContainerView::open_file(const std::string& path) const {
  const auto fd = walk(path, true);
  if (!fd) return fd.error();
  // A packed file that a job has made may take any time to give its first byte.
  if (!may_wait_ && path.ends_with(".gz")) {
    ::close(*fd);
    slow_ = {"packed files of containers", "a packed file that a container has made"};
    return errno_error(kMayWait, "open " + path);
  }
  auto file = reopen(*fd, path);
  ::close(*fd);
  return file;
}

Result<int> ContainerView::open_folder(const std::string& path, bool only_path) const {
  const auto fd = walk(path, false);
  if (!fd) return fd.error();
  const int flags = O_DIRECTORY | O_CLOEXEC | (only_path ? O_PATH : O_RDONLY);
  const int folder = ::openat(*fd, ".", flags);
  const int number = errno;
  ::close(*fd);
  if (folder < 0) return errno_error(number, "open " + path);
  return folder;
}

Result<std::vector<std::string>> ContainerView::list_folder(const std::string& path) const {
  const auto fd = open_folder(path, false);
  if (!fd) return fd.error();
  auto names = list_names(*fd, may_wait_ ? Folder::kMaxNames : Folder::kManyNames);
  if (!names || may_wait_ || names->size() < Folder::kManyNames) return names;
  slow_ = {"folders of many files", "a folder of many files"};
  return errno_error(kMayWait, "list " + path);
}

std::unique_ptr<Folder> container_folder(std::shared_ptr<const ContainerView> view,
                                         std::string path) {
  return std::make_unique<ContainerFolder>(std::move(view), std::move(path));
}

}  // namespace flowcon::ctrl::logs
