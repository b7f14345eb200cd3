// SPDX-License-Identifier: Apache-2.0
#include "cgroups/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <string>

#include "cgroups/apply.h"
#include "cgroups/parse.h"
#include "cgroups/weights.h"

namespace flowcon::cgroups {
namespace {

// v1 spells "no limit" as PAGE_COUNTER_MAX pages, 2^63 less one page of whatever size.
constexpr std::uint64_t kNoLimitFrom = std::uint64_t{1} << 62;
constexpr std::uint64_t kGrain = 64 * 1024;
// Of the host's memory; the second one where it was short before.
constexpr double kPlenty = 0.5;
constexpr double kPlentyAgain = 0.6;

const char* soft_file(bool is_v2) { return is_v2 ? "memory.high" : "memory.soft_limit_in_bytes"; }

/// A limit in either spelling: a number of bytes, "max", or v1's huge number.
Result<std::optional<std::uint64_t>> read_limit(const CgroupFs& fs, const std::string& group,
                                                const std::string& file) {
  const auto text = fs.read("memory", group, file);
  if (!text) return text.error();
  if (*text == "max") return std::optional<std::uint64_t>();
  const auto number = parse_number<std::uint64_t>(*text, file);
  if (!number) return number.error();
  if (*number >= kNoLimitFrom) return std::optional<std::uint64_t>();
  return std::optional<std::uint64_t>(*number);
}

std::string shown(const MemorySetting& setting) {
  return setting.soft_bytes ? "a soft limit of " + std::to_string(*setting.soft_bytes) + " bytes"
                            : std::string("no soft limit");
}

std::uint64_t page_bytes() {
  const long size = ::sysconf(_SC_PAGESIZE);
  return size > 0 ? static_cast<std::uint64_t>(size) : 4096;
}

/// Whole grains, upwards; a number beyond every host's memory becomes "no limit".
std::optional<std::uint64_t> in_grains(double bytes) {
  if (!(bytes < static_cast<double>(kNoLimitFrom - kGrain))) return std::nullopt;
  const auto whole = static_cast<std::uint64_t>(std::ceil(bytes));
  return (whole + kGrain - 1) / kGrain * kGrain;
}

MemorySetting softened(const MemoryShare& share, const HostMemory& host, double margin) {
  const double limit = safe_limit(share.limit);
  if (limit >= 1) return share.original;
  const double wanted = std::max(limit * static_cast<double>(host.total_bytes),
                                 static_cast<double>(share.working_set_bytes) * margin);
  const std::optional<std::uint64_t> bytes = in_grains(wanted);
  if (!bytes || (share.original.soft_bytes && *share.original.soft_bytes <= *bytes)) {
    return share.original;
  }
  return {bytes};
}

}  // namespace

Result<MemoryUse> read_memory_use(const CgroupFs& fs, const Group& group) {
  if (group.memory.empty()) return errno_error(ENOENT, "no memory group to read the use from");
  const bool is_v2 = fs.is_v2("memory");
  const auto current = read_number<std::uint64_t>(
      fs, "memory", group.memory, is_v2 ? "memory.current" : "memory.usage_in_bytes");
  if (!current) return current.error();
  const auto inactive = read_keyed(fs, "memory", group.memory, "memory.stat",
                                   is_v2 ? "inactive_file" : "total_inactive_file");
  if (!inactive) return inactive.error();
  return MemoryUse{*current, *current - std::min(*current, *inactive)};
}

MemorySetting rounded_to_pages(MemorySetting setting, std::uint64_t page_bytes) {
  if (setting.soft_bytes && *setting.soft_bytes >= kNoLimitFrom) setting.soft_bytes.reset();
  if (setting.soft_bytes) *setting.soft_bytes -= *setting.soft_bytes % page_bytes;
  return setting;
}

std::vector<Write> render(const MemorySetting& from, const MemorySetting& to, bool is_v2) {
  if (from == to) return {};
  const std::string none = is_v2 ? "max" : "-1";
  return {{"memory", soft_file(is_v2), to.soft_bytes ? std::to_string(*to.soft_bytes) : none}};
}

Result<MemorySetting> read_memory(const CgroupFs& fs, const Group& group) {
  if (group.memory.empty()) return errno_error(ENOENT, "no memory group to read the limit from");
  const auto soft = read_limit(fs, group.memory, soft_file(fs.is_v2("memory")));
  if (!soft) return wrap(soft.error(), "read the soft memory limit");
  return MemorySetting{*soft};
}

Result<void> write_memory(CgroupFs& fs, const Group& group, const MemorySetting& wanted) {
  const bool is_v2 = fs.is_v2("memory");
  SettingKind<MemorySetting> kind;
  kind.name = "the soft memory limit";
  kind.group = group.memory;
  kind.read = [&] { return read_memory(fs, group); };
  kind.render = [&](const MemorySetting& from, const MemorySetting& to) {
    return render(from, to, is_v2);
  };
  kind.shown = [](const MemorySetting& setting) { return shown(setting); };
  return write_setting(fs, kind, rounded_to_pages(wanted, page_bytes()));
}

std::vector<UnitProperty> unit_properties(const MemorySetting& to, bool is_v2) {
  if (!is_v2) return {};
  constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();
  return {{"MemoryHigh", to.soft_bytes.value_or(kInfinity)}};
}

bool is_below_need(const MemorySetting& setting, std::uint64_t working_set_bytes, double margin) {
  return setting.soft_bytes &&
         static_cast<double>(*setting.soft_bytes) < static_cast<double>(working_set_bytes) * margin;
}

bool is_short_of_memory(const HostMemory& host, const MemoryParameters& parameters,
                        bool was_short) {
  if (host.total_bytes == 0) return false;
  const double available =
      static_cast<double>(host.available_bytes) / static_cast<double>(host.total_bytes);
  // The kernel counts stalls at a group's own limit with the host's, those at soft limits of ours
  // too: where there is plenty they would keep these in force for ever.
  const double plenty = was_short ? kPlentyAgain : kPlenty;
  const double stalled = available > plenty ? 0 : host.pressure_some_avg10.value_or(0);
  if (available < parameters.low_available || stalled > parameters.psi_threshold) return true;
  if (!was_short) return false;
  return available <= parameters.release_available || stalled >= parameters.release_psi;
}

std::vector<MemorySetting> soften(const std::vector<MemoryShare>& shares, const HostMemory& host,
                                  const MemoryParameters& parameters, bool& is_short) {
  is_short = is_short_of_memory(host, parameters, is_short);
  const double margin = std::isfinite(parameters.margin) ? std::max(parameters.margin, 1.0) : 1.0;
  std::vector<MemorySetting> settings;
  settings.reserve(shares.size());
  for (const MemoryShare& share : shares) {
    settings.push_back(is_short ? softened(share, host, margin) : share.original);
  }
  return settings;
}

}  // namespace flowcon::cgroups
