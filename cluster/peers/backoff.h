// SPDX-License-Identifier: Apache-2.0
// How long to wait before the next try. Pure: chance is handed in.
#pragma once

namespace flowcon::cluster::peers {

/// 1 s, doubled with each failure up to 60 s, each time a quarter more or less, so that many hosts
/// do not come back at one moment.
class Backoff {
 public:
  static constexpr double kFirst = 1;
  static constexpr double kMost = 60;
  static constexpr double kJitter = 0.25;

  /// Seconds to wait after one more failure. `chance` is from 0 to 1.
  [[nodiscard]] double next(double chance);
  /// It worked: the next failure is the first one.
  void reset() { next_ = kFirst; }

 private:
  double next_ = kFirst;
};

}  // namespace flowcon::cluster::peers
