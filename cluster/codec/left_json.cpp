// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/left_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string_view>

#include "base/json_arrays.h"
#include "base/json_fields.h"
#include "cluster/codec/queue_fields.h"

namespace flowcon::cluster::policy {
namespace {

constexpr double kMostSeconds = 1e12;  // so that no product of a decision overflows
constexpr double kMostTimes = 1e6;
constexpr std::size_t kMostTotals = 1'000'000;

std::vector<double> read_totals(FieldReader& reader, std::string_view name) {
  std::vector<double> totals;
  const json::array& listed = reader.array(name);
  if (listed.size() > kMostTotals) reader.complain(name, "are more than 1000000");
  for (std::size_t i = 0; i < listed.size() && !reader.failed(); ++i) {
    const bool is_time = listed[i].is_number() && listed[i].to_number<double>() >= 0 &&
                         listed[i].to_number<double>() <= kMostSeconds;
    if (!is_time) reader.complain(indexed(name, i), "must be a number from 0 to 10^12");
    totals.push_back(is_time ? listed[i].to_number<double>() : 0);
  }
  return totals;
}

json::object soon_json(const LeftState& state) {
  json::object soon;
  for (std::size_t i = 0; i < state.soon.size(); ++i) {
    if (!state.soon[i].empty()) soon[state.nodes[i].id] = amounts_json(state.soon[i]);
  }
  return soon;
}

}  // namespace

static void fields(auto& io, Is<LeftState> auto& state) {
  const LeftState plain;
  QueueFields common;
  io("starve_limit", state.starve_limit, 0, kMostSeconds);
  io.optional("growth", state.growth, plain.growth, 0, 1);
  io.optional("network", state.network, plain.network, 0, kMostTimes);
  io.optional("pause", state.pause, plain.pause, 0, kMostSeconds);
  io.optional("gain", state.gain, plain.gain, 0, kMostTimes);
  common.nodes(io, state.nodes);
  io.each("jobs", state.jobs, [&](auto& inner, auto& of) {
    auto& job = of.job;
    inner("id", job.id);
    inner("since", job.since, -kMostSeconds, kMostSeconds);
    inner("waited", of.waited, 0, kMostSeconds);
    inner("served", of.served, 0, kMostSeconds);
    inner.optional("left", of.left, 0, kMostSeconds);
    common.size(inner, job);
    if (inner.has("placed", job.placed != Placement())) {
      common.placed(inner, job.placed, state.nodes);
    }
  });
  const auto id_of = [](const LeftJob& of) -> const std::string& { return of.job.id; };
  io.require_unique_ids("jobs", state.jobs, id_of);
  if (io.has("totals", !state.totals.empty())) {
    io.as("totals", state.totals, read_totals);
  }
  const json::object soon = soon_json(state);
  if (io.has("soon", !soon.empty())) {
    io.as(
        "soon", state.soon, [&](auto& reader, auto name) { return common.by_node(reader, name); },
        [&](const auto&) { return soon; });
  }
}

Result<LeftState> left_state_from(const json::value& json) { return read_json<LeftState>(json); }

json::value to_json(const LeftState& state) { return fields_json(state); }

json::value to_json(const LeftDecision& decision) {
  const auto& nodes = decision.nodes;
  return json::object{
      {"jobs", rendered(decision.jobs,
                        [&](const LeftPlace& place) {
                          return json::object{{"id", place.id},
                                              {"left", place.left},
                                              {"guessed", place.is_guess},
                                              {"starved", place.is_starved},
                                              {"change", name(place.change)},
                                              {"placed", placement_json(place.placed, nodes)}};
                        })},
      {"nodes", rendered(nodes, [](const IdleNode& node) { return node_json(node); })}};
}

}  // namespace flowcon::cluster::policy
