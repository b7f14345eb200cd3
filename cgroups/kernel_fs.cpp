// SPDX-License-Identifier: Apache-2.0
// CgroupFs on libcgroup 2. What libcgroup 2.0.2 gets wrong and how it is held here: one fresh
// struct with one value per write (a struct that was read writes everything back); names are
// checked first; values are read as text; its logger is replaced before it starts, since the
// default one prints to stdout; its error codes fold errnos away, so a failure is looked at again.
//
// libcgroup knows a controller by the first mount that it saw at start. Where that is not the
// mount that mountinfo gives (a cgroup2 beside v1 controllers, "cpuacct" on v2, a controller that
// /proc/cgroups of new kernels does not list), the file is read and written directly.
#include <libcgroup.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <set>
#include <sstream>
#include <vector>

#include "cgroups/beneath.h"
#include "cgroups/cgroup_fs.h"
#include "cgroups/mounts.h"
#include "cgroups/names.h"

namespace flowcon::cgroups {
namespace {

constexpr std::size_t kMaxFileBytes = 1024 * 1024;

void drop_log(void*, int, const char*, std::va_list) {}

bool is_cgroup_mount(const std::string& point, bool is_v2) {
  struct statfs info {};
  if (::statfs(point.c_str(), &info) != 0) return false;
  const auto magic = static_cast<unsigned long>(info.f_type);
  return magic == static_cast<unsigned long>(is_v2 ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC);
}

std::string libcgroup_mount_point(const std::string& controller) {
  char* point = nullptr;
  if (cgroup_get_subsys_mount_point(controller.c_str(), &point) != 0 || !point) return "";
  std::string text = point;
  std::free(point);
  return text;
}

std::string join(const std::string& group, const std::string& file) {
  return group.empty() ? file : group + "/" + file;
}

/// A control file whose name has been checked and whose mount is known.
struct Place {
  std::string controller;
  std::string mount;
  std::string group;
  std::string file;
  bool is_v2 = false;
};

std::string shown(const Place& place) { return place.mount + "/" + join(place.group, place.file); }

bool is_gone(const Place& place) {
  const auto found = find_directory_beneath(place.mount, place.group);
  return is_absent(found);
}

/// What a failed access means: a dead container, a controller that is off, or the errno itself.
Error explain(const Place& place, int number, const std::string& doing) {
  if (is_gone(place)) return errno_error(ESTALE, doing + ": the cgroup is gone");
  if (number != ENOENT) return errno_error(number, doing);
  std::string why = ": the kernel does not offer this file";
  if (place.is_v2) {
    const auto enabled = read_beneath(place.mount, join(place.group, "cgroup.controllers"));
    why = ": the controller is not enabled there (enabled: " +
          (enabled && !enabled->empty() ? *enabled : std::string("none")) + ")";
  }
  return errno_error(ENOENT, doing + why);
}

/// The errno behind a failed libcgroup call. Only ECGOTHER has one; the other codes fold "missing",
/// "not permitted" and "read-only" together, so the file is opened once more to tell them apart.
int errno_behind(const Place& place, int code, int last) {
  if (code == ECGOTHER && last != 0) return last;
  if (code == ECGINVAL) return EINVAL;
  const auto again = try_open_beneath(place.mount, join(place.group, place.file));
  if (!again) return again.error().code.value();
  return code == ECGROUPNOTALLOWED ? EPERM : EIO;
}

Result<std::string> read_by_library(const Place& place) {
  std::array<char, 4096> line{};
  void* handle = nullptr;
  std::string text;
  // The library takes a char* for the name but does not write to it.
  std::string file = place.file;
  int code = cgroup_read_value_begin(place.controller.c_str(), place.group.c_str(), file.data(),
                                     &handle, line.data(), static_cast<int>(line.size()));
  const int last = code == ECGOTHER ? cgroup_get_last_errno() : 0;
  while (code == 0 && text.size() < kMaxFileBytes) {
    text += line.data();
    code = cgroup_read_value_next(&handle, line.data(), static_cast<int>(line.size()));
  }
  if (handle) cgroup_read_value_end(&handle);
  if (code != 0 && code != ECGEOF) {
    return explain(place, last != 0 ? last : EIO, "read " + shown(place));
  }
  // A group that dies between open and read ends the file early, and libcgroup calls that its end.
  if (text.empty() && is_gone(place)) return explain(place, ENODEV, "read " + shown(place));
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Result<void> write_by_library(const Place& place, const std::string& text) {
  struct cgroup* group = cgroup_new_cgroup(place.group.c_str());
  if (!group) return errno_error(ENOMEM, "write " + shown(place));
  struct cgroup_controller* controller = cgroup_add_controller(group, place.controller.c_str());
  int code = ECGFAIL;
  int last = 0;
  if (controller) {
    code = cgroup_add_value_string(controller, place.file.c_str(), text.c_str());
    if (code == 0) code = cgroup_modify_cgroup(group);
    if (code == ECGOTHER) last = cgroup_get_last_errno();
  }
  cgroup_free(&group);
  if (code == 0) return {};
  return explain(place, errno_behind(place, code, last),
                 "write \"" + text + "\" to " + shown(place));
}

class KernelCgroups final : public CgroupFs {
 public:
  KernelCgroups(Mounts mounts, std::set<std::string> by_library)
      : mounts_(std::move(mounts)), by_library_(std::move(by_library)) {
    const auto boot = read_proc("/proc/sys/kernel/random/boot_id");
    if (boot) boot_ = boot->substr(0, boot->find('\n'));
  }

  Mode mode() const override { return mode_of(mounts_); }

  bool is_v2(const std::string& controller) const override {
    return mounts_.v1.count(controller) == 0 && !mounts_.unified.empty();
  }

  Result<std::string> read(const std::string& controller, const std::string& group,
                           const std::string& file) const override {
    const auto place = locate(controller, group, file);
    if (!place) return place.error();
    if (by_library_.count(controller) > 0) return read_by_library(*place);
    auto text = read_beneath(place->mount, join(group, file));
    if (!text) return explain(*place, text.error().code.value(), "read " + shown(*place));
    return text;
  }

  Result<void> write(const std::string& controller, const std::string& group,
                     const std::string& file, const std::string& text) override {
    const auto place = locate(controller, group, file);
    if (!place) return place.error();
    if (group.empty()) return errno_error(EINVAL, "refused to write to the root cgroup");
    if (const auto good = check_text(text); !good) return good.error();
    if (by_library_.count(controller) > 0) return write_by_library(*place, text);
    const auto done = write_beneath(place->mount, join(group, file), text);
    if (!done) {
      return explain(*place, done.error().code.value(),
                     "write \"" + text + "\" to " + shown(*place));
    }
    return {};
  }

  bool exists(const std::string& controller, const std::string& group) const override {
    const auto place = locate(controller, group, "cgroup.procs");
    return place && find_directory_beneath(place->mount, group).has_value();
  }

  // The kernel gives each group an inode number that no other one has until the host reboots.
  std::string life(const std::string& controller, const std::string& group) const override {
    const auto place = locate(controller, group, "cgroup.procs");
    if (!place) return "";
    const auto inode = inode_beneath(place->mount, group);
    return inode ? boot_ + ":" + std::to_string(*inode) : "";
  }

 private:
  Result<Place> locate(const std::string& controller, const std::string& group,
                       const std::string& file) const {
    if (const auto good = check_file(controller); !good) return good.error();
    if (const auto good = check_group(group); !good) return good.error();
    if (const auto good = check_file(file); !good) return good.error();
    Place place{controller, mounts_.unified, group, file, true};
    if (const auto v1 = mounts_.v1.find(controller); v1 != mounts_.v1.end()) {
      place.mount = v1->second;
      place.is_v2 = false;
    }
    if (place.mount.empty()) {
      return errno_error(ENODEV, "the cgroup controller \"" + controller + "\" is not mounted");
    }
    return place;
  }

  Mounts mounts_;
  std::string boot_;                  ///< inode numbers begin anew when the host boots
  std::set<std::string> by_library_;  ///< controllers whose mount libcgroup agrees on
};

/// Keeps what really is a cgroup file system: another may have been mounted over it since.
Mounts checked(Mounts mounts) {
  std::erase_if(mounts.v1, [](const auto& entry) { return !is_cgroup_mount(entry.second, false); });
  if (!is_cgroup_mount(mounts.unified, true)) mounts.unified.clear();
  return mounts;
}

/// The controllers that the unified hierarchy has.
std::vector<std::string> unified_controllers(const Mounts& mounts) {
  std::vector<std::string> controllers;
  if (mounts.unified.empty()) return controllers;
  const auto text = read_beneath(mounts.unified, "cgroup.controllers");
  std::istringstream words(text ? *text : std::string());
  for (std::string word; words >> word;) controllers.push_back(word);
  return controllers;
}

}  // namespace

const char* name(Mode mode) { return mode == Mode::v1 ? "v1" : mode == Mode::v2 ? "v2" : "hybrid"; }

Result<std::unique_ptr<CgroupFs>> open_kernel_cgroups() {
  const auto text = read_proc("/proc/self/mountinfo");
  if (!text) return wrap(text.error(), "find the cgroup mounts");
  Mounts mounts = checked(parse_mountinfo(*text));
  if (mounts.v1.empty() && mounts.unified.empty()) {
    return errno_error(ENODEV, "no cgroup file system is mounted (mount one at /sys/fs/cgroup)");
  }
  cgroup_set_logger(drop_log, CGROUP_LOG_ERROR, nullptr);
  std::set<std::string> by_library;
  if (const int code = cgroup_init(); code != 0) {
    const int last = code == ECGOTHER ? cgroup_get_last_errno() : 0;
    return errno_error(last != 0 ? last : EIO,
                       "start libcgroup (its error " + std::to_string(code) + ")");
  }
  for (const auto& [controller, point] : mounts.v1) {
    if (libcgroup_mount_point(controller) == point) by_library.insert(controller);
  }
  for (const std::string& controller : unified_controllers(mounts)) {
    if (libcgroup_mount_point(controller) == mounts.unified) by_library.insert(controller);
  }
  return std::unique_ptr<CgroupFs>(
      std::make_unique<KernelCgroups>(std::move(mounts), std::move(by_library)));
}

}  // namespace flowcon::cgroups
