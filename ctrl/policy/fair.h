// SPDX-License-Identifier: Apache-2.0
// The world as it would be had nobody decided: all jobs share the host alike. Whoever gives one job
// more takes it from others, and this says when each would have ended; none shall be much later.
// Pure: time and estimates are handed in.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace flowcon::ctrl::policy {

/// A job in that world. Units: CPU seconds, cores.
struct FairJob {
  double used = 0;              ///< what it would have used by now
  double total = 0;             ///< what it is expected to use in all
  double width = 1;             ///< cores that it can use
  bool is_gone = false;         ///< it has ended in this world, there it still runs
  std::optional<double> ended;  ///< when it ended there; seconds, on the clock of advance()
  double told_total = 0;        ///< as when ends() was last worked out
  double told_width = 0;
};

class FairWorld {
 public:
  explicit FairWorld(double cores) : cores_(cores), there_(cores) {}

  /// A job that begins here with `used` behind it.
  void add(const std::string& id, double used);
  /// It ended in this world after `used` CPU seconds; there it goes on to the same.
  void end(const std::string& id, double used);
  /// It is here no more, and never ended here: it was moved, or killed.
  void remove(const std::string& id) { is_stale_ = jobs_.erase(id) > 0 || is_stale_; }
  /// What is known of it by now.
  void expect(const std::string& id, double total, double width);
  /// From now on so many of its cores are there for the jobs: other programs have the rest.
  void set_cores_there(double cores);
  /// Time goes on to `now`, in seconds on any clock that never goes back.
  void advance(double now);
  /// When each job that is still here ends there, on the same clock: ended already, or as expected
  /// with nobody else to come. Worked out anew when who is there has changed, or what is expected
  /// or there by more than a fiftieth.
  [[nodiscard]] const std::map<std::string, double>& ends();
  /// CPU seconds that it would have used by now; 0 where it is not known.
  [[nodiscard]] double used(const std::string& id) const;

 private:
  double cores_;
  double there_;
  double told_there_ = 0;  ///< as when ends() was last worked out
  double now_ = 0;
  std::map<std::string, FairJob> jobs_;
  std::map<std::string, double> ends_;
  bool is_stale_ = true;
};

}  // namespace flowcon::ctrl::policy
