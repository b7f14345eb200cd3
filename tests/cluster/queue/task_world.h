// SPDX-License-Identifier: Apache-2.0
// The state of the model of a job whose task is on another host (task_model.h), and what the rules
// are shown of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cluster/queue/job.h"

namespace flowcon::cluster::queue::tasks {

using Rule = std::function<Step(const JobEntry&, const JobFacts&)>;

enum class End { zero, one, memory, killed };

/// What of an entry decides anything.
struct Line {
  JobState state = JobState::waiting;
  bool has_task = false;
  bool is_early = false;
  int birth = 0;  ///< its number; only the last one can be under way
  int back = 0;
  int then = -1;  ///< a state
  bool is_held = false;
  bool was_asked = false;
  bool is_unparkable = false;
  bool has_doubled = false;
  int retries = 0;
  int refusals = 0;
  int life = 0;      ///< of the ticket
  int end_life = 0;  ///< of the task
  auto operator<=>(const Line&) const = default;
};

struct World {
  bool is_alive = true;  ///< the owner's flowcond
  bool is_heard = true;  ///< the other host
  Line memory, disk;
  bool was_refused = false;  ///< the birth could not be begun, or has no room
  bool has_room = false;     ///< the owner was told so
  bool has_save_failed = false;
  TicketCopy ticket = TicketCopy::created;
  int ticket_life = 0;
  int births = 0, backs = 0;  ///< begun so far
  Stage birth = Stage::none;  ///< of the last one
  bool is_released = false;
  Stage back = Stage::none;  ///< of the last one
  TicketCopy copy = TicketCopy::absent;
  int life = 0;  ///< of the task; it may be restarted once
  End end = End::zero;
  bool was_interrupted = false;
  bool was_stopped = false;   ///< by a person there
  bool was_asked = false;     ///< to save, in this life
  bool has_saved = false;     ///< it ended for that
  bool has_finished = false;  ///< a run of the job has come to its end with status 0
  bool had_finished = false;  ///< the same, even where a person started that task once more
  bool has_meddled = false;   ///< a person cancelled it or used docker's own commands
  bool is_abandoned = false;
  int faults = 0;
  auto operator<=>(const World&) const = default;
};

inline constexpr std::int64_t kVersion = 5;
inline constexpr int kMostFaults = 2;

inline std::string id_of(int number) { return number == 0 ? "" : std::to_string(number); }

inline JobEntry entry_of(const Line& line) {
  JobEntry entry;
  entry.state = line.state;
  entry.is_held = line.is_held;
  entry.was_asked_to_save = line.was_asked;
  entry.is_unparkable = line.is_unparkable;
  entry.has_doubled = line.has_doubled;
  entry.retries = line.retries;
  entry.refusals = line.refusals;
  entry.life = id_of(line.life);
  entry.version = kVersion;
  if (line.has_task) {
    entry.task = Task{"host", id_of(line.birth), id_of(line.back), id_of(line.end_life), {},
                      "",     line.is_early};
    if (line.then >= 0) entry.task->then = static_cast<JobState>(line.then);
  }
  return entry;
}

inline Line line_of(const JobEntry& entry) {
  Line line;
  line.state = entry.state;
  if (is_closed(entry.state) && !entry.task) return line;
  line.is_held = entry.is_held;
  line.was_asked = entry.was_asked_to_save;
  line.is_unparkable = entry.is_unparkable;
  line.has_doubled = entry.has_doubled;
  line.retries = static_cast<int>(entry.retries);
  line.refusals = static_cast<int>(entry.refusals);
  line.life = entry.life.empty() ? 0 : std::stoi(entry.life);
  line.has_task = entry.task.has_value();
  if (!entry.task) return line;
  const bool is_before_its_run = entry.state <= JobState::starting;
  line.is_early = is_before_its_run && entry.task->is_early;
  line.birth = std::stoi(entry.task->birth);
  line.back = entry.task->back.empty() ? 0 : std::stoi(entry.task->back);
  line.end_life = entry.task->life.empty() ? 0 : std::stoi(entry.task->life);
  line.then = entry.task->then ? static_cast<int>(*entry.task->then) : -1;
  return line;
}

inline JobFacts facts_of(const World& world, std::optional<Order> order) {
  JobFacts facts;
  facts.now = 100;
  facts.copy = world.ticket;
  facts.life = id_of(world.ticket_life);
  facts.order = std::move(order);
  if (world.was_refused) facts.start_refusal = "it has a port of its own";
  if (world.has_save_failed) facts.save_failure = "it takes too long";
  TaskFacts& task = facts.task;
  task.birth = world.memory.birth == world.births ? world.birth : Stage::none;
  task.failure = "undone";
  task.was_refused = true;
  task.back = world.memory.back != 0 && world.memory.back == world.backs ? world.back : Stage::none;
  task.next_id = id_of(world.backs + 1);
  task.has_room = world.has_room;
  if (!world.is_heard || task.birth == Stage::none) return facts;
  task.copy = world.copy;
  task.life = id_of(world.life);
  task.status = world.end == End::zero ? 0 : world.end == End::one ? 1 : 137;
  task.was_killed_for_memory = world.end == End::memory;
  task.was_stopped = world.was_stopped;
  task.was_interrupted = world.was_interrupted;
  task.memory = 16;
  return facts;
}

inline bool is_under_way(Stage stage) {
  return stage == Stage::under_way || stage == Stage::ready || stage == Stage::handed_over;
}

inline std::string shown(const World& world) {
  return std::string(world.is_alive ? "" : "dead, ") + (world.is_heard ? "" : "deaf, ") +
         name(world.memory.state) + (world.memory.has_task ? " with task" : "") +
         (world.memory == world.disk ? "" : std::string(", on disk ") + name(world.disk.state)) +
         ", birth " + std::to_string(static_cast<int>(world.birth)) + ", copy " +
         std::to_string(static_cast<int>(world.copy)) + ", back " +
         std::to_string(static_cast<int>(world.back)) + ", ticket " +
         std::to_string(static_cast<int>(world.ticket));
}

}  // namespace flowcon::cluster::queue::tasks
