// SPDX-License-Identifier: Apache-2.0
// The load of all hosts, where this host is the one that asks the others. A host that does not
// answer has containers that nobody knows of, so nothing is decided without it.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "cluster/balancer.h"
#include "cluster/codec/report_json.h"

namespace flowcon::cluster {

namespace {

constexpr double kOrderTime = 30;  // seconds that a host has to measure a job and begin its move
// A peer takes messages of 64 KiB; beyond that it is asked without the reasons.
constexpr std::size_t kMostReasons = 56U << 10;

}  // namespace

Async<Balancer::Rebalancing> Balancer::rebalance(bool is_asked_for, bool is_dry) {
  Rebalancing result;
  const bool is_alone = network_.neighbours().empty();
  if (is_alone) {
    result.error = "this host has no peers: nothing to rebalance";
    co_return result;
  }
  if (const Member who = coordinator(network_); who.id != network_.own_id()) {
    result.error = "this host does not coordinate: " + who.name + " does";
    co_return result;
  }
  result.gathering = co_await reports_.gather(clock_().steady);
  const std::string& silent = result.gathering->silent;
  if (!silent.empty()) {
    result.error = "no decision while a host is silent: " + silent;
    if (silences_.count()) ctrl::log::info(result.error);
    co_return result;
  }
  policy::ClusterView view;
  view.hosts = result.gathering->hosts;
  view.is_asked_for = is_asked_for;
  const bool is_moving = std::any_of(view.hosts.begin(), view.hosts.end(),
                                     [](const policy::HostReport& r) { return r.moves > 0; });
  if (is_moving && !is_dry) {
    result.error = "a container is migrating: rebalancing resumes when the migration finishes";
    result.is_on_the_move = true;
    co_return result;
  }
  if (is_asked_for && !is_dry) barred_.forget_all();
  view.is_barred = [this, now = clock_().steady](const std::string& id) {
    return !barred_.may_try(id, now);
  };
  Result<policy::Plan> planned = active_policy().plan(view, &result.decided);
  if (!planned) {
    result.error = planned.error().message();
    if (silences_.count()) ctrl::log::info(result.error);
    co_return result;
  }
  silences_.reset();
  result.plan = std::move(*planned);
  result.policy_name = kind_->name;
  const Cause cause = kind_->cause;
  const std::vector<policy::Move> decided = result.plan.moves;
  if (!decided.empty() && !is_dry) record(result.decided);
  auto state = std::make_shared<const std::string>(
      result.decided.empty() ? "" : result.decided.back().state);
  std::set<std::string> sources;
  for (const policy::Move& move : decided) {
    if (is_dry) {
      result.outcomes.push_back({move.container, move.from, move.to, "planned", ""});
      continue;
    }
    // One leaves a host at a time; the rest is decided again when it has arrived.
    if (!sources.insert(move.from).second) {
      result.outcomes.push_back({move.container, move.from, move.to, "later", ""});
      continue;
    }
    Outcome outcome = co_await order(move, cause, state);
    result.outcomes.push_back(std::move(outcome));
  }
  co_return result;
}

// Why a container of this host is not moved by a plan now; null where it is.
const char* Balancer::obstacle(const std::string& container) {
  const double now = clock_().steady;
  const policy::JobReport job = reports_.job(container, now);
  if (const char* why = active_policy().objection(job); why != nullptr) return why;
  return !job.movable                         ? "the container's label does not allow it"
         : moves_.is_moving(container)        ? "the container is migrating"
         : is_busy()                          ? "another container of this host is migrating"
         : !attempts_.may_try(container, now) ? "the container could not migrate a moment ago"
                                              : nullptr;
}

Async<Balancer::Outcome> Balancer::order(policy::Move move, Cause cause,
                                         std::shared_ptr<const std::string> state) {
  Outcome outcome{move.container, move.from, move.to, "begun", ""};
  if (move.from == network_.own_id()) {
    if (const char* why = obstacle(move.container); why != nullptr) {
      outcome.error = why;
    } else {
      Begun away{move.container, move.to, false};
      const Result<std::string> begun = co_await send_away(std::move(away), std::move(cause));
      if (!begun) outcome.error = begun.error().message();
    }
  } else {
    policy::OrderedMove order{move.container, move.to, cause, ""};
    if (state->size() <= kMostReasons) order.state = *state;
    const Result<Answer> answer = co_await network_.ask(move.from, "POST", "/v1/peer/move",
                                                        policy::render_order(order), kOrderTime);
    if (!answer) {
      outcome.error = answer.error().message();
    } else if (answer->status != 200) {
      outcome.error = refusal_of(*answer);
    }
  }
  if (!outcome.error.empty()) {
    outcome.state = "refused";
    barred_.fail(move.container, move.to, clock_().steady,
                 2 * host_.config().balance.categorise_interval);
    ctrl::log::warning("the load is not evened out by moving " + move.container.substr(0, 12) +
                       " from " + host_name(move.from) + ": " + printable(outcome.error, 300));
  }
  co_return outcome;
}

}  // namespace flowcon::cluster
