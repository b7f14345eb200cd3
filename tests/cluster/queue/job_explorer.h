// SPDX-License-Identifier: Apache-2.0
// Walks through every state that the world of job_model.h can come to, breadth first, and holds the
// promises of cluster/queue/job.h against each of them.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/cluster/queue/job_model.h"

namespace flowcon::cluster::queue::model {

struct Finding {
  std::string what;  ///< empty: none
  std::vector<std::string> path;
};

struct Report {
  std::size_t states = 0;
  std::size_t transitions = 0;
  Finding finding;
};

/// What one job is like, and what its driver does that the rules take for granted.
struct Setting {
  unsigned retries = 1;
  unsigned max_faults = 2;
  bool has_checkpoint = true;        ///< it can be asked to save itself
  bool acts_unwritten = false;       ///< on purpose: an act whose entry could not be written
  bool trusts_late_answers = false;  ///< on purpose: all is quiet, whatever was asked for
};

class Explorer {
 public:
  Explorer(Rule rule, Setting setting) : answers_(std::move(rule)), setting_(setting) {}

  Report run() {
    slots_.assign(1U << 16, 0);
    add(pack(first_world(setting_.retries)), 0, "is submitted");
    for (std::size_t at = 0; at < states_.size() && report_.finding.what.empty(); ++at) {
      at_ = at;
      const World world = unpack(states_[at].word);
      find(broken_promise(world));
      find(try_calm(world, false, false));
      find(try_calm(world, true, false));
      if (world.orphans != 0) find(try_calm(world, false, true));
      if (world.is_alive) {
        drive(world);
        edit(world);
      }
      engine(world);
      if (world.faults < setting_.max_faults) {
        fail(world);
        meddle(world);
      }
    }
    report_.states = states_.size();
    return report_;
  }

 private:
  struct State {
    Packed word;
    std::uint32_t parent;
    const char* how;
  };

  // ---- promises

  // What is wrong with a world at any moment.
  static std::string broken_promise(const World& world) {
    const Line& line = world.is_alive ? world.memory : world.disk;
    const bool runs = world.box.is_running() && !world.box.is_persons;
    if (runs && line.state == JobState::waiting) return "a job runs and waits";
    if (runs && is_closed(line.state)) return "a job runs that is closed";
    if (line.state == JobState::cancelled && !world.has_meddled) return "nobody cancelled it";
    return {};
  }

  // ---- flowcond

  [[nodiscard]] View seen(const World& world, Said order) const {
    const Box& box = world.box;
    View view;
    view.is_there = true;
    view.copy = box.copy;
    view.life = box.life;
    view.end = box.end;
    view.was_interrupted = box.was_interrupted;
    view.was_stopped = box.was_stopped;
    view.order = order;
    view.is_quiet = world.orphans == 0 || setting_.trusts_late_answers;
    return view;
  }

  void drive(const World& world) {
    if (world.current != Act::none) return answer(world);
    if (world.view.is_there) return decide(world);
    if (world.is_engine_down || is_closed(world.memory.state)) return;
    for (const Said order : {Said::nothing, Said::start, Said::park}) {
      if (order == Said::start && world.memory.state != JobState::waiting) continue;
      if (order == Said::park && world.memory.state != JobState::running) continue;
      World next = world;
      next.view = seen(world, order);
      reach(next, "flowcond looks");
    }
  }

  // The step is decided, and what it wants written is in memory and on the disk.
  void take_step(World& world) {
    const Answers::Answer answer = answers_.ask(world);
    if (!answer.wrong.empty()) find(answer.wrong);
    if (answer.has_entry) {
      note_step(world, answer);
      world.memory = world.disk = answer.next;
      world.is_refused = world.has_save_failed = false;
      world.has_saved = world.has_saved && answer.next.state == JobState::parking;
    }
    if (answer.act == Act::start) world.is_refused = false;
    world.current = answer.act;
    world.view = {};
  }

  void note_step(World& world, const Answers::Answer& answer) {
    const Line& to = answer.next;
    if (world.memory.state == JobState::waiting && to.state == JobState::starting) {
      world.has_run = false;
    }
    // It ended between the look and the request: nobody can tell that from a save.
    if (answer.act == Act::save) world.has_finished = false;
    const Box& box = world.box;
    const bool is_ended = box.copy == TicketCopy::ended && box.life == world.view.life;
    if (to.state == JobState::done && is_ended && box.has_saved) {
      find("what has saved itself is taken for done");
    }
  }

  void decide(const World& world) {
    World next = world;
    take_step(next);
    const bool writes = !(next.memory == world.memory) || !(next.disk == world.disk);
    reach(next, "flowcond decides");
    if (!writes || world.faults >= setting_.max_faults) return;
    World failed = world;
    ++failed.faults;
    failed.view = {};
    if (setting_.acts_unwritten) failed.current = next.current;
    reach(failed, "a write fails");
    failed.disk = next.disk;
    failed.has_run = next.has_run;
    failed.has_finished = next.has_finished;
    reach(failed, "a write fails, and is on the disk");
  }

  // The request that flowcond waits for comes to its end, well or not.
  void answer(const World& world) {
    if (world.current == Act::save) return answer_save(world);
    World next = world;
    next.current = Act::none;
    if (!world.is_engine_down) {
      if (world.current == Act::start) {
        World refused = next;
        refused.is_refused = true;
        reach(refused, "the engine refuses the start");
      }
      find(carry_out(next, world.current));
      reach(next, "the engine does it and says so");
    }
    lose_answer(world, world.current);
  }

  void lose_answer(const World& world, Act act, bool is_save = false) {
    if (world.faults >= setting_.max_faults) return;
    World next = world;
    ++next.faults;
    next.current = Act::none;
    next.orphans |= bit_of(act);
    next.has_save_failed = next.has_save_failed || is_save;
    reach(next, "the engine's answer is lost");
  }

  void answer_save(const World& world) {
    World next = world;
    next.current = Act::none;
    // It is not to be parked any more, or has ended.
    const bool is_over = world.memory.state != JobState::parking;
    if (is_over || (!world.is_engine_down && !world.box.is_running())) reach(next, "it has ended");
    next.has_save_failed = true;
    reach(next, "it does not save itself");
    if (!setting_.has_checkpoint) return;
    lose_answer(world, Act::save, true);
    if (world.is_engine_down) return;
    if (!world.box.was_asked && world.box.is_running()) {
      World asked = world;
      find(carry_out(asked, Act::save));
      reach(asked, "it is asked to save itself");
    }
    if (!world.box.was_asked || !world.box.is_running()) return;
    // By a command: it has saved, and is stopped by flowcond.
    World saved = world;
    saved.has_saved = true;
    lose_answer(saved, Act::stop, true);
    saved.current = Act::none;
    find(carry_out(saved, Act::stop));
    reach(saved, "it has saved and is stopped");
  }

  // ---- people and the API

  void edit(const World& world) {
    if (is_closed(world.memory.state)) return;
    const std::pair<const char*, Result<JobEntry> (*)(const JobEntry&, double)> verbs[] = {
        {"a person holds it", hold},
        {"a person releases it", release},
        {"a person cancels it", cancel},
        {"a person parks it", park}};
    const JobEntry entry = entry_of(world.memory);
    for (const auto& [how, verb] : verbs) {
      if (verb == park && !setting_.has_checkpoint) continue;
      const Result<JobEntry> edited = verb(entry, 100);
      if (!edited) continue;
      if (edited->version != entry.version + 1) find("the version does not grow by one");
      World next = world;
      next.memory = next.disk = line_of(*edited);
      next.has_meddled = next.has_meddled || edited->state == JobState::stopping;
      if (next.view.order == Said::start) next.view.order = Said::late_start;
      if (next.view.order == Said::park) next.view.order = Said::late_park;
      reach(next, how);
    }
  }

  // ---- what the engine does

  void engine(const World& world) {
    if (world.is_engine_down) {
      World next = world;
      next.is_engine_down = false;
      reach(next, "the engine is back");
      return end_box(world);
    }
    for (const Act act : {Act::start, Act::save, Act::stop, Act::remove}) {
      if ((world.orphans & bit_of(act)) == 0) continue;
      World next = world;
      next.orphans &= ~bit_of(act);
      reach(next, "a forgotten request is forgotten");
      find(carry_out(next, act));
      reach(next, "a forgotten request is carried out");
    }
    if (!world.is_alive) {
      World next = world;
      next.is_alive = true;
      next.memory = next.disk;
      reach(next, "flowcond starts");
    }
    end_box(world);
  }

  void end_box(const World& world) {
    if (!world.box.is_running()) return;
    World next = world;
    end_by_itself(next, End::zero);
    reach(next, "it ends with 0");
    next = world;
    end_by_itself(next, End::one);
    reach(next, "it ends with 1");
    next = world;
    end_by_itself(next, End::memory);
    reach(next, "it is killed for memory");
  }

  // ---- faults

  void fail(const World& world) {
    World base = world;
    ++base.faults;
    if (world.is_alive) {
      World next = base;
      if (next.current != Act::none) next.orphans |= bit_of(next.current);
      lose_memory(next);
      reach(next, "flowcond is killed");
    }
    World next = base;
    lose_memory(next);
    next.orphans = 0;
    next.is_engine_down = false;
    interrupt(next, End::killed);
    reach(next, "the host reboots");
    if (world.is_engine_down) return;
    next = base;
    next.is_engine_down = true;
    reach(next, "the engine freezes");
    if (!world.box.is_running()) return;
    for (const End end : {End::killed, End::zero}) {
      next = base;
      next.is_engine_down = true;
      interrupt(next, end);
      reach(next, "the engine dies, and it with it");
    }
  }

  static void lose_memory(World& world) {
    world.is_alive = false;
    world.memory = world.disk;
    world.view = {};
    world.current = Act::none;
    world.is_refused = world.has_save_failed = world.has_saved = false;
  }

  static void interrupt(World& world, End end) {
    if (!world.box.is_running()) return;
    end_life(world, end);
    world.box.was_interrupted = true;
  }

  void meddle(const World& world) {
    if (world.is_engine_down || world.box.copy == TicketCopy::absent) return;
    World base = world;
    ++base.faults;
    base.has_meddled = true;
    World next = base;
    next.has_finished = false;
    begin_life(next, true);
    reach(next, world.box.is_running() ? "docker restart" : "docker start");
    if (world.box.is_running()) {
      next = base;
      end_life(next, End::killed);
      next.box.was_stopped = true;
      reach(next, "docker stop");
    }
    next = base;
    find(carry_out(next, Act::remove));
    reach(next, "docker rm");
  }

  // ---- calm: nothing goes wrong any more, and what waits is ordered to start

  // `refuses`: the engine refuses each start; `is_late`: what nobody waits for is carried out.
  std::string try_calm(World world, bool refuses, bool is_late) {
    std::vector<Packed> path;
    std::unordered_set<Packed, PackedHash>& calm = calm_[refuses ? 1 : 0];
    world.is_alive = true;
    world.is_engine_down = false;
    for (const Act act : {Act::start, Act::save, Act::stop, Act::remove}) {
      const bool is_asked = (world.orphans & bit_of(act)) != 0;
      world.orphans &= ~bit_of(act);
      if (!is_asked || !is_late) continue;
      const std::string what = carry_out(world, act);
      if (!what.empty()) return what;
    }
    world.faults = 0;
    for (std::size_t round = 0; round < kMaxRounds; ++round) {
      renumber(world);
      const Packed word = pack(world);
      if (calm.contains(word)) break;
      path.push_back(word);
      const std::string what = broken_promise(world);
      if (!what.empty()) return what;
      if (is_closed(world.memory.state)) {
        const std::string end = bad_end(world);
        if (!end.empty()) return end;
        break;
      }
      const bool waits = world.memory.state == JobState::waiting && world.memory.is_held &&
                         !world.view.is_there && world.box.copy != TicketCopy::absent &&
                         world.box.life == world.memory.life;
      if (waits) {
        if (!world.memory.has_note) return "it is held, and nobody says why";
        break;
      }
      if (round + 1 == kMaxRounds) return std::string("no end in calm: ") + shown(world);
      const std::string wrong = calm_turn(world, refuses);
      if (!wrong.empty()) return wrong;
    }
    calm.insert(path.begin(), path.end());
    return {};
  }

  static std::string bad_end(const World& world) {
    const bool is_left = world.box.copy == TicketCopy::created && !world.view.is_there;
    return is_left ? "a cancelled ticket is left" : "";
  }

  std::string calm_turn(World& world, bool refuses) {
    const Act act = std::exchange(world.current, Act::none);
    if (act == Act::start && refuses) {
      world.is_refused = !world.box.is_running();
    } else if (act == Act::save && setting_.has_checkpoint) {
      (void)carry_out(world, Act::save);
      if (world.box.is_running()) end_by_itself(world, End::zero);
    } else if (act == Act::save) {
      world.has_save_failed = true;
    } else if (act != Act::none) {
      return carry_out(world, act);
    } else {
      const Line before = world.memory;
      const bool is_waiting = before.state == JobState::waiting;
      const Said order = is_waiting && !before.is_held ? Said::start : Said::nothing;
      if (!world.view.is_there) world.view = seen(world, order);
      take_step(world);
      const bool is_idle = world.current == Act::none && world.memory == before;
      if (is_idle && world.box.is_running()) end_by_itself(world, End::zero);
    }
    return {};
  }

  // ---- the set of states

  void find(const std::string& what) {
    if (what.empty() || !report_.finding.what.empty()) return;
    report_.finding = {what, path_to(at_)};
  }

  void reach(World world, const char* how) {
    ++report_.transitions;
    if (!report_.finding.what.empty()) {
      if (report_.finding.path.back() != how && !is_told_) {
        report_.finding.path.emplace_back(how);
        is_told_ = true;
      }
      return;
    }
    if (!world.view.is_there) world.view = {};
    renumber(world);
    add(pack(world), static_cast<std::uint32_t>(at_), how);
  }

  void add(const Packed& word, std::uint32_t parent, const char* how) {
    if (states_.size() * 2 >= slots_.size()) grow();
    std::size_t slot = PackedHash()(word) & (slots_.size() - 1);
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
      std::size_t slot = PackedHash()(states_[i].word) & (bigger.size() - 1);
      while (bigger[slot] != 0) slot = (slot + 1) & (bigger.size() - 1);
      bigger[slot] = i + 1;
    }
    slots_.swap(bigger);
  }

  [[nodiscard]] std::vector<std::string> path_to(std::size_t at) const {
    std::vector<std::string> path;
    for (;; at = states_[at].parent) {
      path.push_back(std::string(states_[at].how) + " -> " + shown(unpack(states_[at].word)));
      if (at == 0) break;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  static std::string shown(const World& world) {
    constexpr const char* kCopies[] = {"unknown", "absent", "created", "running", "ended"};
    constexpr const char* kEnds[] = {"0", "1", "memory", "killed"};
    const Line& line = world.memory;
    std::string text = std::string(world.is_alive ? "" : "dead, ") + name(line.state) +
                       " of life " + std::to_string(line.life);
    if (line.is_held) text += ", held";
    if (line.was_asked) text += ", asked";
    if (!(line == world.disk)) text += std::string(", on disk ") + name(world.disk.state);
    if (world.view.is_there) {
      text += std::string(", has seen ") + kCopies[static_cast<unsigned>(world.view.copy)] + " " +
              std::to_string(world.view.life);
    }
    if (world.current != Act::none) text += std::string(", asks for ") + name(world.current);
    if (world.is_refused) text += ", refused";
    if (world.has_save_failed) text += ", save failed";
    text += std::string(" | ") + kCopies[static_cast<unsigned>(world.box.copy)] + " " +
            std::to_string(world.box.life);
    if (world.box.copy == TicketCopy::ended) {
      text += std::string(" with ") + kEnds[static_cast<unsigned>(world.box.end)];
    }
    if (world.box.was_interrupted) text += ", interrupted";
    if (world.is_engine_down) text += ", engine down";
    for (const Act act : {Act::start, Act::save, Act::stop, Act::remove}) {
      if ((world.orphans & bit_of(act)) != 0) text += std::string(", late ") + name(act);
    }
    return text;
  }

  static constexpr std::size_t kMaxRounds = 60;

  Answers answers_;
  Setting setting_;
  std::size_t at_ = 0;
  std::vector<State> states_;
  std::vector<std::uint32_t> slots_;
  std::unordered_set<Packed, PackedHash> calm_[2];
  bool is_told_ = false;
  Report report_;
};

}  // namespace flowcon::cluster::queue::model
