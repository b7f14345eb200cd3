// SPDX-License-Identifier: Apache-2.0
// Small schedules for the simulator's tests.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/job.h"
#include "sim/policy.h"

namespace flowcon::sim {

inline JobSpec job(double arrival, double work, double parallelism) {
  JobSpec spec;
  spec.model = "model";
  spec.arrival = arrival;
  spec.work = work;
  spec.parallelism = parallelism;
  spec.lines = 10;
  spec.curve = std::make_shared<const Curve>(Curve::formula(Shape::exponential, 2, 0.1, 6));
  return spec;
}

inline Schedule on_one_host(double cores, std::vector<JobSpec> jobs) {
  Schedule schedule;
  schedule.hosts = {{cores, 64e9}};
  schedule.jobs = std::move(jobs);
  return schedule;
}

inline const PolicyKind& policy(std::string_view name) {
  for (const PolicyKind& kind : policies()) {
    if (kind.name == name) return kind;
  }
  throw std::invalid_argument(std::string(name));
}

// All alike, decided every second, and what is seen then is handed on.
class Probe : public HostDriver {
 public:
  explicit Probe(std::function<void(const SimHost& view)> look) : look_(std::move(look)) {}
  HostGrants decide(const SimHost& view) override {
    look_(view);
    return {std::vector<Grant>(view.jobs.size()), 1};
  }

 private:
  std::function<void(const SimHost& view)> look_;
};

}  // namespace flowcon::sim
