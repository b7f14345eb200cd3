// SPDX-License-Identifier: Apache-2.0
// Memory of a real process in a real group, and the host's own memory and pressure.
#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "cgroups/memory.h"
#include "cgroups/pressure.h"
#include "tests/host/host_group.h"
#include "tests/support/catch.h"

namespace flowcon::cgroups {

using test::Child;
using test::HostGroup;
using test::test_group;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

bool has_memory(const HostGroup& host, const char* test) {
  if (read_memory(*host.fs, host.outer())) return true;
  WARN(test << " is skipped: the memory controller or its soft limit is not there");
  return false;
}

}  // namespace

TEST_CASE("the kernel holds a soft limit, in whole pages, and takes it off again") {
  const HostGroup host;
  if (!has_memory(host, "the soft limit")) return;
  const MemorySetting before = read_memory(*host.fs, host.outer()).value();
  CHECK(before == MemorySetting{});
  for (const MemorySetting& setting :
       {MemorySetting{64 * kMiB}, MemorySetting{32 * kMiB}, MemorySetting{33 * kMiB + 1}, before}) {
    const auto done = write_memory(*host.fs, host.outer(), setting);
    INFO((done ? std::string() : done.error().message()));
    REQUIRE(done.has_value());
    const std::uint64_t page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    CHECK(read_memory(*host.fs, host.outer()).value() == rounded_to_pages(setting, page));
  }
}

TEST_CASE("a soft limit below the use ends nobody and can be lifted") {
  HostGroup host;
  if (!has_memory(host, "the soft limit below the use")) return;
  Child child(true);
  child.move_to(host.process_path_of("memory"));
  REQUIRE(write_memory(*host.fs, host.outer(), {kMiB}).has_value());
  CHECK(::kill(child.pid(), 0) == 0);
  CHECK(write_memory(*host.fs, host.outer(), {}).has_value());
}

TEST_CASE("memory that a process holds is its working set") {
  HostGroup host;
  if (!has_memory(host, "the working set")) return;
  constexpr std::size_t kHeld = 48 * kMiB;
  int ready[2];
  int go[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(go) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    char byte = 0;
    if (::read(go[0], &byte, 1) != 1) ::_exit(1);
    void* held = ::mmap(nullptr, kHeld, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    byte = held == MAP_FAILED ? 'n' : 'y';
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  test::put(host.process_path_of("memory") + "/cgroup.procs", std::to_string(pid));
  char byte = 'x';
  CHECK(::write(go[1], &byte, 1) == 1);
  CHECK(::read(ready[0], &byte, 1) == 1);
  CHECK(byte == 'y');
  const auto use = read_memory_use(*host.fs, host.outer());
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  for (const int fd : {ready[0], ready[1], go[0], go[1]}) ::close(fd);
  REQUIRE(use.has_value());
  // Beside it only page tables and what a bare process needs; charges come in batches a CPU.
  CHECK(use->working_set >= kHeld);
  CHECK(use->working_set < kHeld + 8 * kMiB);
  CHECK(use->current >= use->working_set);
}

TEST_CASE("the host's memory and pressure are there, or it is said why not") {
  const HostMemory memory = read_host_memory().value();
  CHECK(memory.total_bytes ==
        static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE)));
  CHECK(memory.available_bytes > 0);
  CHECK(memory.available_bytes <= memory.total_bytes);
  const Pressure pressure = read_host_pressure();
  CHECK(pressure.memory.has_value() == memory.pressure_some_avg10.has_value());
  CHECK((pressure.cpu && pressure.memory && pressure.io) == pressure.reason.empty());
  if (!pressure.reason.empty()) WARN("no host pressure: " << pressure.reason);
}

}  // namespace flowcon::cgroups
