// SPDX-License-Identifier: Apache-2.0
// What runs on the other hosts needed: their profiles, as they told them last. Kept in memory: they
// are asked anew after a start. For .cpp files only: it includes Asio.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/network.h"
#include "ctrl/async.h"
#include "ctrl/store/profiles.h"

namespace flowcon::cluster::queue {

class PeerProfiles {
 public:
  using Rows = std::vector<ctrl::store::ProfileRow>;

  /// The network has to outlive it. `wall`: seconds since the epoch.
  PeerProfiles(Network& network, std::function<double()> wall)
      : network_(network), wall_(std::move(wall)) {}

  /// Asks each host that is reached for what is new there. One that does not answer, or not with
  /// profiles, is asked again the next time. What was told by one that is no peer any more is
  /// forgotten.
  Async<void> read();
  /// Of each host at most the newest ctrl::store::kMostProfiles; their ends are on this host's
  /// clock.
  [[nodiscard]] Rows rows() const;

 private:
  struct Told {
    Rows rows;
    std::string position;  ///< where that host goes on to tell; "" = at the beginning
  };
  Async<bool> read_page(std::string id);
  [[nodiscard]] bool take(const std::string& id, const std::string& body);

  Network& network_;
  std::function<double()> wall_;
  std::map<std::string, Told> told_;  ///< by id of the host
};

}  // namespace flowcon::cluster::queue
