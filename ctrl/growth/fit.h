// SPDX-License-Identifier: Apache-2.0
// When a training will have made most of its way, from the noisy values of its loss so far. Pure
// arithmetic on at most a hundred points.
#pragma once

#include <optional>
#include <vector>

#include "ctrl/growth/track.h"
#include "ctrl/model.h"

namespace flowcon::ctrl::growth {

/// Share of its improvement with which a model counts as usable: the "90" in the names of this
/// room.
inline constexpr double kUsable = 0.9;

/// A work at which 90 % may be reached, and how likely it is that one; all weights add up to 1.
/// Units: CPU seconds.
struct WorkChance {
  double work = 0;
  double weight = 0;
};

/// Where 90 % of the improvement up to `horizon` will be there, each between 0 and `horizon`, in
/// order. Units: CPU seconds from where the training begins, `points` too.
///
/// The curve is taken to be E1 + b exp(-w/t) or E1 + b/(1+w/t). For each of thirty t, from a
/// hundredth to three times the horizon, it is fitted by least squares (points far off weigh less)
/// and gives an answer, which weighs by how well it fits, and by what trainings are like as a rule
/// (t around an eighth of all work, give or take a factor of e). So the first values say little and
/// a long curve says it all. A fit that leads away from the goal has no part; without points it is
/// the rule alone. `remembered`, above 0, is where earlier runs of the same training had it:
/// answers far from it weigh little.
[[nodiscard]] std::vector<WorkChance> work_to_90(const std::vector<WorkPoint>& points, Goal goal,
                                                 double horizon,
                                                 std::optional<double> remembered = {});

}  // namespace flowcon::ctrl::growth
