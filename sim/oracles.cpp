// SPDX-License-Identifier: Apache-2.0
#include "sim/oracles.h"

#include <algorithm>
#include <numeric>

namespace flowcon::sim {
namespace {

// Between ranks, so that the first takes all that it can use.
constexpr double kStep = 1e-3;
constexpr double kLeast = 1e-9;
constexpr double kOracleInterval = 20;  // seconds; order changes as work is done

class Oracle : public HostDriver {
 public:
  Oracle(const Schedule& schedule, bool has_milestones)
      : schedule_(schedule), has_milestones_(has_milestones) {}

  HostGrants decide(const SimHost& view) override {
    std::vector<double> keys;
    for (const Known* job : view.jobs) keys.push_back(key_of(*job));
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    HostGrants decision;
    decision.next = kOracleInterval;
    decision.grants.resize(keys.size());
    double weight = 1;
    for (const std::size_t i : order) {
      decision.grants[i].weight = std::max(kLeast, weight);
      weight *= kStep;
    }
    return decision;
  }

 private:
  // Work to do per worth of what is reached by it.
  [[nodiscard]] double key_of(const Known& job) {
    const JobSpec& spec = schedule_.jobs[job.number];
    const double left = std::max(0.0, spec.end_work() - job.used);
    if (!has_milestones_) return left;
    if (work90_.size() <= job.number) work90_.resize(schedule_.jobs.size(), -1);
    double& work90 = work90_[job.number];
    if (work90 < 0) work90 = spec.work90();
    const double left90 = work90 - job.used;
    return left90 > 0 ? std::min(left90, left / 2) : left;
  }

  const Schedule& schedule_;
  bool has_milestones_;
  std::vector<double> work90_;  // by number; below 0: not worked out yet
};

}  // namespace

std::unique_ptr<HostDriver> make_srpt(const Schedule& schedule) {
  return std::make_unique<Oracle>(schedule, false);
}

std::unique_ptr<HostDriver> make_milestone_oracle(const Schedule& schedule) {
  return std::make_unique<Oracle>(schedule, true);
}

}  // namespace flowcon::sim
