// SPDX-License-Identifier: Apache-2.0
// Why a series was chosen, as data. Collected only for who asks; it never changes the choice.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ctrl/model.h"

namespace flowcon::ctrl::metrics {

/// One thing that counted for (above 0) or against a candidate.
struct Reason {
  double points = 0;
  std::string text;  ///< plain words, ours
};

/// A candidate and what its score is made of: the points add up to it.
struct Explained {
  std::string metric;  ///< as printed by the job: not safe for a terminal
  Goal goal = Goal::min;
  std::string direction;  ///< how the goal is known, in plain words
  double score = 0;
  std::size_t count = 0;  ///< values seen
  std::vector<Reason> reasons;
};

/// A named number of the log that cannot be the metric.
struct Refused {
  std::string name;  ///< as printed by the job: not safe for a terminal
  std::string text;  ///< why, in plain words; may hold a word of the name, in lower case ASCII
  std::size_t count = 0;
};

struct Explanation {
  std::vector<Explained> candidates;  ///< in the order of Report::candidates, then hidden ones
  std::vector<Refused> refused;       ///< in the order in which they appeared, at most 32
};

}  // namespace flowcon::ctrl::metrics
