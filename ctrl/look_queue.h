// SPDX-License-Identifier: Apache-2.0
// Which containers the engine has to be asked about, and when. A query that failed is repeated with
// a back-off of its own; queries that fail or hang never keep others waiting for long. Pure: time
// is handed in.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace flowcon::ctrl {

/// One question to the engine. Units: seconds.
struct Look {
  std::string id;
  double time = 0;         ///< of the event that asked for it, since the epoch; 0 = no event did
  bool is_update = false;  ///< something of it changed, or it may be a new one
  double patience = 0;     ///< the answer must be there within this time
};

/// Units: seconds; `now` on the steady clock.
class LookQueue {
 public:
  static constexpr std::size_t kWidth = 4;        ///< at the same time
  static constexpr std::size_t kMostRepeats = 2;  ///< of them after a failure
  static constexpr double kFirstPause = 0.25;     ///< doubled after each failure
  static constexpr double kLongestPause = 60;
  static constexpr double kFirstPatience = 5;  ///< doubled too: a loaded engine takes longer
  static constexpr double kLongestPatience = 30;

  /// Asked for again while it is on its way it is done once more afterwards. `time` as in Look: an
  /// event ends a back-off.
  void ask(const std::string& id, double time, bool is_update);
  /// The engine is back: what failed before is asked anew.
  void begin_anew();
  /// The container has ended: what a query that is on its way says of it is out of date.
  void end(const std::string& id);
  /// How often ask() was called.
  [[nodiscard]] std::size_t asked() const { return asked_; }
  /// Repeats of containers that the engine does not list any more are forgotten, but for those that
  /// were asked for since. `asked`: asked() when the engine was asked for its list.
  void keep(const std::set<std::string>& listed, std::size_t asked);

  /// What to ask now; finish() says what became of each.
  [[nodiscard]] std::vector<Look> take(double now);
  /// Is what was seen out of date? Then it is asked for again.
  [[nodiscard]] bool is_stale(const std::string& id) const;
  void finish(const std::string& id, bool is_answered, double now);

  /// When take() has something that it has not now, unless something else happens first.
  [[nodiscard]] std::optional<double> next() const;
  /// How many have failed `times` or more and are repeated.
  [[nodiscard]] std::size_t failing(int times) const;

 private:
  struct Entry {
    Look look;
    std::size_t asked = 0;  // the last ask() of it
    int failures = 0;       // with none it is fresh or on its way
    double due = 0;
    bool is_on_its_way = false;
    bool is_again = false;
    bool is_anew = false;  // asked anew where this query fails
    bool is_stale = false;
  };

  void start(Entry& entry, std::vector<Look>& all);
  void begin_anew(Entry& entry);

  std::map<std::string, Entry> entries_;
  std::deque<std::string> fresh_;                     ///< not asked yet, in order
  std::set<std::pair<double, std::string>> repeats_;  ///< when, and which
  std::size_t asked_ = 0;
  std::size_t on_their_way_ = 0;
  std::size_t repeats_on_their_way_ = 0;
};

}  // namespace flowcon::ctrl
