// SPDX-License-Identifier: Apache-2.0
// Decides which jobs of the queue run, and where: the coordinator of the hosts that know each
// other, whenever something has changed, at most once a second. It gathers the hosts' reports,
// asks the policy (cluster/policy/queue_policies.h), and gives orders to the owners. Keeps nothing
// that may not be lost. On the other hosts it notifies the coordinator of changes. For
// .cpp files only: it includes Asio.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cluster/queue/all_jobs.h"
#include "cluster/queue/allocation.h"
#include "cluster/queue/cargo.h"
#include "cluster/queue/decisions.h"
#include "cluster/queue/host_room.h"
#include "cluster/queue/owner.h"
#include "cluster/queue/promises.h"
#include "cluster/queue/tasks.h"
#include "ctrl/api/server.h"

namespace flowcon::cluster::queue {

class Conductor {
 public:
  Conductor(World& world, Owner& owner, Tasks& tasks, Leases& leases, HostRoom& room)
      : world_(world),
        owner_(owner),
        tasks_(tasks),
        leases_(leases),
        room_(room),
        cargo_(world, owner.jobs(), [this] { wake(); }) {}

  /// Something has changed: it is decided as soon as it may be.
  void wake();
  /// A task has come here or has ended.
  void hear_of_task() {
    cargo_.images_changed();
    wake();
  }
  /// After each pass of the daemon: decides where it is due.
  void look();
  /// What is left of a job, by its counter or earlier runs. Unit: seconds. Empty: not known.
  [[nodiscard]] std::optional<double> left(const Job& job) const;

  /// Is this host in no Docker Swarm, as far as its engine has said?
  [[nodiscard]] bool has_no_swarm() const {
    return !cargo_.architecture().empty() && cargo_.swarm().empty();
  }

  /// This host's report to the coordinator.
  [[nodiscard]] HostJobs report();
  /// What the coordinator, the host `speaker`, says of jobs of this host.
  ctrl::api::Response take_orders(const std::string& body, const std::string& speaker);

  /// The last decisions about a job of this host, whoever coordinates.
  Async<boost::json::object> decisions(std::string job);
  /// The answer of whoever coordinates to a call that peers may make (docs/peers.md).
  Async<ctrl::api::Response> ask_coordinator(std::string target);
  /// This host's answer as the coordinator about a job, {"job":ID}.
  [[nodiscard]] ctrl::api::Response answer_decisions(const std::string& body) const;

 private:
  struct Gathering;
  Async<void> look_soon();
  Async<void> tell_coordinator(std::string id);
  Async<void> gather();
  Async<void> ask(std::shared_ptr<Gathering> gathering, Neighbour neighbour);
  void decide(const std::vector<HostJobs>& hosts);
  Async<void> send(std::string host, std::vector<JobOrder> orders);
  void obey(const std::vector<JobOrder>& orders);
  struct Restarting {
    std::string owner;
    std::string job;   // its id there
    double until = 0;  // steady
    bool has_left = false;
  };
  [[nodiscard]] bool is_away(const AllJobs& all);
  [[nodiscard]] const Allocation* allocated(const AllJobs& all, const policy::QueuePlan& plan);
  void record(double now, const std::vector<std::string>& jobs, const ctrl::policy::Round& decided,
              bool is_kept);
  void keep_round(double now, const ctrl::policy::Round& round);
  [[nodiscard]] bool has_partners() const;
  [[nodiscard]] bool may_hear_of_gpus() const;
  void report_jobs(HostJobs& report);
  [[nodiscard]] ReportedJob report_job(Job& job, double pause) const;
  void report_group(Job& job, bool runs, ReportedJob& reported) const;
  void report_waiting(Job& job, ReportedJob& reported) const;
  void note_left(Job& job) const;
  void note_pace(Job& job) const;
  [[nodiscard]] Span span_of(const Job& group) const;

  World& world_;
  Owner& owner_;
  Tasks& tasks_;
  Leases& leases_;
  HostRoom& room_;
  Cargo cargo_;
  Decisions decisions_;  ///< that it has made as the coordinator
  double begun_ = world_.clock.steady();
  bool is_due_ = true;
  bool is_looking_soon_ = false;
  bool is_gathering_ = false;
  double next_ = 0;      ///< steady; not before
  double last_ = 0;      ///< steady
  double again_in_ = 0;  ///< seconds, from then
  std::optional<Allocation> allocation_;
  std::optional<Restarting> restarting_;
  std::optional<Promises> promises_;
  std::set<std::string> unusable_;  ///< ids of hosts whose last report was
  std::string situation_;           ///< that it was made for
  double allocated_at_ = 0;         ///< steady
  double allocated_ = 0;            ///< the same, since the epoch
};

}  // namespace flowcon::cluster::queue
