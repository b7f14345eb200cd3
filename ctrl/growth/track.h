// SPDX-License-Identifier: Apache-2.0
// A job's life as estimates need it: its evaluation function and its progress counter against the
// CPU time it used, not against the clock, so that what it was given does not matter. Pure;
// bounded, however long the job runs.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "ctrl/model.h"

namespace flowcon::ctrl::growth {

/// Units: work in CPU seconds since the job began; value in the metric's unit, or the share (0..1)
/// that the counter says is done.
struct WorkPoint {
  double work = 0;
  double value = 0;
};

/// What a daemon sees of a job at one tick.
/// Units: time in seconds on any one clock; used in CPU seconds since the job began; guaranteed in
/// cores: what it would have got had everybody wanted all; done a share, 0..1.
struct TrackLook {
  double time = 0;
  double used = 0;
  double guaranteed = 0;
  std::optional<double> done;  ///< by the progress counter, as last printed
};

/// What is known of a job at one moment, so that another daemon can go on with it. Members
/// as in Track. How many cores it can use is seen anew.
struct TrackRecord {
  double used = 0;
  int cycles = 0;
  double begun = 0;
  std::vector<WorkPoint> values;
  std::vector<WorkPoint> counts;
};

class Track {
 public:
  /// Values and counts that are kept; beyond, every second one goes.
  static constexpr std::size_t kMaxPoints = 96;
  /// The squares of greater values would be no numbers.
  static constexpr double kMostValue = 1e150;

  Track() = default;
  /// A job that goes on at `time`: what is used from then on comes on top of what the record has.
  Track(TrackRecord record, double time)
      : has_look_(true), time_(time), used_before_(record.used), record_(std::move(record)) {}

  /// `fresh`: the values printed since the tick before, in order of time. Each is put at the CPU
  /// time of its moment, by a straight line between the two ticks around it. Values that are not
  /// finite, or beyond kMostValue, are left out. CPU time that went back is another container: all
  /// is forgotten.
  void look(const TrackLook& now, const std::vector<Sample>& fresh);

  /// The clock of `time` was set, or it went on while the machine slept: it is `seconds` ahead.
  void follow_clock(double seconds) {
    time_ += seconds;
    looks_ = {{record_.used, time_}};
  }

  /// Forgets the values: another metric was chosen.
  void forget_values() {
    record_.values.clear();
    ++version_;
  }

  [[nodiscard]] const TrackRecord& record() const { return record_; }
  [[nodiscard]] const std::vector<WorkPoint>& values() const { return record_.values; }
  /// On the way that the job is now on: of a job that went back to an earlier place what came after
  /// that place is left out, and what it took.
  [[nodiscard]] const std::vector<WorkPoint>& counts() const { return record_.counts; }
  /// Work at which that way began; 0 where the counter never fell.
  [[nodiscard]] double begun() const { return record_.begun; }
  /// Grows with every value and every count.
  [[nodiscard]] std::size_t version() const { return version_; }
  /// CPU seconds used by the last tick.
  [[nodiscard]] double used() const { return record_.used; }
  /// Since it began, or last went on elsewhere, it printed a value or a count, or used `work` CPU
  /// seconds: what comes before that may be imports and data that are read again.
  [[nodiscard]] bool is_under_way(double work) const {
    return has_printed_ || record_.used - used_before_ >= work;
  }
  /// The counter starts over and over, from its end or from the same share twice: it counts within
  /// an epoch, not to the end.
  [[nodiscard]] bool is_cyclic() const { return record_.cycles >= kCyclic; }
  /// Its parallelism: cores that it can use, where it was seen to leave some that it was
  /// guaranteed.
  [[nodiscard]] std::optional<double> width() const;
  /// Most cores that it was seen to use.
  [[nodiscard]] double widest() const { return widest_; }

 private:
  static constexpr int kCyclic = 2;

  [[nodiscard]] double used_at(double time) const;
  void count(double done, double work);
  void go_back(double done, double work);

  bool has_look_ = false;
  std::size_t version_ = 0;
  double time_ = 0;
  std::vector<WorkPoint> looks_;  // the value is the time: where values that come late belong
  double used_before_ = 0;
  bool has_printed_ = false;
  double widest_ = 0;
  bool is_narrow_ = false;
  std::optional<double> top_;  // of the counter, before it last fell
  TrackRecord record_;
};

}  // namespace flowcon::ctrl::growth
