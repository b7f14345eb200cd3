// SPDX-License-Identifier: Apache-2.0
// A host whose journal of moves has lost entries: it says so, names what looks half moved, and
// neither starts nor stops nor answers for anything.
#include <boost/asio/awaitable.hpp>

#include "base/json.h"
#include "base/text.h"
#include "cluster/migration/plan/json_parts.h"
#include "cluster/migration/run/mover_half.h"
#include "cluster/migration/run/mover_state.h"
#include "ctrl/pause.h"

namespace flowcon::cluster::migration {
namespace {

namespace json = boost::json;
using ctrl::Async;

constexpr double kAskAgain = 3;          // seconds, while the engine does not answer
constexpr double kListTime = 60;         // seconds for the list of all containers
constexpr std::size_t kMostNamed = 100;  // containers

bool may_be_half_moved(const json::value& listed) {
  if (text_of(listed, "State") == "running") return false;
  const json::object labels = object_of(listed, "Labels");
  return labels.contains(kMoveLabel) || labels.contains("flowcon.migrate");
}

}  // namespace

Async<void> Movers::name_lost_moves() {
  auto read = [&store = host_.store()] { return store.lost_moves(); };
  const Result<std::vector<ctrl::store::LostMove>> lost =
      co_await host_.effects().run(std::move(read));
  if (!lost) {
    host_.warn(lost.error().message());
    co_return;
  }
  for (const ctrl::store::LostMove& one : *lost) {
    const std::string said = describe_lost(one.entry);
    if (!said.empty()) host_.warn(said);
  }
}

Async<void> Movers::name_half_moved() {
  co_await name_lost_moves();
  std::vector<std::string> ids;
  for (bool is_listed = false; !is_listed;) {
    std::string method = "GET", path = "/containers/json?all=1", body;
    Result<ctrl::engine::Reply> reply =
        co_await client_.call(std::move(method), std::move(path), std::move(body), kListTime);
    if (is_ended_) co_return;
    const Result<json::value> all =
        reply && reply->status == 200 ? parse_json(reply->body) : bad_input("no list");
    is_listed = all && all->is_array();
    if (!is_listed) {
      co_await ctrl::pause(kAskAgain);
      if (is_ended_) co_return;
      continue;
    }
    for (const json::value& one : all->get_array()) {
      if (may_be_half_moved(one)) ids.push_back(text_of(one, "Id"));
    }
  }
  std::size_t named = 0;
  for (std::string id : ids) {
    const Result<Seen> seen = co_await engine_.look(std::move(id));
    if (is_ended_) co_return;
    if (!seen) continue;
    const auto label = seen->labels.find(kMoveLabel);
    const std::string move = label == seen->labels.end() ? "" : label->second;
    auto find = [&store = host_.store(), move] { return store.migration(move).has_value(); };
    const bool is_known = co_await host_.effects().run(std::move(find));
    if (is_ended_) co_return;
    const std::string why = why_half_moved(*seen, is_known);
    if (why.empty()) continue;
    if (++named > kMostNamed) {
      host_.warn("more than " + std::to_string(kMostNamed) + " containers look half moved");
      co_return;
    }
    host_.warn("container " + printable(seen->name, 80) + " looks half moved: " + why +
               ". Look whether it runs on another host before you start it");
  }
}

}  // namespace flowcon::cluster::migration
