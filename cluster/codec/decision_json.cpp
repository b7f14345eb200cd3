// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/decision_json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/json.h"
#include "base/json_arrays.h"
#include "base/json_reader.h"
#include "cluster/codec/report_json.h"

namespace flowcon::cluster::policy {
namespace {

ObservedContainer read_observed(FieldReader& reader) {
  ObservedContainer container;
  container.id = reader.text("id");
  container.category =
      reader.one_of("category", {Category::pc, Category::wc, Category::cc}, "must be PC, WC or CC");
  container.value = reader.number_or_null("value");
  container.previous_value = reader.number_or_null("previous_value");
  container.previous_growth = reader.number_or_null("previous_growth");
  container.migrated = reader.boolean("migrated");
  return container;
}

Weights read_weights(FieldReader& reader) {
  Weights weights;
  weights.pc = reader.number("pc");
  weights.wc = reader.number("wc");
  weights.cc = reader.number("cc");
  reader.require(weights.cc > 0, "cc", "must be above 0");
  reader.require(weights.wc > weights.cc, "wc", "must be above that of cc");
  reader.require(weights.pc > weights.wc, "pc", "must be above that of wc");
  return weights;
}

Worker read_worker(FieldReader& reader) {
  Worker worker;
  worker.id = reader.text("id");
  worker.counts.pc = reader.count("pc");
  worker.counts.wc = reader.count("wc");
  worker.counts.cc = reader.count("cc");
  worker.usage = reader.number("usage");
  return worker;
}

SettledContainer read_settled(FieldReader& reader) {
  SettledContainer container;
  container.id = reader.text("id");
  container.converged_at = reader.number_or_null("converged_at");
  container.migrated_at = reader.number_or_null("migrated_at");
  container.rebalanced = reader.boolean("rebalanced");
  return container;
}

WorkerLoad read_load(FieldReader& reader) {
  WorkerLoad worker;
  worker.id = reader.text("id");
  worker.containers = reader.each("containers", read_settled);
  return worker;
}

std::uint32_t read_moves(FieldReader& reader, const char* name) {
  return static_cast<std::uint32_t>(reader.count(name, 1'000'000));
}

double read_positive(FieldReader& reader, const char* name) {
  const double number = reader.number(name);
  reader.require(number > 0, name, "must be above 0");
  return number;
}

SteeredJob read_steered(FieldReader& reader) {
  SteeredJob job;
  job.id = reader.text("id");
  job.left = read_positive(reader, "left");
  job.width = read_positive(reader, "width");
  job.moves = read_moves(reader, "moves");
  job.may_move = reader.boolean("may_move");
  return job;
}

SteeredHost read_steered_host(FieldReader& reader) {
  SteeredHost host;
  host.id = reader.text("id");
  host.cores = read_positive(reader, "cores");
  host.jobs = reader.each("containers", read_steered);
  return host;
}

// A container runs on one host only, so its id is unique among those of all of them, which
// `containers` gives of each.
template <class Hosts, class Containers>
void require_unique_containers(FieldReader& reader, std::string_view name, const Hosts& hosts,
                               Containers containers) {
  std::unordered_set<std::string_view> ids;
  for (std::size_t i = 0; i < hosts.size() && !reader.failed(); ++i) {
    const auto& all = containers(hosts[i]);
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (ids.insert(all[k].id).second) continue;
      reader.complain_of_repeated(indexed(name, i) + '.' + indexed("containers", k) + ".id",
                                  all[k].id);
    }
  }
}

Rounding read_rounding(FieldReader& reader) {
  if (!reader.has("rounding")) return Rounding::floor;
  return reader.one_of("rounding", {Rounding::floor, Rounding::ceil}, "must be floor or ceil");
}

json::value finite_or_null(const std::optional<double>& number) {
  if (!number || !std::isfinite(*number)) return nullptr;
  return *number;
}

json::object observed(const ObservedContainer& container) {
  return {{"id", container.id},
          {"category", name(container.category)},
          {"value", finite_or_null(container.value)},
          {"previous_value", finite_or_null(container.previous_value)},
          {"previous_growth", finite_or_null(container.previous_growth)},
          {"migrated", container.migrated}};
}

json::object moved(const Move& move) {
  return {{"container", move.container}, {"from", move.from}, {"to", move.to}};
}

json::object settled(const SettledContainer& container) {
  return {{"id", container.id},
          {"converged_at", finite_or_null(container.converged_at)},
          {"migrated_at", finite_or_null(container.migrated_at)},
          {"rebalanced", container.rebalanced}};
}

}  // namespace

Result<CategoriseState> categorise_state_from(const json::value& json) {
  FieldReader reader(json, "");
  CategoriseState state;
  state.alpha = reader.number("alpha");
  state.containers = reader.each("containers", read_observed);
  reader.require_unique_ids("containers", state.containers);
  if (reader.failed()) return reader.error();
  return state;
}

Result<SpeculateState> speculate_state_from(const json::value& json) {
  FieldReader reader(json, "");
  SpeculateState state;
  state.weights = reader.object("weights", read_weights);
  state.draining = reader.optional_bool("draining");
  state.container = reader.text("container");
  state.source = reader.text("source");
  state.workers = reader.each("workers", read_worker);
  reader.require_unique_ids("workers", state.workers);
  const bool is_known =
      std::any_of(state.workers.begin(), state.workers.end(),
                  [&state](const Worker& worker) { return worker.id == state.source; });
  reader.require(is_known, "source", "must be the id of a worker");
  if (reader.failed()) return reader.error();
  return state;
}

Result<RebalanceState> rebalance_state_from(const json::value& json) {
  FieldReader reader(json, "");
  RebalanceState state;
  state.now = reader.number("now");
  state.guard = reader.optional_bool("guard");
  state.rounding = read_rounding(reader);
  state.fill = reader.optional_bool("fill");
  state.workers = reader.each("workers", read_load);
  reader.require_unique_ids("workers", state.workers);
  require_unique_containers(
      reader, "workers", state.workers,
      [](const WorkerLoad& load) -> const auto& { return load.containers; });
  if (state.workers.empty()) reader.complain("workers", "must hold at least one");
  if (reader.failed()) return reader.error();
  return state;
}

Result<SteerState> steer_state_from(const json::value& json) {
  FieldReader reader(json, "");
  SteerState state;
  state.move_seconds = reader.number("move_seconds");
  reader.require(state.move_seconds >= 0, "move_seconds", "must be at least 0");
  state.max_moves = read_moves(reader, "max_moves");
  state.gain = reader.number("gain");
  reader.require(state.gain >= 0, "gain", "must be at least 0");
  state.hosts = reader.each("hosts", read_steered_host);
  reader.require_unique_ids("hosts", state.hosts);
  require_unique_containers(
      reader, "hosts", state.hosts,
      [](const SteeredHost& host) -> const auto& { return host.jobs; });
  if (reader.failed()) return reader.error();
  return state;
}

json::value to_json(const CategoriseState& state) {
  return json::object{{"alpha", state.alpha}, {"containers", rendered(state.containers, observed)}};
}

json::value to_json(const SpeculateState& state) {
  const auto worker = [](const Worker& from) {
    return json::object{{"id", from.id},
                        {"pc", from.counts.pc},
                        {"wc", from.counts.wc},
                        {"cc", from.counts.cc},
                        {"usage", from.usage}};
  };
  const Weights& weights = state.weights;
  json::object object{{"weights", {{"pc", weights.pc}, {"wc", weights.wc}, {"cc", weights.cc}}}};
  if (state.draining) object["draining"] = true;
  object["container"] = state.container;
  object["source"] = state.source;
  object["workers"] = rendered(state.workers, worker);
  return object;
}

json::value to_json(const RebalanceState& state) {
  json::object object{{"now", state.now}};
  if (state.guard) object["guard"] = true;
  if (state.rounding != Rounding::floor) object["rounding"] = name(state.rounding);
  if (state.fill) object["fill"] = true;
  object["workers"] = rendered(state.workers, [](const WorkerLoad& worker) {
    return json::object{{"id", worker.id}, {"containers", rendered(worker.containers, settled)}};
  });
  return object;
}

json::value to_json(const SteerState& state) {
  const auto job = [](const SteeredJob& from) {
    return json::object{{"id", from.id},
                        {"left", from.left},
                        {"width", from.width},
                        {"moves", from.moves},
                        {"may_move", from.may_move}};
  };
  const auto host = [&](const SteeredHost& from) {
    return json::object{
        {"id", from.id}, {"cores", from.cores}, {"containers", rendered(from.jobs, job)}};
  };
  return json::object{{"move_seconds", state.move_seconds},
                      {"max_moves", state.max_moves},
                      {"gain", state.gain},
                      {"hosts", rendered(state.hosts, host)}};
}

json::value to_json(const CategoriseDecision& decision) {
  const auto container = [](const CategorisedContainer& from) {
    return json::object{{"id", from.id},
                        {"category", name(from.category)},
                        {"growth", number_or_null(from.growth)}};
  };
  return json::object{{"containers", rendered(decision.containers, container)},
                      {"requests", texts(decision.requests)}};
}

json::value to_json(const SpeculateDecision& decision) {
  json::object scores;
  scores.reserve(decision.scores.size());
  for (const WorkerScore& score : decision.scores) scores.emplace(score.id, score.score);
  return json::object{{"scores", std::move(scores)},
                      {"candidates", texts(decision.candidates)},
                      {"target", decision.target},
                      {"move", decision.move}};
}

json::value to_json(const RebalanceDecision& decision) {
  return json::object{{"balance_factor", decision.balance_factor},
                      {"branch", name(decision.branch)},
                      {"moves", rendered(decision.moves, moved)}};
}

json::value to_json(const SteerDecision& decision) {
  return json::object{{"moves", rendered(decision.moves, moved)}};
}

}  // namespace flowcon::cluster::policy
