// SPDX-License-Identifier: Apache-2.0
// Ports of this host for tasks that are in its network. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/queue/job.h"
#include "cluster/queue/world.h"
#include "ctrl/async.h"
#include "ctrl/config.h"

namespace flowcon::cluster::queue {

/// The interface of this machine that has the address; "" = none.
[[nodiscard]] std::string interface_of(const std::string& address);

class Ports {
 public:
  explicit Ports(World& world);
  ~Ports();
  Ports(const Ports&) = delete;
  Ports& operator=(const Ports&) = delete;

  /// So many, each its task's own from now on: until its container, which has its label, is gone,
  /// or for ten minutes if there never is one. For a minute at most somebody answers there, so that
  /// other hosts can try them. Errors: there are not as many; this host has no `advertise`, or
  /// another address.
  ctrl::Async<Result<std::vector<Endpoint>>> lease(std::size_t count);
  /// Nobody answers there any more: their tasks are about to.
  void hush(const std::vector<std::int64_t>& ports);
  /// Those that cannot be reached from here, with the reason.
  ctrl::Async<std::vector<std::string>> try_all(std::vector<Endpoint> endpoints);

 private:
  struct Lease;
  static ctrl::Async<void> answer(std::shared_ptr<Lease> lease);
  ctrl::Async<Result<std::set<std::int64_t>>> labelled();

  World& world_;
  std::map<std::int64_t, std::shared_ptr<Lease>> leases_;
};

}  // namespace flowcon::cluster::queue
