// SPDX-License-Identifier: Apache-2.0
// Two hosts that move one container by the rules of cluster/migration/journal, with everything that
// can go wrong around them, small enough to be tried out completely. A state is packed into two
// words. The network is the set of all that was ever said: any of it may arrive at any time, again
// and again, in any order, or never. That costs no fault, and neither does giving up. Crashes,
// reboots, dead engines, engines that forget what they were told last, writes that fail and may be
// on the disk all the same, lost journals, jobs that end, and people who start or stop copies,
// take a container back or keep a copy do, where faults are counted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/migration/plan/journal.h"

namespace flowcon::cluster::migration::model {

/// A rule under test: next_effect(), recover(), or one that is wrong on purpose.
using Rule = std::function<Effect(const Entry&, const Facts&)>;

/// What a request to an engine is, or none.
enum class Request : unsigned { none, prepare, disarm, save, start, stop, arm, remove };

inline constexpr unsigned kNoEntry = 15;  ///< the step of a host that knows nothing

/// What a host does that the rules take for granted; each may be switched off on purpose.
struct Habits {
  bool says_unwritten = false;        ///< a step that is being written
  bool says_unseen = false;           ///< a step before its copy was looked at
  bool forgets_silently = false;      ///< that it knows nothing, where its journal is lost
  bool trusts_failed_writes = false;  ///< a write that failed was none
  bool is_alone = false;              ///< no journal is lost, and people leave the copies alone
};

/// One host. `restarts`: the engine would start the copy by itself; has_data: saved on the source,
/// received on the target; both are gone with the process that knew. A copy of the source that is
/// `failed` has ended by itself, and its flowcond knows; without that knowledge it is `finished`.
struct Host {
  unsigned step = kNoEntry;     ///< what was written last, and is said
  unsigned writing = kNoEntry;  ///< the step that is being written
  unsigned disk = kNoEntry;     ///< what the next start would find
  bool writes_saved = false;    ///< goes with writing, as has_saved with step
  bool disk_saved = false;      ///< goes with disk
  bool may_skip = false;        ///< what is being written may run unwritten
  bool is_doubtful = false;     ///< a write of `start` has failed
  bool has_lost = false;        ///< its journal is gone, and it knows that
  bool is_synced = false;       ///< the engine would forget nothing in a loss of power
  bool is_stopped_by_person = false;
  bool has_saved = false;
  bool undoes_unwritten = false;  ///< `undo` in memory, not in the journal
  Copy copy = Copy::absent;
  bool restarts = false;
  bool has_data = false;
  bool is_fresh = false;  ///< flowcond was started and has not looked at the entry yet
  bool is_engine_down = false;
  Request current = Request::none;  ///< of the living flowcond, which waits for it
  /// Of dead ones, a bit each; the engine may carry them out at any time, in any order.
  unsigned orphans = 0;

  [[nodiscard]] Step at() const { return undoes_unwritten ? Step::undo : static_cast<Step>(step); }
  [[nodiscard]] bool is_known() const { return step != kNoEntry; }
  [[nodiscard]] bool is_writing() const { return writing != kNoEntry; }
  [[nodiscard]] bool is_running() const { return copy == Copy::running; }
  [[nodiscard]] bool is_closed() const { return at() == Step::done || at() == Step::undone; }

  void begin_write(Step to, bool saved) {
    writing = static_cast<unsigned>(to);
    writes_saved = saved;
  }
  void put_on_disk(unsigned to, bool saved) {
    disk = to;
    disk_saved = saved;
  }
};

/// What a host hears: nothing, "I know nothing", or a step.
struct Heard {
  Word word = Word::none;
  Step step = Step::reserve;
};

struct World {
  Host source;
  Host target;
  std::uint32_t said_by_source = 0;  ///< bit a step
  std::uint32_t said_by_target = 0;  ///< bit a step, and kNoEntry
  bool is_data_sent = false;
  bool has_shown = false;       ///< the target's copy is past what may fail at its start
  bool was_taken_back = false;  ///< a person answers for two copies
  bool was_kept = false;        ///< a person answers for the target's copy, whatever became of it
  bool is_by_person = false;    ///< two run, or one too early, since a person started one
  unsigned faults = 0;

  [[nodiscard]] Host& host(Side side) { return side == Side::source ? source : target; }
  [[nodiscard]] const Host& host(Side side) const { return side == Side::source ? source : target; }
};

[[nodiscard]] inline World first_world() {
  World world;
  world.source.step = world.source.disk = static_cast<unsigned>(Step::reserve);
  world.source.is_synced = true;
  world.source.copy = Copy::running;
  world.source.restarts = true;
  return world;
}

// ---------------------------------------------------------------------------------- packing

class Packer {
 public:
  void put(std::uint64_t value, unsigned bits) {
    word_ |= value << used_;
    used_ += bits;
  }
  [[nodiscard]] std::uint64_t word() const { return word_; }
  [[nodiscard]] unsigned used() const { return used_; }

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

 private:
  std::uint64_t word_;
};

inline void pack(Packer& packer, const Host& host) {
  packer.put(host.step, 4);
  packer.put(host.writing, 4);
  packer.put(host.disk, 4);
  packer.put(host.writes_saved, 1);
  packer.put(host.disk_saved, 1);
  packer.put(host.may_skip, 1);
  packer.put(host.is_doubtful, 1);
  packer.put(host.has_lost, 1);
  packer.put(host.is_synced, 1);
  packer.put(host.is_stopped_by_person, 1);
  packer.put(host.has_saved, 1);
  packer.put(host.undoes_unwritten, 1);
  packer.put(static_cast<unsigned>(host.copy), 3);
  packer.put(host.restarts, 1);
  packer.put(host.has_data, 1);
  packer.put(host.is_fresh, 1);
  packer.put(host.is_engine_down, 1);
  packer.put(static_cast<unsigned>(host.current), 3);
  packer.put(host.orphans, 8);
}

inline Host unpack_host(Unpacker& from) {
  Host host;
  host.step = from.take(4);
  host.writing = from.take(4);
  host.disk = from.take(4);
  host.writes_saved = from.take(1) != 0;
  host.disk_saved = from.take(1) != 0;
  host.may_skip = from.take(1) != 0;
  host.is_doubtful = from.take(1) != 0;
  host.has_lost = from.take(1) != 0;
  host.is_synced = from.take(1) != 0;
  host.is_stopped_by_person = from.take(1) != 0;
  host.has_saved = from.take(1) != 0;
  host.undoes_unwritten = from.take(1) != 0;
  host.copy = static_cast<Copy>(from.take(3));
  host.restarts = from.take(1) != 0;
  host.has_data = from.take(1) != 0;
  host.is_fresh = from.take(1) != 0;
  host.is_engine_down = from.take(1) != 0;
  host.current = static_cast<Request>(from.take(3));
  host.orphans = from.take(8);
  return host;
}

// What the other side can tell apart, and no more: the fewer sayings, the fewer states.
inline constexpr Step kSourceSays[] = {Step::reserve, Step::start, Step::remove, Step::undo};
inline constexpr Step kTargetSays[] = {Step::transfer, Step::ready, Step::start, Step::confirm,
                                       Step::done,     Step::undo,  Step::undone};

/// The step that is said for `step`; those that change nothing for the other side are not said.
inline std::uint32_t saying(Side side, unsigned step) {
  if (step == kNoEntry) return 1U << kNoEntry;
  auto said = static_cast<Step>(step);
  if (side == Side::source) {
    if (said == Step::save || said == Step::transfer) return 0;
    if (said == Step::done) said = Step::remove;
    if (said == Step::undone) said = Step::undo;
  } else if (said == Step::reserve) {
    return 0;
  }
  return 1U << static_cast<unsigned>(said);
}

/// A world, packed: the source and the network, the target and what it said.
struct Packed {
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  friend bool operator==(const Packed&, const Packed&) = default;
};

inline std::size_t hash(const Packed& word) {
  std::uint64_t mixed = word.source * 0x9E3779B97F4A7C15U ^ word.target;
  mixed ^= mixed >> 31;
  mixed *= 0xBF58476D1CE4E5B9U;
  return mixed ^ mixed >> 29;
}

inline Packed pack(const World& world) {
  Packer source, target;
  pack(source, world.source);
  for (const Step step : kSourceSays) {
    source.put(world.said_by_source >> static_cast<unsigned>(step) & 1U, 1);
  }
  source.put(world.said_by_source >> kNoEntry & 1U, 1);
  source.put(world.is_data_sent, 1);
  source.put(world.was_taken_back, 1);
  source.put(world.is_by_person, 1);
  source.put(world.faults, 2);
  pack(target, world.target);
  for (const Step step : kTargetSays) {
    target.put(world.said_by_target >> static_cast<unsigned>(step) & 1U, 1);
  }
  target.put(world.said_by_target >> kNoEntry & 1U, 1);
  target.put(world.has_shown, 1);
  target.put(world.was_kept, 1);
  return {source.word(), target.word()};
}

inline World unpack(const Packed& word) {
  Unpacker source(word.source), target(word.target);
  World world;
  world.source = unpack_host(source);
  for (const Step step : kSourceSays) {
    world.said_by_source |= source.take(1) << static_cast<unsigned>(step);
  }
  world.said_by_source |= source.take(1) << kNoEntry;
  world.is_data_sent = source.take(1) != 0;
  world.was_taken_back = source.take(1) != 0;
  world.is_by_person = source.take(1) != 0;
  world.faults = source.take(2);
  world.target = unpack_host(target);
  for (const Step step : kTargetSays) {
    world.said_by_target |= target.take(1) << static_cast<unsigned>(step);
  }
  world.said_by_target |= target.take(1) << kNoEntry;
  world.has_shown = target.take(1) != 0;
  world.was_kept = target.take(1) != 0;
  return world;
}

// ---------------------------------------------------------------------------------- the rules

/// A rule's answers, each asked for once: there are far fewer questions than states.
class Answers {
 public:
  Answers(Rule next, Rule recovered)
      : next_(std::move(next)), recovered_(std::move(recovered)), known_(1U << 22) {}

  struct Answer {
    bool is_known = false;
    bool has_saved = false;
    bool may_run_unwritten = false;
    std::uint8_t act_number = 0;
    std::uint8_t step_number = 0;
    [[nodiscard]] Act act() const { return static_cast<Act>(act_number); }
    [[nodiscard]] Step step() const { return static_cast<Step>(step_number); }
  };

  /// `person_decides`: to take the container back, on the source, or to keep the copy, on the
  /// target.
  const Answer& ask(Side side, const Host& host, Heard heard, bool gives_up, bool has_shown,
                    bool person_decides = false) {
    const bool is_source = side == Side::source;
    const bool is_quiet = host.current == Request::none && host.orphans == 0;
    const Copy copy = host.is_engine_down ? Copy::unknown : host.copy;
    Packer key;
    key.put(!is_source, 1);
    key.put(static_cast<unsigned>(host.at()), 4);
    key.put(host.has_saved, 1);
    key.put(static_cast<unsigned>(copy), 3);
    key.put(host.restarts, 1);
    key.put(is_quiet, 1);
    key.put(host.has_data, 1);
    key.put(heard.word == Word::none            ? 14
            : heard.word == Word::knows_nothing ? 15
                                                : static_cast<unsigned>(heard.step),
            4);
    key.put(gives_up, 1);
    key.put(host.is_fresh, 1);
    key.put(person_decides, 1);
    key.put(host.is_synced, 1);
    key.put(is_source ? host.is_doubtful : has_shown, 1);
    key.put(host.is_stopped_by_person, 1);
    Answer& answer = known_.at(key.word());
    if (answer.is_known) return answer;

    Entry entry;
    entry.side = side;
    entry.step = host.at();
    entry.has_saved = host.has_saved;
    Facts facts;
    facts.copy = copy;
    facts.restarts = host.restarts;
    facts.has_own_policy = host.restarts;
    facts.is_quiet = is_quiet;
    facts.is_saved = is_source && host.has_data;
    facts.is_received = !is_source && host.has_data;
    facts.has_ended = is_source && copy == Copy::failed;
    facts.is_proven = !is_source && has_shown;
    facts.word = heard.word;
    facts.peer = heard.step;
    if (gives_up) facts.give_up = "time ran out";
    facts.is_taken_back = is_source && person_decides;
    facts.is_kept = !is_source && person_decides;
    facts.is_synced = host.is_synced;
    facts.is_start_doubtful = is_source && host.is_doubtful;
    facts.is_stopped_by_person = host.is_stopped_by_person;
    const Effect effect = (host.is_fresh ? recovered_ : next_)(entry, facts);
    answer = {true, effect.has_saved, effect.may_run_unwritten,
              static_cast<std::uint8_t>(effect.act), static_cast<std::uint8_t>(effect.step)};
    return answer;
  }

 private:
  Rule next_;
  Rule recovered_;
  std::vector<Answer> known_;
};

// ---------------------------------------------------------------------------------- the engines

/// What an engine does with a request that it carries out.
inline void carry_out(Host& host, Request request, bool is_current) {
  const bool is_there = host.copy != Copy::absent;
  // Without a restart policy nothing comes of it that an engine forgets a start or a stop.
  const bool is_kept =
      request == Request::disarm || request == Request::arm || request == Request::prepare;
  if (is_kept) host.is_synced = false;
  switch (request) {
    case Request::none:
      break;
    case Request::prepare:
      if (!is_there) host.copy = Copy::created;
      break;
    case Request::disarm:
      host.restarts = false;
      break;
    case Request::arm:
      host.restarts = is_there;
      break;
    case Request::save:
      if (!host.is_running()) break;
      host.copy = Copy::stopped;
      host.has_data = is_current;  // a dead flowcond does not hear that it went well
      break;
    case Request::stop:
      if (host.is_running()) host.copy = Copy::stopped;
      break;
    case Request::start:
      if (is_there) host.copy = Copy::running;
      host.is_stopped_by_person = false;
      break;
    case Request::remove:
      host.copy = Copy::absent;
      host.restarts = false;
      host.has_data = false;
      break;
  }
}

inline Request request_of(Act act) {
  switch (act) {
    case Act::prepare:
      return Request::prepare;
    case Act::disarm:
      return Request::disarm;
    case Act::save:
      return Request::save;
    case Act::start:
      return Request::start;
    case Act::stop:
      return Request::stop;
    case Act::arm:
      return Request::arm;
    case Act::remove:
      return Request::remove;
    default:
      return Request::none;
  }
}

/// The engine comes up after it was killed, or with its host: what has a restart policy runs.
inline void restart_copies(Host& host) {
  host.is_stopped_by_person = false;
  if (host.copy != Copy::running && host.copy != Copy::stopped) return;
  host.copy = host.restarts ? Copy::running : Copy::stopped;
}

/// flowcond dies and is there again. What it had asked its engine for is out of its hands.
inline void lose_memory(Host& host) {
  if (host.current != Request::none) host.orphans |= 1U << static_cast<unsigned>(host.current);
  host.current = Request::none;
  host.undoes_unwritten = host.may_skip = host.is_doubtful = false;
  host.has_data = false;
  host.step = host.disk;
  host.has_saved = host.disk_saved;
  host.writing = kNoEntry;
  host.writes_saved = false;
  host.is_fresh = host.is_known();
  if (host.has_saved && host.copy == Copy::failed) host.copy = Copy::finished;
}

/// A write comes to its end: well, or not; then it is on the disk all the same, or not.
inline void end_write(Host& host, bool is_written) {
  if (is_written) {
    host.put_on_disk(host.writing, host.writes_saved);
    host.step = host.disk;
    host.has_saved = host.disk_saved;
    host.undoes_unwritten = host.is_doubtful = host.is_fresh = false;
  } else {
    if (host.writing == static_cast<unsigned>(Step::start)) host.is_doubtful = true;
    if (host.may_skip) host.undoes_unwritten = true;
    if (host.may_skip) host.is_fresh = false;
  }
  host.writing = kNoEntry;
  host.writes_saved = host.may_skip = false;
}

/// Power goes, and the engine finds its files as they were some time ago. What it was asked last
/// may be undone: the one way or the other.
inline void lose_updates(Host& host, Side side, bool restarts) {
  if (side == Side::target && host.copy == Copy::created) {
    host.copy = Copy::absent;
    host.restarts = false;
    return;
  }
  // Nobody looks at the policy of one that is `finished`: it may be started again.
  if (host.copy != Copy::absent && host.copy != Copy::finished) host.restarts = restarts;
}

/// Whatever is under way on a host comes to a good end.
inline void settle(Host& host) {
  if (host.is_engine_down) {
    host.is_engine_down = false;
    restart_copies(host);
  }
  for (unsigned bit = 0; bit < 8; ++bit) {
    if ((host.orphans >> bit & 1U) != 0) carry_out(host, static_cast<Request>(bit), false);
  }
  host.orphans = 0;
  carry_out(host, std::exchange(host.current, Request::none), true);
  if (host.undoes_unwritten && !host.is_writing()) host.begin_write(Step::undo, host.has_saved);
  if (host.is_writing()) end_write(host, true);
}

}  // namespace flowcon::cluster::migration::model
