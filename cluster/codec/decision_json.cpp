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
#include "base/json_fields.h"

namespace flowcon::cluster::policy {
namespace {

constexpr std::int64_t kMostMoved = 1'000'000;

// What is not finite is written as not measured.
json::value finite_or_null(const std::optional<double>& number) {
  return number_or_null(number && std::isfinite(*number) ? number : std::nullopt);
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
template <class Hosts, class Containers>
void require_unique_containers(FieldWriter&, std::string_view, const Hosts&, Containers) {}

json::object moved(const Move& move) {
  return {{"container", move.container}, {"from", move.from}, {"to", move.to}};
}

}  // namespace

static void fields(auto& io, Is<ObservedContainer> auto& container) {
  io("id", container.id);
  io.one_of("category", container.category, {Category::pc, Category::wc, Category::cc},
            "must be PC, WC or CC");
  io.as("value", container.value, &FieldReader::number_or_null, finite_or_null);
  io.as("previous_value", container.previous_value, &FieldReader::number_or_null, finite_or_null);
  io.as("previous_growth", container.previous_growth, &FieldReader::number_or_null, finite_or_null);
  io("migrated", container.migrated);
}

static void fields(auto& io, Is<CategoriseState> auto& state) {
  io("alpha", state.alpha);
  io("containers", state.containers);
  io.require_unique_ids("containers", state.containers);
}

static void fields(auto& io, Is<Weights> auto& weights) {
  io("pc", weights.pc);
  io("wc", weights.wc);
  io("cc", weights.cc);
  io.require(weights.cc > 0, "cc", "must be above 0");
  io.require(weights.wc > weights.cc, "wc", "must be above that of cc");
  io.require(weights.pc > weights.wc, "pc", "must be above that of wc");
}

static void fields(auto& io, Is<Worker> auto& worker) {
  io("id", worker.id);
  io("pc", worker.counts.pc);
  io("wc", worker.counts.wc);
  io("cc", worker.counts.cc);
  io("usage", worker.usage);
}

static void fields(auto& io, Is<SpeculateState> auto& state) {
  io("weights", state.weights);
  io.optional("draining", state.draining, false);
  io("container", state.container);
  io("source", state.source);
  io("workers", state.workers);
  io.require_unique_ids("workers", state.workers);
  const bool is_known =
      std::any_of(state.workers.begin(), state.workers.end(),
                  [&state](const Worker& worker) { return worker.id == state.source; });
  io.require(is_known, "source", "must be the id of a worker");
}

static void fields(auto& io, Is<SettledContainer> auto& container) {
  io("id", container.id);
  io.as("converged_at", container.converged_at, &FieldReader::number_or_null, finite_or_null);
  io.as("migrated_at", container.migrated_at, &FieldReader::number_or_null, finite_or_null);
  io("rebalanced", container.rebalanced);
}

static void fields(auto& io, Is<WorkerLoad> auto& worker) {
  io("id", worker.id);
  io("containers", worker.containers);
}

static void fields(auto& io, Is<RebalanceState> auto& state) {
  io("now", state.now);
  io.optional("guard", state.guard, false);
  if (io.has("rounding", state.rounding != Rounding::floor)) {
    io.one_of("rounding", state.rounding, {Rounding::floor, Rounding::ceil},
              "must be floor or ceil");
  }
  io.optional("fill", state.fill, false);
  io("workers", state.workers);
  io.require_unique_ids("workers", state.workers);
  require_unique_containers(
      io, "workers", state.workers,
      [](const WorkerLoad& load) -> const auto& { return load.containers; });
  if (state.workers.empty()) io.complain("workers", "must hold at least one");
}

static void fields(auto& io, Is<SteeredJob> auto& job) {
  io("id", job.id);
  positive(io, "left", job.left);
  positive(io, "width", job.width);
  io("moves", job.moves, kMostMoved);
  io("may_move", job.may_move);
}

static void fields(auto& io, Is<SteeredHost> auto& host) {
  io("id", host.id);
  positive(io, "cores", host.cores);
  io("containers", host.jobs);
}

static void fields(auto& io, Is<SteerState> auto& state) {
  not_negative(io, "move_seconds", state.move_seconds);
  io("max_moves", state.max_moves, kMostMoved);
  not_negative(io, "gain", state.gain);
  io("hosts", state.hosts);
  io.require_unique_ids("hosts", state.hosts);
  require_unique_containers(
      io, "hosts", state.hosts, [](const SteeredHost& host) -> const auto& { return host.jobs; });
}

Result<CategoriseState> categorise_state_from(const json::value& json) {
  return read_json<CategoriseState>(json);
}
Result<SpeculateState> speculate_state_from(const json::value& json) {
  return read_json<SpeculateState>(json);
}
Result<RebalanceState> rebalance_state_from(const json::value& json) {
  return read_json<RebalanceState>(json);
}
Result<SteerState> steer_state_from(const json::value& json) { return read_json<SteerState>(json); }

json::value to_json(const CategoriseState& state) { return fields_json(state); }
json::value to_json(const SpeculateState& state) { return fields_json(state); }
json::value to_json(const RebalanceState& state) { return fields_json(state); }
json::value to_json(const SteerState& state) { return fields_json(state); }

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
