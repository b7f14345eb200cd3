// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster_policies.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "cluster/policy/categorise.h"
#include "cluster/policy/rebalance.h"
#include "cluster/policy/speculate.h"
#include "cluster/policy/steer.h"
#include "ctrl/growth/forecast.h"
#include "ctrl/growth/growth.h"

namespace flowcon::sim {
namespace {

namespace policy = cluster::policy;

std::string id_of(std::size_t number) { return std::to_string(number); }

std::size_t number_of(const std::string& id) {
  std::size_t number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number);
  return number;
}

// What the daemons remember of a container between rounds.
struct Mark {
  policy::Category category = policy::Category::pc;
  std::optional<double> value;
  std::optional<double> growth;
  std::optional<double> converged_at;
  std::optional<double> migrated_at;
  bool rebalanced = false;
};

class Specon : public ClusterPolicy {
 public:
  explicit Specon(const PolicyParameters& parameters) : parameters_(parameters) {}

  ClusterDecision decide(const ClusterView& view) override {
    ClusterDecision decision;
    decision.next = parameters_.categorise_interval;
    std::vector<policy::Worker> workers;
    std::vector<policy::Request> requests;
    for (const HostView& host : view.hosts) categorise(host, view.now, workers, requests);
    for (const policy::Answer& answer : policy::decide_requests({}, workers, requests)) {
      // One that stays has had its chance all the same.
      marks_[number_of(answer.container)].migrated_at = view.now;
      if (answer.move) {
        decision.moves.push_back({number_of(answer.container), number_of(answer.target)});
      }
    }
    if (decision.moves.empty()) rebalance(view, decision);
    return decision;
  }

 private:
  // The latest value as a share of the first stable one, as the daemon has it.
  static std::optional<double> value_of(const Known& job) {
    const ctrl::metrics::Report& seen = job.report;
    const auto scale =
        ctrl::growth::scale_of({seen.head, seen.low, seen.high}, ctrl::growth::Normalise::first);
    if (!scale || seen.samples.empty() || !std::isfinite(seen.samples.back().value)) return {};
    return seen.samples.back().value / *scale;
  }

  void categorise(const HostView& host, double now, std::vector<policy::Worker>& workers,
                  std::vector<policy::Request>& requests) {
    policy::CategoriseState state;
    state.alpha = parameters_.categorise_alpha;
    std::vector<std::optional<double>> values;
    for (const Known* job : host.jobs) {
      const Mark& mark = marks_[job->number];
      values.push_back(value_of(*job));
      state.containers.push_back({id_of(job->number), mark.category, values.back(), mark.value,
                                  mark.growth, mark.migrated_at.has_value()});
    }
    const policy::CategoriseDecision decided = policy::decide_categorise(state);
    for (std::size_t i = 0; i < decided.containers.size(); ++i) {
      Mark& mark = marks_[host.jobs[i]->number];
      const policy::CategorisedContainer& container = decided.containers[i];
      const bool is_converged = container.category == policy::Category::cc;
      if (is_converged && mark.category != policy::Category::cc) mark.converged_at = now;
      if (!is_converged) mark.converged_at.reset();
      mark.category = container.category;
      mark.growth = container.growth;
      mark.value = values[i];
    }
    for (const std::string& id : decided.requests) requests.push_back({id, id_of(host.number)});
    const double usage = host.jobs.empty() ? 0 : 1;
    workers.push_back({id_of(host.number), policy::count_categories(decided.containers), usage});
  }

  void rebalance(const ClusterView& view, ClusterDecision& decision) {
    std::vector<policy::Activity> activities;
    policy::RebalanceState state;
    state.now = view.now;
    state.guard = true;
    for (const HostView& host : view.hosts) {
      policy::Activity activity;
      policy::WorkerLoad load{id_of(host.number), {}};
      for (const Known* job : host.jobs) {
        const Mark& mark = marks_[job->number];
        ++activity.containers;
        activity.settled += mark.category == policy::Category::cc || mark.migrated_at ? 1 : 0;
        load.containers.push_back(
            {id_of(job->number), mark.converged_at, mark.migrated_at, mark.rebalanced});
      }
      activities.push_back(activity);
      state.workers.push_back(std::move(load));
    }
    if (!policy::is_rebalance_due(activities, parameters_.rebalance_idle)) return;
    for (const policy::Move& move : policy::decide_rebalance(state).moves) {
      marks_[number_of(move.container)].rebalanced = true;
      decision.moves.push_back({number_of(move.container), number_of(move.to)});
    }
  }

  PolicyParameters parameters_;
  std::map<std::size_t, Mark> marks_;
};

// The upper one of an even number, as cluster/balance has it; empty where there are none.
std::optional<double> median(std::vector<double> numbers) {
  if (numbers.empty()) return std::nullopt;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

class Balance : public ClusterPolicy {
 public:
  Balance(std::vector<const ForecastingHost*> hosts, const PolicyParameters& parameters)
      : hosts_(std::move(hosts)), parameters_(parameters) {}

  [[nodiscard]] bool wants_changes() const override { return true; }

  ClusterDecision decide(const ClusterView& view) override {
    ClusterDecision decision;
    decision.next = parameters_.interval;
    policy::SteerState state;
    state.move_seconds = view.move_seconds;
    state.max_moves = parameters_.max_moves;
    take_hosts(view, state);
    // What is on its way counts where it goes.
    std::erase_if(coming_, [&](const auto& job) {
      const bool is_moving =
          std::find(view.moving.begin(), view.moving.end(), job.first) != view.moving.end();
      return !is_moving || job.second.to >= state.hosts.size();
    });
    for (const auto& [number, job] : coming_) state.hosts[job.to].jobs.push_back(job.job);
    for (const policy::Move& move : policy::decide_steer(state).moves) {
      const std::size_t number = number_of(move.container);
      const std::size_t to = number_of(move.to);
      decision.moves.push_back({number, to});
      for (const policy::SteeredJob& job : state.hosts[number_of(move.from)].jobs) {
        if (job.id != move.container) continue;
        coming_[number] = {job, to};
        coming_[number].job.may_move = false;
      }
    }
    return decision;
  }

 private:
  struct Coming {
    policy::SteeredJob job;
    std::size_t to = 0;
  };

  // As cluster/balance does: what nobody knows the work of counts as the median of all, and stays;
  // so does what is not under way yet.
  void take_hosts(const ClusterView& view, policy::SteerState& state) const {
    const double young = ctrl::growth::kKnownByAge * parameters_.planner.least;
    std::vector<double> works;
    for (const HostView& host : view.hosts) {
      for (const Known* job : host.jobs) {
        if (const auto left = hosts_[host.number]->left(*job)) works.push_back(*left);
      }
    }
    const double usual = median(std::move(works)).value_or(policy::SteeredJob().left);
    for (const HostView& host : view.hosts) {
      policy::SteeredHost steered{id_of(host.number), host.cores, {}};
      for (const Known* job : host.jobs) {
        const std::optional<double> left = hosts_[host.number]->left(*job);
        const bool is_under_way = job->track.is_under_way(young * host.cores);
        steered.jobs.push_back({id_of(job->number), left.value_or(usual),
                                job->track.width().value_or(host.cores), job->moves,
                                left && is_under_way});
      }
      state.hosts.push_back(std::move(steered));
    }
  }

  std::vector<const ForecastingHost*> hosts_;
  PolicyParameters parameters_;
  std::map<std::size_t, Coming> coming_;
};

}  // namespace

std::unique_ptr<ClusterPolicy> make_specon(const PolicyParameters& parameters) {
  return std::make_unique<Specon>(parameters);
}

std::unique_ptr<ClusterPolicy> make_balance(std::vector<const ForecastingHost*> hosts,
                                            const PolicyParameters& parameters) {
  return std::make_unique<Balance>(std::move(hosts), parameters);
}

}  // namespace flowcon::sim
