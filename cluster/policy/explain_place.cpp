// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/explain_place.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/policy/sentences.h"

namespace flowcon::cluster::policy {
namespace {

std::string number_of(std::size_t count, const char* what) {
  return count > 0 ? counted(static_cast<std::int64_t>(count), what) : "";
}

// "gpu1 (1 parameter server, 2 workers), gpu2 (1 worker)"
std::string where(const PlaceState& state, const PlaceDecision& decision, const std::string& job,
                  const About& about) {
  std::unordered_map<std::string_view, const PlaceTask*> tasks;
  for (const PlaceTask& task : state.tasks) tasks.emplace(task.id, &task);
  std::vector<std::pair<std::string, std::pair<std::size_t, std::size_t>>> nodes;
  for (const TaskPlace& place : decision.placement) {
    const PlaceTask& task = *tasks.at(place.task);
    if (task.job != job) continue;
    auto at = std::find_if(nodes.begin(), nodes.end(),
                           [&](const auto& node) { return node.first == place.node; });
    if (at == nodes.end()) at = nodes.insert(at, {place.node, {}});
    ++(task.role == TaskRole::ps ? at->second.first : at->second.second);
  }
  std::string text;
  for (const auto& [node, counts] : nodes) {
    const std::string ps = number_of(counts.first, "parameter server");
    const std::string workers = number_of(counts.second, "worker");
    text += (text.empty() ? "" : ", ") + host_name(about, node) + " (" + ps +
            (ps.empty() || workers.empty() ? "" : ", ") + workers + ')';
  }
  return text;
}

}  // namespace

Result<std::string> explain(const PlaceState& state, const PlaceDecision& decision,
                            const About& about) {
  const auto task = find(state.tasks, about.id);
  const std::string& job = task == state.tasks.end() ? about.id : task->job;
  const auto is_of_job = [&job](const PlaceTask& other) { return other.job == job; };
  if (std::none_of(state.tasks.begin(), state.tasks.end(), is_of_job)) {
    return bad_input("the job is not in this decision");
  }
  const bool is_batch = state.mode == PlaceMode::batch;
  const auto unplaced = std::find(decision.unplaced.begin(), decision.unplaced.end(), job);
  if (unplaced != decision.unplaced.end()) {
    return std::string("is not placed: ") +
           (is_batch ? "no plan was found that has room for it and all jobs before it"
                     : "the hosts of no domain have room for all tasks of its job");
  }
  if (is_batch) {
    const auto place = std::find_if(decision.placement.begin(), decision.placement.end(),
                                    [&](const TaskPlace& each) { return each.task == about.id; });
    const std::string target = place != decision.placement.end()
                                   ? host_name(about, place->node)
                                   : where(state, decision, job, about);
    return "goes to " + target +
           ": the best plan found for the whole batch has it there (fitness " +
           rounded(decision.fitness) + ')';
  }
  const PlaceStep* last = nullptr;  // of the job
  for (const PlaceStep& step : decision.trace) {
    if (step.place.task == about.id) {
      return "goes to " + host_name(about, step.place.node) +
             ": its job's score with it there is " + rounded(step.score) +
             (state.seeded ? ", on the way to the least one found"
                           : ", the least of the hosts with room");
    }
    if (is_of_job(*find(state.tasks, step.place.task))) last = &step;
  }
  return "goes to " + where(state, decision, job, about) + ": score " + rounded(last->score);
}

}  // namespace flowcon::cluster::policy
