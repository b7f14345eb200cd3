// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "cgroups/cpu.h"

namespace flowcon::cgroups {
namespace {

constexpr double kMinQuotaUs = 1000;
constexpr std::uint64_t kDefaultPeriodUs = 100000;

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
  std::vector<Claim> claims;
  claims.reserve(shares.size());
  for (const Share& share : shares) {
    claims.push_back({share.parent, static_cast<double>(share.original.weight), share.factor,
                      mode == LimitMode::weight ? share.limit : 1.0});
  }
  const std::vector<double> weights = scaled_weights(claims);
  std::vector<CpuSetting> settings;
  settings.reserve(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    CpuSetting setting = shares[i].original;
    setting.weight = static_cast<std::uint64_t>(weights[i]);
    if (setting.weight != 0) setting.weight = clamp_to_kernel(setting, is_v2).weight;
    if (mode == LimitMode::quota) limit_quota(shares[i], cores, setting);
    settings.push_back(setting);
  }
  return settings;
}

}  // namespace flowcon::cgroups
