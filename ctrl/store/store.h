// SPDX-License-Identifier: Apache-2.0
// What outlives the daemon, in SQLite, in two files side by side. The journal (journal.db), small,
// holds what must not be lost: original limits (written before the first change of a limit, so that
// any crash can be undone), what people decided, who this host and its peers are, the moves between
// hosts, the queue's jobs. The records, bounded in bytes, hold samples, usage, decisions, and where
// each log was read to. Damage to one does not touch the other. Used on the effects thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cgroups/setting.h"
#include "ctrl/model.h"
#include "ctrl/store/profiles.h"

struct sqlite3;

namespace flowcon::ctrl::store {

/// The setting a container had before control, and where its cgroups are.
struct Original {
  std::string id;
  std::string name;
  cgroups::Group group;
  cgroups::Setting setting;
  /// Of its CPU group (CgroupFs::life): a container that was started again has other originals.
  /// "" = not known.
  std::string life = {};
  /// False: only its CPU was limited, and memory and I/O are as others left them.
  bool has_all_limits = true;
};

/// What a person decided about a container by command, kept across restarts of the daemon.
struct Choice {
  std::string id;
  bool released = false;
  std::string settings;  ///< JSON of the values given to adopt; "" = none
  std::string control;   ///< JSON of pause, pin and set (ctrl/control.h); "" = none
};

/// A container that is or was under control. Units: seconds since the epoch.
struct Run {
  std::string id;
  std::string name;
  std::string image;
  std::string metric;
  Goal goal = Goal::min;
  double started = 0;
  std::optional<double> finished;
  std::string training;      ///< image and command; "" = not known
  bool has_counter = false;  ///< it printed how far it was
  bool has_moved = false;    ///< when it ended here: it was on another host, too, or went there
  std::optional<std::int64_t> status = std::nullopt;  ///< with which it ended, where it is known
};

struct UsageRow {
  double time = 0;
  double cpu = 0;                 ///< share of the host
  std::uint64_t memory = 0;       ///< bytes
  std::optional<double> io;       ///< bytes per second
  std::optional<double> network;  ///< bytes per second
};

struct DecisionRow {
  double time = 0;
  List list = List::nl;
  double limit = 1;
  std::optional<double> growth;
};

/// Another host that was added by command. `user` "" = the usual one.
struct Peer {
  std::string name;
  std::string user;
  std::string host;
  std::int64_t port = 22;
};

/// Who this host is to others.
struct Identity {
  std::string id;
  std::int64_t incarnation = 0;  ///< starts of the daemon on this state so far, this one included
  bool is_draining = false;
};

/// One side of a container's move between hosts, in words of who drives it.
struct Migration {
  std::string id;
  std::string entry;  ///< of the journal, JSON
  std::string plan;   ///< what it is about, JSON; "" once it is closed
  double started = 0;
  std::optional<double> ended;
};

/// A job of the queue, in words of who drives it. Units: seconds since the epoch.
struct QueueRow {
  std::string id;
  std::string entry;  ///< JSON
  double submitted = 0;
  std::optional<double> ended;
};

/// What the policy over several hosts remembers of a container of this one.
/// Units: seconds since the epoch, on the clock of this host; value and growth as the policy has
/// them.
struct Mark {
  std::string id;
  std::string category;
  std::optional<double> value;
  std::optional<double> growth;
  double seen = 0;
  std::optional<double> converged;
  std::optional<double> migrated;
  bool rebalanced = false;
  std::int64_t moves = 0;  ///< how often a policy moved it
};

/// What a run was like that ended well. Units: ended in seconds since the epoch, total in CPU
/// seconds; share90 is the share of them after which 90 % of the improvement was there.
struct Training {
  std::string key;  ///< image and command
  double ended = 0;
  double total = 0;
  std::optional<double> share90;
};

/// How far a container's log was read, in words of who reads it. `log` says which one it was.
struct LogPosition {
  std::string log;
  std::string position;
  bool operator==(const LogPosition&) const = default;
};

/// A move that was open in a journal that was damaged, as far as it could be read.
struct LostMove {
  std::string id;
  std::string entry;
};

/// Everything one tick of the daemon has to record about one container.
struct Look {
  Run run;
  bool is_other_series = false;  ///< samples kept so far belong to another metric: forget them
  bool is_reread = false;        ///< samples up to the last one kept are kept already: skip those
  std::vector<Sample> samples;   ///< new ones, in order of time
  std::optional<UsageRow> usage;
  std::optional<DecisionRow> decision;
  std::optional<LogPosition> position;  ///< what is recorded comes from before it, all of it
};

/// One decision of an algorithm as `flowcon-sim decide` takes and gives it.
struct Round {
  double time = 0;
  std::string algorithm;
  std::string resource;  ///< "cpu", "memory" or "io"; "" = it is about hosts
  std::string state;
  std::string decision;
};

/// A round, and what became of one container by it.
struct ExplainedRound {
  Round round;
  std::optional<double> since;    ///< when it came to the list that it was on then
  std::optional<double> granted;  ///< the share it was given
};

struct Explained {
  Run run;
  std::vector<ExplainedRound> rounds;
  bool is_cut = false;  ///< there may be older ones
};

/// Rounds in order of time; `after` is the number of the last one, for those behind it.
struct RoundPage {
  std::vector<Round> rounds;
  std::int64_t after = 0;
  bool has_more = false;
};

/// Where a run is in the order of starts. Unit: seconds since the epoch.
struct RunPlace {
  double started = -std::numeric_limits<double>::infinity();
  std::int64_t number = 0;
};

/// Runs in the order of their starts; `last` is the place of the last one, for those behind it.
struct RunPage {
  std::vector<Run> runs;
  RunPlace last;
  bool has_more = false;
};

/// On which other host a container was before. Units: seconds since the epoch.
struct Stay {
  std::string host;
  double began = 0;
  double ended = 0;
};

struct History {
  Run run;
  std::vector<Sample> samples;
  std::vector<UsageRow> usage;
  std::vector<DecisionRow> decisions;
  std::vector<Stay> stays;  ///< in order
};

struct Options {
  std::uint64_t most_bytes = 1ULL << 30;  ///< that the records may take
};

/// What must not be lost (journal.db). Errors of all methods: SQLite's, disk full and read-only
/// among them.
class Journal {
 public:
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  [[nodiscard]] Result<void> save_originals(const std::vector<Original>& originals);
  /// Where it fails, each later record() or forget_original() tries again.
  [[nodiscard]] Result<void> forget_original(const std::string& id);
  [[nodiscard]] Result<std::vector<Original>> originals();

  [[nodiscard]] Result<void> save_choice(const Choice& choice);
  [[nodiscard]] Result<void> forget_choice(const std::string& id);
  [[nodiscard]] Result<std::vector<Choice>> choices();

  [[nodiscard]] Result<void> save_peer(const Peer& peer);
  [[nodiscard]] Result<void> forget_peer(const std::string& name);
  /// In order of name.
  [[nodiscard]] Result<std::vector<Peer>> peers();
  /// The id that the peer of that name, added or not, has from now on; no other has it.
  [[nodiscard]] Result<void> save_peer_id(const std::string& name, const std::string& id);
  [[nodiscard]] Result<void> forget_peer_id(const std::string& name);
  /// By name.
  [[nodiscard]] Result<std::map<std::string, std::string>> peer_ids();
  /// Begins one more incarnation. `fresh_id` is the host's id where it had none.
  [[nodiscard]] Result<Identity> begin_incarnation(const std::string& fresh_id);
  [[nodiscard]] Result<void> save_draining(bool is_draining);
  /// On the disk, whatever happens to the power, when it returns. Its id is new or not.
  [[nodiscard]] Result<void> save_migration(const Migration& migration);
  /// Those that have not ended, then the `most` that ended last; each group newest first.
  [[nodiscard]] Result<std::vector<Migration>> migrations(std::size_t most);
  /// The entries of the `most` that ended last, newest first.
  [[nodiscard]] Result<std::vector<std::string>> ended_migrations(std::size_t most);
  /// Errors: ENOENT there is none with that id.
  [[nodiscard]] Result<Migration> migration(const std::string& id);
  /// On the disk, whatever happens to the power, when it returns. Its id is new or not.
  [[nodiscard]] Result<void> save_queue_row(const QueueRow& row);
  /// Those that have not ended, in the order in which they were submitted, then the `most` that
  /// ended last, newest first. After damage to the journal what can still be read of them is here,
  /// perhaps not as it was saved last.
  [[nodiscard]] Result<std::vector<QueueRow>> queue_rows(std::size_t most);
  [[nodiscard]] Result<bool> has_queue_row(const std::string& id);
  /// One that has ended, by its id or its name; of several the one that ended last.
  [[nodiscard]] Result<std::optional<QueueRow>> find_queue_row(const std::string& name);
  /// One that has ended, by its id.
  [[nodiscard]] Result<void> drop_queue_row(const std::string& id);
  /// Of those that have ended it keeps the `most` that ended last, and those whose ids are `there`.
  [[nodiscard]] Result<void> forget_queue_rows(std::size_t most,
                                               const std::vector<std::string>& there);
  /// Does the journal hold every move that this host was ever part of? False from the loss of
  /// entries on until a person has removed journal_lost_file() and flowcond has started anew: no
  /// conclusion may be drawn from an entry that is not there. On any thread.
  [[nodiscard]] bool is_journal_whole() const { return is_whole_; }
  /// Says what was lost.
  [[nodiscard]] const std::string& journal_lost_file() const { return lost_file_; }
  /// The moves that were open when the journal was lost; none where it is whole.
  [[nodiscard]] Result<std::vector<LostMove>> lost_moves();

 protected:
  Journal(sqlite3* journal, sqlite3* records) : journal_(journal), records_(records) {}
  ~Journal();
  /// Originals that could not be deleted yet.
  [[nodiscard]] bool has_unforgotten() const { return !unforgotten_.empty(); }
  [[nodiscard]] Result<void> forget_unforgotten();
  /// Notes in the records how far the journal is, so that its loss is noticed. Errors are none:
  /// then they know less.
  void mirror_journal();

  bool is_whole_ = true;
  std::string lost_file_;

 private:
  sqlite3* journal_;
  sqlite3* records_;
  std::set<std::string> unforgotten_;
};

/// What is recorded, bounded in bytes. Errors of all methods: as the journal's.
class Records {
 public:
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  /// One transaction: these are as they stand here, those of `gone` are no more.
  [[nodiscard]] Result<void> save_marks(const std::vector<Mark>& marks,
                                        const std::vector<std::string>& gone);
  [[nodiscard]] Result<std::vector<Mark>> marks();

  /// Keeps the last five of each training.
  [[nodiscard]] Result<void> save_training(const Training& training);
  /// In the order in which they ended.
  [[nodiscard]] Result<std::vector<Training>> trainings();

  /// Keeps the last five of a key, and the last 2,000 of all.
  [[nodiscard]] Result<void> save_profile(const ProfileRow& profile);
  /// Those of this format that ended since then and were saved behind number `after`, in the order
  /// in which they were saved: as many as have `most_bytes` together, at least one. A number that
  /// is higher than all there are is of records that are gone: then from the first one on.
  [[nodiscard]] Result<ProfilePage> profiles(double since, std::int64_t after,
                                             std::size_t most_bytes);
  /// What is recorded of a container from `started` until `until`, and from its hosts before.
  [[nodiscard]] Result<SeenBefore> seen_before(const std::string& id, double started, double until);

  /// One transaction. Where the disk is full, once more after the log of changes was made smaller;
  /// where the records have reached their bound, once more after older ones have gone.
  [[nodiscard]] Result<void> record(const std::vector<Look>& looks,
                                    const std::vector<Round>& rounds);
  /// Of each container by its id, those that have gone included, as long as their runs are kept.
  [[nodiscard]] Result<std::map<std::string, LogPosition>> positions();
  /// Containers of which something was recorded since then, in order of their start, those behind
  /// `after`: as many as have `most_bytes` together, at least one.
  [[nodiscard]] Result<RunPage> runs(
      double since, RunPlace after = {},
      std::size_t most_bytes = std::numeric_limits<std::size_t>::max());
  /// By full id, else the latest run of that name. What is older than `since` is left out, but for
  /// the decision that still held then; of more than 100,000 rows of a kind some of each few.
  /// Errors: ENOENT nothing is known of it.
  [[nodiscard]] Result<History> history(const std::string& name,
                                        double since = -std::numeric_limits<double>::infinity());
  /// Rounds since then, of those at that very moment only the ones behind number `after`: as many
  /// as have `most_bytes` together, at least one.
  [[nodiscard]] Result<RoundPage> rounds(double since, std::int64_t after, std::size_t most_bytes);
  /// Puts what another host recorded in the place of all that is known of `history.run.id`.
  [[nodiscard]] Result<void> import_history(const History& history,
                                            const std::optional<LogPosition>& position);
  /// The run of that container, which came from another host, ended there.
  [[nodiscard]] Result<void> end_run(const std::string& id, double finished,
                                     std::optional<std::int64_t> status);
  /// What a container's job had done when it left a host, as JSON; kept as long as its run.
  [[nodiscard]] Result<void> save_past(const std::string& id, const std::string& past);
  [[nodiscard]] Result<void> forget_past(const std::string& id);
  [[nodiscard]] Result<std::map<std::string, std::string>> pasts();
  /// All that is recorded of a container by its full id, and how far its log was read.
  [[nodiscard]] Result<void> forget_history(const std::string& id);
  /// The last `count` rounds that concerned a container, found as history() finds it, oldest first;
  /// none from before its start or long after its end. With `since` those between hosts from then
  /// on, of an id that no run has as well. Of 16 MiB of rounds, and 8 MiB that concern it: other
  /// work waits.
  /// Errors: ENOENT nothing is known of it.
  [[nodiscard]] Result<Explained> explained(const std::string& name, std::size_t count,
                                            std::optional<double> since = {});
  /// A short step of deleting records that are older than `before`, and those that a clock that was
  /// ahead has left: of more than a day after `now`, where they are the smaller part of their
  /// table. Seconds since the epoch. True where there is more to do.
  [[nodiscard]] Result<bool> forget_before(double before, double now);
  /// A short step of keeping the records below nine tenths of their bound: first the runs go that
  /// have ended and have no samples, uses and decisions any more; then three of four of these and
  /// of the rounds of the older half, then the oldest ones; what was learnt from runs last. What a
  /// clock that was ahead has left, later than `now`, makes no other record an old one. True where
  /// there is more to do.
  [[nodiscard]] Result<bool> make_room(double now);

 protected:
  Records(sqlite3* records, std::uint64_t most_bytes) : db_(records), most_bytes_(most_bytes) {}
  ~Records();

 private:
  class Thinner;
  [[nodiscard]] Result<Thinner> thinner_of(const char* counted, std::int64_t run, double since);
  [[nodiscard]] Result<void> record_once(const std::vector<Look>& looks,
                                         const std::vector<Round>& rounds);

  void note_damage(const Error& error);

  sqlite3* db_;
  bool has_damage_ = false;  ///< seen: they are checked at the next start
  std::uint64_t most_bytes_;
};

class Store : public Journal, public Records {
 public:
  /// Opens or makes the records at `path` and journal.db beside it (mode 0600). A file that is no
  /// database or is damaged is moved aside to PATH.damaged-N, with its log of changes, and never
  /// deleted; so are records of another version than this program's, to PATH.version-V-N. Of a
  /// journal what can still be read is taken over, open moves excepted, and journal.lost is
  /// written: see is_journal_whole(). `notice` says all of it. The records are checked only where
  /// they were not closed; this can take a while. Errors: cannot be made or written; a journal of
  /// another version than this program's: both are left as they are.
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(const std::string& path,
                                                           std::string* notice,
                                                           const Options& options = {});
  /// As Records::record(); tries again to forget originals that could not be forgotten.
  [[nodiscard]] Result<void> record(const std::vector<Look>& looks,
                                    const std::vector<Round>& rounds);

 private:
  Store(sqlite3* records, sqlite3* journal, std::uint64_t most_bytes)
      : Journal(journal, records), Records(records, most_bytes) {}
};

}  // namespace flowcon::ctrl::store
