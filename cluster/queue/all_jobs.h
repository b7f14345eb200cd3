// SPDX-License-Identifier: Apache-2.0
// All hosts' reports of their jobs, as the policy gets them. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/policy/queue_policies.h"
#include "cluster/queue/hosts_json.h"

namespace flowcon::cluster::queue {

class Promises;

struct AllJobs {
  /// A job of the view, at the same place.
  struct Known {
    std::string owner;  ///< id of its host
    std::int64_t version = 0;
    bool is_waiting = false;
    std::vector<std::string> avoided;
    std::optional<Freight> freight;
    std::string sent_to;  ///< of one that waits: the host where all that it needs goes, or is
    std::optional<GroupShape> group = {};
    std::optional<std::size_t> first = {};   ///< where its first worker runs, which stays
    std::optional<double> launch = {};       ///< ReportedJob::launch
    bool is_weighing = false;                ///< ReportedJob::is_weighing
    std::optional<std::size_t> awaits = {};  ///< where it waits for room: decide_near()
    std::vector<bool> is_far = {};  ///< hosts, at their places, where it would have its data later
    bool is_to_leave = false;       ///< it may be parked, and has a host that drains
  };
  policy::QueueView view;
  std::vector<std::string> hosts;  ///< ids, at the places of view.nodes
  std::vector<Known> known;
  std::vector<std::set<std::string>> images;         ///< of hosts, at their places
  std::vector<std::set<std::string>> shared;         ///< the same
  std::vector<std::map<std::string, double>> rates;  ///< from hosts, at their places
  std::vector<std::set<std::string>> swarms;         ///< of hosts, at their places
  std::vector<std::string> architectures;            ///< the same
  std::vector<bool> open;                            ///< HostJobs::is_open, at their places
  std::vector<bool> addressed;                       ///< HostJobs::has_address, at their places
  std::vector<bool> accepts_gpus;                    ///< HostJobs::accepts_gpus, at their places
  std::vector<bool> takes_early;                     ///< HostJobs::takes_early, at their places
  std::vector<bool> draining;                        ///< HostJobs::is_draining, at their places
  bool is_settling = false;  ///< room that was given up will be free in a moment
};

/// Does this host count that birth, for a job of this owner? An older one does not say for whom.
[[nodiscard]] bool counts(const HostJobs& host, const std::string& birth, const std::string& owner);
/// The id that the job's owner knows: without what distinguishes two jobs of one id in the view.
[[nodiscard]] std::string id_at_owner(const AllJobs& all, std::size_t job);
/// Is there as much?
[[nodiscard]] bool fits(const policy::Amounts& request, const policy::Amounts& idle);
/// Are more cores promised there than there are?
[[nodiscard]] bool is_overbooked(const policy::Amounts& idle);
/// So many times a request comes to what is idle.
void add(policy::Amounts& idle, const policy::Amounts& request, double times);
/// Has this host just refused it?
[[nodiscard]] bool is_avoided(const AllJobs& all, std::size_t job, std::size_t node);
/// Does this host not drain, has it not just refused it, and has it the network that the job has or
/// may get, GPUs for others if it asks for any, and processors that its image is for? Of its own
/// host nobody asks the last two: its user chose both. May it leave that, as far as is known, and
/// is none nearer that comes free in time?
[[nodiscard]] bool may_go(const AllJobs& all, std::size_t job, std::size_t node);
/// Why it cannot leave its own host, for people; "" = it may, or nobody knows.
[[nodiscard]] const std::string& why_bound(const AllJobs& all, std::size_t job);
/// Nobody on these hosts is parked, for whomever.
void keep_running(AllJobs& all, const std::set<std::size_t>& nodes);
/// Again, where is_far has changed: see all_jobs().
void bind_to_hosts(AllJobs& all);
/// Are there hosts for whose processors its image is not, as far as is known?
[[nodiscard]] bool is_for_some(const AllJobs& all, std::size_t job);
/// Seconds of seconds_to() that decide nothing.
inline constexpr double kSameSeconds = 1;
/// How long it takes to bring a job what it lacks on a host: its image and the volumes that it only
/// reads, unless they are there, and its other data; by the rate of earlier moves between the two,
/// else by the lowest of any, else by 100 Mbit/s. 0: it lacks nothing, or nobody knows what. Unit:
/// seconds.
[[nodiscard]] double seconds_to(const AllJobs& all, std::size_t job, std::size_t node);

/// Of the hosts that are heard. Where some may not have a waiting job, for its network, its image,
/// what binds it to its own host, or a refusal, the others have as much as anybody may want of a
/// resource that its tasks ask for: so it is decided for these alone. A job that holds its room on
/// one that is not is left out: it runs, as far as anybody knows. To each host that reports a job
/// of one id one is its own. One that is being weighed is left out where its own host has no room,
/// and makes nobody go there. Beside one that has begun early nobody is parked, and what is to
/// leave a host that drains is parked for nobody. To park a job costs the median of what they say.
/// `now`, `starve_limit` as in policy::QueueView. `promises`: a job has its room on another host as
/// far as these or that host say so, and is left out as far as they do not; null: owners are
/// believed.
[[nodiscard]] AllJobs all_jobs(const std::vector<HostJobs>& hosts, double now, double starve_limit,
                               const Promises* promises = nullptr);

}  // namespace flowcon::cluster::queue
