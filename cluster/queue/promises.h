// SPDX-License-Identifier: Apache-2.0
// Room that the coordinator has given to jobs, which their owners have on other hosts as far as
// that goes, or those hosts say so too: nobody claims room in another host's name. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cluster/policy/room.h"
#include "cluster/queue/all_jobs.h"
#include "cluster/queue/hosts_json.h"

namespace flowcon::cluster::queue {

class Promises {
 public:
  /// Of one job, by ids of hosts.
  using Given = std::map<std::string, policy::Amounts>;

  /// This host coordinates since then: seconds, on any clock.
  explicit Promises(double since) : since_(since) {}
  /// What another coordinator gave before has come to its hosts by now, or never will.
  [[nodiscard]] bool knows_all(double now) const;
  /// By the last order to start or to resize it.
  [[nodiscard]] Given given(const std::string& owner, const std::string& job) const;
  /// Takes up the `orders` made from `all`; as long as it does not know all, what the owners among
  /// `hosts` claim, too. Such a claim ends as far as its owner makes it no more or its host counts
  /// it itself, and where that counts no task of the job. Jobs that owners do not tell of any more
  /// are forgotten.
  void note(double now, const std::vector<HostJobs>& hosts, const AllJobs& all,
            const std::map<std::string, std::vector<JobOrder>>& orders);

 private:
  using ByOwner = std::map<std::string, std::map<std::string, Given>>;  // and by job

  void adopt(double now, const std::vector<HostJobs>& hosts);

  double since_;
  ByOwner given_;
  ByOwner adopted_;  // as owners claim; counts where nothing is given
};

/// Takes `part` off what was given, as far as that goes: so much is promised.
[[nodiscard]] policy::Amounts take_part(policy::Amounts& given, policy::Amounts part);

}  // namespace flowcon::cluster::queue
