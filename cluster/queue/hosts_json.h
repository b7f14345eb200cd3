// SPDX-License-Identifier: Apache-2.0
// Reports of hosts to the coordinator of the queue, and its orders (docs/peers.md), as JSON.
// Pure; all of it comes from another machine: counts, ranges and texts are checked here, once.
// Times are ages, so that no clock is compared.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/freight.h"
#include "cluster/policy/queue_policies.h"
#include "cluster/queue/job.h"
#include "cluster/queue/pace.h"
#include "ctrl/queue_labels.h"

namespace flowcon::cluster::queue {

/// Of one host, beyond which the rest is not reported: so many, and no longer a message than is
/// taken. Jobs that run come first.
inline constexpr std::size_t kMostReported = 1000;
/// In one message.
inline constexpr std::size_t kMostOrders = 100;

/// Tasks of a job that hold room on a host, or are about to.
struct HeldPlace : TaskPlace {
  std::string birth;  ///< that its host has counted once it counts all of them; "" = it does
};

/// What a job's tasks have in common where they are on several hosts: nothing, so that they are on
/// one; an overlay of the owner's Docker Swarm; the networks of the hosts themselves; or ports that
/// each host publishes.
enum class Span { none, overlay, host, ports };

/// A job of several tasks.
struct GroupShape {
  ctrl::WorkerRange range;  ///< of workers that it may have
  ctrl::Elastic elastic = ctrl::Elastic::no;
  Span span = Span::none;
  bool is_bound = false;               ///< they have that on one host, too
  bool is_leaving = false;             ///< workers are: their room will be free in a moment
  std::optional<double> open = {};     ///< share of it that is not done, by its counter
  std::vector<Pace> paces = {};        ///< that were measured
  std::optional<double> traffic = {};  ///< bytes a second that a worker sends and gets
};

/// A job as its owner reports it. `task.since` is its age, `task.placed` is empty.
struct ReportedJob {
  policy::WaitingTask task;
  std::int64_t version = 0;       ///< of its entry
  std::vector<HeldPlace> places;  ///< empty: it waits
  std::string sent_to;            ///< the host where what it needs goes, or is; "" = none
  bool is_parking = false;        ///< its room will be free in a moment
  /// Of one that waits and may begin early: seconds to its first progress, at most; 0: not known.
  std::optional<double> launch;
  std::vector<std::string> avoided;  ///< hosts that have refused it just now
  std::optional<Freight> freight;    ///< of one that waits, with short_image(); empty: not known
  bool is_weighing = false;          ///< but soon: until then it goes to no other host
  std::optional<GroupShape> group;   ///< none: it is one container
};

/// The report of one host.
struct HostJobs {
  std::string id;
  std::string name;
  policy::Amounts offer;
  policy::Amounts free;          ///< may be below 0
  policy::Amounts most;          ///< that would be free if none of the jobs ran; may be below 0
  bool takes_early = false;      ///< one may begin here before its cores are free
  bool has_early = false;        ///< one has, and they are not yet
  bool is_draining = false;      ///< it gives no room, and what may be parked leaves it
  bool accepts_gpus = false;     ///< its GPUs are for jobs of other hosts, too
  std::set<std::string> births;  ///< that `free` counts already
  std::map<std::string, std::string> owners;  ///< of these births, ids of hosts; may lack some
  std::vector<ReportedJob> jobs;
  std::vector<double> totals;           ///< seconds that ended jobs took
  std::optional<double> pause;          ///< seconds that it costs to park a job of its own
  std::set<std::string> images;         ///< that it has, by short_image()
  std::set<std::string> shared;         ///< of Freight::shared that it has
  std::map<std::string, double> rates;  ///< to other hosts, by id; bytes a second
  std::set<std::string> swarm;          ///< ids of the managers of its Docker Swarm; empty: none
  std::string architecture;             ///< Freight::architecture of images for it
  bool has_address = false;             ///< its own tasks may be in its own network
  bool is_open = false;                 ///< and those of peers
};

/// What the coordinator says of one job.
struct JobOrder {
  std::string job;
  double weight = 0;
  bool is_starved = false;
  std::size_t place = 0;  ///< among those that wait, from 1; 0: it runs
  std::string obstacle;   ///< why it does not run yet, for people
  /// What is to be done, made from which version; none: nothing.
  std::optional<Order> order;
  std::optional<double> early_in = {};  ///< as NextHost::early_in; not reported to others
};

/// The beginning of an image's id, without "sha256:": enough to distinguish those of a few hosts.
[[nodiscard]] std::string short_image(const std::string& id);

[[nodiscard]] Result<HostJobs> parse_host_jobs(std::string_view text);
[[nodiscard]] std::string render(const HostJobs& jobs);
[[nodiscard]] Result<std::vector<JobOrder>> parse_orders(std::string_view text);
[[nodiscard]] std::string render(const std::vector<JobOrder>& orders);

}  // namespace flowcon::cluster::queue
