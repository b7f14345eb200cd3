// SPDX-License-Identifier: Apache-2.0
// Scores: the name says most (0 to 14), behaviour over time corrects it, the number of values
// breaks near ties. The numbers were set on training logs of forty frameworks.
#include "ctrl/metrics/choose.h"

#include <algorithm>
#include <cmath>

namespace flowcon::ctrl::metrics {
namespace {

/// -1 to 1: how far the series fell (negative) or rose between its first and last values, as a
/// share of its range.
double trend_of(const Series& series) {
  const double range = series.high - series.low;
  if (series.finite < 2 || !(range > 0) || !std::isfinite(range)) return 0;
  return (series.late() - series.early()) / range;
}

bool is_constant(const Series& series) { return series.finite >= 2 && series.low == series.high; }

/// Goes on by the same step nearly always: a counter, a clock, a schedule.
bool is_clockwork(const Series& series) {
  const std::uint64_t steps = series.rises + series.falls;
  return steps >= 4 && series.equal_steps * 10 >= steps * 8;
}

/// Only ever rises, without bound in sight: time, tokens seen.
bool is_accumulating(const Series& series) {
  return series.rises >= 5 && series.falls == 0 && series.low >= 0;
}

double unknown_score(const Series& series) {
  if (series.finite < 4) return -6;
  double score = 1 + 4 * std::min(1.0, std::abs(trend_of(series)));
  if (series.integers == series.finite) score -= 5;
  if (is_accumulating(series)) score -= 4;
  return score;
}

double behaviour(const Series& series) {
  double score = 0;
  if (is_constant(series)) score -= series.finite >= 3 ? 7 : 4;
  if (is_clockwork(series)) score -= 6;
  const double trend = trend_of(series);
  const bool named = series.traits.info.role == Role::metric && series.traits.info.weight > 5;
  if (named && series.traits.info.better != Better::unknown) {
    const double wanted = series.traits.info.better == Better::lower ? -1 : 1;
    score += 0.5 * trend * wanted;
  }
  if (series.integers == series.finite && series.finite > 0) {
    const bool rewards = series.traits.info.weight >= 12;
    score -= named ? (rewards ? 0.3 : 1.5) : 3;
  }
  return score;
}

double count_score(std::size_t count) {
  const double many = 1.2 * std::log10(static_cast<double>(count));
  if (count == 1) return -7;
  return count == 2 ? many - 4 : many;
}

double score_of(const Series& series) {
  const SeriesTraits& traits = series.traits;
  double score = traits.info.role == Role::metric ? traits.info.weight : unknown_score(series);
  score += behaviour(series) + count_score(series.count());
  const bool by_line = traits.info.phase == Phase::none;
  if (by_line && traits.phase == Phase::eval && traits.info.better != Better::higher) score -= 1.2;
  if (traits.average) score -= 0.7;
  // A line that counts nothing reports a part of a step, or a result.
  if (traits.grain == Grain::none) score -= 0.7;
  if (traits.repeated_key) score -= 3;
  if (traits.nameless) score -= 2;
  if (traits.labelled) score -= 3;
  return score;
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
      if (same && redraw->count() > finished->count()) return true;
    }
  }
  return false;
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
double sibling_correction(const Series& series, const std::vector<std::unique_ptr<Series>>& all,
                          bool asked) {
  for (const auto& other : all) {
    if (other.get() == &series || other->traits.family != series.traits.family) continue;
    const Grain own = series.traits.grain;
    const Grain its = other->traits.grain;
    if (own == Grain::redraw && its == Grain::finished && other->count() >= kBarsThatTell)
      return kHidden;
    if (own == Grain::finished && its == Grain::redraw && series.count() < kBarsThatTell)
      return kHidden;
    if (!asked && own == Grain::fine && its == Grain::epoch &&
        series.count() < kFineFactor * other->count() && other->count() >= kBarsThatTell) {
      return -1;
    }
  }
  return 0;
}

}  // namespace

Goal goal_of(const Series& series) {
  if (series.traits.info.better == Better::lower) return Goal::min;
  if (series.traits.info.better == Better::higher) return Goal::max;
  return trend_of(series) > 0 ? Goal::max : Goal::min;
}

std::vector<Scored> rank_candidates(const std::vector<std::unique_ptr<Series>>& all,
                                    const NameQuery& query) {
  std::vector<Scored> ranked;
  const bool redrawn = has_redrawn_bars(all);
  int closest = 0;
  for (const auto& series : all) closest = std::max(closest, series->traits.match);
  for (const auto& series : all) {
    if (series->added == 0) continue;
    double score = 0;
    if (query.empty()) {
      score = score_of(*series) + sibling_correction(*series, all, false);
      if (redrawn) score += bar_correction(*series);
    } else {
      if (series->traits.match != closest) continue;
      score = query.preference(*series) + sibling_correction(*series, all, true) +
              1.2 * std::log10(static_cast<double>(series->count()));
      // As many values by epoch as by batch: the epoch's are the means.
      if (series->traits.grain == Grain::epoch) score += 0.01;
      if (series->added == 1) score -= 3;
    }
    if (score <= kHidden / 2) continue;
    // Rounded, so that equal candidates keep the order in which they appeared.
    ranked.push_back({series.get(), std::round(score * 1e6) / 1e6, goal_of(*series)});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Scored& a, const Scored& b) { return a.score > b.score; });
  return ranked;
}

double confidence_of(const std::vector<Scored>& ranked) {
  if (ranked.empty()) return 0;
  const double first = std::clamp((ranked[0].score + 1) / 12, 0.05, 1.0);
  if (ranked.size() < 2) return first;
  // Half of it rests on the distance to the next one: four points are beyond doubt.
  const double margin = std::clamp((ranked[0].score - ranked[1].score) / 4, 0.0, 1.0);
  return first * (0.5 + 0.5 * margin);
}

}  // namespace flowcon::ctrl::metrics
