// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "cgroups/cpu.h"

namespace flowcon::cgroups {
namespace {

constexpr double kMinQuotaUs = 1000;
constexpr std::uint64_t kDefaultPeriodUs = 100000;
constexpr double kLeastLoan = 1e-6;

// Limits with what narrow ones leave lent to the others.
std::vector<double> with_loans(const std::vector<Share>& shares) {
  std::vector<double> limits, rooms(shares.size());
  double left = 0, used = 0, claims = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Share& share = shares[i];
    const double limit = limits.emplace_back(safe_limit(share.limit));
    used += std::min(limit, share.useful);
    left += std::max(0.0, limit - share.useful);
    rooms[i] = std::max(0.0, std::min(share.useful, share.most) - limit);
    if (rooms[i] > 0) claims += limit;
  }
  // Each turn fills at least one up, or lends all.
  for (double spare = std::min(left, 1 - used); spare > kLeastLoan && claims > kLeastLoan;) {
    const double rate = spare / claims;
    spare = claims = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (rooms[i] <= 0) continue;
      const double wanted = rate * safe_limit(shares[i].limit);
      const double lent = std::min(wanted, rooms[i]);
      limits[i] += lent;
      rooms[i] -= lent;
      spare += wanted - lent;
      if (rooms[i] > 0) claims += safe_limit(shares[i].limit);
    }
  }
  return limits;
}

void limit_quota(double limit, double cores, CpuSetting& setting) {
  if (limit >= 1) return;
  if (!setting.quota_us) setting.period_us = kDefaultPeriodUs;
  const double period = static_cast<double>(setting.period_us);
  const double quota = std::max(kMinQuotaUs, std::round(limit * cores * period));
  if (setting.quota_us && quota >= static_cast<double>(*setting.quota_us)) return;
  setting.quota_us = static_cast<std::int64_t>(quota);
}

}  // namespace

std::vector<CpuSetting> share_out(const std::vector<Share>& shares, LimitMode mode, double cores,
                                  bool is_v2, double reserve) {
  const bool is_quota = mode == LimitMode::quota;
  const std::vector<double> limits = is_quota ? with_loans(shares) : std::vector<double>();
  bool weighs = !is_quota;
  for (std::size_t i = 0; i < limits.size(); ++i)
    weighs = weighs || limits[i] > safe_limit(shares[i].limit);
  std::vector<Claim> claims;
  claims.reserve(shares.size());
  for (const Share& share : shares) {
    claims.push_back({share.parent, static_cast<double>(share.original.weight), share.factor,
                      weighs ? share.limit : 1.0});
  }
  const std::vector<double> weights = scaled_weights(claims, is_quota ? 0 : reserve);
  std::vector<CpuSetting> settings;
  settings.reserve(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    CpuSetting setting = shares[i].original;
    setting.weight = static_cast<std::uint64_t>(weights[i]);
    if (setting.weight != 0) setting.weight = clamp_to_kernel(setting, is_v2).weight;
    if (is_quota) limit_quota((1 - reserve) * limits[i], cores, setting);
    settings.push_back(setting);
  }
  return settings;
}

}  // namespace flowcon::cgroups
