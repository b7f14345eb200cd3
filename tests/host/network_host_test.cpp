// SPDX-License-Identifier: Apache-2.0
// Network traffic of a real process in a network namespace of its own.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "cgroups/network.h"
#include "tests/host/host_group.h"
#include "tests/support/catch.h"

namespace flowcon::cgroups {

namespace {

constexpr int kDatagrams = 10;
constexpr int kPayload = 1000;
constexpr int kOverhead = 20 + 8;  // IPv4 and UDP headers; a tun device has no link layer

bool bring_up(int socket, const char* name, const char* address) {
  ifreq request{};
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  auto* ip = reinterpret_cast<sockaddr_in*>(&request.ifr_addr);
  ip->sin_family = AF_INET;
  ::inet_pton(AF_INET, address, &ip->sin_addr);
  if (::ioctl(socket, SIOCSIFADDR, &request) != 0) return false;
  ip->sin_addr.s_addr = htonl(0xffffff00);
  if (::ioctl(socket, SIOCSIFNETMASK, &request) != 0) return false;
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return ::ioctl(socket, SIOCSIFFLAGS, &request) == 0;
}

void send_to(int socket, const char* address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  ::inet_pton(AF_INET, address, &to.sin_addr);
  const std::string payload(kPayload, 'x');
  for (int i = 0; i < kDatagrams; ++i) {
    ::sendto(socket, payload.data(), payload.size(), 0, reinterpret_cast<sockaddr*>(&to),
             sizeof to);
  }
}

/// In a namespace of its own: datagrams out of a tun device, and more over loopback, which do not
/// count. Returns 'y', or what failed: 'n' the namespace, 't' the tun device, 'u' bringing it up.
char talk() {
  if (::unshare(CLONE_NEWNET) != 0) return 'n';
  static int tun = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request{};
  std::strncpy(request.ifr_name, "flowcon0", IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (tun < 0 || ::ioctl(tun, TUNSETIFF, &request) != 0) return 't';
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (!bring_up(socket, "flowcon0", "10.77.0.1")) return 'u';
  if (!bring_up(socket, "lo", "127.0.0.1")) return 'u';
  send_to(socket, "10.77.0.2");
  // What the device sends counts once its other end, this file, has taken it.
  char packet[2048];
  while (::read(tun, packet, sizeof packet) > 0) {
  }
  send_to(socket, "127.0.0.1");
  return 'y';
}

}  // namespace

TEST_CASE("a process in its own network is counted without its loopback") {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const char answer = talk();
    if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char answer = 0;
  const bool has_answer = ::read(ready[0], &answer, 1) == 1;
  const auto start = read_start_ticks(pid);
  const auto use = read_network_use(pid, start ? *start : 0);
  const auto other = read_network_use(pid, start ? *start + 1 : 0);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  const auto after = read_network_use(pid, start ? *start : 0);
  ::close(ready[0]);
  ::close(ready[1]);

  REQUIRE(has_answer);
  REQUIRE(start.has_value());
  CHECK(after.error().code.value() == ESRCH);
  CHECK(other.error().code.value() == ESRCH);
  if (answer == 'n') {
    WARN("the traffic is skipped: no network namespace may be made");
    return;
  }
  REQUIRE(use.has_value());
  REQUIRE(use->has_value());
  if (answer == 't') {
    WARN("the traffic is skipped: no tun device; an empty namespace counts 0");
    CHECK(**use == NetworkUse{});
    return;
  }
  REQUIRE(answer == 'y');
  // Router solicitations of IPv6 may add a few packets of up to 100 bytes each.
  const std::uint64_t sent = kDatagrams * (kPayload + kOverhead);
  CHECK((*use)->tx_packets >= kDatagrams);
  CHECK((*use)->tx_bytes >= sent);
  CHECK((*use)->tx_bytes <= sent + 1000);
  CHECK((*use)->rx_bytes == 0);
}

TEST_CASE("a process in the host's network has no traffic of its own") {
  const auto use = read_network_use(::getpid());
  REQUIRE(use.has_value());
  CHECK_FALSE(use->has_value());
}

}  // namespace flowcon::cgroups
