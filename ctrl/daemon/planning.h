// SPDX-License-Identifier: Apache-2.0
// Drives the policy that divides this host: shows it the jobs, and puts each where it says. Knows
// the forecasts, whatever the policy. No I/O.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ctrl/config.h"
#include "ctrl/extension.h"
#include "ctrl/job.h"
#include "ctrl/policy/host_policies.h"

namespace flowcon::ctrl {

class Planning {
 public:
  using Jobs = std::map<std::string, Job>;

  Planning(const Config& config, const Host& host);

  /// Another configuration: another policy goes on from where the jobs are.
  void configure(const Config& config, const Jobs& jobs);
  /// Who shares the host, in order of arrival. True: it is to be decided at once.
  bool follow(const std::vector<std::string>& active, policy::Rounds& rounds);
  /// Puts each job where the policy says; the seconds until it wants to decide again. `others`:
  /// cores that programs without a job use.
  double decide(Jobs& jobs, Moment now, double others, policy::Rounds& rounds);
  /// A job whose limits stayed while one flowcond took the place of another.
  void resume(const Job& job);
  void resume_interval(double interval) { policy_->resume_interval(interval); }
  /// The container has ended, or was let go of.
  void forget(const std::string& id) { policy_->forget(id); }
  /// It ended by itself. `is_complete`: with status 0, and it was seen from its beginning.
  void end(const Job& job, double now, bool is_complete);
  /// An earlier run, from the store.
  void remember(const std::string& training, const growth::Remembered& run) {
    forecaster_.remember(training, run);
  }

  /// Empty where nothing is known.
  [[nodiscard]] std::optional<JobForecast> forecast(const Job& job) const;
  /// What its end is known by.
  [[nodiscard]] growth::Basis basis_of(const Job& job) const {
    return forecaster_.basis(view_of(job));
  }
  [[nodiscard]] policy::DividesBy divides_by() const { return policy::divides_by(name_); }
  /// Those that share the host, as follow() took them; one of them may have ended since.
  [[nodiscard]] const std::vector<std::string>& members() const { return members_; }
  [[nodiscard]] bool is_member(const std::string& id) const;
  [[nodiscard]] double interval() const { return policy_->interval(); }
  [[nodiscard]] bool all_completing() const { return policy_->all_completing(); }

 private:
  [[nodiscard]] double cores_there(const Jobs& jobs, double others) const;

  Host host_;
  double usable_;  ///< share of its cores that all jobs can use together
  policy::Forecaster forecaster_;
  std::string name_;
  std::unique_ptr<policy::HostPolicy> policy_;
  std::vector<std::string> members_;
};

}  // namespace flowcon::ctrl
