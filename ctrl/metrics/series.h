// SPDX-License-Identifier: Apache-2.0
// One candidate: the values that came under one name from one kind of line, and what can be said
// about them without keeping them all.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ctrl/metrics/names.h"
#include "ctrl/model.h"

namespace flowcon::ctrl::metrics {

/// How often the lines of a series come.
enum class Grain : std::uint8_t {
  none,     ///< no counter on the line
  epoch,    ///< only an epoch
  fine,     ///< a step, batch or bare counter
  redraw,   ///< every state of a progress bar
  finished  ///< the last state of each bar
};

/// What is known of a series before its first value.
struct SeriesTraits {
  std::string name;  ///< as printed
  NameInfo info;
  Grain grain = Grain::none;
  Phase phase = Phase::none;  ///< by its name or else by the words before it
  bool average = false;       ///< the running mean in parentheses
  bool repeated_key = false;  ///< not the first value of that name on its line
  bool nameless = false;
  bool percent = false;      ///< a % stands behind it
  bool labelled = false;     ///< a table's row of one class among others
  bool of_class = false;     ///< its lines tell of one class after the other
  bool of_report = false;    ///< in a report on a model, by class
  bool of_fold = false;      ///< the result of a fold: another model each
  std::uint64_t family = 0;  ///< the same for the same name, phase and kind at another grain
  bool in_table = false;     ///< its name stands in a header, not on its lines
  bool one_spelling = true;  ///< the name was always printed alike, and stands in the text
  int match = 0;  ///< how well it fits the metric the user asked for; 0 = not, 6 = exactly
};

/// Where in a job's course a line stands, as its counters say.
struct Place {
  std::uint32_t record = 0;  ///< hash of its text
  double epoch = NAN;        ///< of this line or the last one that said
  double step = NAN;         ///< the first finer counter of this line
  bool has_counter = false;  ///< one of both is on this line

  void begin_line() {
    step = NAN;
    has_counter = false;
  }
  void count(Role role, double value) {
    if (role == Role::epoch) {
      epoch = value;
    } else if (std::isnan(step)) {
      step = value;
    }
    has_counter = true;
  }
};

/// What has come of a series, copies included.
struct SeriesCounts {
  std::uint64_t added = 0;
  std::uint64_t finite = 0;
  std::uint64_t integers = 0;
  std::uint64_t rises = 0;
  std::uint64_t falls = 0;
  std::uint64_t equal_steps = 0;  ///< steps of the same size as the step before
  std::uint64_t epoch_moves = 0;  ///< values with the next epoch
  std::uint64_t rises_again = 0;  ///< over the value before at the same place
  std::uint64_t falls_again = 0;
  double size_again = 0;    ///< of all of these
  double size_between = 0;  ///< of the steps from one place to the next
  std::uint64_t first_line = 0;
  std::uint64_t last_line = 0;
  std::uint64_t line_before = 0;  ///< the last one but one
  double low = 0;
  double high = 0;
  double first_value = 0;  ///< the first finite one
};

class Series : public SeriesCounts {
 public:
  static constexpr std::size_t kHead = 8;

  explicit Series(SeriesTraits what) : traits(std::move(what)) {}

  /// True if a value at `place` was taken already: the same record is among the last sixteen, on
  /// lines with a counter finer than an epoch; or the last one stood at that place with the same
  /// value, perhaps in another precision. Remembers the place.
  bool is_copy(const Place& place, double value, bool has_counter);
  /// `limit` samples are kept, the last ones; 0 = all.
  void add(Sample sample, std::uint64_t line, bool integer, std::size_t limit);
  /// Overwrites the last value: the same bar drawn once more.
  void replace_last(double value);

  /// How often each record is printed (two handlers, eight ranks): every run of equal values has a
  /// length that this number divides. 1 = records are printed once.
  [[nodiscard]] std::size_t copies() const;
  /// Number of values, copies counted once.
  [[nodiscard]] std::size_t count() const;
  /// The samples kept, copies counted once, oldest first.
  [[nodiscard]] std::vector<Sample> samples() const;
  /// Of each of those, how many values came before it, copies included.
  [[nodiscard]] std::vector<std::size_t> places() const;
  [[nodiscard]] std::vector<Sample> head() const;

  /// Mean of the first values and of the last ones (finite ones, up to eight).
  [[nodiscard]] double early() const;
  [[nodiscard]] double late() const;
  /// Their last values stand on one line, but for one line that only one of them is on.
  [[nodiscard]] bool ends_with(const Series& other) const;

  SeriesTraits traits;

 private:
  struct Kept {
    Sample sample;
    std::uint32_t run_position = 0;
  };
  void count_run(double value);
  bool has_seen(std::uint32_t record);

  std::vector<Kept> ring_;
  std::size_t oldest_ = 0;  ///< index into ring_ when it is full
  std::vector<Kept> head_;
  std::array<std::uint32_t, 16> recent_{};
  std::size_t next_recent_ = 0;
  Place first_place_;
  Place last_place_;
  double copy_ = NAN;        ///< of the last value, in another precision, at its place
  bool is_again_ = false;    ///< the value to come is at the place of the last one
  bool is_crowded_ = false;  ///< different values came at one place
  std::array<double, kHead> tail_{};
  double last_ = 0;
  double last_step_ = 0;
  std::uint32_t run_length_ = 0;
  std::uint64_t runs_ = 0;                      ///< complete ones
  std::array<std::uint64_t, 6> divisible_{};    ///< complete runs that each of kCopies divides
  std::array<std::uint64_t, 6> kept_values_{};  ///< values left if records come in that many copies
};

}  // namespace flowcon::ctrl::metrics
