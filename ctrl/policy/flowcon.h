// SPDX-License-Identifier: Apache-2.0
// FlowCon on one host: growth efficiency measured from decision to decision, Algorithm 2 when jobs
// come and go, Algorithm 1 on each resource that is limited. Other policies take from it what they
// do not decide themselves.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ctrl/policy/executor.h"
#include "ctrl/policy/host_policy.h"

namespace flowcon::ctrl::policy {

class Flowcon : public HostPolicy {
 public:
  explicit Flowcon(const HostParameters& parameters);

  bool follow(const std::vector<std::string>& active, Rounds* rounds) override;
  HostDecision decide(const HostView& view, Rounds* rounds) override;
  [[nodiscard]] std::string reason(const std::string& id) const override;
  [[nodiscard]] double interval() const override { return interval_; }
  [[nodiscard]] bool all_completing() const override { return all_completing_; }
  void configure(const HostParameters& parameters) override;
  void resume(const std::string& id, const Standing& standing) override;
  void resume_interval(double interval) override;
  void forget(const std::string& id) override { jobs_.erase(id); }

 protected:
  [[nodiscard]] const HostParameters& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<std::string>& members() const { return members_; }
  /// The place of a member is the policy's that decides about it.
  [[nodiscard]] Share& share_of(const std::string& id, Resource resource) {
    return jobs_[id].standing[resource];
  }
  /// Growth of every job of the view since it was last measured.
  void measure(const HostView& view);
  /// Algorithm 1 on memory and block I/O, where they are limited.
  void decide_others(Rounds* rounds);
  void reset_interval() { interval_ = parameters_.interval; }
  [[nodiscard]] HostDecision standings(const HostView& view) const;

 private:
  // A job from tick to tick. The anchor is the tick at which growth was last measured.
  struct Watched {
    Standing standing;
    bool has_anchor = false;
    Moment anchor;
    Used used;
    std::size_t count = 0;         // values seen by then
    std::size_t incomparable = 0;  // so many printed ones have times of another clock
    std::vector<Sample> samples;   // the last ones by then: E at the anchor, and its noise
    metrics::SeriesId series;
  };

  static void set_anchor(Watched& job, const JobView& seen, const Moment& now);
  void measure(Watched& job, const JobView& seen, const Moment& now) const;
  [[nodiscard]] growth::Progress progress_of(const Watched& job, const JobView& seen,
                                             const Moment& now) const;
  [[nodiscard]] Usage usage_of(const Watched& job, const JobView& seen, double elapsed) const;
  [[nodiscard]] ExecutorState executor_state(Resource resource) const;
  ExecutorDecision run_executor(Resource resource, Rounds* rounds);

  HostParameters parameters_;
  double interval_;
  bool all_completing_ = false;
  std::vector<std::string> members_;
  std::map<std::string, Watched> jobs_;
};

}  // namespace flowcon::ctrl::policy
