// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/explain_allocate.h"

#include <algorithm>

#include "cluster/codec/allocate_json.h"
#include "cluster/policy/sentences.h"

namespace flowcon::cluster::policy {
namespace {

using ctrl::policy::PlaceChange;

std::string why_as_before(const GreedyState& state, const GreedyDecision& decision,
                          const GreedyJob& job) {
  if (job.nodes > 0) return "keeps " + counted(job.nodes, "node");
  if (decision.idle > 0) {
    return "waits: " + counted(decision.idle, "node") + " of " + std::to_string(state.nodes) +
           (decision.idle == 1 ? " is" : " are") + " idle, too few for it or for one before it";
  }
  return "waits: no node is idle, and no job gives it half of its own";
}

Result<std::string> explain(const GreedyState& state, const GreedyDecision& decision,
                            const std::string& id) {
  const auto job = find(state.jobs, id);
  if (job == state.jobs.end()) return bad_input("the job is not in this decision");
  const auto place = static_cast<std::size_t>(job - state.jobs.begin());
  std::string text;
  for (const GreedyEntry& entry : decision.log) {
    if (entry.job != place) continue;
    if (!text.empty()) text += ", then ";
    if (entry.step == GreedyStep::start) {
      text += "starts with " + counted(entry.nodes, "node");
    } else if (entry.step == GreedyStep::up) {
      text +=
          "gets " + counted(entry.nodes, "node") + ": idle ones go to the jobs that ran shortest";
    } else {
      text += "gives half away and keeps " + counted(entry.nodes, "node") +
              ": it ran longest, and " + "another job waits";
    }
  }
  return text.empty() ? why_as_before(state, decision, *job) : text;
}

Result<std::string> explain(const HorizonState& state, const HorizonDecision& decision,
                            const std::string& id) {
  const auto job = find(state.jobs, id);
  if (job == state.jobs.end()) return bad_input("the job is not in this decision");
  const auto plan = find(decision.plan, id);
  if (plan == decision.plan.end()) {
    return "waits: the least numbers of the jobs before it leave too few of " +
           counted(state.nodes, "node");
  }
  std::string text = counted(plan->nodes.front(), "node");
  double served = 0;
  std::optional<std::int64_t> before = job->now;
  for (std::size_t t = 0; t < plan->nodes.size(); ++t) {
    const int nodes = plan->nodes[t];
    const double pause = before && *before != nodes ? pause_of(state, *job) / 3600 : 0;
    served += std::max(0.0, state.minutes / 60 - pause) * speed_of(*job, nodes);
    before = nodes;
    if (t > 0) text += (t == 1 ? ", then " : ", ") + std::to_string(nodes);
  }
  const double share = std::min(1.0, served / job->left);
  return text + ": serves " + rounded(100 * share) + " % of the " + rounded(job->left) +
         " node hours left within " + rounded(state.minutes * state.steps) + " minutes";
}

}  // namespace

Result<std::string> explain(const AllocateState& state, const AllocateDecision& decision,
                            const About& about) {
  if (const auto* greedy = std::get_if<GreedyState>(&state)) {
    return explain(*greedy, std::get<GreedyDecision>(decision), about.id);
  }
  return explain(std::get<HorizonState>(state), std::get<HorizonDecision>(decision), about.id);
}

std::vector<PlaceChange> allocate_changes(const boost::json::value& state,
                                          const boost::json::value& decision) {
  std::vector<PlaceChange> changes;
  const auto read = allocate_state_from(state);
  const boost::json::object* object = decision.if_object();
  if (!read || object == nullptr) return changes;
  const auto* greedy = std::get_if<GreedyState>(&*read);
  const boost::json::value* found = object->if_contains(greedy != nullptr ? "allocation" : "first");
  const boost::json::object* after = found != nullptr ? found->if_object() : nullptr;
  if (after == nullptr) return changes;
  const auto add = [&](const std::string& id, std::optional<std::int64_t> before) {
    const boost::json::value* nodes = after->if_contains(id);
    if (nodes == nullptr || !nodes->is_int64() || nodes->get_int64() == before) return;
    PlaceChange& change = changes.emplace_back();
    change.id = id;
    if (before) change.from = counted(*before, "node");
    change.to = counted(nodes->get_int64(), "node");
  };
  if (greedy != nullptr) {
    for (const GreedyJob& job : greedy->jobs) add(job.id, job.nodes);
  } else {
    for (const HorizonJob& job : std::get<HorizonState>(*read).jobs) add(job.id, job.now);
  }
  return changes;
}

}  // namespace flowcon::cluster::policy
