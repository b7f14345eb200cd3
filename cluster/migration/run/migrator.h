// SPDX-License-Identifier: Apache-2.0
// Moves containers: gathers the facts of each move, asks the journal's rules what is next, writes
// that down and does it. The only part that stops, starts, makes or removes a container.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/moves.h"
#include "cluster/network.h"
#include "ctrl/api/routes.h"
#include "ctrl/extension.h"
#include "ctrl/pull.h"

namespace flowcon::cluster::migration {

/// As ctrl::Extension is to the daemon: all on the loop.
class Migrator : public Moves {
 public:
  /// Asked whether a task that asks for so much is taken: why not, in words, or "".
  virtual void judge_room(std::function<std::string(const policy::Amounts&)> judge) = 0;
  /// As World::give_gpus.
  virtual void choose_gpus(
      std::function<std::string(boost::json::object&, const cluster::Passage&)> choose) = 0;
  /// Told when a birth or a return has come further, by its id.
  virtual void tell_of_tasks(std::function<void(const std::string& id)> told) = 0;
  /// Once, when the network has its id: goes on with the moves that the journal holds.
  virtual Async<void> start() = 0;
  /// Once, when the daemon is about to stop: what was not handed over is undone, so that the job
  /// runs here, in at most `seconds`.
  virtual Async<void> settle(double seconds) = 0;
  /// Once, when the daemon stops. What is under way goes on at its next start.
  virtual void end() = 0;

  /// Names of the containers whose move from or to the host `id` is not finished here. Errors: the
  /// journal was not read.
  [[nodiscard]] virtual Result<std::vector<std::string>> open_with(const std::string& id) const = 0;

  /// Calls of people: docs/api.md.
  [[nodiscard]] virtual ctrl::api::Routes routes() = 0;
  /// What peers ask: docs/peers.md.
  [[nodiscard]] virtual ctrl::api::Routes peer_routes() = 0;
};

[[nodiscard]] std::unique_ptr<Migrator> make_migrator(ctrl::LocalHost& host, Network& network,
                                                      Lives& lives);

}  // namespace flowcon::cluster::migration
