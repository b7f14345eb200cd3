// SPDX-License-Identifier: Apache-2.0
// What a solver such as CBC is given to begin with, and what it writes of its solution, for the
// program of horizon_lp.h. Text and types only; the solver's text is not trusted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/policy/horizon.h"

namespace flowcon::cluster::policy {

/// The solver's own words of a solution.
struct LpSolution {
  static constexpr std::size_t kMostBytes = 64U << 20;
  static constexpr std::size_t kMostLines = 2'000'000;

  bool is_optimal = false;
  double objective = 0;
  std::vector<std::string> chosen;  ///< the binaries y_… that are 1
};

/// Reads the file that CBC's command `solution` writes: "Optimal - objective value 2.5", then
/// "INDEX NAME VALUE COST" a line. Errors: no solution was found (it is infeasible, or the time was
/// up); another first line; a line that is none; too large.
[[nodiscard]] Result<LpSolution> read_lp_solution(std::string_view text);

/// A plan as the file that CBC's command `mips` reads: the binaries that are 1 and each s_i_t.
[[nodiscard]] std::string lp_start(const HorizonState& state, const HorizonDecision& decision);

/// The better of both plans by the objective, which is computed here; the bound stays. Errors: the
/// solution is no plan of this state: a name that there is not, a job and step without a number or
/// with two, more nodes than there are.
[[nodiscard]] Result<HorizonDecision> better_plan(const HorizonState& state,
                                                  HorizonDecision decision,
                                                  const LpSolution& solution);

}  // namespace flowcon::cluster::policy
