// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/allocate_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <utility>

#include "base/json_reader.h"

namespace flowcon::cluster::policy {
namespace {

static_assert(GreedyState::kMostJobs == 10'000 && HorizonState::kMostJobs == 10'000 &&
              HorizonState::kMostNodes == 100'000 && HorizonState::kMostSteps == 100 &&
              HorizonState::kMostMinutes == 1e6);

// An option that is on unless it says otherwise.
bool is_on(FieldReader& reader, std::string_view name) {
  return !reader.has(name) || reader.boolean(name);
}

void require_few(FieldReader& reader) {
  if (reader.array("jobs").size() > 10'000) reader.complain("jobs", "must be at most 10000");
}

GreedyJob read_greedy_job(FieldReader& reader) {
  GreedyJob job;
  job.id = reader.text("id");
  job.nodes = reader.count("nodes");
  job.train_time = reader.number("train_time");
  job.n_min = reader.count("n_min");
  job.n_max = reader.count("n_max");
  return job;
}

GreedyState read_greedy(FieldReader& reader) {
  GreedyState state;
  state.nodes = reader.count("nodes");
  state.powers_of_two = is_on(reader, "powers_of_two");
  state.cascade = is_on(reader, "cascade");
  state.repeat = reader.optional_bool("repeat");
  require_few(reader);
  state.jobs = reader.each("jobs", read_greedy_job);
  reader.require_unique_ids("jobs", state.jobs);
  std::int64_t idle = state.nodes;
  for (const GreedyJob& job : state.jobs) {
    if (idle >= 0) idle -= job.nodes;
  }
  reader.require(idle >= 0, "nodes", "must be at least those that the jobs have");
  return state;
}

HorizonJob read_horizon_job(FieldReader& reader) {
  HorizonJob job;
  job.id = reader.text("id");
  job.left = reader.number("left");
  reader.require(job.left > 0, "left", "must be above 0");
  job.n_min = reader.count("n_min");
  job.n_max = reader.count("n_max");
  if (reader.has("now")) job.now = reader.count("now");
  job.pause = reader.optional_number("pause");
  reader.require(job.pause.value_or(0) >= 0, "pause", "must be at least 0");
  return job;
}

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

HorizonState read_horizon(FieldReader& reader) {
  HorizonState state;
  state.nodes = reader.count("nodes");
  reader.require(state.nodes <= HorizonState::kMostNodes, "nodes", "must be at most 100000");
  const std::int64_t steps = reader.count("steps");
  reader.require(steps >= 1 && steps <= HorizonState::kMostSteps, "steps", "must be 1 to 100");
  state.minutes = reader.number("minutes");
  reader.require(state.minutes > 0 && state.minutes <= HorizonState::kMostMinutes, "minutes",
                 "must be above 0 and at most 1000000");
  state.allow_zero = reader.optional_bool("allow_zero");
  state.pause = reader.optional_number("pause").value_or(0);
  reader.require(state.pause >= 0, "pause", "must be at least 0");
  require_few(reader);
  if (reader.failed()) return state;
  state.steps = static_cast<int>(steps);
  state.jobs = reader.each("jobs", read_horizon_job);
  reader.require_unique_ids("jobs", state.jobs);
  read_numbers(reader, state);
  return state;
}

json::object written(const GreedyState& state) {
  json::array jobs;
  for (const GreedyJob& job : state.jobs) {
    jobs.push_back(json::object{{"id", job.id},
                                {"nodes", job.nodes},
                                {"train_time", job.train_time},
                                {"n_min", job.n_min},
                                {"n_max", job.n_max}});
  }
  json::object object{{"allocator", "greedy"}, {"nodes", state.nodes}};
  if (!state.powers_of_two) object["powers_of_two"] = false;
  if (!state.cascade) object["cascade"] = false;
  if (state.repeat) object["repeat"] = true;
  object["jobs"] = std::move(jobs);
  return object;
}

json::object written(const HorizonState& state) {
  json::array jobs;
  for (const HorizonJob& from : state.jobs) {
    json::object job{
        {"id", from.id}, {"left", from.left}, {"n_min", from.n_min}, {"n_max", from.n_max}};
    if (from.now) job["now"] = *from.now;
    if (from.pause) job["pause"] = *from.pause;
    if (!from.speed.empty()) {
      json::object speeds;
      for (const auto& [nodes, speed] : from.speed) speeds[std::to_string(nodes)] = speed;
      job["speed"] = std::move(speeds);
    }
    jobs.push_back(std::move(job));
  }
  json::object object{{"allocator", "milp"},
                      {"nodes", state.nodes},
                      {"steps", state.steps},
                      {"minutes", state.minutes}};
  if (state.allow_zero) object["allow_zero"] = true;
  if (state.pause > 0) object["pause"] = state.pause;
  object["jobs"] = std::move(jobs);
  return object;
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

Result<AllocateState> allocate_state_from(const json::value& json) {
  FieldReader reader(json, "");
  const std::string allocator = reader.text("allocator");
  AllocateState state;
  if (allocator == "milp") {
    state = read_horizon(reader);
  } else {
    reader.require(allocator == "greedy", "allocator", "must be greedy or milp");
    state = read_greedy(reader);
  }
  if (reader.failed()) return reader.error();
  return state;
}

json::value to_json(const AllocateState& state) {
  return std::visit([](const auto& of) { return written(of); }, state);
}

json::value to_json(const AllocateDecision& decision) {
  return std::visit([](const auto& of) { return written(of); }, decision);
}

}  // namespace flowcon::cluster::policy
