// SPDX-License-Identifier: Apache-2.0
// What the hosts report of their containers, and which of them coordinates. For .cpp files only: it
// includes Asio.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/moves.h"
#include "cluster/network.h"
#include "cluster/policy/report.h"
#include "ctrl/extension.h"

namespace flowcon::cluster {

/// What the hosts said of their containers.
struct Gathering {
  explicit Gathering(boost::asio::io_context& io) : done(io) {}
  std::vector<policy::HostReport> hosts;     ///< this one first
  std::map<std::string, std::string> names;  ///< by id, as they call themselves
  std::string silent;                        ///< who did not answer, and why; "" = all did
  std::size_t missing = 0;
  boost::asio::steady_timer done;
};
using GatheringPtr = std::shared_ptr<Gathering>;

class Reports {
 public:
  Reports(ctrl::LocalHost& host, Network& network, const Moves& moves,
          const policy::Categories& categories)
      : host_(host), network_(network), moves_(moves), categories_(categories) {}

  /// `unreturned`: how many tasks of other hosts' jobs have ended here and have yet to go home.
  void count_tasks(std::function<std::int64_t()> unreturned) {
    unreturned_ = std::move(unreturned);
  }
  // Units: `now` in seconds on the steady clock.
  [[nodiscard]] policy::JobReport job(const std::string& id, double now) const;
  [[nodiscard]] policy::HostReport own(double now) const;
  /// Of this host and all that are reachable.
  Async<GatheringPtr> gather(double now);

 private:
  Async<void> ask(GatheringPtr gathering, Neighbour neighbour);

  ctrl::LocalHost& host_;
  Network& network_;
  const Moves& moves_;
  const policy::Categories& categories_;
  std::function<std::int64_t()> unreturned_ = [] { return std::int64_t{0}; };
};

}  // namespace flowcon::cluster
