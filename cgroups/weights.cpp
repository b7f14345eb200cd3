// SPDX-License-Identifier: Apache-2.0
#include "cgroups/weights.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace flowcon::cgroups {
namespace {

constexpr double kLeastLimit = 1e-6;
constexpr double kMostWeight = 1e9;

struct Totals {
  double original = 0;
  double claimed = 0;
  double count = 0;  // that take part
};

double claimed(const Claim& claim) {
  const bool is_sane = std::isfinite(claim.factor) && claim.factor > 0;
  return claim.original * (is_sane ? claim.factor : 1.0) * safe_limit(claim.limit);
}

}  // namespace

double safe_limit(double limit) {
  return std::isnan(limit) ? 1.0 : std::clamp(limit, kLeastLimit, 1.0);
}

std::vector<double> scaled_weights(const std::vector<Claim>& claims, double reserve) {
  std::map<std::string, Totals> parents;
  for (const Claim& claim : claims) {
    Totals& totals = parents[claim.parent];
    totals.original += claim.original;
    totals.claimed += claimed(claim);
    totals.count += claim.original > 0;
  }
  std::vector<double> weights;
  weights.reserve(claims.size());
  for (const Claim& claim : claims) {
    const Totals& siblings = parents[claim.parent];
    const double most = reserve > 0 ? (1 - reserve) / (reserve * siblings.count) : 1;
    const double together = siblings.original * std::min(1.0, most);
    const double weight = claimed(claim) * (together / siblings.claimed);
    // Beyond any kernel's range a double may not fit an integer, hence the bound.
    const bool takes_part = claim.original > 0;
    weights.push_back(takes_part ? std::max(1.0, std::round(std::min(weight, kMostWeight))) : 0);
  }
  return weights;
}

}  // namespace flowcon::cgroups
