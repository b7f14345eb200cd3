// SPDX-License-Identifier: Apache-2.0
// The jobs of this host: those that wait or run, and the last ones that have ended. For .cpp files
// only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/moves.h"
#include "cluster/queue/engine_watch.h"
#include "cluster/queue/job.h"
#include "cluster/queue/pace.h"
#include "cluster/queue/request.h"
#include "cluster/queue/ticket.h"
#include "ctrl/mutex.h"
#include "ctrl/policy/round.h"

namespace flowcon::cluster::queue {

/// Ended jobs that are remembered.
inline constexpr std::size_t kKeptJobs = 200;
/// Seconds in which a host is not asked again that has refused a job.
inline constexpr double kAvoided = 20;
/// The same, however often others have refused it.
inline constexpr double kLongestAvoided = 600;
/// Seconds in which nothing is decided at first, until all that runs has been looked at.
inline constexpr double kLongestLook = 60;
/// Seconds without the engine's events after which its host gives no room.
inline constexpr double kDeaf = 15;
/// Seconds until what failed is tried again.
inline constexpr double kRetry = 5;
/// Job::quiet_from while the engine has not answered since it was asked.
inline constexpr double kUnheard = std::numeric_limits<double>::infinity();

/// The engine has answered that it does not do it. Without an answer it may do it yet.
[[nodiscard]] inline bool is_answer(const Error& error) { return !error.code || is_absent(error); }

/// What a job asks for.
struct JobAsks {
  std::optional<Ticket> ticket;  ///< none until its container was looked at
  Request request;               ///< while it is open; a group's is that of all its tasks
  Request worker_request;        ///< of a group: of one worker
  Request ps_request;            ///< of one parameter server
  std::vector<ctrl::estimate::LabelEstimate> estimates;
  std::uint64_t estimated_by = 0;  ///< World::history() then
};

/// What its engine is asked for, and what came of it.
struct JobSteering {
  TicketCopy copy = TicketCopy::unknown;
  LifeWatch watch;  ///< of its ticket
  std::optional<Order> order;
  double quiet_from = 0;  ///< steady; until then what was asked of the engine may be carried out
  std::string start_refusal;
  bool may_start_later = false;  ///< it may be so no more the next time
  std::string save_failure;
  bool has_saved = false;
  bool was_told_to_stop = false;  ///< stopping: by us, and whoever runs it has heard
};

/// Where it may go, and where it has room. Times are steady.
struct JobRoom {
  bool is_ready = false;           ///< of one that is to run on another host: all of it is there
  std::optional<Freight> freight;  ///< while it waits; none: not weighed yet
  double weigh_at = 0;             ///< not before; 0: nobody has tried
  double weigh_by = 0;             ///< others wait so long for that; 0: not asked yet
  std::string room_at;             ///< id of the birth, made early, that has its room
  bool begins_early = false;       ///< by the order that it starts by: Order::is_early
  double not_early_before = 0;     ///< a host has just refused that
  std::map<std::string, double> avoided;  ///< hosts that turned it down; until when
  int times_refused = 0;                  ///< by other hosts, for reasons that do not pass
};

/// What its runs have said.
struct JobSeen {
  std::string host_shown;            ///< of its task, as people know it; "" = it has none
  std::optional<double> left_seen;   ///< CPU seconds, as its runs said last
  std::optional<double> width_seen;  ///< cores that it can use
  std::optional<double> done_seen;   ///< share, by the counter of a task on another host
  PaceMeter pace;
};

/// A job: what is written of it, and what only this process knows.
struct Job : JobAsks, JobSteering, JobRoom, JobSeen {
  Job(boost::asio::io_context& io, JobEntry the_entry) : entry(std::move(the_entry)), writing(io) {}

  JobEntry entry;              ///< as the journal has it
  std::shared_ptr<Job> group;  ///< that it is a task of; null: of none

  ctrl::Mutex writing;  ///< of its line of the journal, which for a group's task is the group's
  std::string held;     ///< of a group: the last failpoint that it waited at
  bool is_driven = false;
  bool is_due = true;           ///< something may have changed
  double retry_at = 0;          ///< steady; after a failure
  bool is_unwritten = false;    ///< its last change: the journal did not take it
  std::string trouble;          ///< what went wrong last, for people
  std::string obstacle;         ///< why it does not run yet, for people
  std::size_t order_shown = 0;  ///< its place among those that wait, from 1; 0: none

  /// By earlier runs; empty where they say nothing of it.
  [[nodiscard]] ctrl::estimate::LabelEstimate estimate(std::string_view label) const;
  /// What it had when it was killed for memory, at least: what it asks for, or docker's limit.
  /// Unit: bytes.
  [[nodiscard]] double memory() const;
};

using JobPtr = std::shared_ptr<Job>;

/// Of the line of the journal that a job is written in: a group's task is in the group's.
[[nodiscard]] inline ctrl::Mutex& writing_of(const JobPtr& job) {
  return job->group ? job->group->writing : job->writing;
}

/// It waits, and may have room. One that its host cannot start now, for its engine or its disk,
/// keeps none from others.
[[nodiscard]] bool may_start(const Job& job);
/// It runs, and may have more workers or fewer.
[[nodiscard]] bool is_elastic(const Job& job);
[[nodiscard]] double priority_of(const Job& job);

/// A job that has begun stays for so many times what parking costs: whatever is thought of how long
/// jobs take, no more than a quarter of the time goes into that.
inline constexpr double kStays = 3;
/// May it be parked for others, if that costs `pause` seconds? `now`: since the epoch.
[[nodiscard]] bool may_be_parked(const Job& job, double now, double pause);

class Jobs {
 public:
  /// By id; tasks of groups, which are jobs too, are among them.
  [[nodiscard]] const std::map<std::string, JobPtr>& open() const { return open_; }
  /// The same, those first that were submitted first.
  [[nodiscard]] std::vector<JobPtr> by_arrival() const;
  /// Newest first.
  [[nodiscard]] const std::vector<JobPtr>& ended() const { return ended_; }
  /// One that has ended is the oldest of those.
  void add(const JobPtr& job);
  /// It is over, as the last one. Of a task of a group its group knows what is left to know.
  void close(const JobPtr& job);
  /// One that has ended.
  void forget(const JobPtr& job) { std::erase(ended_, job); }
  /// Open ones but for the tasks of groups.
  [[nodiscard]] std::size_t count() const;
  /// Open or ended, by its full id. Null where there is none.
  [[nodiscard]] JobPtr find_id(const std::string& id) const;
  /// By its name (an open one before others, then the latest), its id or a unique beginning of it.
  /// Errors: ENOENT there is none.
  [[nodiscard]] Result<JobPtr> find(const std::string& name) const;
  /// What ended jobs took, in seconds, the last kKeptJobs that ended with status 0.
  [[nodiscard]] std::vector<double> totals() const;
  /// What it costs to park one and to start it again, until it goes on with its work, by what the
  /// jobs here took for it. Unit: seconds. Empty where there are none.
  [[nodiscard]] std::optional<double> pause() const;
  /// A job has come from `before` to its entry, while it has its order, if any.
  void note_resize(const Job& job, const JobEntry& before);
  /// So often since flowcond started one that ran got another number of workers.
  [[nodiscard]] std::uint64_t resizes() const { return resizes_; }

 private:
  std::map<std::string, JobPtr> open_;
  std::vector<JobPtr> ended_;
  std::uint64_t resizes_ = 0;
};

}  // namespace flowcon::cluster::queue
