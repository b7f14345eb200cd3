// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/explain_queue.h"

#include <map>

#include "cluster/policy/sentences.h"

namespace flowcon::cluster::policy {
namespace {

using Op = QueueAction::Op;

Error elsewhere() { return bad_input("the job is not in this decision"); }

std::string tasks(std::int64_t ps, std::int64_t workers) {
  std::string text = ps > 0 ? counted(ps, "parameter server") : "";
  if (workers > 0) text += (text.empty() ? "" : ", ") + counted(workers, "worker");
  return text;
}

// "gpu1 (1 parameter server, 2 workers), gpu2 (1 worker)"
std::string where(const Placement& placed, const std::vector<QueueNode>& hosts,
                  const About& about) {
  std::map<std::size_t, std::pair<std::int64_t, std::int64_t>> nodes;
  for (const NodeCount& here : placed.ps) nodes[here.node].first = here.count;
  for (const NodeCount& here : placed.workers) nodes[here.node].second = here.count;
  std::string text;
  for (const auto& [node, counts] : nodes) {
    const std::string& id = hosts[node].id;
    text += (text.empty() ? "" : ", ") + host_name(about, id) + " (" +
            tasks(counts.first, counts.second) + ')';
  }
  return text;
}

// What the decision did, as far as a sentence about one job goes.
struct Story {
  const QueueAction* start = nullptr;
  const QueueAction* last_start = nullptr;  // of any job
  std::int64_t given = 0;                   // workers that left this job
  std::int64_t taken = 0;                   // workers of others that left for its start
  std::int64_t added = 0;
  bool is_starved = false;
  bool is_finished = false;
};

Story story_of(const QueueDecision& decision, const std::string& id) {
  Story story;
  std::int64_t removals = 0;
  for (const QueueAction& action : decision.actions) {
    const bool is_own = action.job == id;
    if (action.op == Op::remove_worker) ++removals;
    if (action.op == Op::remove_worker && is_own) ++story.given;
    if (action.op == Op::add_worker && is_own) ++story.added;
    if (action.op == Op::starve && is_own) story.is_starved = true;
    if (action.op == Op::finish && is_own) story.is_finished = true;
    if (action.op != Op::start) continue;
    story.last_start = &action;
    if (is_own) story.start = &action;
    if (is_own) story.taken = removals;
    removals = 0;
  }
  return story;
}

std::string waits(const QueueState& state, const QueueDecision& decision, const Story& story,
                  const QueueJob& job, double weight) {
  std::string text = "waits with weight " + rounded(weight) + ": ";
  const std::string minimum = "its minimum (" + tasks(job.ps, job.min) + ')';
  if (decision.branch == QueueBranch::rest) {
    text += "a running job has a greater one, and no hosts have room for " + minimum;
  } else if (story.last_start && !state.repeat) {
    text += "one job starts at a time, and " + story.last_start->job + " came first";
  } else if (decision.waiting.size() > 1) {
    text += "the first of the queue starts first; none of " +
            std::to_string(decision.waiting.size()) + " does now";
  } else {
    text += "no hosts have room for " + minimum +
            ", nor would one if jobs of lower weight gave all the workers that they may";
  }
  if (story.is_starved) text += "; it has waited so long that its weight becomes 1";
  return text;
}

// Whatever runs there.
bool could_start(const std::vector<QueueNode>& nodes, const QueueJob& job) {
  std::vector<const Amounts*> caps;
  for (const QueueNode& node : nodes) caps.push_back(&node.cap);
  return could_hold(caps, {job.worker_request, job.min}, {job.ps_request, job.ps});
}

// "120 s left by its counter or earlier runs, after 2 others"
std::string length_of(const LeftPlace& place, std::size_t before, const LeftState& state) {
  if (place.is_starved) {
    return "it has waited more than " + rounded(state.starve_limit) +
           " s, so it goes before all that have not";
  }
  std::string text = (place.is_guess ? "about " : "") + rounded(place.left) + " s left" +
                     (place.is_guess ? ", guessed from other jobs" : "");
  if (before == 0) return text + ", before all others";
  return text + ", behind " + counted(static_cast<std::int64_t>(before), "other");
}

}  // namespace

Result<std::string> explain(const QueueState& state, const QueueDecision& decision,
                            const About& about) {
  const QueueJob* job = nullptr;
  for (const auto* jobs : {&state.waiting, &state.running, &state.arriving}) {
    const auto found = find(*jobs, about.id);
    if (found != jobs->end()) job = &*found;
  }
  if (!job) return elsewhere();
  const Story story = story_of(decision, about.id);
  const auto waiting = find(decision.waiting, about.id);
  if (waiting != decision.waiting.end()) {
    return waits(state, decision, story, *job, waiting->weight);
  }
  if (story.is_finished) return std::string("has ended: its room is idle again");
  const auto running = find(decision.running, about.id);
  std::string text;
  if (story.start) {
    text = "starts on " + where(story.start->placed, state.nodes, about) + ": " +
           (story.start->by_preempt ? counted(story.taken, "worker") + " of other jobs made room"
                                    : std::string("its minimum fits there"));
  } else {
    text = "runs on " + where(running->placed, state.nodes, about);
  }
  text += "; weight " + rounded(running->weight);
  if (story.given > 0) text += "; gives " + counted(story.given, "worker");
  if (story.added > 0) {
    text +=
        "; grows by " + counted(story.added, "worker") + " of at most " + std::to_string(job->max);
  }
  return text;
}

Result<std::string> explain(const LeftState& state, const LeftDecision& decision,
                            const About& about) {
  const auto place = find(decision.jobs, about.id);
  const auto listed = std::find_if(state.jobs.begin(), state.jobs.end(),
                                   [&](const LeftJob& each) { return each.job.id == about.id; });
  if (place == decision.jobs.end() || listed == state.jobs.end()) return elsewhere();
  const auto before = static_cast<std::size_t>(place - decision.jobs.begin());
  const std::string why = length_of(*place, before, state);
  const QueueJob& job = listed->job;
  const std::string there = where(place->placed, state.nodes, about);
  switch (place->change) {
    case LeftChange::wait:
      if (!could_start(state.nodes, job)) {
        return "waits: no hosts that may have it could hold its minimum (" +
               tasks(job.ps, job.min) + "), whatever runs there";
      }
      return "waits: " + why + ", who leave no room for its minimum (" + tasks(job.ps, job.min) +
             ')';
    case LeftChange::start:
      return "starts on " + there + ": " + why;
    case LeftChange::keep:
      return "stays on " + there + ": " + why;
    case LeftChange::resize:
      return "has its workers changed, now on " + there + ": " + why;
    case LeftChange::move:
      return "is saved and starts anew on " + there + ": " + why;
    case LeftChange::park:
      return "is saved and waits: " + why + ", who take its room";
  }
  return elsewhere();
}

Result<std::string> explain(const ShareState& state, const ShareDecision& decision,
                            const About& about) {
  const auto task = find(state.tasks, about.id);
  if (task == state.tasks.end()) return elsewhere();
  std::string asked =
      task->gpus ? counted(*task->gpus, "unused device") : rounded(task->util) + " % of a device";
  for (const TaskDevices& placed : decision.placed) {
    if (placed.task != about.id) continue;
    std::string text = "gets ";
    for (const std::string& device : placed.devices) {
      text += (&device == &placed.devices.front() ? "" : ", ") + device;
    }
    return text + (task->gpus ? ": it asks for " + asked
                              : ": the most used device with room for " + asked);
  }
  return "gets no device: it asks for " + asked + ", and there is no such room";
}

}  // namespace flowcon::cluster::policy
