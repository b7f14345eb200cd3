// SPDX-License-Identifier: Apache-2.0
// One job of one host by the rules of cluster/queue/job, with all that can go wrong around it,
// small enough to be tried out completely. A state is packed into two words. What costs no fault
// happens at any time and as often as it likes: jobs end, people hold, release, park and cancel,
// the conductor orders what it likes, a save takes too long, an engine refuses a start, and what
// was asked of an engine and not answered is carried out or not. Faults are counted: flowcond is
// killed, its engine dies or freezes, the host reboots, an answer is lost, a write fails and may be
// on the disk all the same, people use docker's own commands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/queue/job.h"

namespace flowcon::cluster::queue::model {

/// The rule under test: next_step(), or one that is wrong on purpose.
using Rule = std::function<Step(const JobEntry&, const JobFacts&)>;

enum class End : unsigned { zero, one, memory, killed };

/// The container as it really is.
struct Box {
  TicketCopy copy = TicketCopy::created;
  unsigned life = 0;  ///< 0: it never ran
  End end = End::zero;
  bool was_interrupted = false;
  bool was_stopped = false;  ///< by a person
  bool is_persons = false;   ///< this life was begun by a person
  bool has_crossed = false;  ///< and nobody could know of it who had decided on a start before
  bool was_asked = false;    ///< a request to save has reached this life
  bool has_saved = false;    ///< it ended because it was asked, its work is not at its end

  [[nodiscard]] bool is_running() const { return copy == TicketCopy::running; }
};

/// What of an entry decides anything.
struct Line {
  JobState state = JobState::waiting;
  bool is_held = false;
  unsigned retries = 0;
  unsigned refusals = 0;
  unsigned life = 0;
  bool was_asked = false;
  bool is_unparkable = false;
  bool has_doubled = false;
  bool has_note = false;
  friend bool operator==(const Line&, const Line&) = default;
};

enum class Said : unsigned { nothing, start, late_start, park, late_park };

/// What was gathered for the next step; it ages while it is there.
struct View {
  bool is_there = false;
  TicketCopy copy = TicketCopy::unknown;
  unsigned life = 0;
  End end = End::zero;
  bool was_interrupted = false;
  bool was_stopped = false;
  Said order = Said::nothing;
  bool is_quiet = false;
};

inline constexpr unsigned kActs = 5;

struct World {
  bool is_alive = true;  ///< flowcond
  Line memory;           ///< its entry
  Line disk;             ///< what its next start would find
  View view;
  Act current = Act::none;       ///< asked of the engine, and flowcond waits for the answer
  bool is_refused = false;       ///< the start that was asked for last
  bool has_save_failed = false;  ///< that was asked for last
  bool has_saved = false;        ///< flowcond has heard that it did
  bool is_engine_down = false;
  unsigned orphans = 0;  ///< a bit each act: nobody waits for it any more, it may be carried out
  Box box;
  bool has_run = false;       ///< a start of this attempt was carried out
  bool has_finished = false;  ///< it came to its end with status 0, and nobody began anew
  bool has_meddled = false;   ///< a person cancelled it or used docker's own commands
  unsigned faults = 0;
};

[[nodiscard]] inline World first_world(unsigned retries) {
  World world;
  world.memory.retries = world.disk.retries = retries;
  return world;
}

// ---------------------------------------------------------------------------------- packing

class Packer {
 public:
  void put(std::uint64_t value, unsigned bits) {
    word_ |= value << used_;
    used_ += bits;
  }
  void flag(bool is_set) { put(is_set ? 1 : 0, 1); }
  [[nodiscard]] std::uint64_t word() const { return word_; }

 private:
  std::uint64_t word_ = 0;
  unsigned used_ = 0;
};

class Unpacker {
 public:
  explicit Unpacker(std::uint64_t word) : word_(word) {}
  unsigned take(unsigned bits) {
    const auto value = static_cast<unsigned>(word_ & ((1U << bits) - 1));
    word_ >>= bits;
    return value;
  }
  bool flag() { return take(1) != 0; }

 private:
  std::uint64_t word_;
};

inline void pack(Packer& to, const Line& line) {
  to.put(static_cast<unsigned>(line.state), 4);
  to.flag(line.is_held);
  to.put(line.retries, 2);
  to.put(line.refusals, 2);
  to.put(line.life, 3);
  to.flag(line.was_asked);
  to.flag(line.is_unparkable);
  to.flag(line.has_doubled);
  to.flag(line.has_note);
}

inline Line unpack_line(Unpacker& from) {
  Line line;
  line.state = static_cast<JobState>(from.take(4));
  line.is_held = from.flag();
  line.retries = from.take(2);
  line.refusals = from.take(2);
  line.life = from.take(3);
  line.was_asked = from.flag();
  line.is_unparkable = from.flag();
  line.has_doubled = from.flag();
  line.has_note = from.flag();
  return line;
}

inline void pack(Packer& to, const View& view) {
  to.flag(view.is_there);
  to.put(static_cast<unsigned>(view.copy), 3);
  to.put(view.life, 3);
  to.put(static_cast<unsigned>(view.end), 2);
  to.flag(view.was_interrupted);
  to.flag(view.was_stopped);
  to.put(static_cast<unsigned>(view.order), 3);
  to.flag(view.is_quiet);
}

inline View unpack_view(Unpacker& from) {
  View view;
  view.is_there = from.flag();
  view.copy = static_cast<TicketCopy>(from.take(3));
  view.life = from.take(3);
  view.end = static_cast<End>(from.take(2));
  view.was_interrupted = from.flag();
  view.was_stopped = from.flag();
  view.order = static_cast<Said>(from.take(3));
  view.is_quiet = from.flag();
  return view;
}

struct Packed {
  std::uint64_t host = 0;
  std::uint64_t box = 0;
  friend bool operator==(const Packed&, const Packed&) = default;
};

struct PackedHash {
  std::size_t operator()(const Packed& word) const {
    std::uint64_t mixed = word.host * 0x9E3779B97F4A7C15U ^ word.box;
    mixed ^= mixed >> 31;
    mixed *= 0xBF58476D1CE4E5B9U;
    return mixed ^ mixed >> 29;
  }
};

inline Packed pack(const World& world) {
  Packer host, box;
  host.flag(world.is_alive);
  pack(host, world.memory);
  pack(host, world.disk);
  pack(host, world.view);
  host.put(static_cast<unsigned>(world.current), 3);
  host.flag(world.is_refused);
  host.flag(world.has_save_failed);
  host.flag(world.has_saved);
  box.flag(world.is_engine_down);
  box.put(world.orphans, kActs);
  box.put(static_cast<unsigned>(world.box.copy), 3);
  box.put(world.box.life, 3);
  box.put(static_cast<unsigned>(world.box.end), 2);
  box.flag(world.box.was_interrupted);
  box.flag(world.box.was_stopped);
  box.flag(world.box.is_persons);
  box.flag(world.box.has_crossed);
  box.flag(world.box.was_asked);
  box.flag(world.box.has_saved);
  box.flag(world.has_run);
  box.flag(world.has_finished);
  box.flag(world.has_meddled);
  box.put(world.faults, 2);
  return {host.word(), box.word()};
}

inline World unpack(const Packed& word) {
  Unpacker host(word.host), box(word.box);
  World world;
  world.is_alive = host.flag();
  world.memory = unpack_line(host);
  world.disk = unpack_line(host);
  world.view = unpack_view(host);
  world.current = static_cast<Act>(host.take(3));
  world.is_refused = host.flag();
  world.has_save_failed = host.flag();
  world.has_saved = host.flag();
  world.is_engine_down = box.flag();
  world.orphans = box.take(kActs);
  world.box.copy = static_cast<TicketCopy>(box.take(3));
  world.box.life = box.take(3);
  world.box.end = static_cast<End>(box.take(2));
  world.box.was_interrupted = box.flag();
  world.box.was_stopped = box.flag();
  world.box.is_persons = box.flag();
  world.box.has_crossed = box.flag();
  world.box.was_asked = box.flag();
  world.box.has_saved = box.flag();
  world.has_run = box.flag();
  world.has_finished = box.flag();
  world.has_meddled = box.flag();
  world.faults = box.take(2);
  return world;
}

/// What decides nothing any more is forgotten.
inline void forget(Line& line) {
  const JobState state = line.state;
  line.has_note = line.has_note && line.is_held;
  if (is_closed(state)) {
    line = {};
    line.state = state;
  } else if (state == JobState::stopping) {
    line.retries = line.refusals = 0;
    line.is_held = line.has_note = line.has_doubled = false;
  }
}

/// Of lives only their order counts.
inline void renumber(World& world) {
  forget(world.memory);
  forget(world.disk);
  if (world.box.copy == TicketCopy::ended) {
    world.box.is_persons = world.box.has_crossed = world.box.was_asked = false;
  }
  unsigned* const all[] = {&world.box.life, &world.memory.life, &world.disk.life, &world.view.life};
  unsigned sorted[] = {*all[0], *all[1], *all[2], *all[3]};
  std::sort(std::begin(sorted), std::end(sorted));
  unsigned* const end = std::unique(std::begin(sorted), std::end(sorted));
  const unsigned first = sorted[0] == 0 ? 0 : 1;
  for (unsigned* life : all) {
    const auto rank = static_cast<unsigned>(std::find(sorted, end, *life) - sorted);
    *life = rank + first;
  }
}

// ---------------------------------------------------------------------------------- the rules

constexpr std::int64_t kVersion = 5;
constexpr std::int64_t kAttempt = 3;

inline std::string life_text(unsigned life) { return life == 0 ? "" : std::to_string(life); }

inline JobEntry entry_of(const Line& line) {
  JobEntry entry;
  entry.state = line.state;
  entry.is_held = line.is_held;
  entry.retries = line.retries;
  entry.refusals = line.refusals;
  entry.life = life_text(line.life);
  entry.was_asked_to_save = line.was_asked;
  entry.is_unparkable = line.is_unparkable;
  entry.has_doubled = line.has_doubled;
  entry.least_memory = line.has_doubled ? 8 : 0;
  entry.note = line.has_note ? "why" : "";
  entry.version = kVersion;
  entry.attempt = kAttempt;
  return entry;
}

inline Line line_of(const JobEntry& entry) {
  Line line;
  line.state = entry.state;
  line.is_held = entry.is_held;
  line.retries = static_cast<unsigned>(std::clamp<std::int64_t>(entry.retries, 0, 3));
  line.refusals = static_cast<unsigned>(std::clamp<std::int64_t>(entry.refusals, 0, 3));
  line.life = entry.life.empty() ? 0 : static_cast<unsigned>(entry.life[0] - '0');
  line.was_asked = entry.was_asked_to_save;
  line.is_unparkable = entry.is_unparkable;
  line.has_doubled = entry.has_doubled;
  line.has_note = !entry.note.empty();
  return line;
}

inline JobFacts facts_of(const World& world) {
  const View& view = world.view;
  JobFacts facts;
  facts.now = 100;
  facts.copy = view.copy;
  facts.life = life_text(view.life);
  facts.status = view.end == End::zero ? 0 : view.end == End::one ? 1 : 137;
  facts.was_killed_for_memory = view.end == End::memory;
  facts.was_stopped = view.was_stopped;
  facts.was_interrupted = view.was_interrupted;
  facts.memory = 16;
  if (view.order != Said::nothing) {
    const bool is_start = view.order == Said::start || view.order == Said::late_start;
    const bool is_late = view.order == Said::late_start || view.order == Said::late_park;
    facts.order = {is_start ? Order::Op::start : Order::Op::park, kVersion - (is_late ? 1 : 0)};
  }
  if (world.is_refused) facts.start_refusal = "no such runtime";
  if (world.has_save_failed) facts.save_failure = "it takes too long";
  facts.has_saved = world.has_saved;
  facts.is_quiet = view.is_quiet;
  return facts;
}

/// What is wrong with a step itself; empty where nothing is.
[[nodiscard]] inline std::string wrong_step(const JobEntry& entry, const JobFacts& facts,
                                            const Step& step) {
  const bool is_ended = facts.copy == TicketCopy::ended;
  const JobEntry& next = step.entry ? *step.entry : entry;
  const bool was_running = entry.state == JobState::running || entry.state == JobState::parking;
  const bool is_own_fault = is_ended && facts.status != 0 && !facts.was_interrupted;
  if (is_closed(entry.state) && (step.entry || step.act != Act::none)) return "a closed job moves";
  if (step.entry && next.version != entry.version + 1) return "the version does not grow by one";
  const bool begins = entry.state == JobState::waiting && next.state == JobState::starting;
  if (next.attempt != entry.attempt + (begins ? 1 : 0)) return "an attempt is miscounted";
  const JobState acting = step.act == Act::start  ? JobState::starting
                          : step.act == Act::save ? JobState::parking
                          : step.act == Act::none ? next.state
                                                  : JobState::stopping;
  if (next.state != acting) return "what is asked of the engine is not in the journal";
  const Order order = facts.order.value_or(Order{Order::Op::start, -1});
  if (begins && (order.op != Order::Op::start || order.version != entry.version)) {
    return "it is started by no order, or a late one";
  }
  if (begins && entry.is_held) return "a held job is started";
  const bool parks = entry.state == JobState::running && next.state == JobState::parking;
  if (parks && (order.op != Order::Op::park || order.version != entry.version)) {
    return "it is parked by no order, or a late one";
  }
  if (parks && entry.is_unparkable) return "what cannot save itself is asked again";
  const bool costs = next.retries != entry.retries;
  if (costs && (!is_own_fault || next.retries != entry.retries - 1 || entry.retries <= 0)) {
    return "a retry is taken for nothing";
  }
  const bool doubles =
      next.least_memory != entry.least_memory || next.has_doubled != entry.has_doubled;
  if (doubles && (entry.has_doubled || !facts.was_killed_for_memory || !next.has_doubled)) {
    return "its memory is doubled again, or for nothing";
  }
  const bool waits_again = was_running && next.state == JobState::waiting;
  if (waits_again && is_own_fault && !entry.was_asked_to_save && !costs && !doubles) {
    return "it fails and a retry is not counted";
  }
  if (waits_again && facts.was_stopped && !entry.was_asked_to_save) {
    return "what a person stopped is to start again";
  }
  if (next.state == JobState::failed && (!is_own_fault || entry.retries > 0)) {
    return "it fails although it may run again";
  }
  if (next.state == JobState::done && (!is_ended || facts.status != 0 || facts.was_interrupted)) {
    return "what has not come to its end is done";
  }
  return {};
}

/// The rule's answers, each asked for once: there are far fewer questions than states.
class Answers {
 public:
  explicit Answers(Rule rule) : rule_(std::move(rule)) {}

  struct Answer {
    Act act = Act::none;
    bool has_entry = false;
    Line next;
    std::string wrong;
  };

  const Answer& ask(const World& world) {
    Packer key;
    pack(key, world.memory);
    pack(key, world.view);
    key.flag(world.is_refused);
    key.flag(world.has_save_failed);
    key.flag(world.has_saved);
    const auto [found, is_new] = known_.try_emplace(key.word());
    if (!is_new) return found->second;
    const JobEntry entry = entry_of(world.memory);
    const JobFacts facts = facts_of(world);
    const Step step = rule_(entry, facts);
    found->second = {step.act, step.entry.has_value(), line_of(step.entry.value_or(entry)),
                     wrong_step(entry, facts, step)};
    return found->second;
  }

 private:
  Rule rule_;
  std::unordered_map<std::uint64_t, Answer> known_;
};

// ---------------------------------------------------------------------------------- the engine

inline unsigned bit_of(Act act) { return 1U << static_cast<unsigned>(act); }

inline void begin_life(World& world, bool by_person) {
  const bool is_on_its_way =
      world.current == Act::start || (world.orphans & bit_of(Act::start)) != 0;
  const bool has_crossed = by_person && (world.view.is_there || is_on_its_way);
  const unsigned newest =
      std::max({world.box.life, world.memory.life, world.disk.life, world.view.life});
  world.box = {};
  world.box.copy = TicketCopy::running;
  world.box.life = newest + 1;
  world.box.is_persons = by_person;
  world.box.has_crossed = has_crossed;
}

inline void end_life(World& world, End end) {
  world.box.copy = TicketCopy::ended;
  world.box.end = end;
}

/// It comes to an end without a person or its engine.
inline void end_by_itself(World& world, End end) {
  const auto asks = [&](const Line& line) {
    const bool is_asked_now = line.state == JobState::parking && !line.is_unparkable;
    return line.was_asked && (line.life == world.box.life || is_asked_now);
  };
  const bool is_asked = asks(world.memory) || asks(world.disk);
  world.box.has_saved = end == End::zero && world.box.was_asked;
  // One that was to be asked, and ends with 0 before it hears of that, has saved for all one knows.
  const bool is_known = !world.box.was_asked && !is_asked && !world.box.has_crossed;
  if (end == End::zero && is_known) world.has_finished = true;
  end_life(world, end);
}

/// What a request does that is carried out; what is wrong with that.
[[nodiscard]] inline std::string carry_out(World& world, Act act) {
  const bool is_there = world.box.copy != TicketCopy::absent;
  const JobState state = (world.is_alive ? world.memory : world.disk).state;
  switch (act) {
    case Act::start:
      if (!is_there || world.box.is_running()) break;
      if (world.has_finished) return "a job that came to its end is started again";
      if (world.has_run) return "an attempt is started twice";
      // A person's start that crosses with ours may have been seen already.
      if (state == JobState::waiting || is_closed(state)) {
        return std::string("a job is started that is ") + name(state);
      }
      begin_life(world, false);
      world.has_run = true;
      break;
    case Act::save:
      if (world.box.is_running()) world.box.was_asked = true;
      break;
    case Act::stop:
      if (world.box.is_running()) end_life(world, End::killed);
      break;
    case Act::remove:
      world.box = {};
      world.box.copy = TicketCopy::absent;
      break;
    default:
      break;
  }
  return {};
}

}  // namespace flowcon::cluster::queue::model
