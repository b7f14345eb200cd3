// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/allocate_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <utility>

#include "base/json_fields.h"

namespace flowcon::cluster::policy {
namespace {

static_assert(GreedyState::kMostJobs == 10'000 && HorizonState::kMostJobs == 10'000 &&
              HorizonState::kMostNodes == 100'000 && HorizonState::kMostSteps == 100 &&
              HorizonState::kMostMinutes == 1e6);

// Speeds are asked for by number, so these have to be known first.
void read_speeds(FieldReader& reader, const std::vector<int>& numbers, HorizonJob& job) {
  FieldReader inner(reader.member("speed"), reader.place("speed"));
  for (const int number : numbers) {
    if (number == 0) continue;
    const std::string field = std::to_string(number);
    job.speed.emplace_back(number, inner.number(field));
    inner.require(job.speed.back().second >= 0, field, "must be at least 0");
  }
  reader.take_complaint(inner);
}

void read_numbers(FieldReader& reader, HorizonState& state) {
  const json::array& jobs = reader.array("jobs");
  for (std::size_t i = 0; i < state.jobs.size() && !reader.failed(); ++i) {
    FieldReader inner(jobs[i], indexed(reader.place("jobs"), i));
    HorizonJob& job = state.jobs[i];
    const std::vector<int> numbers = legal_numbers(state, job);
    if (numbers.empty()) {
      inner.complain("n_max", "leaves no power of two from n_min to n_max and nodes (" +
                                  std::to_string(job.n_min) + " to " + std::to_string(job.n_max) +
                                  ", " + std::to_string(state.nodes) + ')');
    }
    if (inner.has("speed")) read_speeds(inner, numbers, job);
    reader.take_complaint(inner);
  }
}

json::object speeds_json(const HorizonJob& job) {
  json::object speeds;
  for (const auto& [nodes, speed] : job.speed) speeds[std::to_string(nodes)] = speed;
  return speeds;
}

json::object written(const GreedyDecision& decision) {
  json::object allocation;
  for (std::size_t i = 0; i < decision.ids.size(); ++i) {
    allocation.emplace(decision.ids[i], decision.nodes[i]);
  }
  json::array log;
  for (const GreedyEntry& entry : decision.log) {
    log.push_back(json::array{name(entry.step), decision.ids[entry.job], entry.nodes});
  }
  return {{"scenario", decision.scenario},
          {"allocation", std::move(allocation)},
          {"idle", decision.idle},
          {"log", std::move(log)}};
}

json::object written(const HorizonDecision& decision) {
  json::object plan;
  json::object first;
  for (const HorizonPlan& job : decision.plan) {
    plan.emplace(job.id, json::array(job.nodes.begin(), job.nodes.end()));
    first.emplace(job.id, job.nodes.front());
  }
  return {{"objective", decision.objective},
          {"bound", decision.bound},
          {"plan", std::move(plan)},
          {"first", std::move(first)},
          {"waiting", json::array(decision.waiting.begin(), decision.waiting.end())}};
}

}  // namespace

static void fields(auto& io, Is<GreedyJob> auto& job) {
  io("id", job.id);
  io("nodes", job.nodes);
  io("train_time", job.train_time);
  io("n_min", job.n_min);
  io("n_max", job.n_max);
}

template <class Io>
static void fields(Io& io, Is<GreedyState> auto& state) {
  io("nodes", state.nodes);
  io.optional("powers_of_two", state.powers_of_two, true);
  io.optional("cascade", state.cascade, true);
  io.optional("repeat", state.repeat, false);
  if (io.is_longer("jobs", 10'000)) io.complain("jobs", "must be at most 10000");
  io("jobs", state.jobs);
  io.require_unique_ids("jobs", state.jobs);
  if constexpr (Io::kReads) {
    std::int64_t idle = state.nodes;
    for (const GreedyJob& job : state.jobs) {
      if (idle >= 0) idle -= job.nodes;
    }
    io.require(idle >= 0, "nodes", "must be at least those that the jobs have");
  }
}

template <class Io>
static void fields(Io& io, Is<HorizonJob> auto& job) {
  io("id", job.id);
  positive(io, "left", job.left);
  io("n_min", job.n_min);
  io("n_max", job.n_max);
  io.optional("now", job.now);
  io.optional("pause", job.pause);
  io.require(job.pause.value_or(0) >= 0, "pause", "must be at least 0");
  if constexpr (!Io::kReads) {  // read_numbers() reads it
    if (!job.speed.empty()) io.put("speed", speeds_json(job));
  }
}

template <class Io>
static void fields(Io& io, Is<HorizonState> auto& state) {
  std::int64_t steps = state.steps;
  io("nodes", state.nodes);
  io.require(state.nodes <= HorizonState::kMostNodes, "nodes", "must be at most 100000");
  io("steps", steps);
  io.require(steps >= 1 && steps <= HorizonState::kMostSteps, "steps", "must be 1 to 100");
  io("minutes", state.minutes);
  io.require(state.minutes > 0 && state.minutes <= HorizonState::kMostMinutes, "minutes",
             "must be above 0 and at most 1000000");
  io.optional("allow_zero", state.allow_zero, false);
  if (io.has("pause", state.pause > 0)) io("pause", state.pause);
  io.require(state.pause >= 0, "pause", "must be at least 0");
  if (io.is_longer("jobs", 10'000)) io.complain("jobs", "must be at most 10000");
  io("jobs", state.jobs);
  if constexpr (Io::kReads) {
    state.steps = static_cast<int>(steps);
    io.require_unique_ids("jobs", state.jobs);
    read_numbers(io, state);
  }
}

Result<AllocateState> allocate_state_from(const json::value& json) {
  FieldReader reader(json, "");
  const std::string allocator = reader.text("allocator");
  AllocateState state;
  if (allocator == "milp") {
    state = value_in<HorizonState>(reader);
  } else {
    reader.require(allocator == "greedy", "allocator", "must be greedy or milp");
    state = value_in<GreedyState>(reader);
  }
  if (reader.failed()) return reader.error();
  return state;
}

json::value to_json(const AllocateState& state) {
  FieldWriter writer;
  writer.put("allocator", std::holds_alternative<GreedyState>(state) ? "greedy" : "milp");
  std::visit([&writer](const auto& of) { fields(writer, of); }, state);
  return writer.take();
}

json::value to_json(const AllocateDecision& decision) {
  return std::visit([](const auto& of) { return written(of); }, decision);
}

}  // namespace flowcon::cluster::policy
