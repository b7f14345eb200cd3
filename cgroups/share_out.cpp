// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include "cgroups/cpu.h"

namespace flowcon::cgroups {
namespace {

constexpr double kLeastLimit = 1e-6;
constexpr double kMinQuotaUs = 1000;
constexpr std::uint64_t kDefaultPeriodUs = 100000;

double safe_limit(double limit) {
  return std::isnan(limit) ? 1.0 : std::clamp(limit, kLeastLimit, 1.0);
}

double safe_factor(double factor) { return std::isfinite(factor) && factor > 0 ? factor : 1.0; }

/// What a container asks for: its original weight times what control and its user make of it.
double claim(const Share& share, LimitMode mode) {
  const double limit = mode == LimitMode::weight ? safe_limit(share.limit) : 1.0;
  return static_cast<double>(share.original.weight) * safe_factor(share.factor) * limit;
}

struct Totals {
  double original = 0;
  double claimed = 0;
};

std::uint64_t scaled_weight(double claimed, const Totals& siblings, bool is_v2) {
  // Beyond any kernel's range a double may not fit an integer, so the bound comes first.
  constexpr double kBound = 1e9;
  const double weight = std::min(claimed * (siblings.original / siblings.claimed), kBound);
  CpuSetting setting;
  setting.weight = static_cast<std::uint64_t>(std::max(1.0, std::round(weight)));
  return clamp_to_kernel(setting, is_v2).weight;
}

void limit_quota(const Share& share, double cores, CpuSetting& setting) {
  const double limit = safe_limit(share.limit);
  if (limit >= 1) return;
  if (!setting.quota_us) setting.period_us = kDefaultPeriodUs;
  const double period = static_cast<double>(setting.period_us);
  const double quota = std::max(kMinQuotaUs, std::round(limit * cores * period));
  if (setting.quota_us && quota >= static_cast<double>(*setting.quota_us)) return;
  setting.quota_us = static_cast<std::int64_t>(quota);
}

}  // namespace

std::vector<CpuSetting> share_out(const std::vector<Share>& shares, LimitMode mode, double cores,
                                  bool is_v2) {
  std::map<std::string, Totals> parents;
  for (const Share& share : shares) {
    Totals& totals = parents[share.parent];
    totals.original += static_cast<double>(share.original.weight);
    totals.claimed += claim(share, mode);
  }
  std::vector<CpuSetting> settings;
  settings.reserve(shares.size());
  for (const Share& share : shares) {
    CpuSetting setting = share.original;
    if (share.original.weight != 0) {
      setting.weight = scaled_weight(claim(share, mode), parents[share.parent], is_v2);
    }
    if (mode == LimitMode::quota) limit_quota(share, cores, setting);
    settings.push_back(setting);
  }
  return settings;
}

}  // namespace flowcon::cgroups
