// SPDX-License-Identifier: Apache-2.0
// Walks through every state that the worlds of move_model.h can come to, breadth first, and holds
// the promises of cluster/migration/plan/journal.h against each of them.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/cluster/migration/plan/move_model.h"
#include "tests/cluster/migration/plan/promises.h"

namespace flowcon::cluster::migration::model {

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

inline constexpr unsigned kAnyFaults = ~0U;

class Explorer {
 public:
  /// At most `max_faults`, up to 3, or kAnyFaults.
  Explorer(Rule next, Rule recovered, unsigned max_faults = kAnyFaults, Habits habits = {})
      : answers_(std::move(next), std::move(recovered)), max_faults_(max_faults), habits_(habits) {}

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
      settle(source);  // what it was about to write may end the move
      if (source.at() != Step::start && source.at() != Step::undo) continue;
      take_back_turns(world, kMaxRounds, heard);
      const std::string end = bad_end_alone(source);
      if (!end.empty()) return {end, path_to(at)};
    }
    return {};
  }

  /// After run(): wherever the target was told to start, the source is lost for good and a person
  /// keeps the copy on the target. How that ends badly, then or when the source comes back
  /// nevertheless. Where another person took it back: two_persons().
  Finding lose_source() {
    for (std::size_t at = 0; at < states_.size(); ++at) {
      World world = unpack(states_[at].word);
      Host& target = world.target;
      if (world.was_taken_back || !is_told_to_start(target)) continue;
      keep_turns(world, kMaxRounds);
      if (target.at() != Step::done) return {"the target's journal is open", path_to(at)};
      if (target.copy != Copy::failed && !lives(target)) {
        return {"the target does not run it as before", path_to(at)};
      }
      if (world.source.has_lost) continue;
      calm_down(world);
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
      if (first.source.at() != Step::start || !is_told_to_start(first.target)) continue;
      for (std::size_t turns = 0; turns < 64; ++turns) {
        World world = first;
        take_back_turns(world, turns % 8, {});
        keep_turns(world, turns / 8);
        if (world.source.is_closed() && world.target.is_closed()) continue;
        calm_down(world);
        if (!world.source.is_closed() || !world.target.is_closed()) {
          return {"a journal is open", path_to(at)};
        }
        const bool is_there = lives(world.target) || world.target.copy == Copy::failed;
        if (is_as_before(world.source) == is_there) return {"not one copy is left", path_to(at)};
      }
    }
    return {};
  }

 private:
  struct State {
    Packed word;
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
      journal(world, side);
      engine(world, side);
      if (!may_fail(world)) continue;
      fail(world, side);
      if (!habits_.is_alone) forget(world, side);
    }
    if (may_fail(world) && !habits_.is_alone) meddle(world);
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
    if (host.has_lost || host.is_writing()) return;
    if (!host.is_known()) {
      if ((said >> static_cast<unsigned>(Step::reserve) & 1U) == 0) return;
      for (const Step step : {Step::reserve, Step::undone}) {
        World next = world;
        next.target.step = next.target.disk = static_cast<unsigned>(step);
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

  void decide(const World& world, Side side, Heard heard, bool gives_up,
              bool person_decides = false) {
    const Answers::Answer answer =
        answers_.ask(side, world.host(side), heard, gives_up, world.has_shown, person_decides);
    const Step now = world.host(side).at();
    World next = world;
    if (person_decides) (side == Side::source ? next.was_taken_back : next.was_kept) = true;
    Host& host = next.host(side);
    // What was carried out unwritten is written before all else, where that can be.
    if (answer.step() != now || host.undoes_unwritten) {
      World later = next;
      Host& writer = later.host(side);
      writer.begin_write(answer.step(), answer.has_saved);
      writer.may_skip =
          answer.may_run_unwritten || (writer.undoes_unwritten && answer.step() == Step::undo);
      reach(later, side == Side::source ? "source begins to write" : "target begins to write");
    }
    if (answer.step() != now) return;
    const bool is_asked = !host.is_engine_down;
    if (is_asked && now > Step::transfer) host.is_fresh = false;
    if (is_asked) host.current = request_of(answer.act());
    if (is_asked && answer.act() == Act::sync) host.is_synced = true;
    if (answer.act() == Act::send) next.is_data_sent = true;
    reach(next, side == Side::source ? "source acts" : "target acts");
  }

  // A write comes to its end.
  void journal(const World& world, Side side) {
    if (!world.host(side).is_writing()) return;
    World next = world;
    end_write(next.host(side), true);
    reach(next, side == Side::source ? "source has written" : "target has written");
    if (!may_fail(world)) return;
    next = world;
    count_fault(next);
    Host& host = next.host(side);
    const Host before = host;
    if (habits_.trusts_failed_writes) {
      end_write(host, true);
      host.put_on_disk(before.disk, before.disk_saved);
    } else {
      end_write(host, false);
    }
    reach(next, "a write fails");
    host.put_on_disk(before.writing, before.writes_saved);
    reach(next, "a write fails, and is on the disk");
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
    for (const bool is_on_disk : {false, true}) {
      if (is_on_disk && !base.host(side).is_writing()) continue;
      next = base;
      if (is_on_disk) host->put_on_disk(host->writing, host->writes_saved);
      lose_memory(*host);
      reach(next, is_source ? "source flowcond killed" : "target flowcond killed");

      host->orphans = 0;
      host->is_engine_down = false;
      const Host off = *host;
      restart_copies(*host);
      reach(next, is_source ? "source host rebooted" : "target host rebooted");
      if (off.is_synced) continue;
      for (const bool restarts : {false, true}) {
        if (restarts && !is_source) continue;  // its copy was made without a policy
        *host = off;
        lose_updates(*host, side, restarts);
        restart_copies(*host);
        reach(next, "its engine forgot what it was told last");
      }
    }

    if (!base.host(side).is_engine_down) {
      next = base;
      host->current = Request::none;
      host->orphans = 0;
      host->is_engine_down = true;
      reach(next, is_source ? "source engine killed" : "target engine killed");
    }

    // After a save has begun, it takes its flowcond to tell whether the job ended by itself.
    const bool is_saving = base.source.at() == Step::save && !base.source.is_fresh;
    if (is_source && base.source.is_running() && is_saving) {
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

  // flowcond starts and finds that its journal is gone.
  void forget(const World& world, Side side) {
    if (!world.host(side).is_known()) return;
    World next = world;
    count_fault(next);
    Host& host = next.host(side);
    host.put_on_disk(kNoEntry, false);
    lose_memory(host);
    host.has_lost = true;
    reach(next, side == Side::source ? "source lost its journal" : "target lost its journal");
  }

  // What people do.
  void meddle(const World& world) {
    World base = world;
    count_fault(base);
    for (const Side side : {Side::source, Side::target}) {
      const Host& host = base.host(side);
      if (host.is_engine_down) continue;
      World next = base;
      if (host.copy != Copy::absent && !host.is_running()) {
        next.host(side).copy = Copy::running;
        next.host(side).is_stopped_by_person = false;
        next.is_by_person = true;
        reach(next, side == Side::source ? "a person starts the source's copy"
                                         : "a person starts the target's copy");
      }
      const bool is_targets = side == Side::target && host.is_known() && host.at() >= Step::start;
      if (is_targets && host.is_running() && host.current == Request::none && host.orphans == 0) {
        next = base;
        next.host(side).copy = Copy::stopped;
        next.host(side).is_stopped_by_person = true;
        reach(next, "a person stops the target's copy");
      }
    }
    const Host& source = base.source;
    const bool waits = source.is_known() && source.at() == Step::start && !source.is_writing();
    if (waits && source.current == Request::none) {
      decide(base, Side::source, {}, false, true);
    }
    const Host& target = base.target;
    const bool may_keep = target.at() == Step::start || target.at() == Step::confirm;
    if (may_keep && !target.is_writing() && target.current == Request::none) {
      decide(base, Side::target, {}, true, true);
    }
  }

  // ---- calm: no more faults, each side hears where the other is

  std::string try_calm(World world) {
    std::vector<Packed> path;
    for (std::size_t round = 0; round < kMaxRounds; ++round) {
      world.said_by_source = world.said_by_target = 0;
      world.faults = 0;
      const Packed word = pack(world);
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

  std::string remember(const std::vector<Packed>& path) {
    calm_.insert(path.begin(), path.end());
    return {};
  }

  void calm_turns(World& world) {
    for (const Side side : {Side::source, Side::target}) settle(world.host(side));
    world.has_shown = world.has_shown || world.target.is_running();
    world.is_by_person = world.is_by_person && is_out_of_place(world);
    calm_turn(world, Side::source);
    calm_turn(world, Side::target);
  }

  void calm_down(World& world) {
    Packed before;
    for (std::size_t round = 0; round < kMaxRounds && before != pack(world); ++round) {
      before = pack(world);
      calm_turns(world);
    }
  }

  // Could a person keep the copy there, or does it come to that when its write has ended?
  static bool is_told_to_start(Host target) {
    settle(target);
    return target.at() == Step::start || target.at() == Step::confirm;
  }

  // A person has taken it back; nothing is heard of the target but `heard`.
  void take_back_turns(World& world, std::size_t turns, Heard heard) {
    Host& source = world.source;
    for (std::size_t round = 0; round < turns && source.at() != Step::undone; ++round) {
      settle(source);
      turn(world, Side::source, answers_.ask(Side::source, source, heard, false, false, true));
    }
  }

  // A person keeps it; nothing is heard of the source, and time is out.
  void keep_turns(World& world, std::size_t turns) {
    Host& target = world.target;
    for (std::size_t round = 0; round < turns && !target.is_closed(); ++round) {
      settle(target);
      turn(world, Side::target,
           answers_.ask(Side::target, target, {}, true, world.has_shown, true));
    }
  }

  void calm_turn(World& world, Side side) {
    Host& host = world.host(side);
    const Host& peer = world.host(side == Side::source ? Side::target : Side::source);
    if (host.has_lost) return;
    if (!host.is_known()) {
      if (!peer.has_lost && peer.at() == Step::reserve) {
        host.step = host.disk = static_cast<unsigned>(Step::reserve);
      }
      return;
    }
    Heard heard{Word::knows_nothing, Step::reserve};
    if (peer.is_known()) heard = {Word::step, peer.at()};
    if (!tells(side == Side::source ? Side::target : Side::source, peer)) heard = {};
    turn(world, side, answers_.ask(side, host, heard, false, world.has_shown));
  }

  static void turn(World& world, Side side, const Answers::Answer& answer) {
    Host& host = world.host(side);
    if (answer.step() != host.at()) {
      host.begin_write(answer.step(), answer.has_saved);
      end_write(host, true);
      return;
    }
    if (host.at() > Step::transfer) host.is_fresh = false;
    if (answer.act() == Act::send && world.target.step == static_cast<unsigned>(Step::transfer)) {
      world.target.has_data = true;
    }
    if (answer.act() == Act::sync) host.is_synced = true;
    carry_out(host, request_of(answer.act()), true);
  }

  // ---- the set of states

  // May a host say what its journal holds?
  [[nodiscard]] bool tells(Side side, const Host& host) const {
    if (host.has_lost) return habits_.forgets_silently;
    if (!host.is_known() || habits_.says_unseen) return true;
    Entry entry;
    entry.side = side;
    entry.step = static_cast<Step>(host.step);
    return may_tell(entry, host.is_fresh ? Copy::unknown : host.copy);
  }

  // Whoever is up says where it is, again and again.
  void speak(World& world) const {
    for (const Side side : {Side::source, Side::target}) {
      const Host& host = world.host(side);
      if (side == Side::source && !host.is_known() && !host.has_lost) continue;
      std::uint32_t said = tells(side, host) ? saying(side, host.step) : 0;
      if (habits_.says_unwritten && host.is_writing()) said |= saying(side, host.writing);
      (side == Side::source ? world.said_by_source : world.said_by_target) |= said;
    }
  }

  // Does a copy run where it should not, as a person may have it?
  static bool is_out_of_place(const World& world) {
    if (world.source.has_lost) return true;
    const bool is_given_up = has_given_up(world.source);
    return is_given_up ? world.source.is_running() : world.target.is_running();
  }

  void reach(World world, const char* how) {
    ++report_.transitions;
    const bool handed_over = (world.said_by_source & saying(Side::source, kStart)) != 0;
    speak(world);
    const bool hands_over = (world.said_by_source & saying(Side::source, kStart)) != 0;
    if (!handed_over && hands_over && world.source.is_running() && report_.finding.what.empty()) {
      report_.finding = {"the source hands over what runs", path_to(at_)};
    }
    world.is_by_person = world.is_by_person && is_out_of_place(world);
    add(pack(world), static_cast<std::uint32_t>(at_), how);
  }

  void add(const Packed& word, std::uint32_t parent, const char* how) {
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
    if (host.is_writing()) text += std::string("/writes ") + name(static_cast<Step>(host.writing));
    if (host.disk != host.step) text += "/disk differs";
    if (host.has_lost) text += "/lost its journal";
    if (host.is_stopped_by_person) text += "/by a person";
    return text;
  }

  static constexpr std::size_t kMaxRounds = 200;
  static constexpr auto kStart = static_cast<unsigned>(Step::start);

  struct Hash {
    std::size_t operator()(const Packed& word) const { return hash(word); }
  };

  Answers answers_;
  unsigned max_faults_;
  Habits habits_;
  std::size_t at_ = 0;
  std::vector<State> states_;
  std::vector<std::uint32_t> slots_;
  std::unordered_set<Packed, Hash> calm_;
  Report report_;
};

}  // namespace flowcon::cluster::migration::model
