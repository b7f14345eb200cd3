// SPDX-License-Identifier: Apache-2.0
// The state and parts of the mover, private to cluster/migration/mover*.cpp. Its methods are spread
// by question: mover.cpp what is next, mover_journal.cpp the journal, mover_lost.cpp one that was
// lost, mover_watch.cpp what others do to the copy, mover_acts.cpp doing what is next,
// mover_saved.cpp what is known of the job around it, mover_begin.cpp which move can be made,
// mover_calls.cpp what peers and people ask. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/migration/plan/accept.h"
#include "cluster/migration/plan/bounds.h"
#include "cluster/migration/run/metered.h"
#include "cluster/migration/run/mover.h"
#include "cluster/migration/run/mover_engine.h"
#include "cluster/migration/run/mover_plan.h"
#include "ctrl/effects.h"
#include "ctrl/helper_threads.h"
#include "ctrl/log.h"
#include "ctrl/store/store.h"

namespace flowcon::cluster::migration {

/// What of a move is shown to people and kept after its end. Units: bytes as sent; seconds.
struct Account {
  std::string peer_name;  ///< as the other host is called here
  std::uint64_t bytes = 0;
  double sending_seconds = 0;
  std::optional<double> stopped_seconds;  ///< from the request to save until the copy ran
  std::map<std::string, double> steps;    ///< seconds since the beginning, by step
};

/// One move, one side of it, as long as it is not closed.
struct Move {
  Move(boost::asio::io_context& io, Entry the_entry, Plan the_plan)
      : entry(std::move(the_entry)),
        written(entry),
        plan(std::move(the_plan)),
        budget(plan.bytes),
        timer(io) {}

  Entry entry;    ///< what is decided from
  Entry written;  ///< what the journal holds, and all that anybody is told
  Plan plan;
  Account account;
  double started = 0;              ///< wall
  double began = 0;                ///< steady
  bool is_fresh = false;           ///< found in the journal; nothing was decided about it since
  bool is_unwritten = false;       ///< the entry could not be written and counts all the same
  std::optional<Step> writing;     ///< the step of the entry that is being written
  bool is_write_troubled = false;  ///< `trouble` is of a write

  // What is known of the other side.
  Word word = Word::none;
  Step peer = Step::reserve;
  double heard = 0;  ///< steady; when it last said something

  // Facts that the process alone knows.
  bool is_saved = false;
  bool is_received = false;
  bool is_synced = false;
  bool is_start_doubtful = false;
  Copy seen = Copy::unknown;  ///< how the copy was when it was last looked at
  bool was_killed = false;    ///< its engine was asked to end it, by nobody here
  /// Target: the engine that answers now has started the copy or found it running. One that was
  /// started anew since may have ended it.
  bool is_watched = false;
  std::string settled_life;          ///< target: Seen::started of the life that ended for good
  bool was_ended_by_person = false;  ///< that life
  bool is_halting = false;           ///< it was started where it must not run, and is being stopped
  bool has_warned = false;           ///< of that
  bool is_cleared = false;           ///< all that was to be removed is
  std::string give_up;
  bool is_taken_back = false;
  bool is_kept = false;
  double quiet_from = 0;  ///< steady; until then a request of a lost process may act
  /// Parts that are being taken, each with the number of its try: a connection that is dead and was
  /// not closed must not stand in the way of the next.
  std::map<std::string, unsigned> taking;
  unsigned tries = 0;
  std::size_t bodies = 0;               ///< that are read, of whatever try
  Budget budget;                        ///< target: of what comes
  std::set<std::string> received;       ///< names of parts
  std::set<std::string> sent;           ///< names of parts
  bool needs_image = false;             ///< source: the target asks for it
  std::size_t layers_there = 0;         ///< how many of its layers need not travel
  std::optional<double> running_since;  ///< steady; when the copy was first seen to run
  std::optional<double> shown_at;       ///< steady; target: something new of it was seen
  std::optional<double> stopped_at;     ///< steady; when the source asked the job to save
  bool was_asked = false;               ///< source: to save, by this process
  bool was_restored = false;            ///< from the journal: an earlier process may have asked
  std::string saved_life;               ///< source: Seen::started of the life that has saved
  double sent_at = 0;            ///< source, steady: when the last part had arrived; 0: it has not
  bool is_dumping = false;       ///< source: CRIU is saving it
  bool was_told_to_end = false;  ///< source: by a signal, or its engine
  bool has_signal = false;       ///< source: the signal has come, and nothing else is to come
  bool has_ended = false;        ///< source: by itself, when it was asked to save
  std::optional<Metered> passing;       ///< the part that is on its way
  std::optional<double> sending_since;  ///< steady

  std::string trouble;  ///< what went wrong last, for people
  ctrl::log::Repeated troubles;
  double rest = 0;  ///< seconds until the next try
  bool is_woken = false;
  Step held = Step::undone;  ///< the last step that was held up for tests
  boost::asio::steady_timer timer;

  /// What a request started may act for so long from now on. Unit: seconds.
  void stay_quiet(double seconds);
  [[nodiscard]] bool is_source() const { return entry.side == Side::source; }
  [[nodiscard]] const std::string& other() const {
    return is_source() ? entry.target : entry.source;
  }
  /// CRIU's name for what it saves.
  [[nodiscard]] std::string checkpoint_name() const { return "flowcon-" + entry.id.substr(0, 12); }
};

using MovePtr = std::shared_ptr<Move>;

class Movers : public Mover {
 public:
  Movers(ctrl::LocalHost& host, Network& network, Lives& lives);

  ctrl::Async<Result<std::string>> begin(MoveOrder order) override;
  [[nodiscard]] bool is_movable(const std::string& id) const override;
  [[nodiscard]] bool is_moving(const std::string& id) const override;
  [[nodiscard]] bool is_saving(const std::string& id) const override;
  [[nodiscard]] std::int64_t reserved() const override;
  [[nodiscard]] Result<std::vector<std::string>> open_with(const std::string& id) const override;
  [[nodiscard]] boost::json::array list(std::size_t most) const override;
  ctrl::Async<void> start() override;
  ctrl::Async<void> settle(double seconds) override;
  void end() override;
  [[nodiscard]] bool answers(const ctrl::api::Call& call) const override;
  ctrl::Async<ctrl::api::Response> answer(ctrl::api::Call call,
                                          ctrl::api::Request request) override;
  ctrl::Async<ctrl::api::Response> answer_peer(ctrl::api::Request request,
                                               std::string speaker) override;
  [[nodiscard]] bool has_long_body(const ctrl::api::Request& request) const override;
  ctrl::Async<ctrl::api::Response> answer_long(ctrl::api::Request head, ctrl::Pull body,
                                               std::string speaker) override;

 private:
  // mover.cpp
  /// Why nothing can be said of all moves; empty: the journal was read.
  [[nodiscard]] std::string why_unread() const;
  [[nodiscard]] bool is_reading() const;
  ctrl::Async<bool> restore();
  ctrl::Async<void> restore_later();
  ctrl::Async<bool> restore_one(ctrl::store::Migration row);
  void launch(MovePtr move);
  ctrl::Async<void> drive(MovePtr move);
  ctrl::Async<Facts> gather(MovePtr move);
  ctrl::Async<Result<Seen>> look(MovePtr move);
  ctrl::Async<bool> write_down(MovePtr move, Effect effect);
  ctrl::Async<Result<void>> save(MovePtr move, Entry entry);
  void keep_written(Move& move);
  ctrl::Async<void> hold(MovePtr move);
  ctrl::Async<void> rest(MovePtr move);
  void tell_end(const Move& move);
  void close(const MovePtr& move);
  void hear(Move& move, const std::string& text);
  void hear_running(Move& move, const boost::json::value& said);
  void wake(Move& move);
  void complain(Move& move, const Error& error);
  [[nodiscard]] ctrl::store::Migration row_of(const Move& move, const Entry& entry) const;
  /// A source that has not handed over, or has not come back yet.
  [[nodiscard]] static bool is_on_its_way_back(const Move& move);
  [[nodiscard]] std::string peer_name(const std::string& id) const;
  [[nodiscard]] MovePtr find_by_container(const std::string& name) const;

  // mover_lost.cpp
  ctrl::Async<void> name_lost_moves();
  ctrl::Async<void> name_half_moved();
  // mover_watch.cpp
  ctrl::Async<void> watch_engine();
  void hear_engine(const ctrl::engine::Event& event);
  ctrl::Async<Copy> judge_end(MovePtr move, Seen seen, bool has_heard);
  ctrl::Async<void> halt(MovePtr move);

  // mover_acts.cpp: true where something may have changed.
  ctrl::Async<bool> carry_out(MovePtr move, Effect effect);
  ctrl::Async<bool> report(MovePtr move);
  ctrl::Async<bool> prepare(MovePtr move);
  ctrl::Async<bool> save_job(MovePtr move);
  ctrl::Async<Result<void>> save_by_criu(MovePtr move);
  ctrl::Async<void> watch_dump(MovePtr move);
  ctrl::Async<Result<void>> save_by_application(MovePtr move);
  ctrl::Async<Result<void>> save_by_signal(MovePtr move, int signal);
  ctrl::Async<bool> send(MovePtr move);
  ctrl::Async<Result<void>> send_one(MovePtr move, std::string name, ctrl::Pull body, double idle);
  ctrl::Async<Result<void>> send_image_of(MovePtr move);
  ctrl::Async<Result<ctrl::Pull>> open_part(MovePtr move, std::string name);
  ctrl::Async<bool> start_copy(MovePtr move);
  ctrl::Async<bool> remove_copy(MovePtr move);
  ctrl::Async<void> sends_no_more(MovePtr move);
  ctrl::Async<bool> sync_engine(MovePtr move);
  /// Waits, on a thread of its own, until what was written below `folder` is on its disk.
  ctrl::Async<Result<void>> sync_disk(std::string folder);
  ctrl::Async<bool> took(MovePtr move, Result<void> result);

  // mover_saved.cpp
  ctrl::Async<void> note_end(MovePtr move);
  /// Files of the writable layer that would not travel: that count, and that may be lost.
  struct LeftBehind {
    std::vector<std::string> files;
    std::vector<std::string> passing;
  };
  ctrl::Async<Result<LeftBehind>> left_behind(std::string container, std::string upper,
                                              boost::json::object body,
                                              std::optional<timespec> asked);
  ctrl::Async<Result<void>> believe_saved(MovePtr move, std::optional<timespec> asked);
  ctrl::Async<bool> has_proven(MovePtr move, Seen seen);
  [[nodiscard]] bool ended_by_itself(const Move& move, const Seen& seen) const;
  ctrl::Async<void> sweep_images();
  [[nodiscard]] std::set<std::string> images_of_moves() const;
  ctrl::Async<void> remove_leftovers(std::set<std::string> kept);

  // mover_begin.cpp
  struct Proposal {
    std::string container;  ///< full id
    std::string name;
    Method method = Method::app;
    Plan plan;
    std::vector<std::string> obstacles;
    std::vector<std::string> notes;  ///< what will be another there
  };
  static void weigh_left_behind(Proposal& made, const LeftBehind& left);
  /// What is against it here.
  ctrl::Async<Result<Proposal>> propose(MoveOrder order);
  /// Here and on the target. Changes nothing.
  ctrl::Async<Result<Proposal>> rehearse(MoveOrder order);
  ctrl::Async<Result<std::vector<std::string>>> ask_target(Proposal proposal, std::string target);
  ctrl::Async<Result<std::vector<std::string>>> judge(std::string name, Plan plan,
                                                      std::string speaker);
  ctrl::Async<void> wait_for(std::string id);
  /// What the file systems of this host have against the paths of `body`.
  ctrl::Async<std::vector<std::string>> look_at_paths(boost::json::object body);
  [[nodiscard]] Result<Neighbour> neighbour(const std::string& name) const;
  [[nodiscard]] Result<Neighbour> best_neighbour() const;
  [[nodiscard]] bool is_heard(const Move& move) const;
  [[nodiscard]] AcceptPolicy policy() const;

  // mover_calls.cpp
  ctrl::Async<ctrl::api::Response> migrate(std::string name, std::string body);
  ctrl::Async<ctrl::api::Response> steer(std::string name, std::string verb);
  ctrl::Async<ctrl::api::Response> reserve(std::string body, std::string speaker);
  ctrl::Async<ctrl::api::Response> take_plan(ctrl::api::Request head, ctrl::Pull body,
                                             std::string speaker);
  ctrl::Async<ctrl::api::Response> check(std::string body, std::string speaker);
  ctrl::Async<ctrl::api::Response> take_report(std::string id, std::string body,
                                               std::string speaker);
  ctrl::Async<ctrl::api::Response> take_body(MovePtr move, std::string name, ctrl::Pull body);
  ctrl::Async<ctrl::api::Response> take_part_of(MovePtr move, std::string name, ctrl::Pull body);
  ctrl::Async<Result<void>> take_one(MovePtr move, std::string name, ctrl::Pull body);
  /// For bytes of the part `name` that go below `folder`.
  [[nodiscard]] Room room_for(MovePtr move, std::string name, std::string folder);
  ctrl::Async<Result<void>> look_for_room(std::string folder);
  [[nodiscard]] std::shared_ptr<TreeBudget> memory_of(const std::string& peer);
  [[nodiscard]] std::string why_no_seat_for(const std::string& peer) const;
  ctrl::Async<Result<void>> believe_received(MovePtr move);
  [[nodiscard]] ctrl::api::Response answer_of(const Move& move) const;
  [[nodiscard]] ctrl::api::Response answer_unknown() const;

  ctrl::LocalHost& host_;
  Network& network_;
  Lives& lives_;
  ctrl::engine::Client client_;
  EngineSide engine_;
  boost::asio::thread_pool disk_{1};      ///< waits for the disk
  std::map<std::string, MovePtr> moves_;  ///< open ones, by id
  boost::asio::steady_timer sweep_timer_{host_.io()};
  ctrl::HelperThreads helpers_{4};                ///< ask file systems
  ctrl::HelperThreads measurers_{4};              ///< the same, of what may take minutes
  std::map<std::string, std::string> reserving_;  ///< ids that are being looked at, and whose
  std::multiset<std::string> planning_;           ///< peers whose plans are being looked at
  std::map<std::string, std::weak_ptr<TreeBudget>> memory_;  ///< of peers
  std::vector<boost::json::object> past_;                    ///< newest first
  bool is_begun_ = false;                                    ///< start() was called
  bool is_started_ = false;                                  ///< the journal was read
  bool is_whole_ = true;                                     ///< and all of it could be
  bool is_watching_ = false;                                 ///< the engine's events
  unsigned streams_ = 0;                                     ///< of events, so far
  unsigned stream_ = 0;                                      ///< the one that is heard; 0: none
  std::map<std::string, bool> leftovers_;  ///< images that could not be removed; only if moved
  bool is_stopping_ = false;               ///< flowcond is about to end: no move begins
  bool is_ended_ = false;
  ctrl::log::Repeated unread_;
};

/// Does a file in one of `places`, files or folders, that is at least as new as `since` show that
/// something was saved? Links are not followed. True also where there are too many to look at all.
[[nodiscard]] bool is_written_since(const std::vector<std::string>& places, timespec since);

/// How much there is below folders, as far as it was looked at. Units: bytes, files and folders.
struct Measured {
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> entries;  ///< of each folder; no more than one above `most`
};
[[nodiscard]] Measured measure(const std::vector<std::string>& folders, std::uint64_t most);

/// Why the process `pid` of a container would not hear `signal`, in words; empty: it may.
[[nodiscard]] std::string why_deaf(std::int64_t pid, int signal);

/// Paths of this host that `body` has and that are not there, or that links lead out of all of
/// `policy.mounts`: the engine follows links, and a job that writes to such a folder can make them.
/// One sentence for both, or a peer would learn what else is on this host. Asks the file system, of
/// nothing but what is accepted as it is written.
[[nodiscard]] std::vector<std::string> unfit_paths(const boost::json::object& body,
                                                   const AcceptPolicy& policy);

/// Which of the peers takes a container of this host by Algorithm 4, as if this host were not
/// there. Errors: none is reachable that takes containers.
[[nodiscard]] Result<Neighbour> least_loaded(const std::string& own_id,
                                             const std::vector<Neighbour>& all);

/// Why this host cannot ask the host `id` about a move, in words; empty: it can.
[[nodiscard]] std::string why_unreachable(const std::string& id, const std::vector<Neighbour>& all);

/// Ended moves that are shown.
inline constexpr std::size_t kKeptMoves = 200;

/// Seconds on the steady clock.
[[nodiscard]] double steady_now();
/// Seconds since the epoch.
[[nodiscard]] double wall_now();
/// How a move is shown: docs/api.md. What is written, or would be with `entry`.
[[nodiscard]] boost::json::object describe_move(const Move& move, const Entry& entry,
                                                const std::string& here_name);

}  // namespace flowcon::cluster::migration
