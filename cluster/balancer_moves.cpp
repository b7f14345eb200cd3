// SPDX-License-Identifier: Apache-2.0
// What leaves this host: containers that ask to, everything where it drains. One move after the
// other, each decided on what the one before left.
#include <algorithm>

#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/balancer.h"

namespace flowcon::cluster {

namespace {

constexpr std::size_t kMovesLookedAt = 256;

}  // namespace

// What was begun here and has ended since: done, or undone, which is a failure.
void Balancer::follow_moves() {
  if (begun_.empty()) return;
  const std::vector<MoveView> list = moves_.list(kMovesLookedAt);
  for (auto begun = begun_.begin(); begun != begun_.end();) {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const MoveView& one) { return one.id == begun->first; });
    if (found != list.end() && !found->has_ended) {
      ++begun;
      continue;
    }
    const Begun move = begun->second;
    begun = begun_.erase(begun);
    if (found != list.end() && found->step == migration::Step::undone) {
      take_failure(move, found->error);
    }
  }
}

// One move from here at a time; those that an earlier flowcond began count too, those that people
// began do not.
bool Balancer::is_busy() const {
  if (is_beginning_ || !begun_.empty()) return true;
  const std::vector<MoveView> list = moves_.list(kMovesLookedAt);
  return std::any_of(list.begin(), list.end(), [](const MoveView& one) {
    return !one.has_ended && one.side == migration::Side::source && one.cause != kPerson &&
           one.cause != kQueue;
  });
}

// This host, and those that are there, take something and did not refuse this container before.
std::vector<policy::Worker> Balancer::workers(const std::string& container) const {
  std::vector<policy::Worker> all;
  all.push_back({network_.own_id(), counts(), host_.view().usage});
  for (const Neighbour& neighbour : network_.neighbours()) {
    if (!neighbour.is_reachable || !neighbour.state || neighbour.state->draining) continue;
    // One that drains has no host to spare: it asks again where it was refused.
    if (!network_.is_draining() && attempts_.is_refused(container, neighbour.id)) continue;
    all.push_back({neighbour.id, neighbour.state->counts, neighbour.state->usage});
  }
  return all;
}

// The first that still wants to move and may be tried now; those that want to no more are dropped.
std::optional<std::string> Balancer::next_request() {
  const std::vector<std::string> jobs = host_.view().jobs;
  const policy::ClusterPolicy& active = active_policy();
  const auto is_over = [&](const std::string& id) {
    const bool is_there = std::find(jobs.begin(), jobs.end(), id) != jobs.end();
    return !is_there || !active.wants_to_leave(id) || !moves_.is_movable(id) ||
           attempts_.is_exhausted(id);
  };
  requests_.erase(std::remove_if(requests_.begin(), requests_.end(), is_over), requests_.end());
  const double now = clock_().steady;
  for (const std::string& id : requests_) {
    if (attempts_.may_try(id, now) && !moves_.is_moving(id)) return id;
  }
  return std::nullopt;
}

std::optional<std::string> Balancer::next_to_leave() const {
  const double now = clock_().steady;
  for (const std::string& id : host_.view().jobs) {
    if (moves_.is_movable(id) && !moves_.is_moving(id) && attempts_.may_try(id, now)) return id;
  }
  return std::nullopt;
}

// False where there is nothing to decide now.
Async<bool> Balancer::send_one() {
  const bool is_draining = network_.is_draining();
  if (is_draining) requests_.clear();
  if (is_busy()) co_return false;
  const std::optional<std::string> container = is_draining ? next_to_leave() : next_request();
  if (!container) co_return false;
  std::erase(requests_, *container);
  policy::SpeculateState state;
  state.container = *container;
  state.source = network_.own_id();
  state.workers = workers(*container);
  state.draining = is_draining;
  // Alone it would be marked as moved for good, and be still here when others come.
  if (state.workers.size() < 2) co_return !is_draining;
  ctrl::policy::Rounds rounds;
  const auto chosen = active_policy().choose(state, clock_().steady, &rounds);
  record(rounds);
  if (!chosen) {
    ctrl::log::info("container " + shown(*container) +
                    " has converged and stays: no host is less loaded");
    save({*container}, {});
    co_return !is_draining;
  }
  Begun move{*container, chosen->host, !is_draining};
  Cause cause = chosen->cause;
  (void)co_await send_away(std::move(move), std::move(cause));
  co_return true;
}

Async<Result<std::string>> Balancer::send_away(Begun move, Cause cause) {
  ctrl::log::info("container " + shown(move.container) + " goes to " + host_name(move.target) +
                  " (" + cause + ")");
  MoveOrder order;
  order.container = move.container;
  order.target = move.target;
  order.cause = std::move(cause);
  is_beginning_ = true;
  Result<std::string> begun = co_await moves_.begin(std::move(order));
  is_beginning_ = false;
  if (begun) {
    begun_[*begun] = std::move(move);
  } else {
    take_failure(move, begun.error().message());
  }
  network_.tell();
  co_return begun;
}

void Balancer::take_failure(const Begun& move, const std::string& why) {
  const std::string& id = move.container;
  attempts_.fail(id, move.target, clock_().steady, 2 * host_.config().balance.categorise_interval);
  const bool is_last = attempts_.is_exhausted(id);
  ctrl::log::warning("container " + shown(id) + " did not migrate to " + host_name(move.target) +
                     ": " + printable(why, 300) +
                     (is_last ? " (after three attempts, no more)" : " (will retry later)"));
  const bool is_waiting = std::find(requests_.begin(), requests_.end(), id) != requests_.end();
  if (move.is_request && !is_last && !is_waiting) requests_.push_back(id);
}

}  // namespace flowcon::cluster
