// SPDX-License-Identifier: Apache-2.0
// The rules of a job whose task is on another host.
#include <optional>
#include <utility>

#include "cluster/queue/job_rules.h"

namespace flowcon::cluster::queue {
namespace {

constexpr const char* kRemoved = "its container was removed";

// The birth has started nothing there, and never will.
bool is_unborn(Stage birth) { return birth == Stage::none || birth == Stage::undone; }

JobEntry without_task(const JobEntry& entry) {
  JobEntry next = entry;
  next.task.reset();
  return next;
}

Step is_born(const JobEntry& entry, const JobFacts& facts) {
  JobEntry next = entry;
  next.refusals = 0;
  next.was_asked_to_save = false;
  return write(moved(std::move(next), JobState::running, facts.now));
}

// What has happened to the ticket that takes the job out of the queue; "" = nothing.
std::string why_it_leaves(const JobEntry& entry, const JobFacts& facts) {
  if (facts.copy == TicketCopy::absent) return kRemoved;
  const bool was_started = facts.copy == TicketCopy::running || facts.life != entry.life;
  return was_started ? "it was started by hand and has left the queue" : "";
}

// What is to be done where the birth is not ready to be handed over; empty: it is.
std::optional<Step> unless_ready(const JobEntry& entry, const JobFacts& facts) {
  const TaskFacts& task = facts.task;
  if (task.birth == Stage::unknown) return Step();
  if (const std::string why = why_it_leaves(entry, facts); !why.empty()) {
    if (!is_unborn(task.birth)) return Step{Act::withdraw, {}};
    return close(without_task(entry), facts, JobState::cancelled, why);
  }
  switch (task.birth) {
    case Stage::none:
      if (facts.start_refusal.empty()) return Step{Act::bear, {}};
      return not_started(entry, facts.now, "could not be placed: " + facts.start_refusal,
                         task.was_refused);
    case Stage::undone:
      return not_started(entry, facts.now, task.failure, task.was_refused);
    case Stage::under_way:
      return Step();
    default:
      return std::nullopt;
  }
}

// All that it needs goes to its host, or is there.
Step from_waiting(const JobEntry& entry, const JobFacts& facts) {
  const bool is_left = facts.task.birth == Stage::unknown || !why_it_leaves(entry, facts).empty();
  if (is_left) return unless_ready(entry, facts).value_or(Step());
  const bool is_to_start = is_ordered(entry, facts, Order::Op::start);
  const bool is_elsewhere = is_to_start && facts.order->host != entry.task->host;
  if (entry.is_held || is_elsewhere) {
    if (!is_unborn(facts.task.birth)) return {Act::withdraw, {}};
    return write(written(without_task(entry), facts.now, entry.note));
  }
  if (is_to_start && !is_unborn(facts.task.birth)) {
    JobEntry next = entry;
    next.cores = facts.cores;
    return write(moved(std::move(next), JobState::placing, facts.now));
  }
  return unless_ready(entry, facts).value_or(Step());
}

Step from_placing(const JobEntry& entry, const JobFacts& facts) {
  if (const std::optional<Step> step = unless_ready(entry, facts)) return *step;
  if (entry.task->is_early && !facts.task.has_room) {
    if (facts.start_refusal.empty()) return {Act::claim, {}};
    return write(moved(entry, JobState::waiting, facts.now, facts.start_refusal));
  }
  if (!facts.may_start) return {};
  JobEntry next = entry;
  ++next.attempt;
  return write(moved(std::move(next), JobState::starting, facts.now), Act::release);
}

Step from_starting(const JobEntry& entry, const JobFacts& facts) {
  const TaskFacts& task = facts.task;
  switch (task.birth) {
    case Stage::under_way:
    case Stage::ready:
      return {Act::release, {}};
    case Stage::done:
      return is_born(entry, facts);
    case Stage::undone:
      return not_started(entry, facts.now, task.failure, task.was_refused);
    default:
      return {};
  }
}

// What becomes of the job is known now, and counts once all that it has written is here.
Step came_to_end(const JobEntry& entry, const JobFacts& facts) {
  JobFacts end = facts;
  end.copy = TicketCopy::ended;
  end.life = entry.life;
  end.status = facts.task.status;
  end.was_killed_for_memory = facts.task.was_killed_for_memory;
  end.was_stopped = facts.task.was_stopped;
  end.was_interrupted = facts.task.was_interrupted;
  end.memory = facts.task.memory;
  end.is_quiet = true;
  JobEntry next = *ended(entry, end).entry;
  const bool may_return = !facts.task.is_awaited_here;
  if (may_return) next.task->back = facts.task.next_id;
  next.task->life = facts.task.life;
  next.task->then = next.state;
  next.task->why = next.note;
  next.state = JobState::returning;
  next.note.clear();
  next.steps.back() = {next.state, facts.now, "", next.task->host};
  return write(std::move(next), may_return ? Act::fetch : Act::none);
}

Step was_removed_there(const JobEntry& entry, const JobFacts& facts) {
  return close(taken_away(without_task(entry)), facts, JobState::cancelled,
               "its container on the other host was removed");
}

// What is to be done where the task does not run; empty: it does.
std::optional<Step> unless_it_runs(const JobEntry& entry, const JobFacts& facts) {
  switch (facts.task.copy) {
    case TicketCopy::running:
      return std::nullopt;
    case TicketCopy::absent:
      return was_removed_there(entry, facts);
    case TicketCopy::ended:
      return came_to_end(entry, facts);
    default:
      return Step();
  }
}

Step from_running(const JobEntry& entry, const JobFacts& facts) {
  if (const std::optional<Step> step = unless_it_runs(entry, facts)) return *step;
  return park_where_ordered(entry, facts);
}

Step from_parking(const JobEntry& entry, const JobFacts& facts) {
  if (const std::optional<Step> step = unless_it_runs(entry, facts)) return *step;
  JobEntry next = entry;
  if (!is_saving(entry)) {
    next.was_asked_to_save = true;
    next.is_unparkable = false;
    return write(written(std::move(next), facts.now, entry.note), Act::save);
  }
  if (facts.save_failure.empty()) return {Act::save, {}};
  next.is_unparkable = true;
  next.is_held = false;
  return write(moved(std::move(next), JobState::running, facts.now,
                     "could not be parked: " + facts.save_failure));
}

Step is_home(const JobEntry& entry, const JobFacts& facts, const std::string& lost = "") {
  const Task task = *entry.task;
  JobEntry next = without_task(entry);
  next.life = facts.life;
  const std::string why = task.why + (task.why.empty() || lost.empty() ? "" : "; ") + lost;
  return write(moved(std::move(next), task.then.value_or(JobState::waiting), facts.now, why));
}

// A person has removed the ticket: there is no place for what the task has written.
Step from_orphaned(const JobEntry& entry, const JobFacts& facts) {
  if (facts.task.copy == TicketCopy::unknown) return {};
  if (facts.task.copy != TicketCopy::absent) return {Act::discard, {}};
  return close(without_task(entry), facts, JobState::cancelled, kRemoved);
}

Step from_returning(const JobEntry& entry, const JobFacts& facts) {
  const bool is_under_way = facts.task.back == Stage::under_way ||
                            facts.task.back == Stage::ready ||
                            facts.task.back == Stage::handed_over;
  const bool has_begun = !entry.task->back.empty();
  if (has_begun && facts.task.back == Stage::done) return is_home(entry, facts);
  if (has_begun && (is_under_way || facts.task.back == Stage::unknown)) return {};
  if (facts.copy == TicketCopy::absent) return from_orphaned(entry, facts);
  if (facts.task.copy == TicketCopy::unknown) return {};
  if (facts.task.copy == TicketCopy::absent) {
    return is_home(entry, facts, "its output is lost: its container there was removed");
  }
  JobEntry next = entry;
  if (facts.task.copy == TicketCopy::running || facts.task.life != entry.task->life) {
    next.task = Task();
    next.task->host = entry.task->host;
    next.task->birth = entry.task->birth;
    return write(moved(std::move(next), JobState::running, facts.now, "was restarted by hand"));
  }
  if (facts.task.is_awaited_here) return {};
  if (has_begun && facts.task.back == Stage::none) return {Act::fetch, {}};
  next.task->back = facts.task.next_id;
  return write(written(std::move(next), facts.now, entry.note), Act::fetch);
}

// Before it was to be stopped, so that its group is to know how.
bool had_ended(const TaskFacts& task) {
  const bool was_killed = task.was_killed_for_memory && task.status != 0;
  return !task.was_stopped && (was_killed || task.was_interrupted);
}

Step from_stopping(const JobEntry& entry, const JobFacts& facts) {
  switch (facts.task.birth) {
    case Stage::none:
    case Stage::undone:
      return write(written(without_task(entry), facts.now, entry.note));
    case Stage::under_way:
    case Stage::ready:
      return {Act::withdraw, {}};
    case Stage::done:
      break;
    default:
      return {};
  }
  switch (facts.task.copy) {
    case TicketCopy::running:
      return {Act::stop, {}};
    case TicketCopy::absent:
      return close(without_task(entry), facts, JobState::cancelled, "was cancelled");
    case TicketCopy::ended:
      break;
    default:
      return {};
  }
  if (facts.copy == TicketCopy::absent) return {Act::discard, {}};
  if (!entry.task_of.empty() && had_ended(facts.task)) return came_to_end(entry, facts);
  JobEntry next = entry;
  next.status = facts.task.status;
  const bool may_return = !facts.task.is_awaited_here;
  if (may_return) next.task->back = facts.task.next_id;
  next.task->life = facts.task.life;
  next.task->then = JobState::cancelled;
  next.task->why = "was cancelled";
  return write(moved(std::move(next), JobState::returning, facts.now),
               may_return ? Act::fetch : Act::none);
}

}  // namespace

Step step_elsewhere(const JobEntry& entry, const JobFacts& facts) {
  if (entry.state == JobState::waiting) return from_waiting(entry, facts);
  if (entry.state == JobState::placing) return from_placing(entry, facts);
  if (facts.copy == TicketCopy::running) return {Act::halt, {}};
  if (entry.state == JobState::stopping) return from_stopping(entry, facts);
  if (entry.state == JobState::returning) return from_returning(entry, facts);
  if (facts.copy == TicketCopy::absent) {
    return write(moved(taken_away(entry), JobState::stopping, facts.now, kRemoved));
  }
  switch (entry.state) {
    case JobState::starting:
      return from_starting(entry, facts);
    case JobState::parking:
      return from_parking(entry, facts);
    default:
      return from_running(entry, facts);
  }
}

}  // namespace flowcon::cluster::queue
