// SPDX-License-Identifier: Apache-2.0
// Doubts: what is printed like a metric by programs that do not learn.
#include "ctrl/metrics/doubt.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "ctrl/metrics/behaviour.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::uint64_t kValuesThatMove = 30;   // of one that learns
constexpr std::uint64_t kValuesOfRest = 8;      // the same all the time: of none that learns
constexpr std::uint64_t kValuesOfLoneRest = 3;  // and where nothing counts
constexpr std::uint64_t kEpochsThatCount = 3;   // on lines of their own, between its values
constexpr std::uint64_t kValuesOfResults = 4;   // fewer that stand alone are results
constexpr std::uint64_t kValuesOfTrend = 8;     // must show one where nothing counts
constexpr std::size_t kManyAlike = 8;           // numbers of one kind, one for each thing
constexpr double kDoubtful = 0.15;
constexpr double kChance = 0.1;     // of a trend
constexpr double kErrorWeight = 9;  // of "error", by its name
constexpr double kMostFall = 1e-8;  // of few values of a metric

bool is_whole(const Series& series) { return series.integers == series.finite; }

/// -1 to 1: the trend towards better values; 0 where the name does not say which those are.
double gain_of(const Series& series) {
  const Better better = series.traits.info.better;
  if (better == Better::unknown) return 0;
  return trend_of(series) * (better == Better::lower ? -1 : 1);
}

/// "Accuracy so far": the mean of an evaluation that goes on.
bool is_so_far(const Series& series) {
  return lower(series.traits.name).ends_with(" so far") && wanders(series);
}

/// Of a model that other data are shown to, over and over: an agent that plays, runs of a search.
bool only_measures(const Series& series) {
  return series.traits.phase == Phase::eval && series.finite > kValuesThatMove && wanders(series) &&
         gain_of(series) < kChance;
}

/// Few values that no counter stands beside: what several models, games or solvers ended with.
bool may_be_results(const Series& series) {
  const SeriesTraits& traits = series.traits;
  if (traits.info.weight > kErrorWeight) return false;  // "loss" is what a training prints
  if (series.finite < kValuesOfResults) return true;
  if (series.finite < kValuesThatTell && gain_of(series) < 0) return true;
  if (traits.in_table || series.finite > kValuesThatMove || is_constant(series)) return false;
  if (series.finite >= kValuesOfTrend && wanders(series) && traits.info.phase == Phase::none) {
    return true;
  }
  // "Objective": neither its name nor its values say which way is better.
  const std::uint64_t moves = series.rises + series.falls;
  return traits.info.better == Better::unknown && traits.info.role == Role::metric &&
         std::max(series.rises, series.falls) * 3 < moves * 2;
}

/// What services, builds and searches print where nothing counts.
bool is_doubtful_alone(const Series& series) {
  const SeriesTraits& traits = series.traits;
  const bool is_higher_better = traits.info.better == Better::higher;
  if (traits.of_report || may_be_results(series)) return true;
  // "Clip  0.0%", "(s): 0.0035": no word of learning.
  if (traits.info.role == Role::unknown && !traits.nameless) return true;
  // "score: 82.6", "score: 79.3": a table of results, the best first.
  const bool is_ordered = traits.info.vague && !traits.info.is_best && is_higher_better;
  if (is_ordered && gain_of(series) < 0) return true;
  // "error= 7.55D-02", and 2.88D-10 some lines on: a solver's residual.
  const bool may_be_residual =
      traits.info.weight <= kErrorWeight && series.finite <= kValuesThatMove;
  if (may_be_residual && series.low > 0 && series.low < kMostFall * series.high) return true;
  // "Hit:3" of packages, "Score: 50/100", "error counts 41855", "4 running": what does not go on.
  const bool may_be_count = is_higher_better ? traits.info.weight < kRewardWeight
                                             : traits.info.weight <= kErrorWeight ||
                                                   traits.info.better == Better::unknown;
  if (is_whole(series) && may_be_count && !traits.percent) return true;
  if (traits.nameless && !goes_one_way(series)) return true;
  // "dev f1" on its plateau is the metric of a training all the same.
  return series.finite > kValuesThatMove && !is_constant(series) && wanders(series) &&
         traits.info.phase == Phase::none;
}

/// "Epoch 1 loss: 2.0", "Epoch 1 loss: 2.2", "Epoch 2 loss: 1.7", "Epoch 2 loss: 1.9": training and
/// evaluation under one name. Two ranks, whose values are nearly the same, do no harm.
bool is_of_two(const Series& series) {
  constexpr std::uint64_t least = 8;  // values
  constexpr double nearly_same = 0.1;
  const std::uint64_t again = series.rises_again + series.falls_again;
  if (series.finite < least || again != series.finite / 2) return false;
  const bool rises = series.rises_again == again && series.rises == again;
  const bool falls = series.falls_again == again && series.falls == again;
  return (rises || falls) && series.rises + series.falls + 1 == series.finite &&
         series.size_again > nearly_same * series.size_between;
}

/// What services, builds and searches print as well, or what nothing comes of.
bool is_doubtful(const Series& series) {
  const SeriesTraits& traits = series.traits;
  // Nothing on its lines counts, nor do headings between them.
  const bool is_alone = traits.grain == Grain::none && series.epoch_moves < kEpochsThatCount;
  // An accuracy that was never computed; a loss that is no number from the start is one.
  if (series.finite == 0) return traits.info.better == Better::higher;
  const bool may_rest = traits.info.plain && traits.info.weight < kRewardWeight;
  const std::uint64_t rest = is_alone ? kValuesOfLoneRest : kValuesOfRest;
  if (is_constant(series) && series.finite >= rest && !may_rest) return true;
  // "0 errors": a count of what never happened.
  const bool is_nothing = is_constant(series) && series.high == 0 && is_whole(series);
  if (is_nothing && lower(traits.name).find("error") != std::string::npos) return true;
  if (traits.of_fold || is_of_two(series) || hardly_changes(series)) return true;
  if (is_so_far(series) || only_measures(series)) return true;
  // "average: 7.5" of something.
  const bool says_little = is_weakly_named(series) && traits.info.role == Role::metric;
  const bool has_few = series.finite < kValuesThatTell;
  if (says_little && (is_alone || (!has_few && wanders(series)))) return true;
  // "Test #1", "CE sym 2": counts; "return x*3", "return x*4": a text that goes on.
  const bool may_be_count =
      is_whole(series) && !traits.percent && traits.info.weight <= kErrorWeight;
  if (has_few && may_be_count) return true;
  const bool may_be_text = traits.info.better != Better::lower || may_be_count;
  if (is_whole(series) && may_be_text && is_clockwork(series)) return true;
  // A record goes one way.
  if (traits.info.is_best && series.finite >= kValuesOfRest && wanders(series)) return true;
  return is_alone && is_doubtful_alone(series);
}

/// "species A is at 0.9", "species B is at 1.2": one for each of many things.
bool is_one_of_many(const Series& series, const std::vector<Scored>& ranked) {
  if (series.traits.info.role != Role::unknown || series.traits.nameless) return false;
  const auto alike = std::count_if(ranked.begin(), ranked.end(), [&](const Scored& scored) {
    const Series& other = *scored.series;
    return other.traits.info.role == Role::unknown && !other.traits.nameless &&
           other.traits.grain == series.traits.grain && other.added * 10 >= series.added * 8 &&
           other.added * 8 <= series.added * 10;
  });
  return static_cast<std::size_t>(alike) > kManyAlike;
}

/// "6.99 0.0099", "6.98 0.0098": a function over a grid, and no epoch or step stands before it.
bool is_over_grid(const Series& series, const std::vector<Scored>& ranked) {
  if (!series.traits.nameless) return false;
  return std::any_of(ranked.begin(), ranked.end(), [&](const Scored& scored) {
    const Series& other = *scored.series;
    return other.traits.nameless && other.traits.name == "column 1" && is_clockwork(other) &&
           other.integers * 2 < other.finite && other.added == series.added &&
           other.last_line == series.last_line;
  });
}

}  // namespace

double confidence_of(const std::vector<Scored>& ranked, const Series* chosen) {
  const auto own = std::find_if(ranked.begin(), ranked.end(),
                                [&](const Scored& scored) { return scored.series == chosen; });
  if (own == ranked.end()) return 0;
  double first = std::clamp((own->score + 1) / 12, 0.05, 1.0);
  // What only its behaviour speaks for needs time to show it.
  const Series& best = *own->series;
  if (best.traits.info.role == Role::unknown) {
    first *= std::min(1.0, static_cast<double>(best.finite) / static_cast<double>(kValuesThatTell));
  }
  if (is_doubtful(best) || is_one_of_many(best, ranked) || is_over_grid(best, ranked)) {
    first *= kDoubtful;
  }
  if (ranked.size() < 2) return first;
  // Half of it rests on the distance to the best other one: four points are beyond doubt.
  const Scored& other = own == ranked.begin() ? ranked[1] : ranked[0];
  const double margin = std::clamp((own->score - other.score) / 4, 0.0, 1.0);
  return first * (0.5 + 0.5 * margin);
}

}  // namespace flowcon::ctrl::metrics
