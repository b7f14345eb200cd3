// SPDX-License-Identifier: Apache-2.0
// The exact search among the plans that prices leave possible: dynamic programming over the nodes
// used in each step, job by job, for the jobs whose end is in sight (the core). To all others a
// node is worth the same whatever they get in other steps, so they share what is left, each step by
// itself. Pure.
#pragma once

#include "cluster/policy/horizon_bound.h"
#include "cluster/policy/horizon_model.h"
#include "cluster/policy/horizon_sweep.h"

namespace flowcon::cluster::policy::horizon {

/// Makes `plan` better where it can, and `bound` less where that is proven; where the two are equal
/// then, the plan is optimal. Ends by counted work.
void improve_plan(const Model& model, const Dual& dual, Sweeper& sweeper, Plan& plan,
                  double& bound);

}  // namespace flowcon::cluster::policy::horizon
