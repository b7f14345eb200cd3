// SPDX-License-Identifier: Apache-2.0
// Two hosts that move one container by the rules of cluster/migration/journal, with everything that
// can go wrong around them, small enough to be tried out completely. A state is packed into 64
// bits. The network is the set of all that was ever said: any of it may arrive at any time, again
// and again, in any order, or never. That costs no fault, and neither does giving up; crashes,
// reboots, dead engines, full disks and jobs that end do, where faults are counted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/migration/journal.h"

namespace flowcon::cluster::migration::model {

/// A rule under test: next_effect(), recover(), or one that is wrong on purpose.
using Rule = std::function<Effect(const Entry&, const Facts&)>;

/// What a request to an engine is, or none.
enum class Request : unsigned { none, prepare, disarm, save, start, stop, arm, remove };

inline constexpr unsigned kNoEntry = 15;  ///< the step of a host that knows nothing

/// One host. `restarts`: the engine would start the copy by itself; has_data: saved on the source,
/// received on the target; both are gone with the process that knew. A copy of the source that is
/// `failed` has ended by itself, and its flowcond knows; without that knowledge it is `finished`.
struct Host {
  unsigned step = kNoEntry;
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
  [[nodiscard]] bool is_running() const { return copy == Copy::running; }
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
  bool has_shown = false;  ///< the target's copy is past what may fail at its start
  unsigned faults = 0;

  [[nodiscard]] Host& host(Side side) { return side == Side::source ? source : target; }
  [[nodiscard]] const Host& host(Side side) const { return side == Side::source ? source : target; }
};

[[nodiscard]] inline World first_world() {
  World world;
  world.source.step = static_cast<unsigned>(Step::reserve);
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
  if (step == kNoEntry) return side == Side::target ? 1U << kNoEntry : 0;
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

inline std::uint64_t pack(const World& world) {
  Packer packer;
  pack(packer, world.source);
  pack(packer, world.target);
  for (const Step step : kSourceSays) {
    packer.put(world.said_by_source >> static_cast<unsigned>(step) & 1U, 1);
  }
  for (const Step step : kTargetSays) {
    packer.put(world.said_by_target >> static_cast<unsigned>(step) & 1U, 1);
  }
  packer.put(world.said_by_target >> kNoEntry & 1U, 1);
  packer.put(world.is_data_sent, 1);
  packer.put(world.has_shown, 1);
  packer.put(world.faults, 2);
  return packer.word();
}

inline World unpack(std::uint64_t word) {
  Unpacker from(word);
  World world;
  world.source = unpack_host(from);
  world.target = unpack_host(from);
  for (const Step step : kSourceSays) {
    world.said_by_source |= from.take(1) << static_cast<unsigned>(step);
  }
  for (const Step step : kTargetSays) {
    world.said_by_target |= from.take(1) << static_cast<unsigned>(step);
  }
  world.said_by_target |= from.take(1) << kNoEntry;
  world.is_data_sent = from.take(1) != 0;
  world.has_shown = from.take(1) != 0;
  world.faults = from.take(2);
  return world;
}

// ---------------------------------------------------------------------------------- the rules

/// A rule's answers, each asked for once: there are far fewer questions than states.
class Answers {
 public:
  Answers(Rule next, Rule recovered)
      : next_(std::move(next)), recovered_(std::move(recovered)), known_(1U << 21) {}

  struct Answer {
    bool is_known = false;
    bool has_saved = false;
    bool may_run_unwritten = false;
    Act act = Act::wait;
    Step step = Step::reserve;
  };

  const Answer& ask(Side side, const Host& host, Heard heard, bool gives_up, bool has_shown,
                    bool is_taken_back = false, bool is_kept = false) {
    const bool is_quiet = host.current == Request::none && host.orphans == 0;
    const Copy copy = host.is_engine_down ? Copy::unknown : host.copy;
    const bool is_proven = side == Side::target && has_shown;
    Packer key;
    key.put(side == Side::target, 1);
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
    key.put(is_taken_back, 1);
    key.put(is_kept, 1);
    key.put(is_proven, 1);
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
    facts.is_saved = side == Side::source && host.has_data;
    facts.is_received = side == Side::target && host.has_data;
    facts.word = heard.word;
    facts.peer = heard.step;
    if (gives_up) facts.give_up = "time ran out";
    facts.is_taken_back = is_taken_back;
    facts.is_kept = is_kept;
    facts.is_proven = is_proven;
    facts.has_ended = side == Side::source && copy == Copy::failed;
    const Effect effect = (host.is_fresh ? recovered_ : next_)(entry, facts);
    answer = {true, effect.has_saved, effect.may_run_unwritten, effect.act, effect.step};
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
  if (host.copy != Copy::running && host.copy != Copy::stopped) return;
  host.copy = host.restarts ? Copy::running : Copy::stopped;
}

/// flowcond dies and is there again. What it had asked its engine for is out of its hands.
inline void lose_memory(Host& host) {
  if (host.current != Request::none) host.orphans |= 1U << static_cast<unsigned>(host.current);
  host.current = Request::none;
  host.undoes_unwritten = false;
  host.has_data = false;
  host.is_fresh = host.is_known();
  if (host.has_saved && host.copy == Copy::failed) host.copy = Copy::finished;
}

}  // namespace flowcon::cluster::migration::model
