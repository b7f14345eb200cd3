// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/changes.h"

#include <cmath>
#include <map>

#include "base/json_reader.h"

namespace flowcon::ctrl::policy {
namespace {

std::optional<double> number(const json::value& value) {
  return value.is_number() ? std::optional(value.to_number<double>()) : std::nullopt;
}

std::map<std::string, const json::value*> containers_of(const json::value& state) {
  std::map<std::string, const json::value*> all;
  for (const json::value& one : list_of(state, "containers")) {
    all[text_of(one, "id")] = &one;
  }
  return all;
}

// "rank 1" is the first.
std::string rank_text(const std::optional<double>& rank) {
  constexpr double kMost = 1e9;
  if (!rank || !(*rank >= 0 && *rank < kMost)) return "";
  return "rank " + std::to_string(static_cast<long>(*rank) + 1);
}

PlaceChange move_of(const json::value& container) {
  PlaceChange change;
  change.id = text_of(container);
  return change;
}

}  // namespace

std::vector<PlaceChange> place_changes(const json::value& state, const json::value& decision,
                                       std::string_view word) {
  const std::map<std::string, const json::value*> before = containers_of(state);
  std::vector<PlaceChange> changes;
  for (const json::value& one : list_of(decision, "containers")) {
    const auto found = before.find(text_of(one, "id"));
    if (found == before.end() || found->first.empty()) continue;
    const json::value& was = *found->second;
    PlaceChange change;
    change.id = found->first;
    change.from = text_of(member(was, word));
    change.to = text_of(member(one, word));
    change.from_limit = number(member(was, "limit"));
    change.limit = number(member(one, "limit"));
    const std::optional<double> growth = number(member(one, "growth"));
    change.growth = growth ? growth : number(member(was, "growth"));
    if (change.from == change.to && change.from_limit == change.limit) continue;
    changes.push_back(std::move(change));
  }
  return changes;
}

std::vector<PlaceChange> rank_changes(const json::value& state, const json::value& decision) {
  const std::map<std::string, const json::value*> before = containers_of(state);
  std::vector<PlaceChange> changes;
  for (const json::value& one : list_of(decision, "containers")) {
    const auto found = before.find(text_of(one, "id"));
    if (found == before.end() || found->first.empty()) continue;
    PlaceChange change;
    change.id = found->first;
    change.from = rank_text(number(member(*found->second, "before")));
    change.to = rank_text(number(member(one, "rank")));
    change.from_limit = number(member(*found->second, "share"));
    change.limit = number(member(one, "share"));
    const bool is_moved = change.from_limit && change.limit &&
                          std::fabs(*change.limit - *change.from_limit) >= kLeastShareChange;
    if (change.from != change.to || is_moved) changes.push_back(std::move(change));
  }
  return changes;
}

std::vector<PlaceChange> move_changes(const json::value& decision) {
  std::vector<PlaceChange> moves;
  for (const json::value& move : list_of(decision, "moves")) {
    moves.push_back(move_of(member(move, "container")));
  }
  return moves;
}

std::vector<PlaceChange> request_changes(const json::value& state, const json::value& decision) {
  const json::value& is_move = member(decision, "move");
  if (!is_move.is_bool() || !is_move.get_bool()) return {};
  return {move_of(member(state, "container"))};
}

std::vector<PlaceChange> no_changes(const json::value& /*state*/, const json::value& /*decision*/) {
  return {};
}

}  // namespace flowcon::ctrl::policy
