// SPDX-License-Identifier: Apache-2.0
// The rolling horizon as a mixed integer program, for a solver such as CBC. Text only.
#pragma once

#include <string>

#include "cluster/policy/horizon.h"

namespace flowcon::cluster::policy {

/// In CPLEX's LP format, without the jobs that wait: a binary y_i_t_k for each job, step and number
/// (k its place among the legal ones), the share served s_i_t, and with a pause the share u_i_t_k
/// of a number that goes on without one. Its optimum is that of decide_horizon().
[[nodiscard]] std::string horizon_lp(const HorizonState& state);

}  // namespace flowcon::cluster::policy
