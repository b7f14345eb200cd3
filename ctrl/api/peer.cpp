// SPDX-License-Identifier: Apache-2.0
#include "ctrl/api/peer.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace flowcon::ctrl::api {
namespace {

constexpr const char* kDoing = "asking who is calling";

Result<std::vector<gid_t>> groups_of(int socket) {
  std::vector<gid_t> groups(64);
  for (;;) {
    auto size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) == 0) {
      groups.resize(size / sizeof(gid_t));
      return groups;
    }
    // The kernel then says how much room it needs; 65,536 groups is its own bound.
    if (errno != ERANGE || size / sizeof(gid_t) <= groups.size()) return errno_error(errno, kDoing);
    groups.resize(size / sizeof(gid_t));
  }
}

}  // namespace

Result<uid_t> check_peer(int socket, gid_t group) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return errno_error(errno, kDoing);
  }
  if (peer.uid == 0 || peer.uid == ::geteuid() || peer.gid == group) return peer.uid;
  Result<std::vector<gid_t>> groups = groups_of(socket);
  if (!groups) return groups.error();
  if (std::find(groups->begin(), groups->end(), group) != groups->end()) return peer.uid;
  return errno_error(EACCES, "user " + std::to_string(peer.uid) + " is not in the socket's group");
}

}  // namespace flowcon::ctrl::api
