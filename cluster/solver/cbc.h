// SPDX-License-Identifier: Apache-2.0
// CBC (the program of Debian's coinor-cbc), run as a child with a limit of time.
#pragma once

#include <string>

#include "base/result.h"
#include "cluster/codec/lp_solution.h"
#include "cluster/policy/horizon.h"

namespace flowcon::cluster::solver {

/// Above this share of the objective, what lies between it and the bound is worth CBC's time.
inline constexpr double kGap = 0.001;

/// Solves a program in CPLEX's LP format. `start`: a file of the command `mips`; "" = none.
/// `seconds`, at least 1, pass by the clock at most; a few more and the child is killed. Blocks.
/// Errors: cbc is not installed; it failed, or found no solution in time; no room for its files.
[[nodiscard]] Result<policy::LpSolution> run_cbc(const std::string& lp, const std::string& start,
                                                 int seconds);

/// The decision as it is where it is within kGap of its bound; else CBC goes on from its plan, and
/// the better one is returned. Errors: as run_cbc(); the program is too large for it.
[[nodiscard]] Result<policy::HorizonDecision> improve_by_cbc(const policy::HorizonState& state,
                                                             policy::HorizonDecision decision,
                                                             int seconds);

}  // namespace flowcon::cluster::solver
