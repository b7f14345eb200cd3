// SPDX-License-Identifier: Apache-2.0
// Walks through every state that the worlds of move_model.h can come to, breadth first, and holds
// the promises of cluster/migration/journal.h against each of them.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/cluster/migration/move_model.h"

namespace flowcon::cluster::migration::model {

/// What is wrong with a world at any moment; empty where nothing is.
inline std::string broken_promise(const World& world) {
  const Host& source = world.source;
  const Host& target = world.target;
  if (source.is_running() && target.is_running()) return "two copies run";
  const bool is_given_up = source.step == static_cast<unsigned>(Step::start) ||
                           source.step == static_cast<unsigned>(Step::remove) ||
                           source.step == static_cast<unsigned>(Step::done);
  if (target.is_running() && !is_given_up) return "the target runs what was not handed over";
  const bool has_run = target.step == static_cast<unsigned>(Step::confirm) ||
                       target.step == static_cast<unsigned>(Step::done);
  if (source.copy == Copy::absent && !has_run) return "the source's copy went too early";
  if (source.copy == Copy::absent && target.copy == Copy::absent) return "the job is lost";
  return {};
}

/// What is wrong with a world in which nothing happens any more; empty where nothing is.
inline std::string bad_end(const World& world) {
  const Host& source = world.source;
  const Host& target = world.target;
  const auto is_at = [](const Host& host, Step step) {
    return host.step == static_cast<unsigned>(step);
  };
  for (const Host* host : {&source, &target}) {
    if (host->current != Request::none || host->orphans != 0) return "never quiet";
  }
  const auto lives = [](const Host& host) {
    return (host.is_running() && host.restarts) || host.copy == Copy::finished;
  };
  if (is_at(source, Step::undone)) {
    const bool has_ended = source.copy == Copy::failed && source.restarts;
    if (!lives(source) && !has_ended) return "undone, and the source does not run it as before";
    if (target.is_known() && !is_at(target, Step::undone)) return "the target's journal is open";
    return target.copy == Copy::absent ? "" : "the target kept a copy";
  }
  if (!is_at(source, Step::done)) return "the source's journal is open";
  if (!is_at(target, Step::done)) return "the target's journal is open";
  if (!lives(target)) return "done, and the target does not run it";
  return source.copy == Copy::absent ? "" : "the source kept a copy";
}

struct Finding {
  std::string what;  ///< empty: none
  std::vector<std::string> path;
};

struct Report {
  std::size_t states = 0;
  std::size_t transitions = 0;
  std::size_t calm_states = 0;   ///< different states from which calm was tried
  std::size_t longest_calm = 0;  ///< rounds until both journals were closed
  Finding finding;
};

/// Nothing, or that the source does not run the job as before.
inline std::string bad_end_alone(const Host& source) {
  if (!source.is_known() || source.at() != Step::undone) return "the source's journal is open";
  const bool has_ended = source.copy == Copy::failed && source.restarts;
  const bool lives =
      (source.is_running() && source.restarts) || source.copy == Copy::finished || has_ended;
  return lives ? "" : "the source does not run it as before";
}

inline constexpr unsigned kAnyFaults = ~0U;

class Explorer {
 public:
  /// At most `max_faults`, up to 3, or kAnyFaults.
  Explorer(Rule next, Rule recovered, unsigned max_faults = kAnyFaults)
      : answers_(std::move(next), std::move(recovered)), max_faults_(max_faults) {}

  /// After run(): other rules for what is asked from now on.
  void change(Rule next, Rule recovered) {
    answers_ = Answers(std::move(next), std::move(recovered));
  }

  /// Where the two are in the end if nothing goes wrong.
  World end_without_fault() {
    World world = first_world();
    for (std::size_t round = 0; round < kMaxRounds; ++round) calm_turns(world);
    return world;
  }

  Report run() {
    World first = first_world();
    speak(first);
    slots_.assign(1U << 16, 0);
    add(pack(first), 0, "start");
    for (std::size_t at = 0; at < states_.size() && report_.finding.what.empty(); ++at) {
      at_ = at;
      const World world = unpack(states_[at].word);
      std::string what = broken_promise(world);
      if (what.empty()) what = try_calm(world);
      if (!what.empty()) {
        report_.finding = {what, path_to(at)};
        break;
      }
      expand(world);
    }
    report_.states = states_.size();
    report_.calm_states = calm_.size();
    return report_;
  }

  /// After run(): wherever the source had handed over, or hears on its way back that the target may
  /// run the copy, the target is lost for good and a person takes the container back. How the
  /// source then ends badly; `heard` is what it goes on believing of what the target said.
  Finding lose_target(Heard heard = {}) {
    for (std::size_t at = 0; at < states_.size(); ++at) {
      World world = unpack(states_[at].word);
      Host& source = world.source;
      if (source.at() != Step::start && source.at() != Step::undo) continue;
      take_back_turns(world, kMaxRounds, heard);
      const std::string end = bad_end_alone(source);
      if (!end.empty()) return {end, path_to(at)};
    }
    return {};
  }

  /// After run(): wherever the target was told to start, the source is lost for good and a person
  /// keeps the copy on the target. How that ends badly, then or when the source comes back
  /// nevertheless.
  Finding lose_source() {
    for (std::size_t at = 0; at < states_.size(); ++at) {
      World world = unpack(states_[at].word);
      Host& target = world.target;
      if (target.at() != Step::start && target.at() != Step::confirm) continue;
      keep_turns(world, kMaxRounds);
      if (target.at() != Step::done) return {"the target's journal is open", path_to(at)};
      if (target.copy != Copy::failed && !lives(target)) {
        return {"the target does not run it as before", path_to(at)};
      }
      for (std::size_t round = 0; round < kMaxRounds; ++round) calm_turns(world);
      if (world.source.at() != Step::done || world.source.copy != Copy::absent) {
        return {"the source that comes back keeps a copy", path_to(at)};
      }
    }
    return {};
  }

  /// After run(): wherever the job was handed over, one person takes it back and another keeps it
  /// while the hosts do not hear each other; then they do, before both have closed their entries.
  Finding two_persons() {
    for (std::size_t at = 0; at < states_.size(); ++at) {
      const World first = unpack(states_[at].word);
      const Step there = first.target.at();
      if (first.source.at() != Step::start) continue;
      if (there != Step::start && there != Step::confirm) continue;
      for (std::size_t turns = 0; turns < 64; ++turns) {
        World world = first;
        take_back_turns(world, turns % 8, {});
        keep_turns(world, turns / 8);
        if (is_closed(world.source) && is_closed(world.target)) continue;
        for (std::size_t round = 0; round < kMaxRounds; ++round) calm_turns(world);
        const bool is_there = lives(world.target) || world.target.copy == Copy::failed;
        if (!is_closed(world.source) || !is_closed(world.target)) {
          return {"a journal is open", path_to(at)};
        }
        if (lives(world.source) == is_there) return {"not one copy is left", path_to(at)};
      }
    }
    return {};
  }

 private:
  struct State {
    std::uint64_t word;
    std::uint32_t parent;
    const char* how;
  };

  // ---- one step after the other

  [[nodiscard]] bool may_fail(const World& world) const { return world.faults < max_faults_; }
  void count_fault(World& world) const {
    if (max_faults_ != kAnyFaults) ++world.faults;
  }

  void expand(const World& world) {
    for (const Side side : {Side::source, Side::target}) {
      decide_alone(world, side);
      engine(world, side);
      if (may_fail(world)) fail(world, side);
    }
    if (world.target.is_running() && !world.has_shown) {
      World next = world;
      next.has_shown = true;
      reach(next, "the copy prints something");
    }
    if (world.is_data_sent && world.target.step == static_cast<unsigned>(Step::transfer) &&
        !world.target.is_fresh && !world.target.has_data) {
      World next = world;
      next.target.has_data = true;
      reach(next, "the data arrive");
    }
  }

  // flowcond of one side looks at its entry, having heard nothing or any one thing ever said.
  void decide_alone(const World& world, Side side) {
    const Host& host = world.host(side);
    const std::uint32_t said = side == Side::source ? world.said_by_target : world.said_by_source;
    if (!host.is_known()) {
      if ((said >> static_cast<unsigned>(Step::reserve) & 1U) == 0) return;
      for (const Step step : {Step::reserve, Step::undone}) {
        World next = world;
        next.target.step = static_cast<unsigned>(step);
        reach(next, step == Step::reserve ? "target accepts" : "target refuses");
      }
      return;
    }
    if (host.current != Request::none) return;
    for (const bool gives_up : {false, true}) {
      decide(world, side, {}, gives_up);
      for (unsigned bit = 0; bit < kNoEntry; ++bit) {
        if ((said >> bit & 1U) == 0) continue;
        decide(world, side, {Word::step, static_cast<Step>(bit)}, gives_up);
      }
      if ((said >> kNoEntry & 1U) != 0) decide(world, side, {Word::knows_nothing, {}}, gives_up);
    }
  }

  void decide(const World& world, Side side, Heard heard, bool gives_up) {
    const Answers::Answer answer =
        answers_.ask(side, world.host(side), heard, gives_up, world.has_shown);
    const Step now = world.host(side).at();
    World next = world;
    Host& host = next.host(side);
    const Request request = host.is_engine_down ? Request::none : request_of(answer.act);
    if (side == Side::source && host.copy == Copy::failed && request == Request::start) {
      report_.finding = {"a job that has ended is started again", path_to(at_)};
    }
    if (answer.step == now && host.undoes_unwritten) {
      World later = world;  // what was carried out unwritten is written as soon as that can be
      later.host(side).step = static_cast<unsigned>(now);
      later.host(side).undoes_unwritten = false;
      reach(later, side == Side::source ? "source writes its undo" : "target writes its undo");
    }
    if (answer.step != now) {
      write(host, answer);
      reach(next, side == Side::source ? "source writes a step" : "target writes a step");
      if (answer.may_run_unwritten && may_fail(world)) {
        next = world;
        count_fault(next);
        host.undoes_unwritten = true;
        host.is_fresh = false;
        host.current = request;
        reach(next, "disk full, it goes on unwritten");
      }
      return;
    }
    host.is_fresh = false;
    host.current = request;
    if (answer.act == Act::send) next.is_data_sent = true;
    reach(next, side == Side::source ? "source acts" : "target acts");
  }

  static void write(Host& host, const Answers::Answer& answer) {
    host.step = static_cast<unsigned>(answer.step);
    host.has_saved = answer.has_saved;
    host.undoes_unwritten = false;
    host.is_fresh = false;
  }

  // Requests that come to an end, well or not, and engines that come back.
  void engine(const World& world, Side side) {
    const Host& host = world.host(side);
    for (unsigned bit = 0; bit < 8; ++bit) {
      if ((host.orphans >> bit & 1U) == 0) continue;
      World next = world;
      next.host(side).orphans &= ~(1U << bit);
      reach(next, "a forgotten request fails");
      carry_out(next.host(side), static_cast<Request>(bit), false);
      reach(next, "a forgotten request succeeds");
    }
    if (host.current != Request::none) {
      World next = world;
      next.host(side).current = Request::none;
      reach(next, "a request fails");
      carry_out(next.host(side), host.current, true);
      reach(next, "a request succeeds");
    }
    if (!host.is_engine_down) return;
    World next = world;
    next.host(side).is_engine_down = false;
    reach(next, "engine back, copies as they were");
    restart_copies(next.host(side));
    reach(next, "engine back, copies stopped");
  }

  void fail(const World& world, Side side) {
    const bool is_source = side == Side::source;
    World base = world;
    count_fault(base);

    World next = base;
    Host* host = &next.host(side);
    lose_memory(*host);
    reach(next, is_source ? "source flowcond killed" : "target flowcond killed");

    next = base;
    lose_memory(*host);
    host->orphans = 0;
    host->is_engine_down = false;
    restart_copies(*host);
    reach(next, is_source ? "source host rebooted" : "target host rebooted");

    if (!base.host(side).is_engine_down) {
      next = base;
      host->current = Request::none;
      host->orphans = 0;
      host->is_engine_down = true;
      reach(next, is_source ? "source engine killed" : "target engine killed");
    }

    // After a save has begun, it takes its flowcond to tell whether the job ended by itself.
    if (is_source && base.source.is_running() && base.source.at() == Step::save &&
        !base.source.is_fresh) {
      next = base;
      host->copy = Copy::failed;
      reach(next, "the job ends by itself");
    }
    if (base.host(side).is_running() && !base.host(side).has_saved) {
      next = base;
      host->copy = Copy::finished;
      next.has_shown = next.has_shown || !is_source;  // one that came to its end was no failure
      reach(next, "the job ends");
      if (!is_source && !base.has_shown) {
        next = base;
        host->copy = Copy::failed;
        reach(next, "the copy fails at its start");
      }
    }
  }

  // ---- calm: no more faults, each side hears where the other is

  std::string try_calm(World world) {
    std::vector<std::uint64_t> path;
    for (std::size_t round = 0; round < kMaxRounds; ++round) {
      world.said_by_source = world.said_by_target = 0;
      world.faults = 0;
      const std::uint64_t word = pack(world);
      if (calm_.count(word) != 0) return remember(path);
      path.push_back(word);
      const std::string what = broken_promise(world);
      if (!what.empty()) return what;
      calm_turns(world);
      if (pack(world) == word) {
        report_.longest_calm = std::max(report_.longest_calm, round);
        const std::string end = bad_end(world);
        return end.empty() ? remember(path) : end;
      }
    }
    return "no end in calm";
  }

  std::string remember(const std::vector<std::uint64_t>& path) {
    calm_.insert(path.begin(), path.end());
    return {};
  }

  static void settle_engine(Host& host) {
    if (host.is_engine_down) {
      host.is_engine_down = false;
      restart_copies(host);
    }
    for (unsigned bit = 0; bit < 8; ++bit) {
      if ((host.orphans >> bit & 1U) != 0) carry_out(host, static_cast<Request>(bit), false);
    }
    host.orphans = 0;
    carry_out(host, std::exchange(host.current, Request::none), true);
  }

  void calm_turns(World& world) {
    for (const Side side : {Side::source, Side::target}) settle_engine(world.host(side));
    world.has_shown = world.has_shown || world.target.is_running();
    calm_turn(world, Side::source);
    calm_turn(world, Side::target);
  }

  // A person has taken it back; nothing is heard of the target but `heard`.
  void take_back_turns(World& world, std::size_t turns, Heard heard) {
    Host& source = world.source;
    for (std::size_t round = 0; round < turns && source.at() != Step::undone; ++round) {
      settle_engine(source);
      if (source.undoes_unwritten) source.step = static_cast<unsigned>(Step::undo);
      source.undoes_unwritten = false;
      turn(world, Side::source, answers_.ask(Side::source, source, heard, false, false, true));
    }
  }

  // A person keeps it; nothing is heard of the source, and time is out.
  void keep_turns(World& world, std::size_t turns) {
    Host& target = world.target;
    for (std::size_t round = 0; round < turns && !is_closed(target); ++round) {
      settle_engine(target);
      turn(world, Side::target,
           answers_.ask(Side::target, target, {}, true, world.has_shown, false, true));
    }
  }

  static bool is_closed(const Host& host) {
    return host.at() == Step::done || host.at() == Step::undone;
  }
  static bool lives(const Host& host) {
    return (host.is_running() && host.restarts) || host.copy == Copy::finished;
  }

  void calm_turn(World& world, Side side) {
    Host& host = world.host(side);
    const Host& peer = world.host(side == Side::source ? Side::target : Side::source);
    if (!host.is_known()) {
      if (peer.at() == Step::reserve) host.step = static_cast<unsigned>(Step::reserve);
      return;
    }
    Heard heard{Word::knows_nothing, Step::reserve};
    if (peer.is_known()) heard = {Word::step, peer.at()};
    if (peer.is_fresh) heard = {};
    if (host.undoes_unwritten) {
      host.step = static_cast<unsigned>(Step::undo);
      host.undoes_unwritten = false;
    }
    turn(world, side, answers_.ask(side, host, heard, false, world.has_shown));
  }

  static void turn(World& world, Side side, const Answers::Answer& answer) {
    Host& host = world.host(side);
    if (answer.step != host.at()) {
      write(host, answer);
      return;
    }
    host.is_fresh = false;
    if (answer.act == Act::send && world.target.step == static_cast<unsigned>(Step::transfer)) {
      world.target.has_data = true;
    }
    carry_out(host, request_of(answer.act), true);
  }

  // ---- the set of states

  // Whoever is up says where it is, again and again; a step that is not written is not said.
  static void speak(World& world) {
    for (const Side side : {Side::source, Side::target}) {
      const Host& host = world.host(side);
      if (host.is_fresh) continue;
      const std::uint32_t said =
          host.is_known() ? saying(side, static_cast<unsigned>(host.at())) : saying(side, kNoEntry);
      (side == Side::source ? world.said_by_source : world.said_by_target) |= said;
    }
  }

  void reach(World world, const char* how) {
    ++report_.transitions;
    speak(world);
    add(pack(world), static_cast<std::uint32_t>(at_), how);
  }

  void add(std::uint64_t word, std::uint32_t parent, const char* how) {
    if (states_.size() * 2 >= slots_.size()) grow();
    std::size_t slot = hash(word) & (slots_.size() - 1);
    while (slots_[slot] != 0) {
      if (states_[slots_[slot] - 1].word == word) return;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    states_.push_back({word, parent, how});
    slots_[slot] = static_cast<std::uint32_t>(states_.size());
  }

  void grow() {
    std::vector<std::uint32_t> bigger(slots_.size() * 4, 0);
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      std::size_t slot = hash(states_[i].word) & (bigger.size() - 1);
      while (bigger[slot] != 0) slot = (slot + 1) & (bigger.size() - 1);
      bigger[slot] = i + 1;
    }
    slots_.swap(bigger);
  }

  static std::size_t hash(std::uint64_t word) {
    word ^= word >> 31;
    word *= 0x9E3779B97F4A7C15U;
    return word ^ word >> 29;
  }

  [[nodiscard]] std::vector<std::string> path_to(std::size_t at) const {
    std::vector<std::string> path;
    for (;; at = states_[at].parent) {
      const World world = unpack(states_[at].word);
      path.push_back(std::string(states_[at].how) + " -> " + shown(world.source) + " | " +
                     shown(world.target));
      if (at == 0) break;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  static std::string shown(const Host& host) {
    constexpr const char* kCopies[] = {"unknown", "absent",   "created", "running",
                                       "stopped", "finished", "failed"};
    std::string text = host.is_known() ? name(host.at()) : "-";
    text += std::string("/") + kCopies[static_cast<unsigned>(host.copy)];
    if (host.restarts) text += "/armed";
    if (host.current != Request::none) text += "/busy";
    if (host.orphans != 0) text += "/orphan";
    if (host.is_engine_down) text += "/engine down";
    if (host.is_fresh) text += "/fresh";
    return text;
  }

  static constexpr std::size_t kMaxRounds = 200;

  Answers answers_;
  unsigned max_faults_;
  std::size_t at_ = 0;
  std::vector<State> states_;
  std::vector<std::uint32_t> slots_;
  std::unordered_set<std::uint64_t> calm_;
  Report report_;
};

}  // namespace flowcon::cluster::migration::model
