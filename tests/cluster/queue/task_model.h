// SPDX-License-Identifier: Apache-2.0
// One job whose task is on another host, by the rules of cluster/queue/job_elsewhere, with all that
// can go wrong around it, tried out completely: its owner is killed, its writes fail, its host is
// silent, people use docker's own commands on either host, moves are undone wherever they may be.
// The moves themselves are as their own model says (journal_model_test.cpp).
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/cluster/queue/task_world.h"
#include "tests/cluster/state_space.h"

namespace flowcon::cluster::queue::tasks {

class Explorer : public StateSpace<World> {
 public:
  explicit Explorer(Rule rule) : rule_(std::move(rule)) {}

  std::string run() {
    add(World(), "submitted");
    while (const World* at = next()) {
      const World& world = *at;
      look(world);
      move(world);
      job(world);
      people(world);
      fail(world);
      if (found().empty()) calm(world);
    }
    return found();
  }

 private:
  // ---- the owner

  void look(const World& world) {
    if (!world.is_alive || is_closed(world.memory.state)) return;
    std::vector<std::optional<Order>> orders{std::nullopt};
    if (world.memory.state == JobState::waiting) {
      orders.push_back(Order{Order::Op::start, kVersion, "host", id_of(world.births + 1)});
      orders.push_back(Order{Order::Op::send, kVersion, "host", id_of(world.births + 1)});
    }
    if (world.memory.state == JobState::waiting && world.memory.has_task) {
      orders.push_back(Order{Order::Op::start, kVersion, "other", id_of(world.births + 1)});
    }
    if (world.memory.state == JobState::running) {
      orders.push_back(Order{Order::Op::park, kVersion, "", ""});
    }
    for (const auto& order : orders) {
      World next = world;
      step(next, order);
      const bool is_elsewhere = order && order->host == "other";
      if (is_elsewhere && next.memory.state == JobState::placing) find("it starts elsewhere");
      reach(next, "the owner decides");
      if (world.faults >= kMostFaults || next.disk == world.disk) continue;
      World failed = world;
      ++failed.faults;
      reach(failed, "a write fails");
      failed.disk = next.disk;
      reach(failed, "a write fails and is on the disk");
    }
  }

  void step(World& world, const std::optional<Order>& order) {
    const JobEntry entry = entry_of(world.memory);
    const Step step = rule_(entry, facts_of(world, order));
    if (step.entry) {
      if (step.entry->version != kVersion + 1) find("the version does not grow by one");
      world.memory = world.disk = line_of(*step.entry);
      world.was_refused = world.has_save_failed = false;
      if (world.memory.state == JobState::done && !world.had_finished) {
        find("what has not come to its end is done");
      }
    }
    act(world, step.act);
  }

  void act(World& world, Act act) {
    const bool is_current = world.memory.has_task && world.memory.birth == world.births;
    switch (act) {
      case Act::bear:
        if (is_current) return;
        bear(world);
        return;
      case Act::release:
        if (world.disk.state != JobState::starting) find("a birth is released by no entry");
        if (world.disk.is_early && !world.has_room) find("a birth is released without its room");
        if (is_current) world.is_released = true;
        return;
      case Act::claim:
        if (world.is_heard && is_current && world.birth == Stage::ready) world.has_room = true;
        return;
      case Act::withdraw:
        if (is_current && (world.birth == Stage::under_way || world.birth == Stage::ready)) {
          undo_birth(world);
        }
        return;
      case Act::fetch:
        if (!world.is_heard || !is_current || world.memory.back == world.backs) return;
        if (world.copy != TicketCopy::ended || is_under_way(world.back)) return;
        if (world.ticket == TicketCopy::absent) return;
        world.backs = world.memory.back;
        world.back = Stage::under_way;
        return;
      case Act::save:
        if (world.is_heard && is_current && world.copy == TicketCopy::running) {
          world.was_asked = true;
          world.has_finished = false;  // nobody can tell an end just now from a save
        }
        return;
      case Act::stop:
        if (!world.memory.has_task && world.ticket == TicketCopy::running) {
          world.ticket = TicketCopy::ended;
        }
        if (world.is_heard && is_current && world.copy == TicketCopy::running) {
          end_copy(world, End::killed);
        }
        return;
      case Act::discard:
        if (world.is_heard && is_current && !is_under_way(world.back)) {
          world.copy = TicketCopy::absent;
        }
        return;
      case Act::halt:
        if (world.ticket == TicketCopy::running) world.ticket = TicketCopy::ended;
        return;
      case Act::remove:
        if (world.ticket == TicketCopy::created) world.ticket = TicketCopy::absent;
        return;
      case Act::start:
        find("it is started here by no order");
        return;
      default:
        return;
    }
  }

  void bear(World& world) {
    if (world.copy != TicketCopy::absent && !world.is_abandoned) {
      find("a task is made while the one before is still there");
    }
    if (is_under_way(world.birth)) find("a task is made while another is on its way");
    if (world.has_finished && !world.has_meddled) find("a job that came to its end runs again");
    world.births = world.memory.birth;
    world.birth = Stage::under_way;
    world.is_released = world.has_room = false;
    world.copy = TicketCopy::absent;
    world.life = 1;
    world.end = End::zero;
    world.was_interrupted = world.was_stopped = world.was_asked = world.has_saved = false;
    world.back = Stage::none;
    world.had_finished = false;
  }

  // ---- the moves

  static bool is_before_birth(const World& world) {
    const JobState state = world.memory.state;
    return (state == JobState::placing || state == JobState::waiting) && world.memory.has_task &&
           world.memory.birth != world.births;
  }

  static void undo_birth(World& world) {
    world.birth = Stage::undone;
    world.copy = TicketCopy::absent;
  }

  void move(const World& world) {
    World next = world;
    if (world.is_alive && is_before_birth(world) && !world.was_refused) {
      next.was_refused = true;
      reach(next, "the birth cannot be begun");
    }
    const bool claims = world.memory.state == JobState::placing && world.memory.is_early;
    if (world.is_alive && claims && world.birth == Stage::ready && !world.has_room &&
        !world.was_refused) {
      next = world;
      next.was_refused = true;
      reach(next, "its host has no room for it");
    }
    if (world.is_heard) births(world);
    if (world.is_heard) backs(world);
  }

  void births(const World& world) {
    World next = world;
    const bool may_go = world.ticket != TicketCopy::absent && world.ticket != TicketCopy::running;
    if (world.birth == Stage::under_way || world.birth == Stage::ready) {
      undo_birth(next);
      reach(next, "the birth is undone");
      next = world;
    }
    if (world.birth == Stage::under_way && may_go) {
      next.birth = Stage::ready;
      reach(next, "the target is ready");
    } else if (world.birth == Stage::ready && may_go && world.is_alive && world.is_released) {
      next.birth = Stage::handed_over;
      next.copy = TicketCopy::created;
      reach(next, "the birth is handed over");
    } else if (world.birth == Stage::handed_over && world.copy == TicketCopy::created) {
      undo_birth(next);
      reach(next, "the engine there refuses the start");
      next = world;
      start_copy(next);
      reach(next, "the task starts");
    } else if (world.birth == Stage::handed_over) {
      next.birth = Stage::done;
      reach(next, "the birth is done");
    }
  }

  void start_copy(World& world) {
    if (world.has_finished && !world.has_meddled) find("a job that came to its end runs again");
    if (is_closed(world.disk.state) && !world.is_abandoned) find("a task starts of a closed job");
    if (world.disk.state == JobState::waiting && !world.is_abandoned) {
      find("a task starts of a job that waits");
    }
    world.copy = TicketCopy::running;
    world.has_finished = false;
  }

  void backs(const World& world) {
    if (!is_under_way(world.back)) return;
    World next = world;
    next.back = Stage::undone;
    reach(next, "the return is undone");
    if (world.ticket == TicketCopy::absent || world.ticket == TicketCopy::running) return;
    if (world.copy != TicketCopy::ended) return;
    next = world;
    next.back = Stage::done;
    next.copy = TicketCopy::absent;
    reach(next, "all has come home");
  }

  // ---- the task

  static void end_copy(World& world, End end) {
    world.copy = TicketCopy::ended;
    world.end = end;
  }

  void job(const World& world) {
    if (world.copy != TicketCopy::running) return;
    for (const End end : {End::zero, End::one, End::memory}) {
      World next = world;
      end_copy(next, end);
      // With status 0 after it was asked it has saved, as far as anybody can tell.
      const bool may_have_saved = world.was_asked || world.disk.was_asked;
      if (end == End::zero && !may_have_saved) next.has_finished = true;
      if (end == End::zero && !world.was_asked) next.had_finished = true;
      if (end == End::zero && world.was_asked) next.has_saved = true;
      reach(next, "the task ends");
    }
    if (world.was_asked && !world.has_save_failed && world.is_alive) {
      World next = world;
      next.has_save_failed = true;
      reach(next, "it does not save itself in time");
    }
  }

  // ---- people and faults

  void people(const World& world) {
    if (world.is_alive && !is_closed(world.memory.state)) edits(world);
    if (world.faults >= kMostFaults) return;
    World base = world;
    ++base.faults;
    base.has_meddled = true;
    if (world.ticket != TicketCopy::absent) {
      World next = base;
      next.ticket = TicketCopy::absent;
      reach(next, "docker rm -f of the ticket");
    }
    if (world.ticket == TicketCopy::created || world.ticket == TicketCopy::ended) {
      World next = base;
      next.ticket = TicketCopy::running;
      next.ticket_life = 1;
      reach(next, "docker start of the ticket");
    }
    if (world.ticket == TicketCopy::running) {
      World next = base;
      next.ticket = TicketCopy::ended;
      reach(next, "docker stop of the ticket");
    }
    if (world.copy == TicketCopy::running) {
      World next = base;
      end_copy(next, End::killed);
      next.was_stopped = true;
      reach(next, "docker stop of the task");
    }
    if (world.copy != TicketCopy::absent && world.birth == Stage::done &&
        !is_under_way(world.back)) {
      World next = base;
      next.copy = TicketCopy::absent;
      reach(next, "docker rm -f of the task");
    }
    if (world.copy == TicketCopy::ended && world.birth == Stage::done &&
        !is_under_way(world.back)) {
      World next = base;
      next.copy = TicketCopy::running;
      ++next.life;
      next.has_finished = next.was_asked = next.has_saved = false;
      next.was_interrupted = next.was_stopped = false;
      reach(next, "docker start of the task");
    }
  }

  void edits(const World& world) {
    const std::pair<const char*, Result<JobEntry> (*)(const JobEntry&, double)> verbs[] = {
        {"a person cancels it", cancel},
        {"a person holds it", hold},
        {"a person parks it", park},
        {"a person releases it", release},
        {"a person abandons it", abandon}};
    for (const auto& [how, verb] : verbs) {
      // That nothing runs there any more is for the person to know.
      const bool is_over = world.copy == TicketCopy::absent && !is_under_way(world.birth);
      if (verb == abandon && (!is_over || is_under_way(world.back))) continue;
      if (verb == hold && !is_before_birth(world) && !is_under_way(world.birth)) continue;
      const Result<JobEntry> edited = verb(entry_of(world.memory), 100);
      if (!edited) continue;
      World next = world;
      next.memory = next.disk = line_of(*edited);
      next.has_meddled = next.has_meddled || verb == cancel || verb == abandon;
      next.is_abandoned = next.is_abandoned || verb == abandon;
      next.was_refused = next.has_save_failed = false;
      reach(next, how);
    }
  }

  void fail(const World& world) {
    if (!world.is_alive) {
      World next = world;
      next.is_alive = true;
      next.memory = next.disk;
      reach(next, "the owner starts");
    }
    if (!world.is_heard) {
      World next = world;
      next.is_heard = true;
      reach(next, "the host is heard again");
    }
    if (world.faults >= kMostFaults) return;
    World base = world;
    ++base.faults;
    if (world.is_alive) {
      World next = base;
      kill_owner(next);
      reach(next, "the owner is killed");
    }
    if (world.is_heard) {
      World next = base;
      next.is_heard = false;
      reach(next, "the host is not heard");
    }
    if (world.copy == TicketCopy::running) {
      World next = base;
      end_copy(next, End::killed);
      next.was_interrupted = true;
      reach(next, "the host reboots");
    }
  }

  static void kill_owner(World& world) {
    world.is_alive = false;
    world.memory = world.disk;
    world.was_refused = world.has_save_failed = world.is_released = world.has_room = false;
    // What was not handed over is undone at the next start.
    if (world.birth == Stage::under_way || world.birth == Stage::ready) undo_birth(world);
  }

  // ---- calm: nothing goes wrong any more, and what waits is ordered to start

  void calm(World world) {
    if (!world.is_alive) world.memory = world.disk;
    world.is_alive = world.is_heard = true;
    for (int round = 0; round < 80; ++round) {
      const Line before = world.memory;
      if (is_closed(before.state)) return check_end(world);
      // Where it waits all is as it is here without other hosts (job_model_test.cpp).
      const bool is_idle = before.state == JobState::waiting && world.copy == TicketCopy::absent &&
                           !is_under_way(world.birth);
      if (is_idle) return;
      if (before.state == JobState::waiting && !before.has_task && !world.is_abandoned) {
        find("a task is left of a job that waits");
        return;
      }
      if (world.is_abandoned) return;
      std::optional<Order> order;
      if (before.state == JobState::waiting) order = Order{Order::Op::start, kVersion, "host", ""};
      step(world, order);
      if (!found().empty()) return;
      turn(world);
    }
    find(std::string("no end in calm: ") + name(world.memory.state));
  }

  void turn(World& world) {
    const bool may_go = world.ticket != TicketCopy::absent && world.ticket != TicketCopy::running;
    if (world.birth == Stage::under_way) {
      may_go ? void(world.birth = Stage::ready) : undo_birth(world);
    } else if (world.birth == Stage::ready && !may_go) {
      undo_birth(world);
    } else if (world.birth == Stage::ready && world.is_released) {
      world.birth = Stage::handed_over;
      world.copy = TicketCopy::created;
    } else if (world.birth == Stage::handed_over && world.copy == TicketCopy::created) {
      start_copy(world);
    } else if (world.birth == Stage::handed_over) {
      world.birth = Stage::done;
    } else if (is_under_way(world.back)) {
      const bool fits = may_go && world.copy == TicketCopy::ended;
      world.back = fits ? Stage::done : Stage::undone;
      if (fits) world.copy = TicketCopy::absent;
    } else if (world.copy == TicketCopy::running) {
      end_copy(world, End::zero);
      if (!world.was_asked) world.had_finished = true;
      if (!world.was_asked && !world.disk.was_asked) world.has_finished = true;
    }
  }

  void check_end(const World& world) {
    if (world.is_abandoned) return;
    if (world.copy == TicketCopy::running) find("a task runs of a closed job");
    if (world.copy != TicketCopy::absent) find("a task is left of a closed job");
    if (is_under_way(world.birth) || is_under_way(world.back)) find("a move is left");
    const bool is_lost = world.has_finished && world.memory.state != JobState::done;
    if (is_lost && !world.has_meddled) find("a job came to its end, and is not done");
  }

  // ---- the set of states

  // Of moves that are over only the last one counts, of the ticket's lives only whether it is the
  // entry's.
  static void renumber(World& world) {
    const auto again = [](Line& line, const World& by) {
      line.birth = !line.has_task ? 0 : line.birth == by.births ? 1 : 2;
      line.back = line.back == 0 ? 0 : line.back == by.backs ? 1 : 2;
    };
    again(world.memory, world);
    again(world.disk, world);
    world.births = world.backs = 1;
    world.has_room = world.has_room && (world.birth == Stage::ready);
  }

  void reach(World world, const char* how) {
    renumber(world);
    add(world, how);
  }

  Rule rule_;
};

}  // namespace flowcon::cluster::queue::tasks
