// SPDX-License-Identifier: Apache-2.0
// Ports for tasks that listen on their hosts, on this host and on others: asks for them, and
// answers peers that do. For .cpp files only: it includes Asio.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cluster/queue/endpoint_json.h"
#include "cluster/queue/ports.h"
#include "cluster/queue/world.h"
#include "ctrl/api/server.h"

namespace flowcon::cluster::queue {

class Leases {
 public:
  /// `kept`: as for Ports.
  Leases(World& world, std::function<std::set<std::int64_t>()> kept)
      : world_(world), ports_(world, std::move(kept)) {}

  struct Outcome {
    std::vector<std::vector<Endpoint>> endpoints;  ///< by host
    std::string why;                               ///< there are none: for people; "" = there are
    std::string host;                              ///< which is to blame, its id; "" = this one
    bool is_refusal = false;                       ///< it may be so for ever
    bool is_busy = false;                          ///< too few are left at the moment
    /// By host, what was leased for nothing, and could not be given back.
    std::map<std::string, std::vector<Endpoint>> owed;
  };
  /// For all tasks of each of these hosts, if it has any, which all of the hosts reach there.
  /// `is_published`: they are not in the hosts' networks.
  Async<Outcome> lease(std::vector<TaskPlace> hosts, bool is_published);
  /// No task is to listen at these of one host any more. Errors: it has not said that it knows.
  Async<Result<void>> give_back(std::string host, std::vector<Endpoint> endpoints);
  /// What the peer `speaker` asks, PortCall.
  Async<ctrl::api::Response> answer(std::string body, std::string speaker);
  /// What this host tells: can tasks of its own jobs be in its network, and anybody's publish
  /// ports?
  [[nodiscard]] bool has_address() const;
  /// And those of peers?
  [[nodiscard]] bool is_open() const;

 private:
  Async<Result<std::vector<Endpoint>>> lease_on(std::string host, std::size_t count,
                                                bool is_published);
  Async<Result<void>> reach_from(std::string host, Endpoint endpoint);
  Async<Result<void>> end_on(std::string host, std::vector<Endpoint> endpoints, bool is_kept);
  Async<Outcome> try_each_other(std::vector<TaskPlace> hosts, Outcome leased);
  Async<Result<std::string>> ask(std::string host, PortCall call);

  World& world_;
  Ports ports_;
};

}  // namespace flowcon::cluster::queue
