// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/lp_solution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/digits.h"
#include "base/json.h"
#include "base/text.h"
#include "cluster/policy/horizon_model.h"

namespace flowcon::cluster::policy {
namespace {

using horizon::Choice;
using horizon::Model;
using horizon::Plan;

constexpr std::string_view kObjective = " - objective value ";
constexpr Choice kNone = 255;

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

// "y_3_0_2": job, step, place of its number among the legal ones.
std::optional<std::array<std::size_t, 3>> binary_of(std::string_view name) {
  std::array<std::size_t, 3> parts{};
  if (!name.starts_with("y_")) return std::nullopt;
  name.remove_prefix(2);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t end = i < 2 ? name.find('_') : name.size();
    if (end == std::string_view::npos) return std::nullopt;
    const auto part = parse_number<std::size_t>(name.substr(0, end));
    if (!part) return std::nullopt;
    parts[i] = *part;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return parts;
}

// The choices that the solution's binaries make.
Result<Plan> plan_of(const Model& model, const LpSolution& solution) {
  const auto steps = static_cast<std::size_t>(model.steps);
  Plan plan;
  plan.choices.assign(model.jobs.size() * steps, kNone);
  std::vector<std::int64_t> used(steps, 0);
  for (const std::string& name : solution.chosen) {
    const auto binary = binary_of(name);
    if (!binary) return bad_input("the solution has a binary " + printable(name, 60));
    const auto [i, t, k] = *binary;
    if (i >= model.jobs.size() || t >= steps || k >= model.jobs[i].numbers.size()) {
      return bad_input("the solution has a binary that there is not: " + printable(name, 60));
    }
    Choice& choice = plan.choices[i * steps + t];
    if (choice != kNone) return bad_input("the solution has two numbers where " + name + " is");
    choice = static_cast<Choice>(k);
    used[t] += model.jobs[i].numbers[k];
  }
  if (std::find(plan.choices.begin(), plan.choices.end(), kNone) != plan.choices.end()) {
    return bad_input("the solution has a job and step without a number");
  }
  for (const std::int64_t nodes : used) {
    if (nodes > model.nodes) return bad_input("the solution uses more nodes than there are");
  }
  plan.value = horizon::value_of(model, plan);
  return plan;
}

// The place of a number among the job's legal ones.
std::size_t place_of(const horizon::Job& job, int nodes) {
  const auto found = std::find(job.numbers.begin(), job.numbers.end(), nodes);
  return static_cast<std::size_t>(found - job.numbers.begin());
}

}  // namespace

Result<LpSolution> read_lp_solution(std::string_view text) {
  if (text.size() > LpSolution::kMostBytes) return bad_input("the solution is too large");
  const std::string_view first = next_line(text);
  const std::size_t at = first.find(kObjective);
  const auto objective = at == std::string_view::npos
                             ? std::nullopt
                             : parse_number<double>(first.substr(at + kObjective.size()));
  if (!objective || !std::isfinite(*objective)) {
    return bad_input("the solution begins with \"" + printable(first, 60) + "\"");
  }
  const std::string_view status = first.substr(0, at);
  LpSolution solution;
  solution.is_optimal = status == "Optimal";
  solution.objective = std::abs(*objective);  // of a maximum some releases write the negative
  const bool is_stopped =
      status.starts_with("Stopped") && status.find("no integer solution") == std::string_view::npos;
  if (!solution.is_optimal && !is_stopped) {
    return bad_input("there is no solution: " + printable(status, 80));
  }
  for (std::size_t lines = 0; !text.empty(); ++lines) {
    if (lines == LpSolution::kMostLines) return bad_input("the solution has too many lines");
    std::string_view line = next_line(text);
    const std::string_view whole = line;
    const bool has_index = parse_number<std::size_t>(next_word(line)).has_value();
    const std::string_view name = next_word(line);
    const auto value = parse_number<double>(next_word(line));
    if (!has_index || !value) {
      return bad_input("the solution has a line \"" + printable(whole, 60) + "\"");
    }
    if (name.starts_with("y_") && *value > 0.5) solution.chosen.emplace_back(name);
  }
  return solution;
}

std::string lp_start(const HorizonState& state, const HorizonDecision& decision) {
  const Model model = horizon::make_model(state);
  std::string text = "Feasible - objective value " + render_number(decision.objective) + "\n";
  std::size_t index = 0;
  for (std::size_t i = 0; i < model.jobs.size() && i < decision.plan.size(); ++i) {
    const horizon::Job& job = model.jobs[i];
    double served = 0;
    int before = job.now;
    for (std::size_t t = 0; t < decision.plan[i].nodes.size(); ++t) {
      const std::size_t k = place_of(job, decision.plan[i].nodes[t]);
      served = std::min(1.0, served + job.gain_after(before, static_cast<int>(k)));
      before = static_cast<int>(k);
      const std::string at = std::to_string(i) + '_' + std::to_string(t);
      text += std::to_string(index++) + " y_" + at + '_' + std::to_string(k) + " 1\n";
      text += std::to_string(index++) + " s_" + at + ' ' + render_number(served) + '\n';
    }
  }
  return text;
}

Result<HorizonDecision> better_plan(const HorizonState& state, HorizonDecision decision,
                                    const LpSolution& solution) {
  const Model model = horizon::make_model(state);
  const Result<Plan> plan = plan_of(model, solution);
  if (!plan) return plan.error();
  if (plan->value <= decision.objective + horizon::kRounding) return decision;
  const Choice* choice = plan->choices.data();
  for (std::size_t i = 0; i < model.jobs.size(); ++i) {
    for (int& nodes : decision.plan[i].nodes) nodes = model.jobs[i].numbers[*choice++];
  }
  decision.objective = plan->value;
  decision.bound = std::max(decision.bound, decision.objective);
  return decision;
}

}  // namespace flowcon::cluster::policy
