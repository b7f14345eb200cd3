// SPDX-License-Identifier: Apache-2.0
// How shares become weights, for every resource that has weights. Pure.
#pragma once

#include <string>
#include <vector>

namespace flowcon::cgroups {

/// How a share becomes a setting.
enum class LimitMode { weight, quota };

/// What one container asks for among its siblings.
struct Claim {
  std::string parent;   ///< parent group; weights compete among siblings only
  double original = 0;  ///< weight before control; 0 takes no part
  double factor = 1;    ///< user's own factor on the weight, > 0
  double limit = 1;     ///< share of the host in (0,1]
};

/// The limit that is meant: one below 1e-6 counts as 1e-6, one that is above 1 or NaN as 1.
[[nodiscard]] double safe_limit(double limit);

/// Weights that keep together what the siblings had, in order:
///   w_i = o_i f_i l_i * S, where o is the original weight, f the factor, l the limit and
///   S = sum(o_j) / sum(o_j f_j l_j) over the n siblings (same parent).
/// With `reserve` R > 0 the siblings together weigh at most sum(o_j) / n * (1 - R) / R: a group of
/// the same weight beside them has R where all want all. Rounded to the nearest integer, at least 1
/// and at most 1e9; what the kernel's range makes of it is the caller's. 0 where the original is 0.
/// A factor that is not finite and positive counts as 1. Source: DESIGN.md, Limits;
/// docs/architecture.md.
[[nodiscard]] std::vector<double> scaled_weights(const std::vector<Claim>& claims,
                                                 double reserve = 0);

}  // namespace flowcon::cgroups
