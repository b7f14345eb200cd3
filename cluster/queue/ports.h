// SPDX-License-Identifier: Apache-2.0
// Ports of this host for tasks that listen there. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
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
  /// `kept`: those of this host's own jobs.
  Ports(World& world, std::function<std::set<std::int64_t>()> kept);
  ~Ports();
  Ports(const Ports&) = delete;
  Ports& operator=(const Ports&) = delete;

  /// So many, each its task's own from now on: as long as its container, which has its label, is to
  /// run or runs, or if none was seen for an hour, or ten minutes if it is this host's own. For a
  /// minute at most somebody answers there, so that other hosts can try them. The next flowcond
  /// knows those of other hosts. Errors: EAGAIN there are not as many now; this host has no
  /// `advertise`, or another address. `who`: who asks, "" = this one; none gets more than
  /// kMostLeased that way.
  Async<Result<std::vector<Endpoint>>> lease(std::size_t count, std::string who);
  static constexpr std::size_t kMostLeased = 256;
  /// Nobody answers there any more: their tasks are about to. Only those that are this host's.
  void hush(const std::vector<std::int64_t>& ports, const std::string& who);
  /// Nor is anybody to.
  void drop(const std::vector<std::int64_t>& ports, const std::string& who);
  /// Those that cannot be reached from here, with the reason.
  Async<std::vector<std::string>> try_all(std::vector<Endpoint> endpoints);

 private:
  struct Lease;
  static Async<void> answer(std::shared_ptr<Lease> lease);
  Async<Result<std::set<std::int64_t>>> labelled();
  void keep() const;

  World& world_;
  std::function<std::set<std::int64_t>()> kept_;
  std::map<std::int64_t, std::shared_ptr<Lease>> leases_;
};

}  // namespace flowcon::cluster::queue
