// SPDX-License-Identifier: Apache-2.0
// What all parts of the migrator act on. Behind each there is an interface, so that a test can
// stand in for it.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <string>

#include "cluster/migration/run/clock.h"
#include "cluster/migration/run/engine.h"
#include "cluster/migration/run/goods.h"
#include "cluster/migration/run/host_files.h"
#include "cluster/migration/run/rows.h"
#include "cluster/moves.h"
#include "cluster/network.h"
#include "ctrl/extension.h"

namespace flowcon::cluster::migration {

struct World {
  ctrl::LocalHost& host;
  Network& network;
  Lives& lives;
  Engine& engine;
  Goods& goods;
  HostFiles& files;
  Rows& rows;
  Clock& clock;
  /// Why a task that asks for so much is not taken, in words; "" = it is.
  std::function<std::string(const policy::Amounts& request)> why_no_room{};
  /// Has the copy of a birth, made by this body, ask docker for GPUs that nobody has. Why there are
  /// none, in words; "" = it does, or it asks for none.
  std::function<std::string(boost::json::object& body, const Passage& birth)> give_gpus{};
  /// Told when a birth or a return has come further.
  std::function<void(const std::string& id)> told{};
  /// Returns that are taken when they come, and the births whose copies they bring home.
  std::map<std::string, std::string> expected{};
  bool is_stopping = false;  ///< flowcond is about to end: no move begins
  bool is_ended = false;     ///< nothing is done any more
};

}  // namespace flowcon::cluster::migration
