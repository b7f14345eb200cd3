// SPDX-License-Identifier: Apache-2.0
// From shares to I/O settings, and from settings to systemd's properties. Pure.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cgroups/io.h"

namespace flowcon::cgroups {
namespace {

constexpr double kLeastCap = 1024 * 1024;  // bytes/s; with less a single request takes seconds
constexpr double kMostCap = 1e18;          // fits 64 bits; nobody's bandwidth
constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();

void lower(std::optional<std::uint64_t>& cap, std::uint64_t to) {
  cap = cap ? std::min(*cap, to) : to;
}

void limit_bandwidth(double limit, const std::map<std::string, double>& bandwidth,
                     IoSetting& setting) {
  if (limit >= 1) return;
  for (const auto& [device, bytes] : bandwidth) {
    if (!std::isfinite(bytes) || bytes < 1) continue;
    const double cap = std::clamp(std::round(limit * bytes), kLeastCap, kMostCap);
    IoCap& caps = setting.caps[device];
    lower(caps.read_bytes, static_cast<std::uint64_t>(cap));
    lower(caps.written_bytes, static_cast<std::uint64_t>(cap));
  }
}

/// The IOWeight of which systemd makes this io.bfq.weight.
std::uint64_t before_bfq(std::uint64_t weight) {
  constexpr std::uint64_t kDefault = 100;
  constexpr std::uint64_t kStep = 11;  // (10000 - 100) / (1000 - 100)
  return weight <= kDefault ? weight : kDefault + (weight - kDefault) * kStep;
}

/// The IOWeight of which systemd makes this blkio.weight, or the nearest.
std::uint64_t before_blkio(std::uint64_t weight) {
  constexpr std::uint64_t kRatio = 5;  // default 500 there, 100 here
  return std::max<std::uint64_t>((weight + kRatio / 2) / kRatio, 1);
}

std::uint64_t io_weight(std::uint64_t weight, WeightFile file) {
  const std::uint64_t held = clamp_weight(weight, file);
  switch (file) {
    case WeightFile::io_bfq_weight:
      return before_bfq(held);
    case WeightFile::blkio_weight:
      return before_blkio(held);
    case WeightFile::blkio_bfq_weight:
      return before_blkio(std::clamp<std::uint64_t>(before_bfq(held), 10, 1000));
    case WeightFile::io_weight:
    case WeightFile::none:
      break;
  }
  return held;
}

}  // namespace

std::vector<IoSetting> share_out_io(const std::vector<IoShare>& shares, LimitMode mode,
                                    const std::map<std::string, double>& bandwidth,
                                    const IoMechanism& mechanism) {
  std::vector<Claim> claims;
  claims.reserve(shares.size());
  for (const IoShare& share : shares) {
    claims.push_back({share.parent, static_cast<double>(share.original.weight.value_or(0)),
                      share.factor, mode == LimitMode::weight ? share.limit : 1.0});
  }
  const std::vector<double> weights = scaled_weights(claims);
  std::vector<IoSetting> settings;
  settings.reserve(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    IoSetting setting = shares[i].original;
    if (mechanism.weight != WeightFile::none && weights[i] > 0) {
      setting.weight = clamp_weight(static_cast<std::uint64_t>(weights[i]), mechanism.weight);
    }
    if (mode == LimitMode::quota && mechanism.has_caps) {
      limit_bandwidth(safe_limit(shares[i].limit), bandwidth, setting);
    }
    settings.push_back(std::move(setting));
  }
  return settings;
}

std::vector<UnitProperty> unit_properties(const IoSetting& to, const IoMechanism& mechanism,
                                          bool with_caps) {
  std::vector<UnitProperty> properties;
  if (to.weight && mechanism.weight != WeightFile::none) {
    const bool is_default = *to.weight == default_weight(mechanism.weight);
    properties.push_back(
        {"IOWeight", is_default ? kInfinity : io_weight(*to.weight, mechanism.weight)});
  }
  if (!with_caps) return properties;
  struct Property {
    const char* name;
    std::optional<std::uint64_t> IoCap::*member;
  };
  constexpr std::array<Property, 4> kProperties = {{{"IOReadBandwidthMax", &IoCap::read_bytes},
                                                    {"IOWriteBandwidthMax", &IoCap::written_bytes},
                                                    {"IOReadIOPSMax", &IoCap::read_ops},
                                                    {"IOWriteIOPSMax", &IoCap::written_ops}}};
  for (const Property& property : kProperties) {
    properties.push_back({property.name, 0, std::vector<DeviceValue>{}});
    std::vector<DeviceValue> devices;
    for (const auto& [device, cap] : to.caps) {
      const auto& number = cap.*property.member;
      if (number) devices.push_back({"/dev/block/" + device, *number});
    }
    if (!devices.empty()) properties.push_back({property.name, 0, std::move(devices)});
  }
  return properties;
}

}  // namespace flowcon::cgroups
