// SPDX-License-Identifier: Apache-2.0
// Profiles of runs on the other hosts, as they reported them last. Kept in memory: they
// are asked anew after a start. For .cpp files only: it includes Asio.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/network.h"
#include "ctrl/async.h"
#include "ctrl/estimate/estimate.h"
#include "ctrl/store/profiles.h"

namespace flowcon::cluster::queue {

class PeerProfiles {
 public:
  using Rows = std::vector<ctrl::estimate::EndedProfile>;

  /// The network has to outlive it. `wall`: seconds since the epoch.
  PeerProfiles(Network& network, std::function<double()> wall)
      : network_(network), wall_(std::move(wall)) {}

  /// Asks each host that is reached for what is new there. One that does not answer, or not with
  /// profiles, is asked again the next time. The profiles of one that is no peer any more are
  /// forgotten.
  Async<void> read();
  /// What each host reported last, at most so many of all; no host's keep those of another out.
  /// Their ends are on this host's clock.
  [[nodiscard]] Rows rows(std::size_t most = ctrl::store::kMostProfiles) const;
  /// How many hosts with profiles are peers no more.
  [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }

 private:
  struct Told {
    Rows rows;
    std::string position;  ///< where its next page begins; "" = at the beginning
  };
  Async<bool> read_page(std::string id);
  [[nodiscard]] bool take(const std::string& id, const std::string& body);

  Network& network_;
  std::function<double()> wall_;
  std::map<std::string, Told> told_;  ///< by id of the host
  std::uint64_t forgotten_ = 0;
};

}  // namespace flowcon::cluster::queue
