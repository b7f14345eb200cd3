// SPDX-License-Identifier: Apache-2.0
#include "cluster/balancer.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "ctrl/effects.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster {

namespace {

constexpr double kSoonest = 5;  // seconds between two plans

// From the clock on the wall to the steady one and back; what lies in the future is now.
std::optional<double> to_steady(const std::optional<double>& wall, const peers::Instant& now) {
  return wall ? std::optional(now.steady - std::max(now.wall - *wall, 0.0)) : std::nullopt;
}

std::optional<double> to_wall(const std::optional<double>& steady, const peers::Instant& now) {
  return steady ? std::optional(now.wall - (now.steady - *steady)) : std::nullopt;
}

// On a clock that is so much later.
policy::CategoryState later(policy::CategoryState state, double seconds) {
  state.seen += seconds;
  if (state.converged) *state.converged += seconds;
  if (state.migrated) *state.migrated += seconds;
  return state;
}

}  // namespace

Balancer::Balancer(ctrl::LocalHost& host, Network& network, Moves& moves, Clock clock)
    : host_(host),
      network_(network),
      moves_(moves),
      clock_(std::move(clock)),
      reports_(host, network, moves, categories_),
      kind_(policy::find_cluster_policy(host.config().balance.policy)),
      policy_(kind_->make(host.config().balance, categories_)) {}

policy::ClusterPolicy& Balancer::active_policy() {
  const ctrl::BalanceOptions& options = host_.config().balance;
  if (kind_->name == options.policy) {
    policy_->configure(options);
  } else {
    kind_ = policy::find_cluster_policy(options.policy);
    policy_ = kind_->make(options, categories_);
  }
  return *policy_;
}

Async<void> Balancer::begin() {
  auto read = [&store = host_.store()] { return store.marks(); };
  Result<std::vector<ctrl::store::Mark>> kept = co_await host_.effects().run(std::move(read));
  const peers::Instant now = clock_();
  if (!kept) {
    host_.warn(kept.error().message());
  } else {
    for (const ctrl::store::Mark& row : *kept) {
      policy::CategoryState state;
      state.category = policy::parse_category(row.category).value_or(policy::Category::pc);
      state.value = row.value;
      state.growth = row.growth;
      state.seen = *to_steady(row.seen, now);
      state.converged = to_steady(row.converged, now);
      state.migrated = to_steady(row.migrated, now);
      state.rebalanced = row.rebalanced;
      state.moves =
          static_cast<std::uint32_t>(std::clamp<std::int64_t>(row.moves, 0, policy::kMostMoves));
      categories_.put(row.id, state);
    }
  }
  was_draining_ = network_.is_draining();
  next_round_ = now.steady + host_.config().balance.categorise_interval;
  next_plan_ = now.steady + kSoonest;
  is_begun_ = true;
}

void Balancer::look() {
  if (!is_begun_ || is_ended_) return;
  const peers::Instant now = clock_();
  if (now.steady >= next_round_) {
    next_round_ = now.steady + host_.config().balance.categorise_interval;
    take_round();
  }
  watch_counts(now.steady);
  follow_moves();
  // A new order to drain is a new start for those that could not be moved.
  if (was_draining_ != network_.is_draining()) attempts_.forget_all();
  was_draining_ = network_.is_draining();
  const bool is_wanted = is_rebalancing_due_ || was_draining_ || !requests_.empty();
  if (!is_wanted || is_working_) return;
  is_working_ = true;
  ctrl::spawn(host_.io(), "balancer", work());
}

Async<void> Balancer::work() {
  while (!is_ended_) {
    const bool has_decided = co_await send_one();
    if (has_decided) continue;
    if (!std::exchange(is_rebalancing_due_, false)) break;
    next_plan_ = clock_().steady + kSoonest;
    const Rebalancing done = co_await rebalance(false, false);
    if (done.is_on_the_move) decided_counts_.clear();
  }
  is_working_ = false;
}

void Balancer::take_round() {
  const double now = clock_().steady;
  std::vector<policy::Observed> containers;
  std::vector<std::string> ids;
  for (const std::string& id : host_.view().jobs) {
    containers.push_back({id, host_.value_of(id)});
    ids.push_back(id);
  }
  ctrl::policy::Rounds rounds;
  const std::vector<std::string> asking = active_policy().observe(containers, now, &rounds);
  record(rounds);
  save(std::move(ids), categories_.forget_old(now));
  for (const std::string& id : asking) {
    const bool is_new = std::find(requests_.begin(), requests_.end(), id) == requests_.end();
    if (is_new && !attempts_.is_exhausted(id)) requests_.push_back(id);
  }
  is_rebalancing_due_ = host_.config().balance.rebalance;
}

// A policy that wants it plans soon after a container came or went, on whichever host.
void Balancer::watch_counts(double now) {
  if (now < next_plan_ || !host_.config().balance.rebalance || !active_policy().wants_changes())
    return;
  std::map<std::string, std::int64_t> present;
  present[network_.own_id()] = static_cast<std::int64_t>(host_.view().jobs.size());
  for (const Neighbour& neighbour : network_.neighbours()) {
    if (neighbour.is_reachable && neighbour.state) {
      present[neighbour.id] = neighbour.state->containers;
    }
  }
  if (present == decided_counts_) return;
  decided_counts_ = std::move(present);
  is_rebalancing_due_ = true;
}

void Balancer::save(std::vector<std::string> ids, std::vector<std::string> gone) {
  const peers::Instant now = clock_();
  auto rows = std::make_shared<std::vector<ctrl::store::Mark>>();
  for (const std::string& id : ids) {
    const policy::CategoryState* state = categories_.find(id);
    if (state == nullptr) continue;
    rows->push_back({id, policy::name(state->category), state->value, state->growth,
                     *to_wall(state->seen, now), to_wall(state->converged, now),
                     to_wall(state->migrated, now), state->rebalanced, state->moves});
  }
  if (rows->empty() && gone.empty()) return;
  const bool is_queued =
      host_.effects().try_post([store = &host_.store(), rows, gone = std::move(gone)] {
        const Result<void> saved = store->save_marks(*rows, gone);
        if (!saved) ctrl::log::debug(saved.error().message());
      });
  if (!is_queued) ctrl::log::debug("category state is not saved now: the disk is slow");
}

void Balancer::record(const ctrl::policy::Rounds& decided) {
  if (decided.empty()) return;
  auto rounds = std::make_shared<std::vector<ctrl::store::Round>>();
  for (const ctrl::policy::Round& one : decided) {
    rounds->push_back({clock_().wall, one.algorithm, "", one.state, one.decision});
  }
  const bool is_queued = host_.effects().try_post([store = &host_.store(), rounds] {
    const Result<void> written = store->record({}, *rounds);
    if (!written) ctrl::log::debug(written.error().message());
  });
  if (!is_queued) ctrl::log::debug("a decision is not recorded: the disk is slow");
}

policy::Counts Balancer::counts() const {
  policy::Counts counts = categories_.count(host_.view().jobs);
  // Whoever gets a container by Algorithm 4 or 5 gets one that has converged; what balance sends
  // is told apart when it runs.
  counts.cc += moves_.reserved();
  return counts;
}

std::optional<policy::CategoryState> Balancer::export_state(const std::string& id) const {
  const policy::CategoryState* state = categories_.find(id);
  return state != nullptr ? std::optional(later(*state, -clock_().steady)) : std::nullopt;
}

void Balancer::import_state(const std::string& id, const std::optional<policy::CategoryState>& said,
                            const Cause& cause) {
  const double now = clock_().steady;
  policy::CategoryState state = later(said.value_or(policy::CategoryState()), now);
  active_policy().land(state, cause, now);
  categories_.put(id, state);
  save({id}, {});
}

void Balancer::forget_state(const std::string& id) {
  categories_.forget(id);
  save({}, {id});
}

std::string Balancer::shown(const std::string& id) const {
  const std::string name = host_.name_of(id);
  return printable(name.empty() ? id.substr(0, 12) : name, 80);
}

std::string Balancer::host_name(const std::string& id) const {
  if (id == network_.own_id()) return network_.own_name();
  for (const Neighbour& neighbour : network_.neighbours()) {
    if (neighbour.id == id) return neighbour.name;
  }
  return "the host " + printable(id.substr(0, 12));
}

}  // namespace flowcon::cluster
