// SPDX-License-Identifier: Apache-2.0
// Block I/O limits of a real group on a loop device of the test's own, and the disks of this host.
#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cgroups/io.h"
#include "tests/host/host_group.h"
#include "tests/support/catch.h"

namespace flowcon::cgroups {

using test::HostGroup;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

/// A loop device on a file of 8 MiB; gone at the end. Empty `number`: why() says why not.
class Loop {
 public:
  Loop() {
    const char* failed = open();
    if (failed) why = std::string(failed) + ": " + std::strerror(errno);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    if (device_ >= 0) ::close(device_);
    if (file_ >= 0) ::close(file_);
  }

  /// Reads `bytes` past the page cache, as a process in the group at `path`. Returns the seconds
  /// that it took, or -1.
  [[nodiscard]] double read_in(const std::string& path, std::uint64_t bytes) const {
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(copy(path, bytes) ? 0 : 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return status == 0 ? took.count() : -1;
  }

  std::string number;
  std::string why;

 private:
  /// Returns what failed, or nullptr.
  const char* open() {
    char name[] = "/tmp/flowcon-loop-XXXXXX";
    file_ = ::mkstemp(name);
    if (file_ < 0) return "no file in /tmp";
    ::unlink(name);
    if (::posix_fallocate(file_, 0, 8 * kMiB) != 0) return "no room in /tmp";
    const int control = ::open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (control < 0) return "no /dev/loop-control";
    const int free = ::ioctl(control, LOOP_CTL_GET_FREE);
    ::close(control);
    node_ = "/dev/loop" + std::to_string(free);
    device_ = free < 0 ? -1 : ::open(node_.c_str(), O_RDWR | O_CLOEXEC);
    if (device_ < 0) return "no free loop device";
    loop_config config{};
    config.fd = static_cast<std::uint32_t>(file_);
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (::ioctl(device_, LOOP_CONFIGURE, &config) != 0) return "LOOP_CONFIGURE";
    struct stat info {};
    if (::fstat(device_, &info) != 0) return "stat";
    number = std::to_string(major(info.st_rdev)) + ":" + std::to_string(minor(info.st_rdev));
    return nullptr;
  }

  [[nodiscard]] bool copy(const std::string& path, std::uint64_t bytes) const {
    constexpr std::size_t kBlock = 64 * 1024;
    const int group = ::open((path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
    if (group < 0 || ::write(group, "0", 1) != 1) return false;
    const int in = ::open(node_.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    void* buffer = std::aligned_alloc(4096, kBlock);
    for (std::uint64_t done = 0; in >= 0 && buffer && done < bytes; done += kBlock) {
      if (::read(in, buffer, kBlock) != static_cast<ssize_t>(kBlock)) return false;
    }
    std::free(buffer);
    return in >= 0;
  }

  int file_ = -1;
  int device_ = -1;
  std::string node_;
};

/// What there is to test with; a message says what is skipped.
bool has_caps(const IoMechanism& mechanism, const Loop& loop) {
  if (!mechanism.has_caps) WARN("caps are skipped: " << mechanism.caps_reason);
  if (loop.number.empty()) WARN("caps are skipped: no loop device (" << loop.why << ")");
  return mechanism.has_caps && !loop.number.empty();
}

}  // namespace

TEST_CASE("the disks of this host are found") {
  const HostGroup host;
  const auto devices = read_block_devices(*host.fs);
  REQUIRE(devices.has_value());
  if (devices->empty()) WARN("this host has no disk");
  for (const BlockDevice& device : *devices) {
    INFO(device.name);
    CHECK(::access(("/sys/dev/block/" + device.number).c_str(), F_OK) == 0);
  }
}

TEST_CASE("a cap bites, its bytes are counted, and it is taken off again") {
  const HostGroup host;
  const IoMechanism mechanism = probe_io(*host.fs, host.outer(), {});
  const Loop loop;
  if (!has_caps(mechanism, loop)) return;
  const IoSetting before = read_io(*host.fs, host.outer(), mechanism).value();
  CHECK(before.caps.empty());

  const IoSetting wanted{before.weight, {{loop.number, {2 * kMiB, 3 * kMiB}}}};
  const auto done = write_io(*host.fs, host.outer(), wanted, mechanism);
  INFO((done ? std::string() : done.error().message()));
  REQUIRE(done.has_value());
  CHECK(read_io(*host.fs, host.outer(), mechanism).value() == wanted);

  const std::string path = host.process_path_of(mechanism.is_v2 ? "io" : "blkio");
  const double capped = loop.read_in(path, 3 * kMiB);
  // 3 MiB at 2 MiB/s; the kernel lets the first slice (0.1 s and a little) pass at once.
  CHECK(capped > 1.0);
  const IoUses uses = read_io_use(*host.fs, host.outer()).value();
  REQUIRE(uses.count(loop.number) == 1);
  CHECK(uses.at(loop.number).read_bytes == 3 * kMiB);
  CHECK(uses.at(loop.number).written_bytes == 0);

  REQUIRE(write_io(*host.fs, host.outer(), before, mechanism).has_value());
  CHECK(limits_alike(read_io(*host.fs, host.outer(), mechanism).value(), before));
  const double free = loop.read_in(path, 3 * kMiB);
  CHECK(free >= 0);
  CHECK(free < capped);
  CHECK(read_io_use(*host.fs, host.outer()).value().at(loop.number).read_bytes == 6 * kMiB);
}

TEST_CASE("the kernel holds a weight, and agrees with us on its range") {
  const HostGroup host;
  // A scheduler that looks at it is not needed to hold it; so any that offers a file will do.
  BlockDevice any;
  any.name = "any";
  any.number = "0:0";
  any.scheduler = "bfq";
  any.has_iocost = true;
  const IoMechanism mechanism = probe_io(*host.fs, host.outer(), {any});
  if (mechanism.weight == WeightFile::none) {
    WARN("the weight is skipped: " << mechanism.weight_reason);
    return;
  }
  const IoSetting before = read_io(*host.fs, host.outer(), mechanism).value();
  CHECK(before.weight == default_weight(mechanism.weight));
  for (const std::uint64_t weight : {321U, 1U, 1000U, 1000000U, 0U}) {
    const auto done = write_io(*host.fs, host.outer(), {weight, {}}, mechanism);
    INFO((done ? std::string() : done.error().message()));
    REQUIRE(done.has_value());
    CHECK(read_io(*host.fs, host.outer(), mechanism).value().weight ==
          clamp_weight(weight, mechanism.weight));
  }
  const std::string above = std::to_string(clamp_weight(1000000, mechanism.weight) + 1);
  CHECK_FALSE(
      host.fs->write(io_controller(*host.fs), test::test_group(), name(mechanism.weight), above)
          .has_value());
  CHECK(write_io(*host.fs, host.outer(), before, mechanism).has_value());
}

TEST_CASE("a cap on a device that is not there is the kernel's errno, with the reason") {
  const HostGroup host;
  const IoMechanism mechanism = probe_io(*host.fs, host.outer(), {});
  if (!mechanism.has_caps) {
    WARN("caps are skipped: " << mechanism.caps_reason);
    return;
  }
  const auto done = write_io(*host.fs, host.outer(), {{}, {{"4000:7", {kMiB}}}}, mechanism);
  REQUIRE_FALSE(done.has_value());
  CHECK((done.error().code.value() == ENODEV || done.error().code.value() == ENXIO));
  CHECK(done.error().message().find("no such disk") != std::string::npos);
}

}  // namespace flowcon::cgroups
