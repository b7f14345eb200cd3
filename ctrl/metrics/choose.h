// SPDX-License-Identifier: Apache-2.0
// Which candidate is the job's evaluation function. Pure: statistics in, scores out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ctrl/metrics/explain.h"
#include "ctrl/metrics/match.h"
#include "ctrl/metrics/series.h"
#include "ctrl/model.h"

namespace flowcon::ctrl::metrics {

struct Scored {
  const Series* series = nullptr;
  double score = 0;
  Goal goal = Goal::min;
};

struct GoalGuess {
  Goal goal = Goal::min;
  bool is_guess = false;  ///< from its behaviour, not from its name
  const char* how = "";   ///< in plain words
};

/// Which way the series improves: by its name, else by the way it went. A name that says the
/// opposite of what the values do from the first one on is not believed.
[[nodiscard]] GoalGuess judge_goal(const Series& series);

/// All candidates that could be chosen, best first; those of one name and another grain that lose
/// against their sibling come behind it. With a query only what matches it as well as the best
/// does.
[[nodiscard]] std::vector<Scored> rank_candidates(const std::vector<std::unique_ptr<Series>>& all,
                                                  const NameQuery& query);

/// What the score of `series` among `all` is made of, in the order in which it counts.
[[nodiscard]] std::vector<Reason> explain_score(const Series& series,
                                                const std::vector<std::unique_ptr<Series>>& all,
                                                const NameQuery& query);

}  // namespace flowcon::ctrl::metrics
