// SPDX-License-Identifier: Apache-2.0
// What the owner does for jobs of several containers: makes the containers of their tasks, which
// are jobs of their own, and has these started, saved and stopped together. Decides nothing:
// group.h says what is next. For .cpp files only: it includes Asio.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/queue/group.h"
#include "cluster/queue/jobs.h"
#include "cluster/queue/leases.h"
#include "cluster/queue/world.h"
#include "ctrl/config.h"

namespace flowcon::cluster::queue {

/// What a group needs of the owner of all jobs.
class JobKeeper {
 public:
  using Change = std::function<Result<JobEntry>(const JobEntry& entry, double now)>;

  virtual ~JobKeeper() = default;
  /// Its next step is decided again.
  virtual void wake(const JobPtr& job) = 0;
  /// Has `change` applied to the entry and written. Errors: those of `change`, with no code; the
  /// store's, with one.
  virtual Async<Result<void>> edit(JobPtr job, Change change) = 0;
  /// The same of what no step is decided from: no step is decided again, and the job may be over.
  virtual Async<Result<void>> amend(JobPtr job, Change change) = 0;
};

class Groups {
 public:
  Groups(World& world, Jobs& jobs, Leases& leases, JobKeeper& keeper)
      : world_(world), jobs_(jobs), leases_(leases), keeper_(keeper) {}

  /// The jobs of the tasks that have containers and are not over.
  void adopt(const JobPtr& group);
  /// All that a step of it is decided from. `ticket`: what is known of its container.
  [[nodiscard]] GroupFacts facts(const Job& group, const JobFacts& ticket) const;
  /// True where its next step is to be decided at once.
  Async<bool> carry_out(JobPtr group, std::vector<GroupDeed> deeds);
  /// Once it is over, and when flowcond starts: what it does not need any more goes.
  void tidy();
  /// Removes a container of a task that was asked for, and was made only after it was given up.
  Async<void> drop_late(migration::Seen seen);
  /// That host is to hear which ports it is owed, until it says that it knows.
  void give_back(const std::string& host);
  /// All hosts are, once the journal is read.
  void give_back_all();
  /// What is asked for each task, once that is known for a worker.
  void size(Job& group, const Offers& offers) const;

 private:
  Async<void> drop_networks();
  Async<bool> hold(JobPtr group, GroupAct act);
  Async<Result<void>> carry_out_one(JobPtr group, GroupDeed deed);
  void avoid(Job& group) const;
  Async<Result<void>> lease(JobPtr group);
  Async<Result<void>> lease_all(JobPtr group);
  using Owed = std::map<std::string, std::vector<Endpoint>>;
  Async<Result<void>> return_later(JobPtr group, Owed owed);
  Async<void> give_back_to(std::string host);
  Async<Result<void>> return_ports(std::string host, std::vector<Endpoint> due);
  Async<Result<void>> make(JobPtr group, std::size_t task);
  Async<Result<void>> try_newcomer(JobPtr group, std::size_t task);
  Async<Result<void>> remove(JobPtr group, std::size_t task);
  Async<Result<std::string>> find_made(JobPtr group, std::string name);
  /// A task's container as the engine is asked for it.
  struct Wanted {
    boost::json::object body;
    std::string image;    ///< its id
    std::string network;  ///< its name
  };
  Async<Result<Wanted>> wanted_for(JobPtr group, std::size_t task);
  void give(const JobPtr& group, std::size_t task, const std::string& host);
  void adopt_task(const JobPtr& group, std::size_t task);

  World& world_;
  Jobs& jobs_;
  Leases& leases_;
  JobKeeper& keeper_;
  int leasing_ = 0;               ///< groups that are, and whose journal does not have it yet
  std::set<std::string> told_;    ///< hosts that just get back what they leased
  std::set<std::string> giving_;  ///< and all that have to
};

/// No task of the group is to listen there any more.
void owe(Group& group, const std::string& host, const std::vector<Endpoint>& endpoints);

/// The network that its tasks may have on several hosts; "" = none.
[[nodiscard]] std::string network_of(const Job& group, const ctrl::Config& config);
/// Are its tasks in that network on one host, too?
[[nodiscard]] bool is_bound(const Job& group, const ctrl::Config& config);
/// Does its group start or run, if it is in one?
[[nodiscard]] bool group_lets_start(const Job& job);
/// The hosts of its tasks, as people know them; "" = all are here, or there are none.
[[nodiscard]] std::string hosts_of(const Job& group, const Network& network);
/// Of this host, that tasks of its own jobs have in its network.
[[nodiscard]] std::set<std::int64_t> ports_of(const Jobs& jobs);
/// The job of the first worker; null while there is none.
[[nodiscard]] JobPtr leader_of(const Jobs& jobs, const Job& group);

}  // namespace flowcon::cluster::queue
