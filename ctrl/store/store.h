// SPDX-License-Identifier: Apache-2.0
// What outlives the daemon, in SQLite: original limits (written before the first change of a
// limit, so that any crash can be undone), samples, usage, decisions, and where each log was read
// to. One connection, used on the effects thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cgroups/setting.h"
#include "ctrl/model.h"

struct sqlite3;

namespace flowcon::ctrl::store {

/// The setting a container had before control, and where its cgroups are.
struct Original {
  std::string id;
  std::string name;
  cgroups::Group group;
  cgroups::Setting setting;
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

/// How far a container's log was read, in words of who reads it. `log` says which one it was.
struct LogPosition {
  std::string log;
  std::string position;
  bool operator==(const LogPosition&) const = default;
};

/// Everything one look of the daemon has to record about one container.
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
  std::string resource;  ///< "cpu", "memory" or "io"
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
};

struct History {
  Run run;
  std::vector<Sample> samples;
  std::vector<UsageRow> usage;
  std::vector<DecisionRow> decisions;
};

class Store {
 public:
  /// Opens or makes `path` (mode 0600) and brings its schema up to date. A file that is not a
  /// database or is damaged is moved aside to PATH.damaged-N and a new one made; `notice` then
  /// says so. Errors: cannot be made, written or upgraded; newer than this program.
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(const std::string& path,
                                                           std::string* notice);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Errors (all below): SQLite's, disk full and read-only among them.
  [[nodiscard]] Result<void> save_originals(const std::vector<Original>& originals);
  /// Where it fails, each later record() or forget_original() tries again.
  [[nodiscard]] Result<void> forget_original(const std::string& id);
  [[nodiscard]] Result<std::vector<Original>> originals();

  [[nodiscard]] Result<void> save_choice(const Choice& choice);
  [[nodiscard]] Result<void> forget_choice(const std::string& id);
  [[nodiscard]] Result<std::vector<Choice>> choices();

  /// One transaction. Where the disk is full, once more after the log of changes was made smaller.
  [[nodiscard]] Result<void> record(const std::vector<Look>& looks,
                                    const std::vector<Round>& rounds);
  /// Of each container by its id, those that have gone included, as long as their runs are kept.
  [[nodiscard]] Result<std::map<std::string, LogPosition>> positions();
  /// By full id, else the latest run of that name. Errors: ENOENT nothing is known of it.
  [[nodiscard]] Result<History> history(const std::string& name);
  /// The last `count` rounds that concerned a container, found as history() finds it, oldest first.
  /// Errors: ENOENT nothing is known of it.
  [[nodiscard]] Result<Explained> explained(const std::string& name, std::size_t count);
  /// Deletes what is older than `before` (seconds since the epoch), originals excepted.
  [[nodiscard]] Result<void> forget_before(double before);

 private:
  explicit Store(sqlite3* db) : db_(db) {}
  [[nodiscard]] Result<void> record_once(const std::vector<Look>& looks,
                                         const std::vector<Round>& rounds);
  [[nodiscard]] Result<void> forget_unforgotten();
  sqlite3* db_;
  std::set<std::string> unforgotten_;  ///< originals that could not be deleted yet
};

}  // namespace flowcon::ctrl::store
