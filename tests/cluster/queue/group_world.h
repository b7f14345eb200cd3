// SPDX-License-Identifier: Apache-2.0
// The state of the model of a group of two tasks (group_model.h), and what the rules are shown of
// it.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/queue/group.h"

namespace flowcon::cluster::queue::groups {

using Rule = std::function<GroupStep(const JobEntry&, const GroupFacts&)>;

/// A group that is tried out.
struct Setting {
  std::int64_t ps = 0;
  ctrl::WorkerRange workers{2, 2};
  ctrl::Elastic elastic = ctrl::Elastic::no;
  std::vector<TaskPlace> places;  ///< where it starts
  int max_faults = 1;
  bool has_people = true;  ///< who cancel it, and use docker's own commands
};

inline constexpr std::int64_t kVersion = 5;
inline constexpr std::int64_t kFirstNumber = 10;  ///< of a task to come
inline constexpr std::size_t kSlots = 2;
inline constexpr const char* kThere = "there";  ///< the other host

enum class End { zero, one, killed };

/// What of a task's entry decides anything.
struct TaskLine {
  std::size_t slot = 0;  ///< of its container
  bool is_ps = false;
  bool is_away = false;  ///< it is to run on the other host
  bool is_made = false;
  bool is_new = true;  ///< nothing has been written of it since
  bool has_task = false;
  int back = 0;  ///< 0: none; 1: the last one; 2: one before; 3: one to come
  int then = -1;
  bool is_held = false;
  bool was_asked = false;
  bool is_unparkable = false;
  bool has_left = false;
  bool was_refused = false;
  bool has_begun = false;  ///< an attempt was counted
  int life = 0;            ///< of the container that was made here
  JobState state = JobState::waiting;
  TaskEnd end = TaskEnd::none;
  auto operator<=>(const TaskLine&) const = default;
};

/// What of the group's entry decides anything, and its tasks: one record of the journal. It has no
/// retry, and what it has been refused is forgotten.
struct Line {
  JobState state = JobState::waiting;
  int then = -1;
  bool is_unparkable = false;
  bool has_network = false;
  std::vector<TaskLine> tasks;
  auto operator<=>(const Line&) const = default;
};

/// A task's container, as it is.
struct Box {
  TicketCopy ticket = TicketCopy::absent;  ///< that was made here; it runs if the task is here
  int life = 0;                            ///< of it
  bool is_ordered = false;
  bool was_refused = false;  ///< its start, or the birth could not be begun
  bool has_save_failed = false;
  Stage birth = Stage::none;
  bool is_released = false;
  Stage back = Stage::none;
  TicketCopy copy = TicketCopy::absent;  ///< on the other host
  End end = End::zero;
  bool was_interrupted = false;
  bool was_stopped = false;  ///< by a person or by flowcond, as its engine tells of either
  bool was_asked = false;    ///< to save itself
  bool has_run = false;
  bool has_finished = false;  ///< it came to its end before that, with status 0
  auto operator<=>(const Box&) const = default;
};

struct World {
  bool is_alive = true;  ///< the owner's flowcond
  bool is_heard = true;  ///< the other host
  Line memory, disk;
  TicketCopy ticket = TicketCopy::created;
  bool was_refused = false;  ///< a container could not be made
  std::array<Box, kSlots> boxes;
  bool has_meddled = false;  ///< a person cancelled it, or used docker's own commands
  int faults = 0;
  auto operator<=>(const World&) const = default;
};

inline bool is_under_way(Stage stage) {
  return stage == Stage::under_way || stage == Stage::ready || stage == Stage::handed_over;
}

inline bool runs(const Box& box) {
  return box.copy == TicketCopy::running || box.ticket == TicketCopy::running;
}

inline JobEntry entry_of(const TaskLine& line) {
  JobEntry entry;
  entry.id = line.is_made ? std::to_string(line.slot) : "";
  entry.name = "job-" + std::to_string(line.slot);
  entry.task_of = "job";
  entry.is_ps = line.is_ps;
  entry.at = line.is_away ? kThere : "";
  entry.version = line.is_new ? 1 : kVersion;
  entry.attempt = line.has_begun ? 1 : 0;
  if (line.has_task) {
    entry.task =
        Task{kThere, "1", line.back == 0 ? "" : std::to_string(line.back), "", {}, "", false};
    if (line.state == JobState::returning) entry.task->life = "1";
    if (line.then >= 0) entry.task->then = static_cast<JobState>(line.then);
  }
  entry.is_held = line.is_held;
  entry.was_asked_to_save = line.was_asked;
  entry.is_unparkable = line.is_unparkable;
  entry.has_left = line.has_left;
  entry.refusals = line.was_refused ? 1 : 0;
  entry.life = line.life == 0 ? "" : std::to_string(line.life);
  entry.state = line.state;
  entry.end = line.end;
  entry.note = "?";
  return entry;
}

inline TaskLine line_of(const JobEntry& entry, std::size_t slot) {
  TaskLine line;
  line.slot = slot;
  line.is_ps = entry.is_ps;
  line.is_away = !entry.at.empty();
  line.is_made = !entry.id.empty();
  line.is_new = entry.version == 1;
  line.has_left = entry.has_left;
  line.has_begun = entry.attempt > 0;
  line.state = entry.state;
  line.end = entry.end;
  line.was_refused = entry.refusals > 0;
  line.life = entry.life.empty() ? 0 : std::stoi(entry.life);
  if (is_closed(entry.state)) return line;
  line.has_task = entry.task.has_value();
  if (entry.task) {
    line.back = entry.task->back.empty() ? 0 : std::stoi(entry.task->back);
    line.then = entry.task->then ? static_cast<int>(*entry.task->then) : -1;
  }
  line.is_held = entry.is_held;
  line.was_asked = entry.was_asked_to_save;
  line.is_unparkable = entry.is_unparkable;
  return line;
}

inline JobEntry entry_of(const Line& line, const Setting& setting) {
  JobEntry entry;
  entry.id = entry.name = "job";
  entry.version = kVersion;
  entry.state = line.state;
  entry.is_unparkable = line.is_unparkable;
  entry.group.emplace();
  Group& group = *entry.group;
  group.workers = setting.workers;
  group.ps = setting.ps;
  group.elastic = setting.elastic;
  group.next_worker = group.next_ps = kFirstNumber;
  group.network = line.has_network ? "net" : "";
  if (line.then >= 0) group.then = static_cast<JobState>(line.then);
  for (const TaskLine& task : line.tasks) group.tasks.push_back(entry_of(task));
  return entry;
}

/// Without its tasks.
inline Line line_of(const JobEntry& entry) {
  Line line;
  line.state = entry.state;
  if (is_closed(entry.state)) return line;
  line.is_unparkable = entry.is_unparkable;
  line.has_network = !entry.group->network.empty();
  line.then = entry.group->then ? static_cast<int>(*entry.group->then) : -1;
  return line;
}

inline GroupFacts facts_of(const World& world, std::optional<Order> order) {
  GroupFacts facts;
  facts.now = 100;
  facts.copy = world.ticket;
  const bool has_run = world.ticket == TicketCopy::running || world.ticket == TicketCopy::ended;
  facts.life = has_run ? "1" : "";
  facts.order = std::move(order);
  facts.network = "net";
  facts.saves_itself = true;
  for (const TaskLine& task : world.memory.tasks) {
    const Box& box = world.boxes.at(task.slot);
    const bool is_made = task.is_made && task.state == JobState::waiting && task.is_new;
    const bool is_placed = task.state == JobState::placing && box.birth == Stage::ready;
    facts.ready.push_back(task.is_away ? is_placed : is_made);
  }
  if (world.was_refused) facts.make_refusal = "there is such a name";
  return facts;
}

inline JobFacts facts_of(const World& world, const TaskLine& task) {
  const Box& box = world.boxes.at(task.slot);
  JobFacts facts;
  facts.now = 100;
  facts.copy = box.ticket;
  facts.life = box.life == 0 ? "" : std::to_string(box.life);
  facts.memory = 16;
  const JobState group = world.memory.state;
  facts.may_start = group == JobState::starting || group == JobState::running;
  if (box.is_ordered) {
    facts.order =
        Order{Order::Op::start, task.is_new ? 1 : kVersion, task.is_away ? kThere : "", "1"};
  }
  if (box.was_refused) facts.start_refusal = "it has a port of its own";
  if (box.has_save_failed) facts.save_failure = "it takes too long";
  const std::int64_t status = box.end == End::zero ? 0 : box.end == End::one ? 1 : 137;
  facts.status = facts.task.status = status;
  facts.was_stopped = facts.task.was_stopped = box.was_stopped;
  facts.was_interrupted = facts.task.was_interrupted = box.was_interrupted;
  if (!task.has_task) return facts;
  facts.task.birth = box.birth;
  facts.task.failure = "undone";
  facts.task.was_refused = true;
  facts.task.back = task.back == 1 ? box.back : Stage::none;
  facts.task.next_id = "3";
  facts.task.life = "1";
  facts.task.memory = 16;
  if (world.is_heard && box.birth != Stage::none) facts.task.copy = box.copy;
  return facts;
}

// `task` is of world.memory.
inline void put(World& world, TaskLine& task, const JobEntry& entry) {
  task = line_of(entry, task.slot);
  Box& box = world.boxes.at(task.slot);
  box.is_ordered = box.was_refused = box.has_save_failed = false;
  world.disk = world.memory;
}

inline TaskLine& at_slot(Line& line, std::size_t slot) {
  return *std::find_if(line.tasks.begin(), line.tasks.end(),
                       [slot](const TaskLine& task) { return task.slot == slot; });
}

inline void fetch(World& world, std::size_t slot) {
  Box& box = world.boxes.at(slot);
  if (!world.is_heard || box.copy != TicketCopy::ended || is_under_way(box.back)) return;
  if (box.ticket == TicketCopy::absent) return;
  for (Line* line : {&world.memory, &world.disk}) {
    for (TaskLine& task : line->tasks) {
      if (task.slot == slot) task.back = task.back == 3 ? 1 : task.back == 1 ? 2 : task.back;
    }
  }
  box.back = Stage::under_way;
}

inline void do_act(World& world, std::size_t slot, Act act) {
  Box& box = world.boxes.at(slot);
  const bool runs_there = world.is_heard && box.copy == TicketCopy::running;
  const bool runs_here = box.ticket == TicketCopy::running;
  switch (act) {
    case Act::start:
      if (box.ticket != TicketCopy::created) return;
      box.ticket = TicketCopy::running;
      box.life = 1;
      box.has_run = true;
      return;
    case Act::bear:
      if (box.birth == Stage::none) box.birth = Stage::under_way;
      return;
    case Act::release:
      box.is_released = true;
      return;
    case Act::withdraw:
      if (box.birth == Stage::under_way || box.birth == Stage::ready) box.birth = Stage::undone;
      return;
    case Act::save:
      box.was_asked = box.was_asked || runs_there || runs_here;
      return;
    case Act::stop:
      if (runs_there) box.copy = TicketCopy::ended;
      if (runs_here) box.ticket = TicketCopy::ended;
      if (runs_there || runs_here) box.end = End::killed;
      box.was_stopped = box.was_stopped || runs_there || runs_here;
      return;
    case Act::fetch:
      fetch(world, slot);
      return;
    case Act::discard:
      if (world.is_heard) box.copy = TicketCopy::absent;
      return;
    case Act::remove:
      if (box.ticket == TicketCopy::created) box.ticket = TicketCopy::absent;
      return;
    default:
      return;
  }
}

inline void end_run(Box& box, End end) {
  (box.copy == TicketCopy::running ? box.copy : box.ticket) = TicketCopy::ended;
  box.end = end;
  box.has_finished = end == End::zero && !box.was_asked;
}

// One more fault. What was not handed over is undone at the next start.
inline World killed(World world) {
  ++world.faults;
  world.is_alive = world.was_refused = false;
  world.memory = world.disk;
  for (Box& box : world.boxes) {
    box.is_ordered = box.was_refused = box.has_save_failed = box.is_released = false;
    if (box.birth == Stage::under_way || box.birth == Stage::ready) box.birth = Stage::undone;
  }
  return world;
}

inline bool is_server(const World& world, std::size_t slot) {
  return std::any_of(world.memory.tasks.begin(), world.memory.tasks.end(),
                     [slot](const TaskLine& task) { return task.slot == slot && task.is_ps; });
}

inline bool is_making(const World& world) {
  const JobState state = world.memory.state;
  const bool makes = state == JobState::placing || state == JobState::running;
  return makes && std::any_of(world.memory.tasks.begin(), world.memory.tasks.end(),
                              [](const TaskLine& task) { return !task.is_made; });
}

// Have all workers that it has come to their end by themselves? One that was to join may never have
// begun.
inline bool all_finished(const World& world, const Line& line, bool may_join) {
  bool has_any = false;
  for (const TaskLine& task : line.tasks) {
    const Box& box = world.boxes.at(task.slot);
    if (task.is_ps || task.has_left || (may_join && !box.has_run)) continue;
    if (!box.has_finished) return false;
    has_any = true;
  }
  return has_any;
}

inline std::string shown(const World& world) {
  std::string text = std::string(world.is_alive ? "" : "dead, ") +
                     (world.is_heard ? "" : "deaf, ") + name(world.memory.state) +
                     (world.memory == world.disk ? "" : " (the disk differs)");
  for (const TaskLine& task : world.memory.tasks) {
    const Box& box = world.boxes.at(task.slot);
    text += std::string("; ") + (task.is_ps ? "server " : "worker ") + name(task.state) + ' ' +
            name(task.end) + (task.has_left ? " left" : "") + ", here " +
            std::to_string(static_cast<int>(box.ticket)) + ", there " +
            std::to_string(static_cast<int>(box.copy)) + ", birth " +
            std::to_string(static_cast<int>(box.birth)) + ", back " +
            std::to_string(static_cast<int>(box.back));
  }
  return text;
}

}  // namespace flowcon::cluster::queue::groups
