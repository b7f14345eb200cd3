// SPDX-License-Identifier: Apache-2.0
// How much CPU time a job still needs: to its end, and to 90 % of the improvement that it will
// make. From its progress counter, else from earlier runs of the same training, else from its age
// alone; and from the shape of its loss. Pure functions of what a Track holds.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ctrl/growth/fit.h"
#include "ctrl/growth/track.h"
#include "ctrl/model.h"

namespace flowcon::ctrl::growth {

/// What earlier runs of the same image and command were like.
/// Units: CPU seconds in all; share90 is the share of them after which 90 % of the improvement was
/// there.
struct Remembered {
  double total = 0;
  std::optional<double> share90;
};

/// The last runs of each training that ended well. Bounded.
class RunMemory {
 public:
  static constexpr std::size_t kMaxRuns = 5;  ///< of one training
  static constexpr std::size_t kMaxTrainings = 1000;

  /// `key` says what is the same training: image and command.
  void remember(const std::string& key, const Remembered& run);
  /// The medians of what is remembered; empty where nothing is.
  [[nodiscard]] std::optional<Remembered> recall(const std::string& key) const;

 private:
  struct Runs {
    std::vector<Remembered> runs;  // oldest first
    Remembered medians;
    std::size_t turn = 0;  // when the last one came
  };
  std::map<std::string, Runs, std::less<>> trainings_;
  std::size_t turn_ = 0;
};

/// A run that ended, as it is remembered. Empty where it used no CPU time.
[[nodiscard]] std::optional<Remembered> remembered_run(const Track& track, Goal goal);

/// What the work that is left was told by.
enum class Basis {
  counter,  ///< the progress counter
  memory,   ///< earlier runs
  age       ///< nothing: as much is expected as was done
};

/// "counter", "memory", "age".
[[nodiscard]] constexpr const char* name(Basis basis) {
  return basis == Basis::counter ? "counter" : basis == Basis::memory ? "memory" : "age";
}

/// Units: CPU seconds.
struct Forecast {
  Basis basis = Basis::age;
  double left = 0;  ///< above 0
  /// What it takes to 90 %: of all works to be done next, the least per chance to be there by then.
  /// Empty: not known.
  std::optional<double> left90;
  double open90 = 1;     ///< the chance that 90 % are still to come, 0..1
  bool is_first = true;  ///< no earlier run is known
};

/// Times the least work: a job that used less is not known by its age.
inline constexpr double kKnownByAge = 10;

/// The work that is left, alone. Units: CPU seconds.
struct WorkLeft {
  Basis basis = Basis::age;
  double left = 0;  ///< above 0
};

/// What it took long to find, kept from one forecast of a track to the next. It holds while nothing
/// new was printed and the expected end is about the same.
struct Chances {
  std::optional<std::size_t> version;  ///< of the track
  double end = 0;
  std::optional<Remembered> earlier;  ///< as `end` was found
  bool is_due = false;                ///< `chances` are still to be found
  std::optional<std::size_t> pace_version;
  std::optional<double> pace;  ///< CPU seconds for one whole, by the counter
  std::vector<WorkChance> chances;
};

/// `least`: work below this is not told apart, in CPU seconds.
///
/// Left by counter: what is not done yet times the CPU seconds per share done, the median slope of
/// the last counts, so that slow first iterations and an evaluation now and then are left out; what
/// was used since the last count is taken off. By memory: the total of earlier runs less what was
/// used, and once that is over, as by age: half of what was used, half as much again and so on.
///
/// left90: where E against work is to have made 90 % of what it makes up to the end, see fit.h;
/// with too few values by memory, else as a rule.
[[nodiscard]] Forecast forecast_of(const Track& track, Goal goal,
                                   const std::optional<Remembered>& earlier, double least,
                                   Chances* kept = nullptr);

/// The work that is left as forecast_of() has it, without the shape of the loss, which costs most.
/// With `kept`, later forecasts are what they would be had this been one.
[[nodiscard]] WorkLeft left_of(const Track& track, const std::optional<Remembered>& earlier,
                               double least, Chances* kept = nullptr);

}  // namespace flowcon::ctrl::growth
