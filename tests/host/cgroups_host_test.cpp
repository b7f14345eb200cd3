// SPDX-License-Identifier: Apache-2.0
// The real cgroup file system: what the fake only assumes. Needs root; works in groups of its own,
// flowcon-test-PID below the mount points, and removes them. Exits 77 with a reason where it cannot
// run.
#define CATCH_CONFIG_RUNNER
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include "cgroups/beneath.h"
#include "cgroups/cpu.h"
#include "cgroups/memory.h"
#include "tests/host/host_group.h"
#include "tests/support/catch.h"

namespace flowcon::cgroups {

using test::Child;
using test::HostGroup;
using test::mount_of;
using test::put;
using test::test_group;

namespace {

constexpr std::nullopt_t kNone = std::nullopt;
constexpr int kSkipped = 77;

/// What reaches file descriptor 1 while it lives.
class CapturedStdout {
 public:
  CapturedStdout() : saved_(::dup(1)), file_(std::tmpfile()) { ::dup2(::fileno(file_), 1); }
  CapturedStdout(const CapturedStdout&) = delete;
  CapturedStdout& operator=(const CapturedStdout&) = delete;
  ~CapturedStdout() {
    restore();
    std::fclose(file_);
  }
  std::string restore() {
    if (saved_ < 0) return "";
    std::fflush(stdout);
    ::dup2(saved_, 1);
    ::close(saved_);
    saved_ = -1;
    std::string text(4096, '\0');
    const ssize_t got = ::pread(::fileno(file_), text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

 private:
  int saved_;
  std::FILE* file_;
};

std::string reason_to_skip() {
  if (::geteuid() != 0) return "needs root";
  const std::string mount = mount_of("cpu");
  if (mount.empty()) return "no cgroup file system is mounted";
  const std::string path = mount + "/" + test_group();
  if (::mkdir(path.c_str(), 0755) != 0) return path + ": " + std::strerror(errno);
  const bool has_cpu = ::access((path + "/cpu.shares").c_str(), R_OK) == 0 ||
                       ::access((path + "/cpu.weight").c_str(), R_OK) == 0;
  ::rmdir(path.c_str());
  return has_cpu ? "" : "the cpu controller is not enabled below " + mount;
}

}  // namespace

TEST_CASE("the kernel holds what was written") {
  const HostGroup host;
  const bool is_v2 = host.fs->is_v2("cpu");
  const CpuSetting before = read_cpu(*host.fs, host.outer()).value();
  CHECK(before == CpuSetting{is_v2 ? 100U : 1024U, kNone, 100000});
  for (const CpuSetting& setting :
       {CpuSetting{410, 50000, 100000}, CpuSetting{2, 1000, 100000},
        CpuSetting{5000, kNone, 100000}, CpuSetting{5000, 200000, 50000},
        CpuSetting{5000, 100000, 200000}, before}) {
    const auto done = write_cpu(*host.fs, host.outer(), setting);
    INFO((done ? std::string() : done.error().message()));
    REQUIRE(done.has_value());
    CHECK(read_cpu(*host.fs, host.outer()).value() == setting);
  }
}

TEST_CASE("the kernel agrees with us on the ranges of weight, quota and period") {
  const HostGroup host;
  const bool is_v2 = host.fs->is_v2("cpu");
  for (const CpuSetting& wild :
       {CpuSetting{1, 1, 1}, CpuSetting{1000000000, 1, 99999999}, CpuSetting{1, kNone, 100000}}) {
    REQUIRE(write_cpu(*host.fs, host.outer(), wild).has_value());
    CHECK(read_cpu(*host.fs, host.outer()).value() == clamp_to_kernel(wild, is_v2));
  }
  const std::string group = test_group();
  CHECK_FALSE(
      host.fs->write("cpu", group, is_v2 ? "cpu.max" : "cpu.cfs_quota_us", "999").has_value());
  if (is_v2) {
    CHECK(host.fs->write("cpu", group, "cpu.weight", "0").error().code.value() == ERANGE);
    CHECK(host.fs->write("cpu", group, "cpu.weight", "10001").error().code.value() == ERANGE);
    return;
  }
  REQUIRE(host.fs->write("cpu", group, "cpu.shares", "1").has_value());
  CHECK(host.fs->read("cpu", group, "cpu.shares").value() == "2");
  REQUIRE(host.fs->write("cpu", group, "cpu.shares", "262145").has_value());
  CHECK(host.fs->read("cpu", group, "cpu.shares").value() == "262144");
}

TEST_CASE("a period changes below a limited parent, where a half-written setting is illegal") {
  const HostGroup host;
  REQUIRE(write_cpu(*host.fs, host.outer(), {1024, 50000, 100000}).has_value());
  REQUIRE(write_cpu(*host.fs, host.inner(), {1024, 50000, 100000}).has_value());
  for (const CpuSetting& setting :
       {CpuSetting{1024, 25000, 50000}, CpuSetting{1024, 100000, 200000},
        CpuSetting{1024, 10000, 100000}, CpuSetting{1024, kNone, 100000}}) {
    const auto done = write_cpu(*host.fs, host.inner(), setting);
    INFO((done ? std::string() : done.error().message()));
    REQUIRE(done.has_value());
    CHECK(read_cpu(*host.fs, host.inner()).value() == setting);
  }
}

TEST_CASE("on v1 a quota above the parent's is EINVAL with the reason, and the rest is undone") {
  const HostGroup host;
  if (host.fs->is_v2("cpu")) return;  // v2 takes the lesser of the two itself
  REQUIRE(write_cpu(*host.fs, host.outer(), {1024, 50000, 100000}).has_value());
  const auto done = write_cpu(*host.fs, host.inner(), {512, 60000, 100000});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code.value() == EINVAL);
  CHECK(done.error().message().find("above the parent group's") != std::string::npos);
  CHECK(read_cpu(*host.fs, host.inner()).value() == CpuSetting{1024, kNone, 100000});
}

TEST_CASE("writing one value leaves what another program wrote alone") {
  const HostGroup host;
  const bool is_v2 = host.fs->is_v2("cpu");
  put(host.cpu_path() + (is_v2 ? "/cpu.max" : "/cpu.cfs_quota_us"),
      is_v2 ? "70000 100000" : "70000");
  REQUIRE(
      host.fs->write("cpu", test_group(), is_v2 ? "cpu.weight" : "cpu.shares", "77").has_value());
  CHECK(read_cpu(*host.fs, host.outer()).value() == CpuSetting{77, 70000, 100000});
}

TEST_CASE("a group that vanished is ESTALE, a file that is missing ENOENT") {
  HostGroup host;
  CHECK(host.fs->exists("cpu", test_group()));
  CHECK(host.fs->read("cpu", test_group(), "cpu.nothing").error().code.value() == ENOENT);
  CHECK(host.fs->write("cpu", test_group(), "cpu.nothing", "1").error().code.value() == ENOENT);
  host.remove();
  CHECK_FALSE(host.fs->exists("cpu", test_group()));
  CHECK(read_cpu(*host.fs, host.outer()).error().code.value() == ESTALE);
  CHECK(read_cpu_usage(*host.fs, host.outer()).error().code.value() == ESTALE);
  CHECK(write_cpu(*host.fs, host.outer(), {410, kNone, 100000}).error().code.value() == ESTALE);
  const char* file = host.fs->is_v2("cpu") ? "cpu.weight" : "cpu.shares";
  CHECK(host.fs->write("cpu", test_group(), file, "3").error().code.value() == ESTALE);
}

TEST_CASE("a value that the kernel refuses keeps the kernel's errno") {
  const HostGroup host;
  const char* file = host.fs->is_v2("cpu") ? "cpu.weight" : "cpu.shares";
  CHECK(host.fs->write("cpu", test_group(), file, "abc").error().code.value() == EINVAL);
}

TEST_CASE("no name leads out of the hierarchy, and the root is never written") {
  const HostGroup host;
  const char* file = host.fs->is_v2("cpu") ? "cpu.weight" : "cpu.shares";
  for (const std::string& group : {std::string(".."), test_group() + "/..", "../" + test_group(),
                                   "/" + test_group(), test_group() + "/../" + test_group()}) {
    INFO(group);
    CHECK(host.fs->read("cpu", group, file).error().code.value() == EINVAL);
    CHECK(host.fs->write("cpu", group, file, "5").error().code.value() == EINVAL);
    CHECK_FALSE(host.fs->exists("cpu", group));
  }
  CHECK(host.fs->write("cpu", "", file, "5").error().code.value() == EINVAL);
  CHECK(host.fs->read("cpu", test_group(), "../cgroup.procs").error().code.value() == EINVAL);
  // Links, the other way out, cannot be made inside a cgroup file system.
  CHECK(::symlink("/", (host.cpu_path() + "/link").c_str()) != 0);
}

TEST_CASE("libcgroup says nothing on stdout, also when it fails") {
  CapturedStdout captured;
  {
    auto fs = open_kernel_cgroups();
    if (fs) static_cast<void>((*fs)->read("cpu", "no-such-group", "cpu.shares"));
    if (fs) static_cast<void>((*fs)->write("cpu", "no-such-group", "cpu.shares", "3"));
  }
  CHECK(captured.restore().empty());
}

TEST_CASE("controllers of the unified hierarchy are reached beside v1 controllers") {
  const HostGroup host;
  if (host.fs->mode() != Mode::hybrid) return;
  CHECK_FALSE(host.fs->is_v2("cpu"));
  const std::string unified = mount_of("no such controller");
  // One that libcgroup knows, where this kernel has left one to v2, and one that it does not.
  std::istringstream words(read_beneath(unified, "cgroup.controllers").value() + " no_such");
  const std::string path = unified + "/" + test_group();
  REQUIRE(::mkdir(path.c_str(), 0755) == 0);
  int depth = 5;
  for (std::string controller; words >> controller; ++depth) {
    INFO(controller);
    CHECK(host.fs->is_v2(controller));
    const std::string text = std::to_string(depth);
    CHECK(host.fs->write(controller, test_group(), "cgroup.max.depth", text).has_value());
    const auto read = host.fs->read(controller, test_group(), "cgroup.max.depth");
    CHECK((read && *read == text));
    const auto missing = host.fs->read(controller, test_group(), "no_such.max");
    CHECK((!missing && missing.error().code.value() == ENOENT));
    CHECK((!missing && missing.error().message().find("not enabled") != std::string::npos));
  }
  ::rmdir(path.c_str());
}

TEST_CASE("a process is found where it was put, and its use is counted there") {
  const HostGroup host;
  Child child(true);
  const std::string leaf = host.cpu_path() + "/inner";
  child.move_to(leaf);
  const std::string accounting = mount_of("cpuacct") + "/" + test_group();
  if (accounting != host.cpu_path()) child.move_to(accounting);

  const auto found = find_group(child.pid(), host.fs->mode());
  REQUIRE(found.has_value());
  CHECK(found->cpu == test_group() + "/inner");
  std::uint64_t used = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::uint64_t held = found->memory.empty() ? 1 : 0;
  while ((used < 1000000 || held == 0) && std::chrono::steady_clock::now() < deadline) {
    used = read_cpu_usage(*host.fs, *found).value();
    if (held == 0) held = read_memory_use(*host.fs, *found).value().working_set;
  }
  CHECK(used >= 1000000);
  CHECK(held > 0);

  const pid_t pid = child.pid();
  child.end();
  CHECK(find_group(pid, host.fs->mode()).error().code.value() == ESRCH);
}

TEST_CASE("a system bus that never answers costs 2 s, not 90") {
  char folder[] = "/tmp/flowcon-bus-XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  const std::string path = std::string(folder) + "/bus";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener, 1) == 0);
  ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + path).c_str(), 1);

  const auto start = std::chrono::steady_clock::now();
  const auto told = tell_systemd("docker-4f.scope", {40, kNone, 100000}, true);
  const auto took = std::chrono::steady_clock::now() - start;

  ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
  ::close(listener);
  ::unlink(path.c_str());
  ::rmdir(folder);
  CHECK(told.error().code.value() == ETIMEDOUT);
  CHECK(took < std::chrono::seconds(3));
}

}  // namespace flowcon::cgroups

int main(int count, char** arguments) {
  const std::string reason = flowcon::cgroups::reason_to_skip();
  if (!reason.empty()) {
    std::printf("skipped: cgroups on this host: %s\n", reason.c_str());
    return flowcon::cgroups::kSkipped;
  }
  return Catch::Session().run(count, arguments);
}
