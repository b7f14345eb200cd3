// SPDX-License-Identifier: Apache-2.0
#include "sim/drive_cluster.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

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

// The latest value as a share of the first stable one, as the daemon has it.
std::optional<double> value_of(const Known& job) {
  const ctrl::metrics::Report& seen = job.report;
  const auto scale =
      ctrl::growth::scale_of({seen.head, seen.low, seen.high}, ctrl::growth::Normalise::first);
  if (!scale || seen.samples.empty() || !std::isfinite(seen.samples.back().value)) return {};
  return seen.samples.back().value / *scale;
}

// A daemon, as far as other hosts are concerned.
struct Site {
  const ForecastingHost* host = nullptr;
  policy::Categories categories;
  std::unique_ptr<policy::ClusterPolicy> policy;
};

class Driven : public ClusterDriver {
 public:
  Driven(const policy::ClusterPolicyKind& kind, const std::vector<const ForecastingHost*>& hosts,
         const PolicyParameters& said)
      : cause_(kind.cause), said_(said), sites_(hosts.size()) {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      sites_[i].host = hosts[i];
      sites_[i].policy = kind.make(said.cluster, sites_[i].categories);
    }
  }

  [[nodiscard]] bool wants_changes() const override { return sites_[0].policy->wants_changes(); }

  ClusterMoves decide(const SimCluster& view) override {
    now_ = view.now;
    decision_ = {{}, wants_changes() ? said_.host.interval : said_.cluster.categorise_interval};
    std::erase_if(coming_, [&](const auto& job) {
      return std::find(view.moving.begin(), view.moving.end(), job.first) == view.moving.end();
    });
    std::vector<std::pair<std::string, std::size_t>> asking;  // and where it is
    if (now_ >= next_round_) {
      next_round_ = now_ + said_.cluster.categorise_interval;
      for (const SimHost& host : view.hosts) {
        std::vector<policy::Observed> containers;
        for (const Known* job : host.jobs) {
          containers.push_back({id_of(job->number), value_of(*job)});
        }
        Site& site = sites_[host.number];
        for (std::string& id : site.policy->observe(containers, now_, nullptr)) {
          asking.emplace_back(std::move(id), host.number);
        }
      }
    }
    policy::ClusterView seen;
    seen.is_barred = [](const std::string&) { return false; };
    for (const SimHost& host : view.hosts) seen.hosts.push_back(report_of(host, view));
    if (!asking.empty()) answer(asking, seen);
    if (decision_.moves.empty()) plan(std::move(seen));
    return std::move(decision_);
  }

 private:
  // A job on its way, as the host reported it that it left.
  struct Coming {
    policy::JobReport job;
    std::size_t to = 0;
  };

  policy::HostReport report_of(const SimHost& host, const SimCluster& view) const {
    const Site& site = sites_[host.number];
    const double young = ctrl::growth::kKnownByAge * said_.planner.least * host.cores;
    policy::HostReport report;
    report.id = id_of(host.number);
    // In the order of their numbers.
    report.name = std::string(8 - std::min<std::size_t>(report.id.size(), 8), '0') + report.id;
    report.cores = host.cores;
    report.move_seconds = view.move_seconds;
    for (const Known* known : host.jobs) {
      const std::string id = id_of(known->number);
      policy::JobReport job = policy::report_of(id, site.categories.find(id), now_);
      job.movable = true;
      if (job.left = site.host->left(*known); job.left) {
        job.width = known->track.width();
        job.beginning = !known->track.is_under_way(young);
      }
      report.containers.push_back(std::move(job));
    }
    return report;
  }

  void answer(const std::vector<std::pair<std::string, std::size_t>>& asking,
              const policy::ClusterView& seen) {
    policy::SpeculateState state;
    for (const policy::HostReport& host : seen.hosts) {
      state.workers.push_back({host.id, {}, host.containers.empty() ? 0.0 : 1.0});
      for (const policy::JobReport& job : host.containers) {
        state.workers.back().counts.add(job.category);
      }
    }
    for (const auto& [id, from] : asking) {
      state.container = id;
      state.source = id_of(from);
      const auto chosen = sites_[from].policy->choose(state, now_, nullptr);
      if (!chosen) continue;
      // As daemons count it: a copy that is reserved has converged.
      --state.workers[from].counts.cc;
      ++state.workers[number_of(chosen->host)].counts.cc;
      move({id, state.source, chosen->host}, chosen->cause, seen);
    }
  }

  void plan(policy::ClusterView seen) {
    for (const auto& [number, coming] : coming_) {
      seen.hosts[coming.to].containers.push_back(coming.job);
    }
    const Result<policy::Plan> planned = sites_[0].policy->plan(seen, nullptr);
    if (!planned) return;
    for (const policy::Move& one : planned->moves) move(one, cause_, seen);
  }

  // The category state goes along, and is there at once.
  void move(const policy::Move& one, const cluster::Cause& cause, const policy::ClusterView& seen) {
    const std::size_t number = number_of(one.container);
    const std::size_t from = number_of(one.from);
    const std::size_t to = number_of(one.to);
    const policy::CategoryState* known = sites_[from].categories.find(one.container);
    policy::CategoryState state = known != nullptr ? *known : policy::CategoryState();
    sites_[from].categories.forget(one.container);
    sites_[to].policy->land(state, cause, now_);
    sites_[to].categories.put(one.container, state);
    for (const policy::JobReport& job : seen.hosts[from].containers) {
      if (job.id == one.container) coming_[number] = {job, to};
    }
    coming_[number].job.movable = false;
    decision_.moves.push_back({number, to});
  }

  cluster::Cause cause_;
  PolicyParameters said_;
  std::vector<Site> sites_;  // by number; the first coordinates
  std::map<std::size_t, Coming> coming_;
  double next_round_ = 0;
  double now_ = 0;
  ClusterMoves decision_;
};

}  // namespace

std::unique_ptr<ClusterDriver> drive(const cluster::policy::ClusterPolicyKind& kind,
                                     const std::vector<const ForecastingHost*>& hosts,
                                     const PolicyParameters& parameters) {
  return std::make_unique<Driven>(kind, hosts, parameters);
}

}  // namespace flowcon::sim
