// SPDX-License-Identifier: Apache-2.0
// Lines in, candidate series and the progress counter out. Decides what a number on a line is (a
// counter, a candidate, a copy of an earlier record), not which candidate is the best.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ctrl/metrics/bars.h"
#include "ctrl/metrics/column.h"
#include "ctrl/metrics/match.h"
#include "ctrl/metrics/plan.h"
#include "ctrl/metrics/progress.h"
#include "ctrl/metrics/refusals.h"
#include "ctrl/metrics/scan.h"
#include "ctrl/metrics/series_set.h"
#include "ctrl/metrics/settled.h"
#include "ctrl/metrics/table.h"

namespace flowcon::ctrl::metrics {

/// Bounded as SeriesSet; lines that differ from an earlier one by their numbers only are read by
/// its plan, unless all samples are kept and the choice has not settled.
class Collector {
 public:
  /// With a metric's name only series that match it are collected. `keep`: see SeriesSet.
  Collector(const std::string& metric, std::size_t keep);
  void feed(std::string_view line, double time);
  /// Before the first line: how far the job goes by its command or its environment.
  void told(const std::vector<ToldTotal>& totals) { progress_.told(totals); }

  [[nodiscard]] const std::vector<std::unique_ptr<Series>>& series() const { return series_.all(); }
  [[nodiscard]] const NameQuery& query() const { return query_; }
  [[nodiscard]] const Progress& progress() const { return progress_; }
  /// Values taken into all series so far.
  [[nodiscard]] std::uint64_t values() const { return values_; }
  /// The present choice: never evicted, keeps all of its `keep` samples.
  void favour(const Series* series);
  [[nodiscard]] std::uint64_t lines() const { return line_; }

  /// Where a metric is asked for: names of others that came, the first ones.
  [[nodiscard]] const std::vector<std::string>& seen() const { return seen_; }
  /// What of the log cannot be read, in plain words; "" = nothing.
  [[nodiscard]] std::string warning() const;

  /// From now on named numbers that are no candidates are remembered; every line goes the long way
  /// until the choice has settled.
  void remember_refused();
  [[nodiscard]] const std::vector<Refused>& refused() const { return refusals_.all(); }

  /// From now on only the favoured series and the progress counter are read, from lines that hold
  /// one of needed_words(). False, and nothing changed, where no words identify the series'
  /// lines.
  bool settle();
  /// Empty until settled: all lines are needed.
  [[nodiscard]] const std::vector<std::string>& needed_words() const { return words_; }

 private:
  /// What the counters of a line say.
  struct LineKind {
    Grain grain = Grain::none;
    bool has_counter = false;    ///< finer than an epoch
    bool counter_first = false;  ///< "step 5: loss 0.3", not "loss 0.3, step 5"
    BarSeen bar;
  };
  struct Judged {
    std::uint64_t hash = 0;
    NameInfo info;
  };

  /// What a line without values said of those that follow.
  struct Above {
    bool is_best = false;  ///< the next one is the best record so far
    Phase phase = Phase::none;
    double epoch = NAN;        ///< at that time
    bool is_first = false;     ///< no line of values came since
    bool has_counter = false;  ///< the lines of values since do
    bool was_used = false;     ///< some value was distinguished by it
  };

  [[nodiscard]] bool is_settled() const { return !words_.empty(); }
  /// More than its numbers decides what this line does.
  void refuse_plan() {
    if (plans_) plans_->refuse_line();
  }
  /// The names of the numbers to come may stand above them.
  [[nodiscard]] bool has_head() const { return table_.has_header() || column_.is_open(); }
  void feed_line(std::string_view line, double time);
  /// `line`: without what another one has printed behind a bar.
  void feed_part(std::string_view line, double time);
  void feed_long(std::string_view line, std::string_view text, double time);
  void run_plan(std::string_view line, const LinePlan& plan, double time);
  void count(const Field& field, std::uint64_t key, Role role,
             PlanStep::Kind kind = PlanStep::Kind::counter);
  void count_ratio(const Field& field, const Judged& judged, bool is_outer, std::string_view text);
  void count_nameless(const std::vector<Field>& fields, std::size_t index, bool is_outer,
                      std::string_view text);
  bool note_total(const Field& field, const Judged& judged, std::string_view text, bool has_ratio);
  void take_row(std::string_view text);
  void take_fields(const std::vector<Field>& fields, std::string_view text, double time);
  [[nodiscard]] bool ends_at_comma(const Field& field, std::string_view text) const;
  void read_command(std::string_view text, double time);
  Phase phase_of(const Field& field, const Judged& judged, const LineKind& kind);
  void judge_fields(const std::vector<Field>& fields);
  LineKind read_counters(const std::vector<Field>& fields, std::string_view text);
  void read_bar(const std::vector<Field>& fields, std::string_view text, LineKind& kind);
  bool is_candidate(const Field& field, const Judged& judged, bool nameless_line) const;
  void take_value(const Field& field, const Judged& judged, Grain grain, int occurrence,
                  std::size_t position, const LineKind& kind, double time);
  void add_value(Series& series, double value, bool integer, bool has_counter, double time);
  const NameInfo& judge(std::string_view key, std::uint64_t hash);
  Series* find_or_create(std::uint64_t identity, const Field& field, const Judged& judged,
                         Grain grain, int occurrence, std::size_t position, const LineKind& kind);

  NameQuery query_;
  LineScanner scanner_;
  TableReader table_;
  NamedColumn column_;
  Progress progress_;
  SeriesSet series_;
  Refusals refusals_;
  CounterWords counters_;           ///< followed until the choice settles
  std::vector<std::string> words_;  ///< only once settled
  std::optional<LinePlans> plans_;  ///< none where each line goes the long way
  std::unordered_map<std::uint64_t, NameInfo> names_;

  /// The line that is being read.
  struct Present {
    std::vector<Field> row;
    bool in_table = false;
    bool of_class = false;  ///< it is about one class among others
    Bar bar;
    std::string_view text;
    std::size_t whole = 0;  ///< bytes of the line, of which this may be a part
    std::string_view label;
    std::uint64_t skeleton = 0;
  };
  Present now_;
  std::vector<Judged> judged_;
  std::string unescaped_;
  Place place_;

  std::uint64_t line_ = 0;
  double begun_ = 0;  ///< time of the first line
  std::uint64_t values_ = 0;
  bool took_metric_ = false;  ///< from this line
  bool has_decimal_commas_ = false;
  bool has_zero_bytes_ = false;
  std::vector<std::string> seen_;  ///< metrics' names, while one is asked for
  Above above_;
  Bars bars_;
};

}  // namespace flowcon::ctrl::metrics
