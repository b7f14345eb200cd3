// SPDX-License-Identifier: Apache-2.0
#include "cluster/balancer.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "cluster/codec/decision_json.h"
#include "ctrl/effects.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster {

using ctrl::Async;

namespace {

constexpr double kSoonest = 5;  // seconds between two decisions of balance

policy::Category category_from(const std::string& text) {
  return text == "CC"   ? policy::Category::cc
         : text == "WC" ? policy::Category::wc
                        : policy::Category::pc;
}

// From the clock on the wall to the steady one and back; what lies in the future is now.
std::optional<double> to_steady(const std::optional<double>& wall, const peers::Instant& now) {
  return wall ? std::optional(now.steady - std::max(now.wall - *wall, 0.0)) : std::nullopt;
}

std::optional<double> to_wall(const std::optional<double>& steady, const peers::Instant& now) {
  return steady ? std::optional(now.wall - (now.steady - *steady)) : std::nullopt;
}

}  // namespace

Balancer::Balancer(ctrl::LocalHost& host, Network& network, Moves& moves, Clock clock)
    : host_(host), network_(network), moves_(moves), clock_(std::move(clock)) {}

Async<void> Balancer::begin() {
  auto read = [&store = host_.store()] { return store.marks(); };
  Result<std::vector<ctrl::store::Mark>> kept = co_await host_.effects().run(std::move(read));
  const peers::Instant now = clock_();
  if (!kept) {
    host_.warn(kept.error().message());
  } else {
    for (const ctrl::store::Mark& row : *kept) {
      balance::Mark mark{
          category_from(row.category), row.value, row.growth, 0, {}, {}, row.rebalanced, 0};
      mark.moves =
          static_cast<std::uint32_t>(std::clamp<std::int64_t>(row.moves, 0, balance::kMostMoves));
      mark.seen = *to_steady(row.seen, now);
      mark.converged = to_steady(row.converged, now);
      mark.migrated = to_steady(row.migrated, now);
      marks_.put(row.id, mark);
    }
  }
  was_draining_ = network_.is_draining();
  next_round_ = now.steady + host_.config().balance.categorise_interval;
  next_balance_ = now.steady + kSoonest;
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
    const bool has_decided = co_await speculate_one();
    if (has_decided) continue;
    const bool has_drained = co_await drain_one();
    if (has_drained) continue;
    if (!std::exchange(is_rebalancing_due_, false)) break;
    next_balance_ = clock_().steady + kSoonest;
    const Rebalancing done = co_await rebalance(false, false);
    if (done.is_on_the_move) decided_counts_.clear();
  }
  is_working_ = false;
}

void Balancer::take_round() {
  const double now = clock_().steady;
  std::vector<balance::Observed> containers;
  std::vector<std::string> ids;
  for (const std::string& id : host_.view().jobs) {
    containers.push_back({id, host_.value_of(id)});
    ids.push_back(id);
  }
  const ctrl::Config& config = host_.config();
  const balance::Round round = marks_.take_round(containers, config.balance.categorise_alpha, now,
                                                 config.balance.categorise_interval);
  // Rounds in which nothing happens say nothing, and there are thousands of them a day.
  if (round.is_news) {
    record("categorise", policy::to_json(round.state), policy::to_json(round.decision));
  }
  save(std::move(ids), marks_.forget_old(now));
  for (const std::string& id : round.decision.requests) {
    const bool is_new = std::find(requests_.begin(), requests_.end(), id) == requests_.end();
    if (is_new && !attempts_.is_exhausted(id)) requests_.push_back(id);
  }
  is_rebalancing_due_ = config.balance.rebalance;
}

bool Balancer::is_balancing() const {
  return host_.config().balance.policy == ctrl::ClusterPolicyChoice::balance;
}

// Balance is asked soon after a container came or went, on whichever host.
void Balancer::watch_counts(double now) {
  if (!is_balancing() || !host_.config().balance.rebalance || now < next_balance_) return;
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
    const balance::Mark* mark = marks_.find(id);
    if (mark == nullptr) continue;
    rows->push_back({id, policy::name(mark->category), mark->value, mark->growth,
                     *to_wall(mark->seen, now), to_wall(mark->converged, now),
                     to_wall(mark->migrated, now), mark->rebalanced, mark->moves});
  }
  if (rows->empty() && gone.empty()) return;
  const bool is_queued =
      host_.effects().try_post([store = &host_.store(), rows, gone = std::move(gone)] {
        const Result<void> saved = store->save_marks(*rows, gone);
        if (!saved) ctrl::log::debug(saved.error().message());
      });
  if (!is_queued) ctrl::log::debug("category state is not saved now: the disk is slow");
}

void Balancer::record(std::string algorithm, const boost::json::value& state,
                      const boost::json::value& decision) {
  auto rounds = std::make_shared<std::vector<ctrl::store::Round>>();
  rounds->push_back(
      {clock_().wall, std::move(algorithm), "", render_json(state), render_json(decision)});
  const bool is_queued = host_.effects().try_post([store = &host_.store(), rounds] {
    const Result<void> written = store->record({}, *rounds);
    if (!written) ctrl::log::debug(written.error().message());
  });
  if (!is_queued) ctrl::log::debug("a decision is not recorded: the disk is slow");
}

policy::Counts Balancer::counts() const {
  policy::Counts counts = marks_.count(host_.view().jobs);
  // Whoever gets a container by Algorithm 4 or 5 gets one that has converged; what balance sends
  // is told apart when it runs.
  counts.cc += moves_.reserved();
  return counts;
}

boost::json::object Balancer::export_marks(const std::string& id) const {
  const balance::Mark* mark = marks_.find(id);
  return mark != nullptr ? balance::render_mark(*mark, clock_().steady) : boost::json::object();
}

Result<void> Balancer::import_marks(const std::string& id, const boost::json::object& marks,
                                    Cause cause) {
  const double now = clock_().steady;
  balance::Mark mark;
  if (!marks.empty()) {
    Result<balance::Mark> read = balance::parse_mark(marks, now);
    if (!read) return read.error();
    mark = *read;
  } else {
    mark.seen = now;
  }
  if (cause == Cause::speculate) mark.migrated = now;
  if (cause == Cause::rebalance) mark.rebalanced = true;
  const bool is_by_policy =
      cause == Cause::speculate || cause == Cause::rebalance || cause == Cause::balance;
  if (is_by_policy && mark.moves < balance::kMostMoves) ++mark.moves;
  marks_.put(id, mark);
  save({id}, {});
  return {};
}

void Balancer::forget_marks(const std::string& id) {
  marks_.forget(id);
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
