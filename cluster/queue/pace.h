// SPDX-License-Identifier: Apache-2.0
// How fast a job gets on with each number of workers, by its progress counter.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace flowcon::cluster::queue {

struct Pace {
  std::int64_t workers = 1;
  double rate = 0;  ///< share of the job per second, above 0
};

/// A counter moves now and then, so a stretch with one number of workers is measured from its first
/// move to its last one. Units: seconds on any one clock.
class PaceMeter {
 public:
  /// Less than this is not measured. Seconds; moves of the counter after the first one.
  static constexpr double kLeastStretch = 10;
  static constexpr int kLeastMoves = 3;
  /// A number that was not had for so long may be another one now. Seconds.
  static constexpr double kForgotten = 1800;

  /// So many run, and the counter says that this share (0..1) is done.
  void see(double now, std::int64_t workers, double done);
  /// Some of them do not run: what comes is another stretch.
  void rest();
  /// Of each number that it has had for long enough, ascending.
  [[nodiscard]] std::vector<Pace> paces() const;
  /// What is not done, as it was seen last. Empty: it has no counter.
  [[nodiscard]] std::optional<double> open() const;
  /// Seconds until all is done with so many. Empty: it had not that many for long enough.
  [[nodiscard]] std::optional<double> left(std::int64_t workers) const;

 private:
  struct Point {
    double time = 0;
    double done = 0;
  };
  struct Sum {
    double share = 0;
    double seconds = 0;
    double end = 0;
  };
  void add(std::map<std::int64_t, Sum>& sums) const;  // this stretch

  std::map<std::int64_t, Sum> sums_;  // of each number; an older stretch counts half
  std::int64_t workers_ = 0;          // of this stretch; 0: there is none
  double done_ = -1;                  // below 0: nothing was seen
  double now_ = 0;
  int moves_ = 0;                      // after the first one
  std::optional<Point> first_, last_;  // moves of the counter in it
};

}  // namespace flowcon::cluster::queue
