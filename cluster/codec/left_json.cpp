// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/left_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string_view>

#include "base/json_arrays.h"
#include "base/json_reader.h"
#include "cluster/codec/queue_fields.h"

namespace flowcon::cluster::policy {
namespace {

constexpr double kMostSeconds = 1e12;  // so that no product of a decision overflows
constexpr double kMostTimes = 1e6;
constexpr std::size_t kMostTotals = 1'000'000;

double read_seconds(FieldReader& reader, std::string_view name) {
  return reader.number(name, 0, kMostSeconds);
}

void read_options(FieldReader& reader, LeftState& state) {
  if (reader.has("growth")) state.growth = reader.number("growth", 0, 1);
  if (reader.has("network")) state.network = reader.number("network", 0, kMostTimes);
  if (reader.has("pause")) state.pause = read_seconds(reader, "pause");
  if (reader.has("gain")) state.gain = reader.number("gain", 0, kMostTimes);
}

std::vector<double> read_totals(FieldReader& reader) {
  std::vector<double> totals;
  if (!reader.has("totals")) return totals;
  const json::array& listed = reader.array("totals");
  if (listed.size() > kMostTotals) reader.complain("totals", "are more than 1000000");
  for (std::size_t i = 0; i < listed.size() && !reader.failed(); ++i) {
    const bool is_time = listed[i].is_number() && listed[i].to_number<double>() >= 0 &&
                         listed[i].to_number<double>() <= kMostSeconds;
    if (!is_time) reader.complain(indexed("totals", i), "must be a number from 0 to 10^12");
    totals.push_back(is_time ? listed[i].to_number<double>() : 0);
  }
  return totals;
}

LeftJob read_job(FieldReader& reader, QueueFields& fields) {
  LeftJob job;
  job.job.id = reader.text("id");
  job.job.since = reader.number("since", -kMostSeconds, kMostSeconds);
  job.waited = read_seconds(reader, "waited");
  job.served = read_seconds(reader, "served");
  if (reader.has("left")) job.left = read_seconds(reader, "left");
  fields.read_size(reader, job.job);
  if (reader.has("placed")) job.job.placed = fields.placed(reader);
  return job;
}

json::object job_json(const LeftJob& job, const std::vector<QueueNode>& nodes) {
  json::object object{
      {"id", job.job.id}, {"since", job.job.since}, {"waited", job.waited}, {"served", job.served}};
  if (job.left) object["left"] = *job.left;
  add_size(object, job.job);
  const Placement& placed = job.job.placed;
  if (!placed.ps.empty() || !placed.workers.empty()) {
    object["placed"] = placement_json(placed, nodes);
  }
  return object;
}

}  // namespace

Result<LeftState> left_state_from(const json::value& json) {
  FieldReader reader(json, "");
  QueueFields fields;
  LeftState state;
  state.starve_limit = read_seconds(reader, "starve_limit");
  read_options(reader, state);
  state.nodes = fields.nodes(reader);
  state.jobs =
      reader.each("jobs", [&fields](FieldReader& inner) { return read_job(inner, fields); });
  fields.require_new_ids(reader, "jobs", state.jobs, [](const LeftJob& job) { return job.job.id; });
  state.totals = read_totals(reader);
  if (reader.has("soon")) state.soon = fields.by_node(reader, "soon");
  if (reader.failed()) return reader.error();
  return state;
}

json::value to_json(const LeftState& state) {
  const LeftState plain;
  json::object object{{"starve_limit", state.starve_limit}};
  if (state.growth != plain.growth) object["growth"] = state.growth;
  if (state.network != plain.network) object["network"] = state.network;
  if (state.pause != plain.pause) object["pause"] = state.pause;
  if (state.gain != plain.gain) object["gain"] = state.gain;
  object["nodes"] = rendered(state.nodes, [](const QueueNode& node) { return node_json(node); });
  object["jobs"] =
      rendered(state.jobs, [&](const LeftJob& job) { return job_json(job, state.nodes); });
  if (!state.totals.empty()) {
    object["totals"] = json::array(state.totals.begin(), state.totals.end());
  }
  json::object soon;
  for (std::size_t i = 0; i < state.soon.size(); ++i) {
    if (!state.soon[i].empty()) soon[state.nodes[i].id] = amounts_json(state.soon[i]);
  }
  if (!soon.empty()) object["soon"] = std::move(soon);
  return object;
}

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
