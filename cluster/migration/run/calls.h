// SPDX-License-Identifier: Apache-2.0
// What people ask of the migrator (docs/api.md).
#pragma once

#include <string>

#include "cluster/migration/run/driver.h"
#include "cluster/migration/run/open_moves.h"
#include "cluster/migration/run/proposal.h"
#include "cluster/migration/run/records.h"
#include "cluster/migration/run/world.h"
#include "ctrl/api/routes.h"

namespace flowcon::cluster::migration {

class Calls {
 public:
  Calls(World& world, OpenMoves& open, Records& records, Driver& driver)
      : world_(world), open_(open), records_(records), driver_(driver), proposer_(world, open) {}

  /// As Moves and Migrator say.
  Async<Result<std::string>> begin(MoveOrder order);
  Async<Result<Freight>> weigh(std::string container);
  [[nodiscard]] ctrl::api::Routes routes();

 private:
  Async<ctrl::api::Response> migrate(std::string name, std::string body);
  Async<ctrl::api::Response> rehearse(MoveOrder order, std::string host);
  [[nodiscard]] ctrl::api::Response list() const;
  [[nodiscard]] ctrl::api::Response steer(const std::string& name, const std::string& verb);
  [[nodiscard]] bool is_heard(const Move& move) const;
  [[nodiscard]] MovePtr opened(Proposal proposal, const Neighbour& target, std::string id) const;

  World& world_;
  OpenMoves& open_;
  Records& records_;
  Driver& driver_;
  Proposer proposer_;
};

}  // namespace flowcon::cluster::migration
