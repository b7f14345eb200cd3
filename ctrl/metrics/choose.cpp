// SPDX-License-Identifier: Apache-2.0
// Scores: the name says most (0 to 14), behaviour over time corrects it, the number of values
// breaks near ties. The numbers were set on training logs of forty frameworks.
#include "ctrl/metrics/choose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/text.h"
#include "ctrl/metrics/behaviour.h"
#include "ctrl/metrics/words.h"

namespace flowcon::ctrl::metrics {
namespace {

/// Only ever rises, without bound in sight: time, tokens seen.
bool is_accumulating(const Series& series) {
  return series.rises >= 5 && series.falls == 0 && series.low >= 0;
}

/// A "score" or "accuracy" that began near its highest value and went down by half of its range,
/// and far below its first value: an accuracy that only gets worse is one still.
bool is_loss_in_disguise(const Series& series) {
  constexpr std::uint64_t enough = 8;
  const double range = series.high - series.low;
  // A running accuracy begins with all of one sample right.
  const bool is_all = series.low >= 0 && series.first_value == series.high &&
                      (series.high == 1 || series.high == 100);
  const bool may_be = !is_all && !series.traits.percent && series.traits.info.vague &&
                      series.traits.info.better == Better::higher && series.finite >= enough;
  // Deeplearning4j's, of single batches: noisy.
  if (may_be && series.traits.name == "Score at iteration") return trend_of(series) < 0;
  return may_be && series.falls > series.rises && series.first_value >= series.low + 0.8 * range &&
         series.late() <= series.low + 0.5 * range && series.late() <= 0.6 * series.first_value;
}

/// Seconds or milliseconds since 1970, of the years 2008 to 2039; of several processes not in
/// order.
bool is_wall_clock(const Series& series) {
  constexpr double kSpan = 0.005;  // some weeks
  const auto is_within = [&series](double unit) {
    return series.low >= 1.2e9 * unit && series.high <= 2.2e9 * unit;
  };
  const NameInfo& info = series.traits.info;
  const bool is_named = info.role == Role::metric && info.weight > kNamedWeight;
  return !is_named && series.finite > 0 && series.high - series.low <= kSpan * series.low &&
         (is_within(1) || is_within(1e3));
}

/// A sum that can tell what it is made of.
class Tally {
 public:
  explicit Tally(std::vector<Reason>* reasons) : reasons_(reasons) {}

  void add(double points, std::string_view why) {
    sum_ += points;
    if (reasons_ != nullptr && points != 0) reasons_->push_back({points, std::string(why)});
  }
  [[nodiscard]] double sum() const { return sum_; }

 private:
  double sum_ = 0;
  std::vector<Reason>* reasons_;
};

/// The last validation's value, on each line until the next one.
bool is_repeated(const Series& series) {
  const std::uint64_t moves = series.rises + series.falls;
  return series.traits.phase == Phase::eval && moves > 0 && series.finite >= kValuesThatTell &&
         moves * 3 <= series.finite;
}

void count_unknown(const Series& series, Tally& tally) {
  if (series.finite < 4) {
    tally.add(-6, "its name says nothing, and it has too few values to judge");
    return;
  }
  tally.add(1 + 4 * std::min(1.0, std::abs(trend_of(series))),
            "its name says nothing, but it has a trend");
  if (wanders(series)) tally.add(-1.5, "it wanders about");
  if (series.integers == series.finite) tally.add(-5, "whole numbers only");
  if (is_accumulating(series)) tally.add(-4, "it only ever rises");
}

/// A share of a download, of an epoch; an accuracy is noisy or has a name.
bool is_bar_of_percent(const Series& series) {
  return series.traits.percent && series.traits.info.weight <= kNamedWeight && series.rises >= 3 &&
         series.falls * 10 <= series.rises && series.low >= 0 && series.high <= 100;
}

std::string_view name_reason(const Series& series) {
  switch (series.traits.info.better) {
    case Better::lower:
      return "its name is that of a metric, lower is better";
    case Better::higher:
      return "its name is that of a metric, higher is better";
    case Better::unknown:
      break;
  }
  return "its name may be that of a metric";
}

void count_behaviour(const Series& series, Tally& tally) {
  if (is_constant(series)) tally.add(series.finite >= 3 ? -7 : -4, "it never changes");
  if (series.finite == 0 && series.added > 1) tally.add(-5, "it is never a number");
  if (is_bar_of_percent(series))
    tally.add(-6, "a percentage that only rises, as of a progress bar");
  if (hardly_changes(series)) tally.add(-4, "it hardly ever changes, as a setting or a flag");
  if (is_repeated(series)) tally.add(-1, "it is printed again and again until it is measured anew");
  if (is_clockwork(series)) tally.add(-6, "it goes on by the same step, as a counter or a clock");
  if (is_wall_clock(series)) tally.add(-20, "it is the time of day");
  const double trend = trend_of(series);
  const bool named = series.traits.info.role == Role::metric && series.traits.info.weight > 5;
  if (named && series.traits.info.better != Better::unknown) {
    const double towards = trend * (series.traits.info.better == Better::lower ? -1 : 1);
    tally.add(0.5 * towards, towards > 0 ? "it improves over time, by its name"
                                         : "it gets worse over time, by its name");
  }
  if (series.integers == series.finite && series.finite > 0) {
    const bool rewards = series.traits.info.weight >= kRewardWeight;
    tally.add(named ? (rewards ? -0.3 : -1.5) : -3, "whole numbers only");
  }
}

void count_values(std::size_t count, Tally& tally) {
  if (count == 1) {
    tally.add(-7, "a single value");
    return;
  }
  tally.add(1.2 * std::log10(static_cast<double>(count)), "the number of its values");
  if (count == 2) tally.add(-4, "two values only");
}

void count_series(const Series& series, Tally& tally) {
  const SeriesTraits& traits = series.traits;
  if (traits.info.role == Role::metric) {
    tally.add(traits.info.weight, name_reason(series));
  } else {
    count_unknown(series, tally);
  }
  count_behaviour(series, tally);
  count_values(series.count(), tally);
  const bool by_line = traits.info.phase == Phase::none;
  if (by_line && traits.phase == Phase::eval && traits.info.better != Better::higher) {
    tally.add(-1.2, "measured on other data than it learns from");
  }
  if (traits.average) tally.add(-0.7, "a running mean of another value");
  // A line that counts nothing reports a part of a step, or a result.
  if (traits.grain == Grain::none) tally.add(-0.7, "no epoch and no step on its lines");
  if (traits.repeated_key) tally.add(-3, "the second value of that name on its line");
  if (traits.nameless) tally.add(-2, "it has no name");
  if (traits.labelled) tally.add(-3, "a table's row of one class among others");
  if (traits.of_class) tally.add(-9, "one class after the other");
}

/// "id_loss" and "loss_bbox" of a "loss" or "train total loss": the other word says what that is
/// lost on.
bool is_of_a_thing(const std::string& name, const std::string& whole) {
  const std::vector<std::string> words = name_words(name);
  std::vector<std::string> stem = name_words(whole);
  std::erase_if(stem, [](const std::string& word) {
    const Meaning meaning = look_up(word).meaning;
    return meaning == Meaning::neutral || meaning == Meaning::train;
  });
  if (stem.size() != 1 || words.size() != 2) return false;
  const bool is_first = words.front() == stem.front();
  if (!is_first && words.back() != stem.front()) return false;
  constexpr std::array<std::string_view, 6> things{"bbox",           "segm",  "segmentation",
                                                   "classification", "recon", "reconstruction"};
  const std::string& thing = is_first ? words.back() : words.front();
  return look_up(thing).meaning == Meaning::quantity ||
         std::find(things.begin(), things.end(), thing) != things.end();
}

/// "iou_loss" beside "loss" on the same line is a part of it, and "run/loss_iou" of "run/loss".
bool is_part_of_another(const Series& series, const std::vector<std::unique_ptr<Series>>& all) {
  const SeriesTraits& own = series.traits;
  if (own.info.role != Role::metric) return false;
  return std::any_of(all.begin(), all.end(), [&](const auto& other) {
    const SeriesTraits& its = other->traits;
    if (own.info.plain && !is_of_a_thing(own.name, its.name)) return false;
    const bool is_stem = its.info.role == Role::metric && own.name.size() > its.name.size() &&
                         own.name.starts_with(its.name) && own.name[its.name.size()] == '_';
    return (its.info.plain || is_stem) && !its.info.is_best && !its.average &&
           its.info.better == own.info.better && its.info.weight >= own.info.weight - 1 &&
           its.grain == own.grain && its.phase == own.phase && other->ends_with(series) &&
           other->added * 10 >= series.added * 9;
  });
}

/// "Training cost: 602.9, ObjLoss=170.2": beside values that learn, what goes nowhere is time.
bool costs_time(const Series& series, const std::vector<std::unique_ptr<Series>>& all) {
  const SeriesTraits& own = series.traits;
  const std::string words = lower(own.name);
  const bool is_steady = wanders(series) || (series.low > 0 && series.low > 0.8 * series.high);
  if (!words.ends_with(" cost") || series.finite < 2 || !is_steady) return false;
  return std::any_of(all.begin(), all.end(), [&](const auto& other) {
    return other.get() != &series && !wanders(*other) && other->traits.grain == own.grain &&
           other->ends_with(series) && other->added * 10 >= series.added * 9;
  });
}

/// "Initial cost: 0.4", "Final cost: 0.3", "Start training from score 0.35" of one fit after the
/// other.
bool is_end_of_fit(const Series& series) {
  if (series.traits.grain != Grain::none) return false;
  const std::vector<std::string> words = name_words(series.traits.name);
  return !words.empty() &&
         (words.front() == "initial" || words.front() == "final" || words.front() == "start");
}

/// "0: learn: 5040 test: 5141" among lines of what a tree tries.
bool has_twins(const std::vector<std::unique_ptr<Series>>& all) {
  const auto is_twin = [](const SeriesTraits& traits, Phase phase) {
    return traits.grain != Grain::none && traits.info.phase == phase &&
           traits.info.role == Role::metric && traits.info.weight == kPhaseWeight;
  };
  for (const auto& train : all) {
    if (!is_twin(train->traits, Phase::train)) continue;
    for (const auto& eval : all) {
      if (is_twin(eval->traits, Phase::eval) && eval->last_line == train->last_line) return true;
    }
  }
  return false;
}

constexpr std::size_t kBarsThatTell = 3;
constexpr std::size_t kFineFactor = 3;
constexpr double kHidden = -100;

/// True if bars were seen half done: their values are running means, started anew by each bar.
bool has_redrawn_bars(const std::vector<std::unique_ptr<Series>>& all) {
  for (const auto& redraw : all) {
    if (redraw->traits.grain != Grain::redraw) continue;
    for (const auto& finished : all) {
      const bool same = finished->traits.grain == Grain::finished &&
                        finished->traits.family == redraw->traits.family;
      if (same && redraw->count() * 2 >= finished->count() * 3) return true;
    }
  }
  return false;
}

/// Of the whole log.
struct Habits {
  bool redraws_bars = false;
  bool has_twins = false;
};

Habits habits_of(const std::vector<std::unique_ptr<Series>>& all) {
  return {has_redrawn_bars(all), has_twins(all)};
}

/// Among redrawn bars the validation's loss is the value that is printed once and means one thing.
constexpr double kOncePerBar = 1.5;

double bar_correction(const Series& series) {
  const SeriesTraits& traits = series.traits;
  const bool is_validation = traits.grain == Grain::finished && traits.phase == Phase::eval;
  return is_validation && traits.info.better == Better::lower ? kOncePerBar : 0;
}

/// The same value at another grain decides: bars count when they are finished, once there are some;
/// a summary of each epoch is the better series unless the fine one has many more values.
void count_siblings(const Series& series, const std::vector<std::unique_ptr<Series>>& all,
                    bool asked, Tally& tally) {
  for (const auto& other : all) {
    if (other.get() == &series || other->traits.family != series.traits.family) continue;
    const Grain own = series.traits.grain;
    const Grain its = other->traits.grain;
    if (own == Grain::redraw && its == Grain::finished && other->count() >= kBarsThatTell) {
      return tally.add(kHidden, "progress bars half done; the finished ones count");
    }
    if (own == Grain::finished && its == Grain::redraw && series.count() < kBarsThatTell) {
      return tally.add(kHidden, "too few finished progress bars; those half done count");
    }
    if (!asked && own == Grain::fine && its == Grain::epoch &&
        series.count() < kFineFactor * other->count() && other->count() >= kBarsThatTell) {
      return tally.add(-1, "the same value comes once an epoch as well");
    }
  }
}

/// A column without a name that falls from one end of its range to the other, evenly or not.
bool is_falling_column(const Series& series) {
  return series.traits.nameless && trend_of(series) < 0 && crosses_range(series, true) &&
         !is_clockwork(series) && series.integers < series.finite;
}

/// "100  8.35  1.23  1.57": the first of those columns is the total, whichever falls most evenly.
void count_columns(const Series& series, const std::vector<std::unique_ptr<Series>>& all,
                   Tally& tally) {
  if (!is_falling_column(series)) return;
  double most = tally.sum();
  bool is_behind = false;
  for (const auto& other : all) {
    is_behind = is_behind || other.get() == &series;
    const bool is_alike = is_behind && other->first_line == series.first_line &&
                          other->added == series.added && is_falling_column(*other);
    if (!is_alike) continue;
    Tally its(nullptr);
    count_series(*other, its);
    most = std::max(most, its.sum());
  }
  tally.add(most - tally.sum(), "the first of several columns that fall alike");
}

/// The score of `series`; the higher, the better.
double score_of(const Series& series, const std::vector<std::unique_ptr<Series>>& all,
                const NameQuery& query, const Habits& habits, std::vector<Reason>* reasons) {
  Tally tally(reasons);
  if (query.empty()) {
    count_series(series, tally);
    count_columns(series, all, tally);
    if (is_part_of_another(series, all)) tally.add(-2.5, "a part of another value on its lines");
    if (costs_time(series, all))
      tally.add(-6, "a cost that goes nowhere beside other values: time");
    if (is_end_of_fit(series)) tally.add(-9, "how one fit began or ended, and no step counts");
    if (habits.has_twins && series.traits.grain == Grain::none) {
      tally.add(-6, "other lines have a counter and two kinds of data");
    }
    count_siblings(series, all, false, tally);
    if (habits.redraws_bars)
      tally.add(bar_correction(series), "the validation's value of a redrawn bar");
    return tally.sum();
  }
  tally.add(query.preference(series), "it fits the given name");
  count_siblings(series, all, true, tally);
  tally.add(1.2 * std::log10(static_cast<double>(series.count())), "the number of its values");
  if (series.traits.info.is_best) tally.add(-1, "a record, not a measurement");
  // As many values by epoch as by batch: the epoch's are the means.
  if (series.traits.grain == Grain::epoch) tally.add(0.01, "one value an epoch");
  if (series.added == 1) tally.add(-3, "a single value");
  return tally.sum();
}

}  // namespace

GoalGuess judge_goal(const Series& series) {
  const NameInfo& info = series.traits.info;
  const double trend = trend_of(series);
  if (info.negated && series.finite >= 2 && series.high <= 0 && trend > 0) {
    return {Goal::max, true, "because it is below 0 and rose"};
  }
  if (info.better == Better::lower) return {Goal::min, false, "by its name"};
  if (info.better == Better::higher) {
    if (!is_loss_in_disguise(series)) return {Goal::max, false, "by its name"};
    return {Goal::min, true, "because it fell from the start, whatever its name says"};
  }
  if (info.weight > kNamedWeight && series.finite >= 2 && series.high < 0 && wanders(series)) {
    return {Goal::max, true, "because it is below 0, as a likelihood is, and goes nowhere"};
  }
  const bool may_wander = series.traits.nameless && !crosses_range(series, false);
  if (trend > 0 && !(may_wander && wanders(series))) {
    return {Goal::max, true, "because it rose"};
  }
  return {Goal::min, true, trend < 0 ? "because it fell" : "for want of a sign"};
}

std::vector<Scored> rank_candidates(const std::vector<std::unique_ptr<Series>>& all,
                                    const NameQuery& query) {
  std::vector<Scored> ranked;
  const Habits habits = habits_of(all);
  int closest = 0;
  for (const auto& series : all) closest = std::max(closest, series->traits.match);
  for (const auto& series : all) {
    if (series->added == 0) continue;
    if (!query.empty() && series->traits.match != closest) continue;
    const double score = score_of(*series, all, query, habits, nullptr);
    if (score <= kHidden / 2) continue;
    // Rounded, so that equal candidates keep the order in which they appeared.
    ranked.push_back({series.get(), std::round(score * 1e6) / 1e6, judge_goal(*series).goal});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Scored& a, const Scored& b) { return a.score > b.score; });
  return ranked;
}

std::vector<Reason> explain_score(const Series& series,
                                  const std::vector<std::unique_ptr<Series>>& all,
                                  const NameQuery& query) {
  std::vector<Reason> reasons;
  (void)score_of(series, all, query, habits_of(all), &reasons);
  return reasons;
}

}  // namespace flowcon::ctrl::metrics
