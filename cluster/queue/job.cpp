// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/job.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "cluster/migration/plan/refusals.h"
#include "cluster/queue/job_rules.h"

namespace flowcon::cluster::queue {
namespace {

constexpr std::array<const char*, 11> kStateNames{"waiting", "placing",   "starting", "running",
                                                  "parking", "returning", "stopping", "done",
                                                  "failed",  "cancelled", "refused"};
constexpr std::array<const char*, 12> kActNames{"none",     "start", "save",    "stop",
                                                "remove",   "bear",  "claim",   "release",
                                                "withdraw", "fetch", "discard", "halt"};

constexpr std::array<const char*, 9> kEndNames{
    "", "done", "failed", "memory", "interrupted", "saved", "unsaved", "stopped", "lost"};

// Seconds in a state; a clock that was set back counts nothing.
double spent(const JobEntry& entry, double now) { return std::max(0.0, now - entry.since); }

bool is_served_in(JobState state) {
  return state == JobState::running || state == JobState::parking;
}

// It runs, or ran, in a life that nobody here asked for.
bool has_other_life(const JobEntry& entry, const JobFacts& facts) {
  return facts.life != entry.life;
}

Step removed(const JobEntry& entry, const JobFacts& facts) {
  return close(taken_away(entry), facts, JobState::cancelled, "its container was removed");
}

// Back to those that wait, after a run.
JobEntry again(const JobEntry& entry, const JobFacts& facts, const std::string& note) {
  JobEntry next = entry;
  next.life = facts.life;
  next.status = facts.status;
  next.was_asked_to_save = false;
  return moved(std::move(next), JobState::waiting, facts.now, note);
}

// What it needs goes to the host that it will get.
Step sent(const JobEntry& entry, const JobFacts& facts) {
  if (facts.order->host.empty()) return {};
  JobEntry next = entry;
  next.task = task_for(*facts.order);
  next.task->is_early = true;
  return write(written(std::move(next), facts.now, entry.note), Act::bear);
}

Step from_waiting(const JobEntry& entry, const JobFacts& facts) {
  if (facts.copy == TicketCopy::absent) return removed(entry, facts);
  if (facts.copy == TicketCopy::running || has_other_life(entry, facts)) {
    return close(entry, facts, JobState::cancelled,
                 "it was started by hand and has left the queue");
  }
  if (is_ordered(entry, facts, Order::Op::send)) return sent(entry, facts);
  if (!is_ordered(entry, facts, Order::Op::start)) return {};
  JobEntry next = entry;
  next.cores = facts.cores;
  if (!facts.order->host.empty()) {
    next.task = task_for(*facts.order);
    return write(moved(std::move(next), JobState::placing, facts.now), Act::bear);
  }
  if (!facts.may_start) return {};
  ++next.attempt;
  return write(moved(std::move(next), JobState::starting, facts.now), Act::start);
}

Step from_starting(const JobEntry& entry, const JobFacts& facts) {
  if (facts.copy == TicketCopy::absent) return removed(entry, facts);
  if (has_other_life(entry, facts)) {
    JobEntry next = entry;
    next.life = facts.life;
    next.refusals = 0;
    next.was_asked_to_save = false;
    return write(moved(std::move(next), JobState::running, facts.now));
  }
  // The start that was asked for may come yet.
  if (!facts.is_quiet) return {};
  if (facts.start_refusal.empty()) return {Act::start, {}};
  return not_started(entry, facts.now, "could not be started: " + facts.start_refusal,
                     !migration::is_passing_refusal(facts.start_refusal));
}

// It ended when it was asked to save itself, and goes on later.
Step parked(const JobEntry& entry, const JobFacts& facts) {
  const bool has_saved = facts.has_saved || facts.status == 0;
  JobEntry next = entry;
  next.is_unparkable = !has_saved;
  next.has_parked = true;
  next.has_saved = has_saved;
  return write(again(next, facts,
                     has_saved ? "has saved itself"
                               : "ended with status " + std::to_string(facts.status) +
                                     " when it was asked to save itself"));
}

Step from_parking(const JobEntry& entry, const JobFacts& facts) {
  if (facts.copy == TicketCopy::absent) return removed(entry, facts);
  if (facts.copy == TicketCopy::ended) return ended(entry, facts);
  if (!is_saving(entry) || has_other_life(entry, facts)) {
    JobEntry next = entry;
    next.life = facts.life;
    next.was_asked_to_save = true;
    next.is_unparkable = false;
    return write(written(std::move(next), facts.now, entry.note), Act::save);
  }
  // The command by which it saves itself may be at it yet.
  if (!facts.is_quiet) return {};
  if (facts.save_failure.empty()) return {Act::save, {}};
  JobEntry next = entry;
  next.is_unparkable = true;
  next.is_held = false;
  return write(moved(std::move(next), JobState::running, facts.now,
                     "could not be parked: " + facts.save_failure));
}

Step from_running(const JobEntry& entry, const JobFacts& facts) {
  if (facts.copy == TicketCopy::absent) return removed(entry, facts);
  if (facts.copy == TicketCopy::ended) return ended(entry, facts);
  if (has_other_life(entry, facts)) {
    JobEntry next = entry;
    next.life = facts.life;
    next.was_asked_to_save = false;
    return write(written(std::move(next), facts.now, "was restarted by hand"));
  }
  return park_where_ordered(entry, facts);
}

// It was asked before, and took longer than it may: that is no end of it either.
bool has_saved_late(const JobEntry& entry, const JobFacts& facts) {
  return entry.was_asked_to_save && facts.status == 0 && !has_other_life(entry, facts);
}

// With status 0 it did without the process that was.
bool was_killed_itself(const JobFacts& facts) {
  return facts.was_killed_for_memory && facts.status != 0;
}

// What comes of it its group decides.
Step task_ended(const JobEntry& entry, const JobFacts& facts) {
  JobEntry next = entry;
  const std::string how = "ended with status " + std::to_string(facts.status);
  const auto over = [&](TaskEnd end, const std::string& note) {
    next.end = end;
    const bool is_fine = end == TaskEnd::done || end == TaskEnd::saved;
    return close(next, facts, is_fine ? JobState::done : JobState::failed, note);
  };
  if (is_saving(entry) || has_saved_late(entry, facts)) {
    if (facts.has_saved || facts.status == 0) return over(TaskEnd::saved, "has saved itself");
    return over(TaskEnd::unsaved, how + " when it was asked to save itself");
  }
  if (facts.was_stopped) return over(TaskEnd::stopped, "was stopped by hand, " + how);
  if (facts.was_interrupted) {
    return over(TaskEnd::interrupted, "was interrupted: its engine or its host stopped");
  }
  if (was_killed_itself(facts)) {
    next.least_memory = 2 * facts.memory;
    return over(TaskEnd::memory, "was killed for memory");
  }
  return over(facts.status == 0 ? TaskEnd::done : TaskEnd::failed, facts.status == 0 ? "" : how);
}

Step from_stopping(const JobEntry& entry, const JobFacts& facts) {
  switch (facts.copy) {
    case TicketCopy::running:
      return {Act::stop, {}};
    case TicketCopy::created:
      // What it has written elsewhere is in it.
      if (!entry.task_of.empty() || entry.served == 0) return {Act::remove, {}};
      return facts.is_quiet ? close(entry, facts, JobState::cancelled, "was cancelled") : Step();
    case TicketCopy::ended:
      if (!facts.is_quiet) return {};
      // It had ended before it was to be stopped, and its group is to know how.
      if (!entry.task_of.empty() && !facts.was_stopped &&
          (was_killed_itself(facts) || facts.was_interrupted)) {
        return task_ended(entry, facts);
      }
      [[fallthrough]];
    default:
      return close(entry, facts, JobState::cancelled, "was cancelled");
  }
}

Error not_now(const JobEntry& entry, const char* what) {
  return bad_input("job " + entry.name + " is " + name(entry.state) + ": " + what);
}

}  // namespace

Step ended(const JobEntry& entry, const JobFacts& facts) {
  // A request that comes late would begin another life, or end it.
  if (!facts.is_quiet) return {};
  if (!entry.task_of.empty()) return task_ended(entry, facts);
  const std::string how = "ended with status " + std::to_string(facts.status);
  if (is_saving(entry) || has_saved_late(entry, facts)) return parked(entry, facts);
  if (facts.was_stopped) {
    return close(entry, facts, JobState::cancelled, "was stopped by hand, " + how);
  }
  if (facts.was_interrupted) {
    return write(again(entry, facts, "was interrupted: its engine or its host stopped"));
  }
  if (was_killed_itself(facts) && !entry.has_doubled) {
    return write(again(doubled(entry, 2 * facts.memory), facts,
                       "was killed for memory, runs again with twice as much"));
  }
  if (facts.status == 0) return close(entry, facts, JobState::done, "");
  const bool was_killed = was_killed_itself(facts);
  const std::string why = was_killed ? "was killed for memory again" : how;
  if (entry.retries <= 0) {
    const std::string where = was_killed ? "" : "; see docker flowcon logs " + entry.name;
    return close(entry, facts, JobState::failed, why + where);
  }
  JobEntry next = entry;
  --next.retries;
  return write(again(next, facts, why + ", starts again"));
}

bool is_ordered(const JobEntry& entry, const JobFacts& facts, Order::Op op) {
  return facts.order && facts.order->op == op && facts.order->version == entry.version &&
         !entry.is_held;
}

Task task_for(const Order& order) {
  Task task;
  task.host = order.host;
  task.birth = order.birth;
  return task;
}

Step park_where_ordered(const JobEntry& entry, const JobFacts& facts) {
  if (!is_ordered(entry, facts, Order::Op::park) || entry.is_unparkable) return {};
  JobEntry next = entry;
  next.was_asked_to_save = true;
  return write(moved(std::move(next), JobState::parking, facts.now, "gives up its room"),
               Act::save);
}

JobEntry doubled(JobEntry entry, double least) {
  entry.has_doubled = true;
  entry.least_memory = least;
  entry.chosen.mem.reset();
  return entry;
}

JobEntry taken_away(JobEntry entry) {
  if (!entry.task_of.empty()) entry.end = TaskEnd::stopped;
  return entry;
}

JobEntry written(JobEntry entry, double now, const std::string& note) {
  ++entry.version;
  entry.note = note;
  const bool is_away = entry.task && entry.state != JobState::waiting;
  entry.steps.push_back({entry.state, now, note, is_away ? entry.task->host : ""});
  const std::size_t kept = entry.task_of.empty() ? kKeptSteps : kKeptTaskSteps;
  if (entry.steps.size() > kept) entry.steps.erase(entry.steps.begin());
  return entry;
}

JobEntry moved(JobEntry entry, JobState state, double now, const std::string& note) {
  // What has run is told from what never did, though the clock was set back meanwhile.
  constexpr double kLeastServed = 1e-3;
  entry.waited = waited(entry, now);
  entry.served = std::max(served(entry, now), is_served_in(entry.state) ? kLeastServed : 0);
  entry.since = now;
  entry.state = state;
  entry.has_saved = entry.has_saved && (state == JobState::waiting || state == JobState::returning);
  return written(std::move(entry), now, note);
}

Step write(JobEntry entry, Act act) { return {act, std::move(entry)}; }

Step close(const JobEntry& entry, const JobFacts& facts, JobState state, const std::string& note) {
  JobEntry next = entry;
  if (facts.copy == TicketCopy::ended) next.status = facts.status;
  return write(moved(std::move(next), state, facts.now, note));
}

Step not_started(const JobEntry& entry, double now, const std::string& why, bool was_refused) {
  JobEntry next = entry;
  if (was_refused) next.is_held = ++next.refusals >= kMostRefusals;
  next.task.reset();
  return write(moved(std::move(next), JobState::waiting, now, why));
}

const char* name(JobState state) { return kStateNames.at(static_cast<std::size_t>(state)); }
const char* name(Act act) { return kActNames.at(static_cast<std::size_t>(act)); }

std::optional<JobState> parse_job_state(const std::string& word) {
  const auto* const found = std::find(kStateNames.begin(), kStateNames.end(), word);
  if (found == kStateNames.end()) return std::nullopt;
  return static_cast<JobState>(found - kStateNames.begin());
}

const char* name(TaskEnd end) { return kEndNames.at(static_cast<std::size_t>(end)); }

std::optional<TaskEnd> parse_task_end(const std::string& word) {
  const auto* const found = std::find(kEndNames.begin(), kEndNames.end(), word);
  if (found == kEndNames.end()) return std::nullopt;
  return static_cast<TaskEnd>(found - kEndNames.begin());
}

bool is_closed(JobState state) { return state >= JobState::done; }

bool is_saving(const JobEntry& entry) {
  return entry.state == JobState::parking && entry.was_asked_to_save && !entry.is_unparkable;
}

double waited(const JobEntry& entry, double now) {
  const bool waits = entry.state == JobState::waiting || entry.state == JobState::placing;
  return entry.waited + (waits ? spent(entry, now) : 0);
}

double served(const JobEntry& entry, double now) {
  return entry.served + (is_served_in(entry.state) ? spent(entry, now) : 0);
}

Step next_step(const JobEntry& entry, const JobFacts& facts) {
  if (is_closed(entry.state) || facts.copy == TicketCopy::unknown) return {};
  if (entry.task) return step_elsewhere(entry, facts);
  switch (entry.state) {
    case JobState::waiting:
      return from_waiting(entry, facts);
    case JobState::starting:
      return from_starting(entry, facts);
    case JobState::running:
      return from_running(entry, facts);
    case JobState::parking:
      return from_parking(entry, facts);
    default:
      return from_stopping(entry, facts);
  }
}

Result<JobEntry> hold(const JobEntry& entry, double now) {
  if (entry.state != JobState::waiting) {
    return not_now(entry, "only a waiting job can be held; park saves a running one");
  }
  JobEntry next = entry;
  next.is_held = true;
  return written(std::move(next), now, "is held");
}

Result<JobEntry> release(const JobEntry& entry, double now) {
  if (is_closed(entry.state) || !entry.is_held) return not_now(entry, "it is not held");
  JobEntry next = entry;
  next.is_held = false;
  next.refusals = 0;
  return written(std::move(next), now, "");
}

Result<JobEntry> cancel(const JobEntry& entry, double now) {
  if (is_closed(entry.state)) return not_now(entry, "there is nothing to cancel");
  if (entry.state == JobState::returning) {
    JobEntry next = entry;
    if (entry.group) {
      next.group->then = JobState::cancelled;
      next.group->why = "was cancelled";
      return written(std::move(next), now, "is cancelled");
    }
    next.task->then = JobState::cancelled;
    next.task->why = "was cancelled";
    return written(std::move(next), now, "is cancelled");
  }
  return moved(entry, JobState::stopping, now, "is cancelled");
}

Result<JobEntry> abandon(const JobEntry& entry, double now) {
  const bool is_away = !is_closed(entry.state) && entry.task && entry.state != JobState::waiting;
  if (!is_away) return not_now(entry, "it is on no other host");
  JobEntry next = entry;
  next.task.reset();
  next.was_asked_to_save = false;
  const bool is_task = !entry.task_of.empty();
  if (is_task) next.end = TaskEnd::lost;
  return moved(std::move(next), is_task ? JobState::failed : JobState::waiting, now,
               "its host was declared lost");
}

Result<JobEntry> park(const JobEntry& entry, double now) {
  if (entry.state != JobState::running) return not_now(entry, "only a running job can be parked");
  JobEntry next = entry;
  next.is_held = true;
  if (next.group) next.is_unparkable = false;
  // It may have ended by now: that it is asked is written when it is seen to run.
  return moved(std::move(next), JobState::parking, now, "is parked");
}

}  // namespace flowcon::cluster::queue
