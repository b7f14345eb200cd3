// SPDX-License-Identifier: Apache-2.0
// One group of two tasks, one of them on another host, by the rules of cluster/queue/group, each
// task by those of a job, with all that can go wrong around it, tried out completely: its owner is
// killed, its writes fail, a host is silent or reboots, containers cannot be made or started,
// people use docker's own commands, tasks end in every way and order.
#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/cluster/queue/group_world.h"
#include "tests/cluster/state_space.h"

namespace flowcon::cluster::queue::groups {

class Explorer : public StateSpace<World> {
 public:
  Explorer(Rule rule, Setting setting) : rule_(std::move(rule)), setting_(std::move(setting)) {}

  std::string run() {
    add(World(), "submitted");
    while (const World* at = next()) {
      const World& world = *at;
      look(world);
      for (const TaskLine& task : world.memory.tasks) look(world, task);
      for (std::size_t slot = 0; slot < kSlots; ++slot) {
        move(world, slot);
        train(world, slot);
      }
      if (setting_.has_people) ask(world);
      fail(world);
      if (found().empty()) calm(world);
    }
    return found();
  }

 private:
  [[nodiscard]] bool may_join() const { return ctrl::joins(setting_.elastic); }
  [[nodiscard]] bool may_fail(const World& world) const {
    return world.faults < setting_.max_faults;
  }

  // ---- the owner: its group

  void look(const World& world) {
    if (!world.is_alive || is_closed(world.memory.state)) return;
    for (const std::optional<Order>& order : orders(world)) {
      const GroupStep step = rule_(entry_of(world.memory, setting_), facts_of(world, order));
      World next = world;
      if (step.entry && write(next, *step.entry)) {
        add(next, "the owner decides");
        if (!may_fail(world)) continue;
        World failed = world;
        ++failed.faults;
        failed.disk = next.disk;
        add(failed, "a write fails and is on the disk");
      }
      for (const GroupDeed& deed : step.deeds) carry_out(world, deed);
    }
  }

  [[nodiscard]] std::vector<std::optional<Order>> orders(const World& world) const {
    std::vector<std::optional<Order>> all{std::nullopt};
    if (world.memory.state == JobState::waiting) all.push_back(start());
    if (world.memory.state != JobState::running) return all;
    all.push_back(Order{Order::Op::park, kVersion});
    if (!may_join()) return all;
    Order resize{Order::Op::resize, kVersion};
    resize.places = setting_.places;
    all.emplace_back(resize);
    resize.places.push_back({kThere, 1, 0});
    if (world.memory.tasks.size() < 2) all.emplace_back(resize);
    return all;
  }
  [[nodiscard]] Order start() const {
    Order order{Order::Op::start, kVersion};
    order.places = setting_.places;
    return order;
  }

  // False where it has more tasks than are tried out.
  bool write(World& world, const JobEntry& entry) {
    Line line = line_of(entry);
    for (const JobEntry& task : entry.group->tasks) {
      std::size_t slot = std::stoul(task.name.substr(task.name.find_first_of("0123456789")));
      if (slot >= kSlots) {
        const std::optional<std::size_t> free = free_slot(world, line);
        if (!free) return false;
        slot = *free;
      }
      line.tasks.push_back(line_of(task, slot));
    }
    if (entry.version != kVersion + 1) find("the version does not grow by one");
    check_step(world, line);
    world.memory = world.disk = std::move(line);
    world.was_refused = false;
    return true;
  }

  static std::optional<std::size_t> free_slot(const World& world, const Line& line) {
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      const auto has = [slot](const Line& one) {
        return std::any_of(one.tasks.begin(), one.tasks.end(),
                           [slot](const TaskLine& task) { return task.slot == slot; });
      };
      const bool is_free = world.boxes.at(slot) == Box() && !has(line) && !has(world.memory);
      if (is_free && !has(world.disk)) return slot;
    }
    return std::nullopt;
  }

  void check_step(const World& world, const Line& line) {
    if (line.state == JobState::starting && world.memory.state != JobState::starting) {
      for (const TaskLine& task : line.tasks) {
        const Box& box = world.boxes.at(task.slot);
        const bool is_there = task.is_away ? box.birth == Stage::ready || runs(box)
                                           : box.ticket != TicketCopy::absent;
        if (!is_there && !world.has_meddled) find("they start before all are there");
      }
    }
    if (line.state == JobState::waiting && !line.tasks.empty()) find("one that waits has tasks");
    const int done = static_cast<int>(JobState::done);
    const bool is_to_be_done = line.then == done && world.memory.then != done;
    const bool is_done_at_once = line.state == JobState::done && world.memory.then != done;
    if ((is_to_be_done || is_done_at_once) && !all_finished(world, line, may_join())) {
      find("what has not come to its end is done");
    }
    if (!is_closed(line.state) && line.state != JobState::waiting) return;
    for (const Box& box : world.boxes) {
      if (runs(box)) find("a task runs of a group that does not");
      if (is_under_way(box.birth) && box.birth != Stage::handed_over) find("a birth is left");
    }
  }

  void carry_out(const World& world, const GroupDeed& deed) {
    World next = world;
    do_deed(next, deed);
    if (next == world) return;
    if (may_fail(world) && next.boxes != world.boxes) {
      World unwritten = world;
      unwritten.boxes = next.boxes;
      add(killed(unwritten), "it is killed before that is written");
    }
    constexpr std::array kDeeds{"leased", "made",    "ordered", "ordered",
                                "parked", "stopped", "removed", "halted"};
    add(next, kDeeds.at(static_cast<std::size_t>(deed.act)));
  }

  void do_deed(World& world, const GroupDeed& deed) {
    if (deed.act == GroupAct::halt) {
      world.ticket = TicketCopy::ended;
      return;
    }
    std::vector<TaskLine>& tasks = world.memory.tasks;
    TaskLine& task = tasks.at(deed.task);
    Box& box = world.boxes.at(task.slot);
    switch (deed.act) {
      case GroupAct::make:
        if (box.ticket == TicketCopy::absent) box.ticket = TicketCopy::created;
        task.is_made = true;
        break;
      case GroupAct::place:
      case GroupAct::start:
        box.is_ordered = box.is_ordered || !is_closed(task.state);
        return;
      case GroupAct::save:
      case GroupAct::cancel: {
        const auto verb = deed.act == GroupAct::save ? park : cancel;
        const Result<JobEntry> edited = verb(entry_of(task), 100);
        if (edited) put(world, task, *edited);
        break;
      }
      case GroupAct::remove:
        if (runs(box)) find("a container is removed that runs");
        if (box.copy != TicketCopy::absent || is_under_way(box.birth) || is_under_way(box.back)) {
          find("what is on the other host is forgotten");
        }
        box = Box();
        tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(deed.task));
        break;
      default:
        find("nothing is to be leased");
    }
    world.disk = world.memory;
  }

  // ---- the owner: a task

  void look(const World& world, const TaskLine& task) {
    if (!world.is_alive || !task.is_made || is_closed(task.state)) return;
    World next = world;
    const Act act = step(next, at_slot(next.memory, task.slot));
    if (next == world && act == Act::none) return;
    if (next != world && act != Act::none && may_fail(world)) {
      add(killed(next), "it is killed when that is written");
    }
    const std::size_t slot = task.slot;
    if (act == Act::start) {
      World refused = next;
      refused.boxes.at(slot).was_refused = true;
      add(refused, "the engine refuses a start");
    }
    do_act(next, slot, act);
    add(next, "the owner looks at a task");
  }

  Act step(World& world, TaskLine& task) {
    const JobState before = task.state;
    const Step step = next_step(entry_of(task), facts_of(world, task));
    if (step.entry) put(world, task, *step.entry);
    const JobState group = world.disk.state;
    const bool is_meant = group == JobState::starting || group == JobState::running;
    const bool starts = task.state == JobState::starting && before != JobState::starting;
    if (starts && !is_meant) find("a task starts although its group does not");
    return step.act;
  }

  // ---- moves, and what cannot be made

  void move(const World& world, std::size_t slot) {
    const Box& box = world.boxes.at(slot);
    if (world.is_heard) births(world, slot);
    World next = world;
    if (world.is_heard && is_under_way(box.back)) {
      next.boxes.at(slot).back = Stage::undone;
      add(next, "a return is undone");
      if (box.copy != TicketCopy::ended || box.ticket == TicketCopy::absent) return;
      next.boxes.at(slot).back = Stage::done;
      next.boxes.at(slot).copy = TicketCopy::absent;
      add(next, "all of a task is home");
    }
  }

  void births(const World& world, std::size_t slot) {
    World next = world;
    Box& box = next.boxes.at(slot);
    if (box.birth == Stage::under_way || box.birth == Stage::ready) {
      box.birth = Stage::undone;
      add(next, "a birth is undone");
      next = world;
    }
    const bool may_go = box.ticket == TicketCopy::created;
    if (box.birth == Stage::under_way && may_go) {
      box.birth = Stage::ready;
      add(next, "a birth is ready");
    } else if (box.birth == Stage::ready && may_go && world.is_alive && box.is_released) {
      box.birth = Stage::handed_over;
      box.copy = TicketCopy::created;
      add(next, "a birth is handed over");
    } else if (box.birth == Stage::handed_over && box.copy == TicketCopy::created) {
      box.copy = TicketCopy::absent;
      box.birth = Stage::undone;
      add(next, "the engine there refuses a start");
      next = world;
      start_copy(next, slot);
      add(next, "a task starts there");
    } else if (box.birth == Stage::handed_over) {
      box.birth = Stage::done;
      add(next, "a birth is done");
    }
  }

  void start_copy(World& world, std::size_t slot) {
    if (world.disk.state == JobState::waiting || is_closed(world.disk.state)) {
      find("a task starts of a group that does not run");
    }
    world.boxes.at(slot).copy = TicketCopy::running;
    world.boxes.at(slot).has_run = true;
  }

  // ---- the tasks

  void train(const World& world, std::size_t slot) {
    if (!runs(world.boxes.at(slot))) return;
    for (const End end : {End::zero, End::one}) {
      World next = world;
      end_run(next.boxes.at(slot), end);
      add(next, end == End::zero ? "a task ends" : "a task fails");
    }
    if (!world.is_alive || !world.boxes.at(slot).was_asked) return;
    World next = world;
    next.boxes.at(slot).has_save_failed = true;
    add(next, "a task does not save itself in time");
  }

  // ---- people and faults

  void ask(const World& world) {
    if (world.is_alive && !is_closed(world.memory.state)) {
      World next = world;
      next.has_meddled = true;
      write(next, *cancel(entry_of(world.memory, setting_), 100));
      add(next, "a person cancels it");
    }
    if (!may_fail(world) || is_closed(world.disk.state)) return;
    World base = world;
    ++base.faults;
    base.has_meddled = true;
    if (world.ticket != TicketCopy::absent) {
      World next = base;
      next.ticket = TicketCopy::absent;
      add(next, "docker rm -f of the ticket");
    }
    if (world.ticket == TicketCopy::created) {
      World next = base;
      next.ticket = TicketCopy::running;
      add(next, "docker start of the ticket");
    }
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      World next = base;
      Box& box = next.boxes.at(slot);
      if (runs(box)) {
        end_run(box, End::killed);
        box.was_stopped = true;
        add(next, "docker stop of a task");
      }
      next = base;
      if (box.copy != TicketCopy::absent && box.birth == Stage::done && !is_under_way(box.back)) {
        box.copy = TicketCopy::absent;
        add(next, "docker rm -f of a task there");
      }
      next = base;
      if (box.ticket != TicketCopy::absent) {
        box.ticket = TicketCopy::absent;
        add(next, "docker rm -f of a task here");
      }
    }
  }

  void fail(const World& world) {
    World next = world;
    if (!world.is_alive) {
      next.is_alive = true;
      add(next, "the owner starts");
      next = world;
    }
    if (!world.is_heard) {
      next.is_heard = true;
      add(next, "the host is heard again");
    }
    if (!may_fail(world)) return;
    if (world.is_alive) add(killed(world), "the owner is killed");
    World base = world;
    ++base.faults;
    if (world.is_heard) {
      next = base;
      next.is_heard = false;
      add(next, "the host is not heard");
    }
    if (world.is_alive && is_making(world) && !world.was_refused) {
      next = base;
      next.was_refused = true;
      add(next, "a container cannot be made");
    }
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      next = base;
      Box& box = next.boxes.at(slot);
      if (!runs(box)) continue;
      end_run(box, End::killed);
      box.was_interrupted = true;
      add(next, "its host reboots");
    }
    for (const TaskLine& task : world.memory.tasks) {
      const Box& box = world.boxes.at(task.slot);
      const bool is_to_begin = task.state == JobState::placing && box.birth == Stage::none;
      if (!world.is_alive || !is_to_begin || box.was_refused) continue;
      next = base;
      next.boxes.at(task.slot).was_refused = true;
      add(next, "a birth cannot be begun");
    }
  }

  // ---- calm: nothing goes wrong any more

  void calm(World world) {
    if (!world.is_alive) world.memory = world.disk;
    world.is_alive = world.is_heard = true;
    const bool is_attempt = world.memory.state == JobState::running;
    const bool has_finished = is_attempt && !world.has_meddled &&
                              all_finished(world, world.memory, may_join()) &&
                              std::none_of(world.boxes.begin(), world.boxes.end(), failed);
    std::vector<std::pair<World, bool>> path;
    for (int round = 0; round < 200 && found().empty(); ++round) {
      // What others have come through comes to the same end.
      const bool is_known = calm_.contains({world, has_finished});
      const bool is_over = is_closed(world.memory.state);
      const bool waits = world.memory.state == JobState::waiting && world.memory.tasks.empty();
      if (is_over) check_end(world, has_finished);
      if (waits && has_finished) find("all have come to their end, and it waits");
      if (is_known || is_over || waits) {
        calm_.insert(path.begin(), path.end());
        return;
      }
      path.emplace_back(world, has_finished);
      calm_round(world);
    }
    find(std::string("no end in calm: ") + name(world.memory.state));
  }
  static bool failed(const Box& box) { return box.end != End::zero; }

  void calm_round(World& world) {
    const GroupStep step = rule_(entry_of(world.memory, setting_), facts_of(world, std::nullopt));
    if (step.entry) {
      write(world, *step.entry);
    } else {
      for (const GroupDeed& deed : step.deeds) do_deed(world, deed);
    }
    for (std::size_t i = 0; i < world.memory.tasks.size(); ++i) {
      TaskLine& task = world.memory.tasks[i];
      if (!task.is_made || is_closed(task.state)) continue;
      const std::size_t slot = task.slot;
      const Act act = this->step(world, task);
      do_act(world, slot, act);
    }
    for (std::size_t slot = 0; slot < kSlots; ++slot) calm_box(world, slot);
  }

  void calm_box(World& world, std::size_t slot) {
    Box& box = world.boxes.at(slot);
    const bool may_go = box.ticket == TicketCopy::created;
    if (box.birth == Stage::under_way || box.birth == Stage::ready) {
      if (!may_go) {
        box.birth = Stage::undone;
      } else if (box.birth == Stage::under_way) {
        box.birth = Stage::ready;
      } else if (box.is_released) {
        box.birth = Stage::handed_over;
        box.copy = TicketCopy::created;
      }
    } else if (box.birth == Stage::handed_over && box.copy == TicketCopy::created) {
      start_copy(world, slot);
    } else if (box.birth == Stage::handed_over) {
      box.birth = Stage::done;
    } else if (is_under_way(box.back)) {
      const bool fits = box.ticket != TicketCopy::absent && box.copy == TicketCopy::ended;
      box.back = fits ? Stage::done : Stage::undone;
      if (fits) box.copy = TicketCopy::absent;
    } else if (runs(box) && !is_server(world, slot)) {
      end_run(box, End::zero);
    }
  }

  void check_end(const World& world, bool has_finished) {
    for (const Box& box : world.boxes) {
      if (runs(box)) find("a task runs of a closed group");
      if (box.copy != TicketCopy::absent) find("a task is left of a closed group");
      if (is_under_way(box.birth) || is_under_way(box.back)) find("a move is left");
      const bool is_removed = world.ticket == TicketCopy::absent;
      if (is_removed && box.ticket != TicketCopy::absent && world.memory.state != JobState::done) {
        find("a container is left of a removed group");
      }
    }
    if (has_finished && world.memory.state != JobState::done) {
      find("all have come to their end, and it is not done");
    }
    for (const TaskLine& task : world.memory.tasks) {
      const bool went = world.boxes.at(task.slot).was_interrupted && !task.has_left;
      const bool has_failed = world.memory.state == JobState::failed && !world.has_meddled;
      if (went && has_failed) find("it has failed although a host of it went");
    }
  }

  Rule rule_;
  Setting setting_;
  std::set<std::pair<World, bool>> calm_;
};

}  // namespace flowcon::cluster::queue::groups
