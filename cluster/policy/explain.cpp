// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/explain.h"

#include <algorithm>

#include "cluster/policy/sentences.h"

namespace flowcon::cluster::policy {
namespace {

Error elsewhere() { return bad_input("the container is not in this decision"); }

const char* word(Category category) {
  return category == Category::pc   ? "progressing"
         : category == Category::wc ? "watched"
                                    : "converged";
}

// CPU seconds that a host still has to do.
double work_of(const SteerState& state, const std::string& host) {
  double work = 0;
  for (const SteeredJob& job : find(state.hosts, host)->jobs) work += job.left;
  return work;
}

}  // namespace

Result<std::string> explain(const CategoriseState& state, const CategoriseDecision& decision,
                            const About& about) {
  const std::string& id = about.id;
  const auto before = find(state.containers, id);
  if (before == state.containers.end()) return elsewhere();
  const auto after = find(decision.containers, id);
  std::string text = word(after->category);
  if (after->category != before->category) text += std::string(", was ") + word(before->category);
  if (before->migrated) return text + ": it has had its one migration and keeps its category";
  if (!after->growth) {
    text += ": the change of its value is unknown yet";
  } else {
    text +=
        ": its value changed by " + rounded(*after->growth) + ", alpha is " + rounded(state.alpha);
    if (before->previous_growth) text += ", before by " + rounded(*before->previous_growth);
  }
  const auto& requests = decision.requests;
  const bool wants = std::find(requests.begin(), requests.end(), id) != requests.end();
  return wants ? text + "; looking for a less loaded host" : text;
}

Result<std::string> explain(const SpeculateState& state, const SpeculateDecision& decision,
                            const About& about) {
  if (state.container != about.id) return bad_input("a decision about another container");
  const auto score = [&](const std::string& host) {
    const auto found = find(decision.scores, host);
    return found == decision.scores.end() ? std::string("unknown") : rounded(found->score);
  };
  const std::string here = score(state.source);
  if (decision.move) {
    return "goes to " + host_name(about, decision.target) + ", whose score of " +
           score(decision.target) + " is the lowest (here: " + here +
           (state.draining ? ", and this host drains)" : ")");
  }
  return state.draining ? "stays: this host drains, and no other host is available"
                        : "stays: no host is less loaded than this one (score " + here + ")";
}

Result<std::string> explain(const RebalanceState& state, const RebalanceDecision& decision,
                            const About& about) {
  const std::string& id = about.id;
  const std::string factor = "; " + std::to_string(decision.balance_factor) + " a host is even";
  for (const Move& move : decision.moves) {
    if (move.container != id) continue;
    return "goes to " + host_name(about, move.to) +
           (decision.branch == Branch::idle ? ", which is idle" : ", which has fewer than others") +
           factor;
  }
  const bool is_in = std::any_of(
      state.workers.begin(), state.workers.end(),
      [&](const WorkerLoad& host) { return find(host.containers, id) != host.containers.end(); });
  return is_in ? "stays: " + std::to_string(decision.moves.size()) + " others migrate" + factor
               : Result<std::string>(elsewhere());
}

Result<std::string> explain(const SteerState& state, const SteerDecision& decision,
                            const About& about) {
  const std::string& id = about.id;
  const SteeredJob* job = nullptr;
  for (const SteeredHost& host : state.hosts) {
    const auto found = find(host.jobs, id);
    if (found != host.jobs.end()) job = &*found;
  }
  if (job == nullptr) return elsewhere();
  for (const Move& move : decision.moves) {
    if (move.container != id) continue;
    return "goes to " + host_name(about, move.to) + ", which has " +
           rounded(work_of(state, move.to)) + " CPU s of remaining work: here " +
           rounded(work_of(state, move.from)) + ", " + rounded(job->left) +
           " of it its own; a migration costs " + rounded(state.move_seconds) + " s";
  }
  if (!job->may_move) {
    return "stays: it may not migrate now, has just begun, or has no estimate";
  }
  if (job->moves >= state.max_moves) {
    return "stays: it has migrated " + std::to_string(job->moves) + " times";
  }
  return "stays: " + std::to_string(decision.moves.size()) + " others migrate";
}

}  // namespace flowcon::cluster::policy
