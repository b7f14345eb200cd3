// SPDX-License-Identifier: Apache-2.0
// One side of one move, as long as it is not closed: what is written of it, and what only this
// process knows.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "cluster/migration/plan/bounds.h"
#include "cluster/migration/plan/journal.h"
#include "cluster/migration/run/clock.h"
#include "cluster/migration/run/metered.h"
#include "cluster/migration/run/move_plan.h"
#include "cluster/payload.h"
#include "ctrl/log.h"

namespace flowcon::cluster::migration {

/// What of a move is shown to people and kept after its end. Units: bytes as sent; seconds.
struct Account {
  std::string peer_name;  ///< as the other host is called here
  std::uint64_t bytes = 0;
  double sending_seconds = 0;
  std::optional<double> stopped_seconds;  ///< from the request to save until the copy ran
  std::map<std::string, double> steps;    ///< seconds since the beginning, by step
  std::optional<Metered> passing;         ///< the part that is on its way
  std::optional<double> sending_since;    ///< steady
};

/// How the journal took the last entry.
struct Writing {
  bool is_unwritten = false;       ///< the entry could not be written and counts all the same
  std::optional<Step> step;        ///< of the entry that is being written
  bool is_troubled = false;        ///< Move::trouble is of a write
  bool is_start_doubtful = false;  ///< as Facts::is_start_doubtful
};

/// What is known of the other side.
struct OtherSide {
  Word word = Word::none;
  Step step = Step::reserve;
  std::string reason;  ///< why it undoes it, in its words
  double heard = 0;    ///< steady; when it last said something

  /// The target says that it has turned the move down.
  [[nodiscard]] bool undoes() const { return word == Word::step && step >= Step::undo; }
};

/// What was seen of this side's copy.
struct CopyState {
  Copy seen = Copy::unknown;  ///< how it was when it was last looked at
  bool is_synced = false;
  bool was_killed = false;  ///< its engine was asked to end it, by nobody here
  /// Target: the engine that answers now has started the copy or found it running. One that was
  /// started anew since may have ended it.
  bool is_watched = false;
  std::string settled_life;             ///< target: Seen::started of the life that ended for good
  bool was_ended_by_person = false;     ///< that life
  bool is_halting = false;              ///< it was started where it must not run, and is stopped
  bool has_warned = false;              ///< of that
  bool is_cleared = false;              ///< all that was to be removed is
  std::optional<double> running_since;  ///< steady; when it was first seen to run
  std::optional<double> shown_at;       ///< steady; target: something new of it was seen
};

/// Source: how the job is saved.
struct Saving {
  bool is_saved = false;
  std::optional<double> stopped_at;  ///< steady; when it was asked to save
  bool was_asked = false;            ///< by this process
  bool was_restored = false;         ///< from the journal: an earlier process may have asked
  /// Seen::started of the life that has saved, or of the ticket before its task is born.
  std::optional<std::string> saved_life;
  bool is_dumping = false;       ///< CRIU is saving it
  bool was_told_to_end = false;  ///< by a signal, or its engine
  bool has_signal = false;       ///< the signal has come, and nothing else is to come
  bool has_ended = false;        ///< by itself, when it was asked to save
};

/// What goes over, on either side.
struct Travel {
  bool needs_image = false;      ///< the target asks for it
  bool has_asked = false;        ///< the target has, though it may be there by now
  std::size_t layers_there = 0;  ///< how many of its layers need not travel
  int image_tries = 0;           ///< source: so often it did not arrive
  std::set<std::string> sent;    ///< source: names of parts
  double sent_at = 0;            ///< source, steady: when the last part had arrived; 0: it has not
  std::shared_ptr<PayloadConnection> connection;  ///< source: opened while the job saves
  double connected_at = 0;                        ///< steady
  std::set<std::string> received;                 ///< target: names of parts
  bool is_received = false;                       ///< target: all of it
};

/// Target: the parts that are coming.
struct Arrival {
  explicit Arrival(std::uint64_t announced) : budget(announced) {}
  /// Each with the number of its try: a connection that is dead and was not closed must not stand
  /// in the way of the next.
  std::map<std::string, unsigned> taking;
  unsigned tries = 0;
  std::size_t bodies = 0;  ///< that are read, of whatever try
  Budget budget;           ///< of what comes

  [[nodiscard]] bool is_current(const std::string& part, unsigned number) const;
};

/// What people, the queue or a lost peer have decided about a move.
struct Verdicts {
  std::string give_up;  ///< why it is to be undone; "" = it is not
  bool is_taken_back = false;
  bool is_kept = false;
  bool is_released = false;  ///< as Facts::is_released
};

struct Move : Verdicts {
  Move(Clock& the_clock, Entry the_entry, Plan the_plan);

  Clock& clock;
  Entry entry;    ///< what is decided from
  Entry written;  ///< what the journal holds, and all that anybody is told
  Plan plan;
  Account account;
  double started = 0;     ///< wall
  double began = 0;       ///< steady
  bool is_fresh = false;  ///< found in the journal; nothing was decided about it since

  Writing writing;
  OtherSide peer;
  CopyState copy;
  Saving saving;
  Travel travel;
  Arrival arrival;

  std::pair<Step, Step> told{Step::undone, Step::undone};  ///< both sides, as World::told heard
  double quiet_from = 0;  ///< steady; until then a request of a lost process may act

  std::string trouble;  ///< what went wrong last, for people
  ctrl::log::Repeated troubles;
  double rest = 0;  ///< seconds until the next try
  bool is_woken = false;
  Step held = Step::undone;  ///< the last step that a failpoint may have held up
  std::unique_ptr<Alarm> alarm;

  /// What a request started may act for so long from now on. Unit: seconds.
  void stay_quiet(double seconds);
  /// Does not wait for its next try any more.
  void wake();
  /// What went wrong, for people.
  void complain(const Error& error);
  /// Of an act that is one request to the engine: was it done?
  bool took(const Result<void>& result);
  /// Gives it up, unless it is given up already.
  void turn_back(const std::string& why);
  /// The journal has it.
  void keep_written();
  /// What the other side says of itself, at any time.
  void hear(const Result<Entry>& theirs);
  /// Source: how long the copy runs already, in seconds, whoever asked whom; each side by its own
  /// clock. Empty: the other side does not say.
  void hear_running(std::optional<double> seconds);

  /// A job's task is born, or what it has written goes home: its copy on the source does not run.
  [[nodiscard]] bool is_of_task() const {
    return entry.method == Method::birth || entry.method == Method::home;
  }
  [[nodiscard]] bool is_source() const { return entry.side == Side::source; }
  [[nodiscard]] const std::string& other() const {
    return is_source() ? entry.target : entry.source;
  }
  /// Whose container is it still? Of a source that has not handed over, or has not come back yet.
  [[nodiscard]] bool is_on_its_way_back() const;
  /// "move 0123abcd of container vae"
  [[nodiscard]] std::string label() const;
  /// CRIU's name for what it saves.
  [[nodiscard]] std::string checkpoint_name() const { return "flowcon-" + entry.id.substr(0, 12); }
};

using MovePtr = std::shared_ptr<Move>;

/// How a move is shown. What is written, or would be with `entry`.
[[nodiscard]] MoveView view_of(const Move& move, const Entry& entry, const std::string& here_name);

}  // namespace flowcon::cluster::migration
