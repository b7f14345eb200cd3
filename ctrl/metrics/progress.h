// SPDX-License-Identifier: Apache-2.0
// How far a job is by its own account. Every counter is followed; one that is seen to begin again,
// or that stands within an epoch, never speaks for the job by itself. Where an epoch of a known
// number of epochs and a counter within the epoch are both printed, they are one progress:
// done = (e - 1) + b/B of E (e + b/B where the epochs begin at 0).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ctrl/metrics/names.h"
#include "ctrl/metrics/report.h"
#include "ctrl/metrics/told.h"

namespace flowcon::ctrl::metrics {

/// Bounded: 16 counters, of which 4 may have one name and different totals.
class Progress {
 public:
  /// Counters of another line follow, which has that time; `is_bar`: one with a progress bar.
  void begin_line(bool is_bar, double time = 0);
  /// A counter "done/total". `name` identifies it (a hash); one name with two totals is two
  /// counters, unless it counts epochs. Role::unknown: it stands on its lines without a word.
  void ratio(std::uint64_t name, Role role, double done, double total,
             RatioKind kind = RatioKind::plain);
  /// A counter without a total ("epoch: 3"; "epoch: 0.17" is not whole). Role::unknown: a number
  /// without a name that leads its lines, a counter only if it behaves like one and a total is
  /// stated.
  /// `is_many`: "iters: 600", which may be how many there will be.
  void counter(std::uint64_t name, Role role, double done, bool is_whole, bool is_many = false);
  /// A total that stands elsewhere: max_epochs, "epochs=20". One that rises twice is a counter.
  void total(std::uint64_t name, bool of_epochs, double total);
  /// What is known of it before its first line.
  void told(const std::vector<ToldTotal>& totals);
  /// The share of its steps that is done ("Iteration 2000 [10%]"), in percent; `is_end`: "Finished
  /// [100%]", which counts where another one came before.
  void share(double percent, bool is_end);
  /// "Epoch 2: 50% loss 0.7", of an epoch that is counted before it on the line; in percent.
  void share_of_epoch(double percent);
  /// The time left that it prints. Units: seconds; `since`: from its first line.
  void time_left(double since, double left);
  /// A line with values of a metric.
  void values();

  [[nodiscard]] std::optional<Counter> result() const;
  /// A counter says how far the job goes: the time left adds nothing.
  [[nodiscard]] bool has_total() const;

 private:
  /// How a counter has moved.
  struct Moves {
    std::uint64_t count = 0;
    std::uint64_t falls = 0;
    std::uint64_t rises = 0;
    std::uint64_t cycles = 0;   ///< falls that began it anew
    std::uint64_t crossed = 0;  ///< rises over the end of an epoch
    std::uint64_t epochs = 0;   ///< epochs that had begun when it last came
    std::uint64_t last = 0;     ///< moves of all counters when it last came
    std::uint64_t gap = 1;      ///< most moves of the others in between
    std::uint64_t hops = 0;     ///< as Progress::hops_ when it last came
  };
  struct State : Moves {
    std::uint64_t name = 0;
    RatioKind kind = RatioKind::plain;
    Role role = Role::unknown;
    double first = 0;
    double done = 0;
    double before = 0;    ///< what it was before that
    double total = 0;     ///< 0 = not printed
    double fraction = 0;  ///< of the present epoch, by a counter within it
    double top = -1;      ///< from where it last fell
    bool has_inner = false;
    bool is_broken = false;      ///< one name, a total that changes all the time: a pair of indices
    bool has_fractions = false;  ///< "epoch 0.17"
    bool is_many = false;        ///< "iters: 600"
    bool is_passed = false;      ///< a count without a total has gone beyond its total
    bool leads = false;          ///< stands before the epoch: "step 5/9000, epoch 0"
    std::uint64_t first_line = 0;     ///< as Progress::line_ when it first came
    std::uint64_t line = 0;           ///< and when it last came
    bool has_values = false;          ///< its lines hold values of a metric
    std::uint64_t values = 0;         ///< lines of values when it last came
    std::uint64_t values_before = 0;  ///< and before it first came
    double first_at = 0;              ///< time of its first line
    double last_at = 0;
  };
  struct Stated {
    std::uint64_t name = 0;
    bool of_epochs = false;
    double total = 0;
    std::uint64_t rises = 0;
    TotalFrom from = TotalFrom::log;
    std::uint64_t line = 0;  ///< as Progress::line_
  };
  /// Of "Iteration 2000 [10%]", in percent.
  struct Shares {
    double done = 0;  // the latest
    std::uint64_t count = 0;
    std::uint64_t rises = 0;
    bool has_fallen = false;
    double first_at = 0;
    double last_at = 0;
  };
  /// Of "Epoch 2: 50%", in percent.
  struct EpochShare {
    double done = 100;  // the latest
    std::uint64_t epochs = 0;
    bool has_risen = false;  // within an epoch
  };
  /// The times left, as the share of the whole time that is over.
  struct TimeLeft {
    std::uint64_t count = 0;
    double since = 0;
    double left = 0;
    double longest = 0;  // since it last began anew
    double share = 0;
    std::uint64_t epochs = 0;  // epochs that had begun when it first came
    bool is_cyclic = false;    // of each epoch, not of the job
  };
  [[nodiscard]] const Stated* last_stated(bool of_epochs, double least = 0) const;
  [[nodiscard]] double stated(bool of_epochs, double least = 0) const;
  [[nodiscard]] bool counts_epochs(const State& state) const;
  /// By its words; a counter on lines without values may count anything.
  [[nodiscard]] static bool counts_batches(const State& state) {
    return state.kind == RatioKind::of_epoch && state.has_values;
  }
  [[nodiscard]] Counter counted(const State& state, double done) const;
  [[nodiscard]] std::optional<Counter> by_counters() const;
  [[nodiscard]] std::optional<Counter> by_shares() const;
  [[nodiscard]] std::optional<Counter> by_time_left() const;
  State& state(std::uint64_t name, Role role, double done, double total);
  void move(State& now, double done);
  [[nodiscard]] bool is_late(const State& state) const;
  [[nodiscard]] bool is_just_beyond(const State& state, double total) const;
  [[nodiscard]] double total_of(const State& state) const;
  [[nodiscard]] bool is_dead(const State& state) const;
  [[nodiscard]] bool is_over(const State& epoch) const;
  [[nodiscard]] bool stands_still(const State& epoch) const;
  [[nodiscard]] bool is_within_epoch(const State& step, const State* epoch) const;
  [[nodiscard]] const State* best_epoch() const;
  [[nodiscard]] const State* best_step() const;
  [[nodiscard]] const State* named_epoch() const;

  std::vector<State> states_;
  std::vector<Stated> stated_;  ///< the latest last
  Shares shares_;
  EpochShare epoch_share_;
  TimeLeft time_left_;
  std::optional<std::uint64_t> leading_;  ///< the ratio that begins this line
  bool is_led_ = false;                   ///< no ratio comes first on this line
  double time_ = 0;                       ///< of this line
  std::uint64_t line_ = 0;
  std::uint64_t moves_ = 0;
  std::uint64_t hops_ = 0;  ///< of these, those of numbers that go to and fro
  std::uint64_t epochs_ = 0;
  std::uint64_t values_ = 0;
};

}  // namespace flowcon::ctrl::metrics
