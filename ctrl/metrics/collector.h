// SPDX-License-Identifier: Apache-2.0
// Lines in, candidate series and the progress counter out. Decides what a number on a line is (a
// counter, a candidate, a copy of an earlier record), not which candidate is the best.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ctrl/metrics/explain.h"
#include "ctrl/metrics/match.h"
#include "ctrl/metrics/plan.h"
#include "ctrl/metrics/progress.h"
#include "ctrl/metrics/scan.h"
#include "ctrl/metrics/series.h"
#include "ctrl/metrics/table.h"

namespace flowcon::ctrl::metrics {

/// Bounded: at most kMaxSeries series with `keep` samples for the favoured one and kSmallKeep for
/// the others; with keep == 0 at most kMaxSeriesUnbounded series with all their samples.
class Collector {
 public:
  static constexpr std::size_t kMaxSeries = 40;
  static constexpr std::size_t kMaxSeriesUnbounded = 1024;
  static constexpr std::size_t kSmallKeep = 8;
  static constexpr std::size_t kMaxRefused = 32;

  /// With a metric's name only series that match it are collected.
  Collector(const std::string& metric, std::size_t keep);
  void feed(std::string_view line, double time);

  [[nodiscard]] const std::vector<std::unique_ptr<Series>>& series() const { return series_; }
  [[nodiscard]] const NameQuery& query() const { return query_; }
  [[nodiscard]] const Progress& progress() const { return progress_; }
  /// Values taken into all series so far.
  [[nodiscard]] std::uint64_t values() const { return values_; }
  /// The present choice: never evicted, keeps all of its `keep` samples.
  void favour(const Series* series);
  [[nodiscard]] std::uint64_t lines() const { return line_; }

  /// From now on named numbers that are no candidates are remembered, at most kMaxRefused of them.
  void remember_refused() { remembers_refused_ = true; }
  [[nodiscard]] const std::vector<Refused>& refused() const { return refused_; }

  /// From now on only the favoured series and the progress counter are read, from lines that hold
  /// one of needed_words(). False, and nothing changed, where the series' lines cannot be told by
  /// words.
  bool settle();
  /// Empty until settled: all lines are needed.
  [[nodiscard]] const std::vector<std::string>& needed_words() const { return words_; }

 private:
  /// What the counters of a line say.
  struct LineKind {
    Grain grain = Grain::none;
    bool has_counter = false;    ///< finer than an epoch
    bool counter_first = false;  ///< "step 5: loss 0.3", not "loss 0.3, step 5"
    bool bar_finished = false;
    bool same_bar = false;  ///< the finished bar of the line before, drawn again
  };
  struct Judged {
    std::uint64_t hash = 0;
    NameInfo info;
  };

  /// A counter with a total, and whether it was seen on lines without the favoured series.
  struct CounterWord {
    std::uint64_t hash = 0;
    std::string word;
    bool alone = false;
  };

  void feed_line(std::string_view line, double time);
  void feed_long(std::string_view line, std::string_view text, double time);
  bool feed_planned(std::string_view line, double time);
  void take_settled(std::string_view text, const Number& number, bool has_counter, double time);
  void run_plan(std::string_view line, const LinePlan& plan, double time);
  void record_step(PlanStep::Kind kind, const Field& field, std::uint64_t key, Role role);
  void count_ratio(const Field& field, std::uint64_t key, Role role);
  void note_counters(bool with_value);
  void take_row(std::string_view text);
  void take_fields(const std::vector<Field>& fields, std::string_view text, double time);
  void judge_fields(const std::vector<Field>& fields);
  LineKind read_counters(const std::vector<Field>& fields);
  void read_bar(std::string_view text, LineKind& kind);
  bool is_candidate(const Field& field, const Judged& judged, bool nameless_line) const;
  void take_value(const Field& field, const Judged& judged, Grain grain, int occurrence,
                  std::size_t position, const LineKind& kind, double time);
  void refuse(const Field& field, const Judged& judged);
  const NameInfo& judge(std::string_view key, std::uint64_t hash);
  Series* find_or_create(std::uint64_t identity, const Field& field, const Judged& judged,
                         Grain grain, int occurrence, std::size_t position);
  void evict();

  NameQuery query_;
  std::size_t keep_;
  LineScanner scanner_;
  TableReader table_;
  Progress progress_;
  std::unordered_map<std::uint64_t, NameInfo> names_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::vector<std::unique_ptr<Series>> series_;
  std::vector<std::uint64_t> identities_;  ///< of series_, same order
  const Series* favoured_ = nullptr;

  std::vector<std::string> words_;
  std::vector<CounterWord> counter_words_;
  bool many_counters_ = false;  ///< more than can be told by words
  std::vector<std::uint64_t> line_counters_;
  std::unique_ptr<PlanCache> plans_;  ///< only once settled
  LineShape shape_;
  LinePlan* recording_ = nullptr;
  std::size_t index_of_favoured_ = 0;
  std::size_t text_offset_ = 0;

  bool remembers_refused_ = false;
  std::vector<Refused> refused_;
  std::vector<std::uint64_t> refused_names_;  ///< of refused_, same order

  std::vector<Judged> judged_;
  std::vector<Field> row_;
  bool in_table_ = false;
  Bar bar_;
  std::string_view label_;
  std::string unescaped_;
  std::uint64_t line_ = 0;
  std::uint64_t values_ = 0;
  std::uint32_t record_ = 0;
  std::uint64_t skeleton_ = 0;
  bool after_best_ = false;  ///< the line before announced the best record so far
  std::uint64_t last_bar_line_ = 0;
  std::uint64_t last_bar_title_ = 0;
  bool last_bar_finished_ = false;
  bool has_partial_bars_ = false;
};

[[nodiscard]] std::uint64_t text_hash(std::string_view text);

/// True if one of `words` stands somewhere in `text`.
[[nodiscard]] bool holds_any(std::string_view text, const std::vector<std::string>& words);

/// FNV-1a of the text in lower case with runs of blanks as one.
[[nodiscard]] std::uint64_t name_hash(std::string_view text);

}  // namespace flowcon::ctrl::metrics
