// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/lost.h"

#include <boost/asio/awaitable.hpp>

#include "base/text.h"
#include "cluster/migration/run/half_moved.h"

namespace flowcon::cluster::migration {
namespace {

constexpr double kAskAgain = 3;          // seconds, while the engine does not answer
constexpr std::size_t kMostNamed = 100;  // containers

bool may_be_half_moved(const ctrl::engine::Listed& one) {
  if (one.state == "running") return false;
  return one.labels.contains(kMoveLabel) || one.labels.contains("flowcon.migrate");
}

}  // namespace

Async<void> LostMoves::name_known() {
  const Result<std::vector<ctrl::store::LostMove>> lost = co_await world_.rows.lost();
  if (!lost) {
    world_.host.warn(lost.error().message());
    co_return;
  }
  for (const ctrl::store::LostMove& one : *lost) {
    const std::string said = describe_lost(one.entry);
    if (!said.empty()) world_.host.warn(said);
  }
}

Async<std::vector<std::string>> LostMoves::find_suspects() {
  std::vector<std::string> ids;
  while (!world_.is_ended) {
    const Result<std::vector<ctrl::engine::Listed>> all = co_await world_.engine.list();
    if (world_.is_ended) break;
    if (all) {
      for (const ctrl::engine::Listed& one : *all) {
        if (may_be_half_moved(one)) ids.push_back(one.id);
      }
      break;
    }
    co_await world_.clock.pause(kAskAgain);
  }
  co_return ids;
}

Async<std::string> LostMoves::why_suspect(Seen seen) {
  const auto label = seen.labels.find(kMoveLabel);
  std::string move = label == seen.labels.end() ? "" : label->second;
  const Result<ctrl::store::Migration> known = co_await world_.rows.find(std::move(move));
  co_return why_half_moved(seen, known.has_value());
}

Async<void> LostMoves::name_all() {
  co_await name_known();
  const std::vector<std::string> ids = co_await find_suspects();
  std::size_t named = 0;
  for (std::string id : ids) {
    if (world_.is_ended) co_return;
    Result<Seen> seen = co_await world_.engine.look(std::move(id));
    if (world_.is_ended) co_return;
    if (!seen) continue;
    const std::string name = seen->name;
    const std::string why = co_await why_suspect(std::move(*seen));
    if (world_.is_ended) co_return;
    if (why.empty()) continue;
    if (++named > kMostNamed) {
      world_.host.warn("more than " + std::to_string(kMostNamed) +
                       " containers may be half migrated");
      co_return;
    }
    world_.host.warn("container " + printable(name, 80) + " may be half migrated: " + why +
                     ". Check whether it runs on another host before you start it");
  }
}

}  // namespace flowcon::cluster::migration
