// SPDX-License-Identifier: Apache-2.0
// Texts of /proc/PID/net/dev and /proc/PID/stat, and whose traffic counts as the container's.
#include "cgroups/network.h"

#include <cerrno>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/fake_root.h"

namespace flowcon::cgroups {

using test::FakeRoot;

namespace {

const std::string kTitles =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n";
const std::string kLo =
    "    lo:    5000      50    0    0    0     0          0         0     5000"
    "      50    0    0    0     0       0          0\n";
const std::string kEth0 = "  eth0: 1000 10 0 0 0 0 0 0 200 2 0 0 0 0 0 0\n";
const std::string kEth1 = "eth1:7 1 0 0 0 0 0 0 8 2 0 0 0 0 0 0\n";

std::string stat_of(const std::string& name, const std::string& start) {
  return "42 (" + name + ") S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 " + start + " 9 10";
}

/// A container with pid 42, and the host with init and us.
void put_host(const FakeRoot& root) {
  root.put("/namespaces/host", "");
  root.put("/namespaces/own", "");
  root.link("/proc/1/ns/net", root.path() + "/namespaces/host");
  root.link("/proc/self/ns/net", root.path() + "/namespaces/host");
  root.link("/proc/42/ns/net", root.path() + "/namespaces/own");
  root.put("/proc/42/net/dev", kTitles + kLo + kEth0);
  root.put("/proc/42/stat", stat_of("train", "777"));
}

}  // namespace

TEST_CASE("all interfaces but loopback are added up") {
  CHECK(parse_net_dev(kTitles + kLo + kEth0 + kEth1).value() == NetworkUse{1007, 208, 4});
  CHECK(parse_net_dev(kTitles + kLo).value() == NetworkUse{});
  CHECK(parse_net_dev(kTitles).value() == NetworkUse{});
  CHECK(parse_net_dev(kTitles + "eth0:1: 5 1 0 0 0 0 0 0 6 2 0 0 0 0 0 0\n").value() ==
        NetworkUse{5, 6, 2});
}

TEST_CASE("a text that is not net/dev is EBADMSG") {
  for (const std::string& text :
       {std::string(), std::string("x\n"), kTitles + "eth0 1 2 3 4 5 6 7 8 9 10\n",
        kTitles + "eth0: 1 2\n", kTitles + "eth0: x 2 3 4 5 6 7 8 9 10\n",
        kTitles + "eth0: 1 2 3 4 5 6 7 8 -9 10\n", kTitles + ": 1 2 3 4 5 6 7 8 9 10\n",
        kTitles + "a b: 1 2 3 4 5 6 7 8 9 10\n"}) {
    INFO(text);
    CHECK(parse_net_dev(text).error().code.value() == EBADMSG);
  }
}

TEST_CASE("a process began when its stat says so, whatever its name is") {
  CHECK(parse_start_ticks(stat_of("train", "777")).value() == 777);
  CHECK(parse_start_ticks(stat_of("a) S 1 (b", "12")).value() == 12);
  for (const char* text : {"", "42", "42 (a) S 1 2", "42 (a S 1 42 42 0 -1 4194560 1 2 3 4 5"}) {
    INFO(text);
    CHECK(parse_start_ticks(text).error().code.value() == EBADMSG);
  }
  CHECK(parse_start_ticks(stat_of("train", "x")).error().code.value() == EBADMSG);
}

TEST_CASE("a container's traffic is that of its own namespace") {
  const FakeRoot root;
  put_host(root);
  CHECK(read_network_use(42, std::nullopt, root.path()).value() == NetworkUse{1000, 200, 2});
  CHECK(read_network_use(42, 777, root.path()).value() == NetworkUse{1000, 200, 2});
}

TEST_CASE("the host's traffic is not a container's, also where the daemon has its own network") {
  const FakeRoot root;
  put_host(root);
  root.remove("/proc/42/ns/net");
  root.link("/proc/42/ns/net", root.path() + "/namespaces/host");
  CHECK_FALSE(read_network_use(42, std::nullopt, root.path()).value());
  root.put("/namespaces/daemon", "");
  root.remove("/proc/self/ns/net");
  root.link("/proc/self/ns/net", root.path() + "/namespaces/daemon");
  CHECK_FALSE(read_network_use(42, std::nullopt, root.path()).value());
}

TEST_CASE("a process that is gone, and another that got its pid, are ESRCH") {
  const FakeRoot root;
  put_host(root);
  const auto errno_of = [&](std::int64_t pid, std::optional<std::uint64_t> start) {
    const auto use = read_network_use(pid, start, root.path());
    return use ? 0 : use.error().code.value();
  };
  CHECK(errno_of(42, 778) == ESRCH);
  CHECK(errno_of(43, std::nullopt) == ESRCH);
  CHECK(errno_of(43, 777) == ESRCH);
  CHECK(errno_of(0, std::nullopt) == ESRCH);
  CHECK(errno_of(-1, std::nullopt) == ESRCH);
  root.remove("/proc/42/net");
  CHECK(errno_of(42, std::nullopt) == ESRCH);
}

}  // namespace flowcon::cgroups
