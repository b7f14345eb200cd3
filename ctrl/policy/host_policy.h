// SPDX-License-Identifier: Apache-2.0
// What divides a host among its jobs. A policy is one object: it is shown what a daemon sees, says
// what each job gets, and why. The daemon and the simulator drive the same object. Pure: time is
// handed in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ctrl/growth/growth.h"
#include "ctrl/growth/track.h"
#include "ctrl/metrics/report.h"
#include "ctrl/model.h"
#include "ctrl/policy/host_options.h"
#include "ctrl/policy/round.h"

namespace flowcon::ctrl::policy {

/// One job as it is now. Units: seconds on the steady clock.
struct JobView {
  std::string id;
  std::string training;  ///< image and command: equal means "the same training again"
  double arrived = 0;
  bool is_frozen = false;  ///< docker pause
  /// What was measured before is not compared with what comes after: the clock was set, the machine
  /// slept, or the job was frozen.
  double comparable_from = 0;
  /// Times of values before and after are of two clocks: it was set, or the machine slept.
  double clock_from = 0;
  std::optional<Used> used;                 ///< empty: no sample yet
  const metrics::Report* report = nullptr;  ///< null: no metric is sought
  Goal goal = Goal::min;                    ///< of the values in `track`
  const growth::Track* track = nullptr;     ///< never null
};

struct HostView {
  Moment now;
  std::vector<JobView> jobs;     ///< those that share the host, as given to follow()
  std::vector<JobView> watched;  ///< others, whose growth is measured all the same: paused ones
  std::optional<double> cores_there;  ///< that other programs leave to `jobs`; empty: all
};

/// Where a job stands by one resource. Units: `limit` a share of the host in (0,1]; growth as in
/// growth/growth.h.
struct Share {
  List list = List::nl;
  double limit = 1;
  std::optional<double> growth;  ///< of the last measurement
  bool is_fresh = false;         ///< growth was measured at the last decision

  /// What a decision gets: empty while not measured.
  [[nodiscard]] std::optional<double> growth_for_decision() const {
    return is_fresh ? growth : std::nullopt;
  }
};

struct Standing : PerResource<Share> {
  growth::Verdict verdict = growth::Verdict::unmeasured;
};

struct HostDecision {
  std::vector<Standing> jobs;     ///< in the order of the view's
  std::vector<Standing> watched;  ///< the same
  double next = 0;                ///< seconds until it wants to decide again, if nothing happens
};

/// Numbers of the forecasts and of what divides by work; the defaults are the product's.
struct PlannerParameters {
  double worth = 0.85;
  double step = 8;
  double floor = 0.02;
  double inertia = 0.15;
  double lateness = 0.1;  ///< a job may end so much later than it would have, share of its time
  double least = 0.5;     ///< work that is not distinguished, in seconds of the whole host
};

struct HostParameters : HostOptions {
  Host host;
  /// What is limited by growth beside the CPU, which each policy divides in its own way.
  std::vector<Resource> others;
  /// People watch: growth is measured where no decision needs it, and samples are not saved. False
  /// in the simulator.
  bool is_watched = true;
  PlannerParameters planner;
};

/// Divides one host. One object a host.
class HostPolicy {
 public:
  virtual ~HostPolicy() = default;

  /// Who shares the host from now on, in order of arrival. True: it has changed, decide at once.
  /// `rounds`, here and below, takes what is to be recorded; null: nobody records.
  virtual bool follow(const std::vector<std::string>& active, Rounds* rounds) = 0;
  virtual HostDecision decide(const HostView& view, Rounds* rounds) = 0;
  /// Why a job has its limit by the last decision, in a few words for a person.
  [[nodiscard]] virtual std::string reason(const std::string& id) const = 0;
  /// Seconds between two decisions by growth, as of now.
  [[nodiscard]] virtual double interval() const = 0;
  /// Nobody has anything left to gain.
  [[nodiscard]] virtual bool all_completing() const { return false; }

  /// Other parameters hold from now on.
  virtual void configure(const HostParameters& parameters) = 0;
  /// A job stands where an earlier object had put it, and follow() knows it already.
  virtual void resume(const std::string& id, const Standing& standing) = 0;
  /// The interval that an earlier object had come to.
  virtual void resume_interval(double interval) = 0;
  /// The container has ended or was let go of: what comes under its name is another life.
  virtual void forget(const std::string& id) = 0;
  /// A job ended by itself, at `now` on the steady clock; before the decide() without it.
  virtual void end(const JobView& job, double now) { (void)job, (void)now; }
};

}  // namespace flowcon::ctrl::policy
