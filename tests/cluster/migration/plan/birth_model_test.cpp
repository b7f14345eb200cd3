// SPDX-License-Identifier: Apache-2.0
// The birth of a job's task and the return of what it has written, by the rules of the journal,
// tried out completely: any message may arrive at any time, again and again, or never; flowcond of
// either side is killed, with what it had asked its engine for still to come; people start, stop
// and remove the ticket and the task; the owner releases the birth, or turns it back.
#include <functional>
#include <string>

#include "cluster/migration/plan/journal.h"
#include "tests/cluster/state_space.h"
#include "tests/support/catch.h"

using namespace flowcon::cluster::migration;

namespace {

using Rule = std::function<Effect(const Entry&, const Facts&)>;

constexpr int kNoEntry = -1;
constexpr int kMostFaults = 3;

struct Host {
  int step = kNoEntry;  ///< in memory and in the journal, which is written before anything is done
  bool is_fresh = false;
  Copy copy = Copy::absent;  ///< of the source: the ticket; the target: the task
  bool has_request = false;  ///< the living flowcond waits for what it asked of its engine
  bool has_orphan = false;   ///< nobody waits for it any more, it may come yet
  Act asked = Act::wait;
  bool has_data = false;
  auto operator<=>(const Host&) const = default;
  [[nodiscard]] bool is_closed() const {
    return step == static_cast<int>(Step::done) || step == static_cast<int>(Step::undone);
  }
};

struct World {
  Host source, target;
  unsigned said_by_source = 0, said_by_target = 0;  ///< bits, by step; bit 15: "I know nothing"
  bool is_released = false, is_turned_back = false, is_refused = false;
  int lives = 0;  ///< of the task
  bool was_removed_by_person = false, was_ticket_meddled = false;
  int faults = 0;
  auto operator<=>(const World&) const = default;
};

std::string shown(const World& world) {
  return std::to_string(world.source.step) + "/" + std::to_string(world.target.step) + ", copies " +
         std::to_string(static_cast<int>(world.source.copy)) + "/" +
         std::to_string(static_cast<int>(world.target.copy));
}

class Explorer : public flowcon::cluster::StateSpace<World> {
 public:
  Explorer(Method method, Rule rule) : method_(method), rule_(std::move(rule)) {}

  std::string run() {
    World first;
    first.source.step = 0;
    // A birth's ticket was never started; what goes home has ended.
    first.source.copy = is_birth() ? Copy::created : Copy::finished;
    if (!is_birth()) first.target.copy = Copy::created;
    add(first, "");
    while (const World* at = next()) {
      const World& world = *at;
      check(world);
      decide(world, Side::source);
      decide(world, Side::target);
      engines(world);
      people(world);
      fail(world);
      if (found().empty()) calm(world);
    }
    return found();
  }

 private:
  [[nodiscard]] bool is_birth() const { return method_ == Method::birth; }
  static Host& side_of(World& world, Side side) {
    return side == Side::source ? world.source : world.target;
  }

  // ---- one side decides from what it hears: nothing, or one thing that was ever said

  Facts facts_of(const World& world, Side side, int heard) const {
    const Host& host = side == Side::source ? world.source : world.target;
    Facts facts;
    facts.copy = host.copy;
    const bool is_ticket = side == Side::target && !is_birth();
    if (is_ticket && facts.copy == Copy::finished) facts.copy = Copy::created;
    facts.is_quiet = !host.has_request && !host.has_orphan;
    facts.is_received = host.has_data;
    facts.is_released = world.is_released || !is_birth();
    if (side == Side::source && world.is_turned_back) facts.give_up = "it is cancelled";
    if (side == Side::target && world.is_refused) facts.give_up = "the engine refuses it";
    if (heard == 15) facts.word = Word::knows_nothing;
    if (heard >= 0 && heard < 15) {
      facts.word = Word::step;
      facts.peer = static_cast<Step>(heard);
    }
    return facts;
  }

  void decide(const World& world, Side side) {
    const Host& host = side == Side::source ? world.source : world.target;
    const unsigned said = side == Side::source ? world.said_by_target : world.said_by_source;
    if (host.step == kNoEntry) return take_plan(world, side);
    if (host.is_closed() || host.has_request) return;
    for (int heard = -1; heard < 16; ++heard) {
      if (heard >= 0 && (said >> heard & 1U) == 0) continue;
      World next = world;
      step(next, side, heard);
      add(next, std::string(name(side)) + " decides");
    }
  }

  void take_plan(const World& world, Side side) {
    if (side == Side::source || (world.said_by_source & 1U) == 0) return;
    World next = world;
    next.target.step = 0;
    add(next, "the target takes the plan");
  }

  void step(World& world, Side side, int heard) {
    Host& host = side_of(world, side);
    Entry entry;
    entry.side = side;
    entry.method = method_;
    entry.step = static_cast<Step>(host.step);
    const Facts facts = facts_of(world, side, heard);
    const Effect effect = host.is_fresh ? recover(entry, facts) : rule_(entry, facts);
    if (effect.step < entry.step) find("a step back");
    host.step = static_cast<int>(effect.step);
    host.is_fresh = false;
    act(world, side, effect.act);
    unsigned& said = side == Side::source ? world.said_by_source : world.said_by_target;
    said |= 1U << static_cast<unsigned>(host.step);
  }

  void act(World& world, Side side, Act act) {
    Host& host = side_of(world, side);
    switch (act) {
      case Act::send:
        // It may arrive as a whole, or never.
        if (world.target.step == static_cast<int>(Step::transfer)) world.target.has_data = true;
        return;
      case Act::save:
      case Act::disarm:
      case Act::arm:
        return find("what has no policy and does not run is saved or armed");
      case Act::start:
        if (side == Side::source) return find("the source starts its ticket");
        if (!is_birth()) return find("a ticket is started");
        [[fallthrough]];
      case Act::prepare:
      case Act::stop:
      case Act::remove:
        if (side == Side::source && act == Act::remove && is_birth()) {
          return find("the ticket is removed");
        }
        if (side == Side::target && act == Act::remove && !is_birth()) {
          return find("the ticket is removed");
        }
        host.has_request = true;
        host.asked = act;
        return;
      default:
        return;
    }
  }

  // ---- the engines

  void carry_out(World& world, Side side) {
    Host& host = side_of(world, side);
    switch (host.asked) {
      case Act::prepare:
        if (host.copy == Copy::absent) host.copy = Copy::created;
        return;
      case Act::start:
        if (host.copy == Copy::absent || host.copy == Copy::running) return;
        host.copy = Copy::running;
        if (++world.lives > 1) find("a task is started twice");
        if (world.source.step == static_cast<int>(Step::undone)) find("an unborn task runs");
        return;
      case Act::stop:
        if (host.copy == Copy::running) host.copy = Copy::stopped;
        return;
      case Act::remove:
        host.copy = Copy::absent;
        return;
      default:
        return;
    }
  }

  void engines(const World& world) {
    for (const Side side : {Side::source, Side::target}) {
      const Host& host = side == Side::source ? world.source : world.target;
      if (!host.has_request && !host.has_orphan) continue;
      World next = world;
      carry_out(next, side);
      side_of(next, side).has_request = side_of(next, side).has_orphan = false;
      add(next, "the engine does it");
      if (host.has_request && host.asked == Act::start) {
        next = world;
        next.target.has_request = false;
        next.is_refused = true;
        add(next, "the engine refuses the start");
      }
      if (!host.has_orphan) continue;
      next = world;
      side_of(next, side).has_orphan = false;
      add(next, "a forgotten request is forgotten");
    }
    if (world.target.copy == Copy::running && is_birth()) {
      for (const Copy end : {Copy::finished, Copy::failed}) {
        World next = world;
        next.target.copy = end;
        add(next, "the task ends");
      }
    }
  }

  // ---- people and faults

  void people(const World& world) {
    World next = world;
    next.is_released = true;
    add(next, "the owner releases it");
    // Moves::turn_back() does nothing from the hand-over on.
    if (world.source.step <= static_cast<int>(Step::transfer)) {
      next = world;
      next.is_turned_back = true;
      add(next, "the owner turns it back");
    }
    if (world.faults >= kMostFaults) return;
    World base = world;
    ++base.faults;
    Host& ticket = is_birth() ? base.source : base.target;
    Host& task = is_birth() ? base.target : base.source;
    if (ticket.copy != Copy::absent) {
      next = base;
      side_of(next, is_birth() ? Side::source : Side::target).copy = Copy::absent;
      next.was_ticket_meddled = true;
      add(next, "docker rm of the ticket");
      next = base;
      side_of(next, is_birth() ? Side::source : Side::target).copy = Copy::running;
      next.was_ticket_meddled = true;
      add(next, "docker start of the ticket");
    }
    if (task.copy != Copy::absent) {
      next = base;
      side_of(next, is_birth() ? Side::target : Side::source).copy = Copy::absent;
      next.was_removed_by_person = true;
      add(next, "docker rm of the task");
    }
    if (!is_birth() && task.copy == Copy::finished) {
      next = base;
      next.source.copy = Copy::running;
      add(next, "docker start of the task");
    }
  }

  void fail(const World& world) {
    if (world.faults >= kMostFaults) return;
    for (const Side side : {Side::source, Side::target}) {
      World next = world;
      ++next.faults;
      Host& host = side_of(next, side);
      host.has_orphan = host.has_orphan || host.has_request;
      host.has_request = host.has_data = false;
      host.is_fresh = host.step != kNoEntry && !host.is_closed();
      if (side == Side::source) next.is_released = next.is_turned_back = false;
      if (side == Side::target) next.is_refused = false;
      add(next, std::string("flowcond of the ") + name(side) + " is killed");
    }
  }

  // ---- what has to hold

  void check(const World& world) {
    const bool is_handed_over = world.source.step >= static_cast<int>(Step::start) &&
                                world.source.step <= static_cast<int>(Step::done);
    if (is_birth() && world.target.copy == Copy::running && !is_handed_over) {
      find("a task runs that was not handed over");
    }
    const bool is_home = world.target.step == static_cast<int>(Step::confirm) ||
                         world.target.step == static_cast<int>(Step::done);
    if (!is_birth() && world.source.copy == Copy::absent && !is_home &&
        !world.was_removed_by_person) {
      find("the task went before what it has written was home");
    }
  }

  // Nothing goes wrong any more, the newest word arrives, the owner releases what is ready.
  void calm(World world) {
    world.is_released = true;
    for (int round = 0; round < 60; ++round) {
      if (world.source.is_closed() && (world.target.step == kNoEntry || world.target.is_closed())) {
        return check_end(world);
      }
      const World before = world;
      for (const Side side : {Side::source, Side::target}) {
        Host& host = side_of(world, side);
        if (host.has_request || host.has_orphan) {
          carry_out(world, side);
          host.has_request = host.has_orphan = false;
        }
        if (host.step == kNoEntry) {
          if (side == Side::target && world.source.step == 0) host.step = 0;
          continue;
        }
        const Host& other = side == Side::source ? world.target : world.source;
        if (!host.is_closed()) step(world, side, other.step == kNoEntry ? 15 : other.step);
        if (!found().empty()) return;
      }
      if (world == before) break;
    }
    if (world.source.is_closed() && world.target.is_closed()) return check_end(world);
    find("no end in calm");
  }

  void check_end(const World& world) {
    const bool is_undone = world.source.step == static_cast<int>(Step::undone);
    if (is_undone && is_birth() && world.target.copy != Copy::absent)
      find("an unborn task is left");
    if (is_undone && is_birth() && world.lives > 0) find("an undone birth has run");
    if (!is_undone && is_birth() && world.lives == 0 && !world.was_removed_by_person) {
      find("a birth is done and has not run");
    }
    if (!is_undone && !is_birth() && world.source.copy != Copy::absent) {
      find("what has gone home is left");
    }
    if (!is_birth() && is_undone && world.source.copy == Copy::absent &&
        !world.was_removed_by_person) {
      find("what has not gone home is gone");
    }
  }

  Method method_;
  Rule rule_;
};

std::string found(Method method, const Rule& rule) { return Explorer(method, rule).run(); }

// next_effect() that is given other facts.
template <class Change>
Rule blind(Change change) {
  return [change](const Entry& entry, const Facts& facts) {
    Facts other = facts;
    change(entry, other);
    return next_effect(entry, other);
  };
}

}  // namespace

TEST_CASE("whatever three faults do, a task is born once or never, and comes home or stays") {
  const Method method = GENERATE(Method::birth, Method::home);
  Explorer explorer(method, next_effect);
  const std::string found = explorer.run();
  INFO(name(method) << ", " << explorer.states() << " states: " << found << explorer.path());
  CHECK(found.empty());
  CHECK(explorer.states() > 1'000);
}

TEST_CASE("the checker finds a task that is started again while its start may come yet") {
  CHECK(found(Method::birth, blind([](const Entry&, Facts& facts) { facts.is_quiet = true; })) !=
        "");
}

TEST_CASE("the checker finds a target that starts what was not handed over") {
  CHECK(found(Method::birth, blind([](const Entry& entry, Facts& facts) {
                const bool is_blind = entry.side == Side::target && entry.step == Step::ready;
                if (is_blind) facts.word = Word::step, facts.peer = Step::start;
              })) != "");
}

TEST_CASE("the checker finds an ordinary move of what does not run") {
  CHECK(found(Method::birth, [](const Entry& entry, const Facts& facts) {
          Entry other = entry;
          if (entry.step == Step::remove) other.method = Method::app;
          return next_effect(other, facts);
        }) == "the ticket is removed");
}

TEST_CASE("the checker finds a copy that goes before it is home") {
  CHECK(found(Method::home, blind([](const Entry& entry, Facts& facts) {
                const bool is_hasty = entry.side == Side::source && entry.step == Step::start;
                if (is_hasty) facts.word = Word::step, facts.peer = Step::confirm;
              })) == "the task went before what it has written was home");
}

TEST_CASE("the checker finds a ticket that is removed where its return is undone") {
  CHECK(found(Method::home, [](const Entry& entry, const Facts& facts) {
          Entry other = entry;
          if (entry.side == Side::target && entry.step == Step::undo) other.method = Method::app;
          return next_effect(other, facts);
        }) == "the ticket is removed");
}

TEST_CASE("the checker finds a task that is started again after it has ended") {
  CHECK(found(Method::birth, [](const Entry& entry, const Facts& facts) {
          Entry other = entry;
          if (entry.step == Step::confirm) other.method = Method::app;
          Facts down = facts;
          if (facts.copy == Copy::finished) down.copy = Copy::stopped;
          return next_effect(other, down);
        }) == "a task is started twice");
}
