// SPDX-License-Identifier: Apache-2.0
#include "cluster/balance/explain.h"

#include <algorithm>
#include <cstdio>

#include "base/json.h"
#include "cluster/codec/decision_json.h"

namespace flowcon::cluster::balance {
namespace {

using HostName = std::function<std::string(const std::string& id)>;

constexpr const char* kElsewhere = "the container is not in this decision";

const char* word(policy::Category category) {
  return category == policy::Category::pc   ? "progressing"
         : category == policy::Category::wc ? "watching"
                                            : "converged";
}

std::string rounded(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

template <class Items>
auto find(const Items& items, const std::string& id) {
  return std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.id == id; });
}

std::string explain_categorise(const policy::CategoriseState& state, const std::string& id) {
  const auto before = find(state.containers, id);
  if (before == state.containers.end()) return kElsewhere;
  const policy::CategoriseDecision decision = policy::decide_categorise(state);
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

std::string explain_speculate(const policy::SpeculateState& state, const std::string& id,
                              const HostName& host_name) {
  if (state.container != id) {
    return "a decision about another container";
  }
  const policy::SpeculateDecision decision = policy::decide_speculate(state);
  const auto score = [&](const std::string& host) {
    const auto found = find(decision.scores, host);
    return found == decision.scores.end() ? std::string("unknown") : rounded(found->score);
  };
  const std::string here = score(state.source);
  if (decision.move) {
    return "goes to " + host_name(decision.target) + ", whose score of " + score(decision.target) +
           " is the lowest (here: " + here + (state.draining ? ", and this host drains)" : ")");
  }
  return state.draining ? "stays: this host drains, and no other host is available"
                        : "stays: no host is less loaded than this one (score " + here + ")";
}

std::string explain_rebalance(const policy::RebalanceState& state, const std::string& id,
                              const HostName& host_name) {
  const policy::RebalanceDecision decision = policy::decide_rebalance(state);
  const std::string factor = "; " + std::to_string(decision.balance_factor) + " a host is even";
  for (const policy::Move& move : decision.moves) {
    if (move.container != id) continue;
    return "goes to " + host_name(move.to) +
           (decision.branch == policy::Branch::idle ? ", which is idle"
                                                    : ", which has fewer than others") +
           factor;
  }
  const bool is_in =
      std::any_of(state.workers.begin(), state.workers.end(), [&](const policy::WorkerLoad& host) {
        return find(host.containers, id) != host.containers.end();
      });
  return is_in ? "stays: " + std::to_string(decision.moves.size()) + " others are moved" + factor
               : kElsewhere;
}

// CPU seconds that a host still has to do.
double work_of(const policy::SteerState& state, const std::string& host) {
  double work = 0;
  for (const policy::SteeredJob& job : find(state.hosts, host)->jobs) work += job.left;
  return work;
}

std::string explain_balance(const policy::SteerState& state, const std::string& id,
                            const HostName& host_name) {
  const policy::SteeredJob* job = nullptr;
  for (const policy::SteeredHost& host : state.hosts) {
    const auto found = find(host.jobs, id);
    if (found != host.jobs.end()) job = &*found;
  }
  if (job == nullptr) return kElsewhere;
  const policy::SteerDecision decision = policy::decide_steer(state);
  for (const policy::Move& move : decision.moves) {
    if (move.container != id) continue;
    return "goes to " + host_name(move.to) + ", which has " + rounded(work_of(state, move.to)) +
           " CPU s of work left: here " + rounded(work_of(state, move.from)) + ", " +
           rounded(job->left) + " of it its own; a move costs " + rounded(state.move_seconds) +
           " s";
  }
  if (!job->may_move) {
    return "stays: it may not migrate now, has just begun, or has no estimate";
  }
  if (job->moves >= state.max_moves) {
    return "stays: it was moved " + std::to_string(job->moves) + " times";
  }
  return "stays: " + std::to_string(decision.moves.size()) + " others are moved";
}

}  // namespace

std::string explain(const std::string& algorithm, const std::string& state,
                    const std::string& container, const HostName& host_name) {
  if (algorithm != "categorise" && algorithm != "speculate" && algorithm != "rebalance" &&
      algorithm != "balance") {
    return "";
  }
  const std::string damaged = "the recorded state is damaged";
  const Result<boost::json::value> json = parse_json(state);
  if (!json) return damaged;
  if (algorithm == "categorise") {
    const auto read = policy::categorise_state_from(*json);
    return read ? explain_categorise(*read, container) : damaged;
  }
  if (algorithm == "speculate") {
    const auto read = policy::speculate_state_from(*json);
    return read ? explain_speculate(*read, container, host_name) : damaged;
  }
  if (algorithm == "balance") {
    const auto read = policy::steer_state_from(*json);
    return read ? explain_balance(*read, container, host_name) : damaged;
  }
  const auto read = policy::rebalance_state_from(*json);
  return read ? explain_rebalance(*read, container, host_name) : damaged;
}

}  // namespace flowcon::cluster::balance
