// SPDX-License-Identifier: Apache-2.0
// Asks the engine again and again who is in the Docker Swarm that this host is in. Changes nothing
// there. For .cpp files only: it includes Asio.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/ssh_address.h"
#include "cluster/peers/swarm.h"
#include "ctrl/async.h"
#include "ctrl/engine/client.h"
#include "ctrl/extension.h"
#include "ctrl/log.h"

namespace flowcon::cluster::peers {

class SwarmWatch {
 public:
  explicit SwarmWatch(ctrl::LocalHost& host);
  /// Asks every 30 s; `now` is steady. `added` gives the peers that people added, by name maybe;
  /// `follow` is called when members() is as the swarm has it.
  void look(double now, std::function<std::vector<SshAddress>()> added,
            std::function<void()> follow);
  /// As the swarm had it last; none where this host is in none or follows none.
  [[nodiscard]] const std::vector<SwarmMember>& members() const { return members_; }

 private:
  Async<void> ask(std::function<std::vector<SshAddress>()> added, std::function<void()> follow);
  Async<Result<std::vector<SwarmMember>>> read();
  Async<Result<std::string>> get(std::string target);

  ctrl::LocalHost& host_;
  ctrl::engine::Client engine_;
  std::vector<SwarmMember> members_;
  bool is_asking_ = false;
  double next_ = 0;  ///< steady
  ctrl::log::Repeated failures_;
};

}  // namespace flowcon::cluster::peers
