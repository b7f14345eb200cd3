// SPDX-License-Identifier: Apache-2.0
// Groups and processes of a host test's own: flowcon-test-PID below the mount points.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cgroups/beneath.h"
#include "cgroups/cgroup_fs.h"
#include "cgroups/group.h"
#include "cgroups/mounts.h"
#include "tests/support/catch.h"

namespace flowcon::test {

inline std::string mount_of(const std::string& controller) {
  const auto text = cgroups::read_proc("/proc/self/mountinfo");
  if (!text) return "";
  const cgroups::Mounts mounts = cgroups::parse_mountinfo(*text);
  const auto found = mounts.v1.find(controller);
  return found == mounts.v1.end() ? mounts.unified : found->second;
}

inline std::string test_group() { return "flowcon-test-" + std::to_string(::getpid()); }

inline void put(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  INFO(path << " <- " << text);
  REQUIRE(file.good());
}

/// The group of this test in the cpu, cpuacct, memory and blkio hierarchies, with one child "inner"
/// in cpu's; removed at the end, however the test ends.
class HostGroup {
 public:
  HostGroup() {
    for (const char* controller : {"cpu", "cpuacct", "memory", "blkio"}) {
      const std::string path = path_of(controller);
      if (::mkdir(path.c_str(), 0755) == 0) made_.push_back(path);
    }
    const std::string inner = cpu_path() + "/inner";
    if (mount_of("cpu") == mount_of("no such controller")) put_v2_controllers();
    if (::mkdir(inner.c_str(), 0755) == 0) made_.push_back(inner);
    auto opened = cgroups::open_kernel_cgroups();
    REQUIRE(opened.has_value());
    fs = std::move(*opened);
  }
  HostGroup(const HostGroup&) = delete;
  HostGroup& operator=(const HostGroup&) = delete;
  ~HostGroup() { remove(); }

  void remove() {
    for (auto path = made_.rbegin(); path != made_.rend(); ++path) ::rmdir(path->c_str());
    made_.clear();
  }
  [[nodiscard]] static std::string path_of(const std::string& controller) {
    return mount_of(controller) + "/" + test_group();
  }
  /// Where a process can be put: v2 lets none into a group that hands its controllers on.
  [[nodiscard]] static std::string process_path_of(const std::string& controller) {
    const bool is_v2 = mount_of(controller) == mount_of("no such controller");
    return path_of(controller) + (is_v2 ? "/inner" : "");
  }
  [[nodiscard]] static std::string cpu_path() { return path_of("cpu"); }
  [[nodiscard]] static cgroups::Group outer() {
    return {test_group(), test_group(), test_group(), "", test_group()};
  }
  [[nodiscard]] static cgroups::Group inner() {
    return {test_group() + "/inner", test_group(), "", ""};
  }

  std::unique_ptr<cgroups::CgroupFs> fs;

 private:
  static void put_v2_controllers() {
    const std::string controllers = cgroups::read_beneath(cpu_path(), "cgroup.controllers").value();
    std::string wanted = "+cpu";
    for (const std::string name : {"memory", "io"}) {
      const bool has = (" " + controllers + " ").find(" " + name + " ") != std::string::npos;
      if (has) wanted += " +" + name;
    }
    put(cpu_path() + "/cgroup.subtree_control", wanted);
  }
  std::vector<std::string> made_;
};

/// A process that waits (or computes) in the group until it is ended.
class Child {
 public:
  explicit Child(bool computes) : pid_(::fork()) {
    if (pid_ == 0) {
      while (true) computes ? use_fresh_memory() : static_cast<void>(::pause());
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  void move_to(const std::string& group_path) const {
    put(group_path + "/cgroup.procs", std::to_string(pid_));
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  /// On v2 what was used before a move stays charged to the group before.
  static void use_fresh_memory() {
    constexpr std::size_t kSize = 1 << 20;
    static void* held = MAP_FAILED;
    void* fresh = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (held != MAP_FAILED) ::munmap(held, kSize);
    held = fresh;
  }

  pid_t pid_;
};

}  // namespace flowcon::test
