// SPDX-License-Identifier: Apache-2.0
#include "cgroups/cpu.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string_view>

#include "cgroups/apply.h"
#include "cgroups/parse.h"

namespace flowcon::cgroups {
namespace {

constexpr std::int64_t kMinQuotaUs = 1000;       // min_cfs_quota_period, kernel/sched/core.c
constexpr std::uint64_t kMinPeriodUs = 1000;     // the same
constexpr std::uint64_t kMaxPeriodUs = 1000000;  // max_cfs_quota_period

Result<CpuSetting> read_v1(const CgroupFs& fs, const std::string& group) {
  CpuSetting setting;
  const auto weight = read_number<std::uint64_t>(fs, "cpu", group, "cpu.shares");
  if (!weight) return weight.error();
  setting.weight = *weight;
  const auto quota = read_number<std::int64_t>(fs, "cpu", group, "cpu.cfs_quota_us");
  if (is_absent(quota)) return setting;
  if (!quota) return quota.error();
  if (*quota >= 0) setting.quota_us = *quota;
  const auto period = read_number<std::uint64_t>(fs, "cpu", group, "cpu.cfs_period_us");
  if (!period) return period.error();
  setting.period_us = *period;
  return setting;
}

Result<CpuSetting> read_v2(const CgroupFs& fs, const std::string& group) {
  CpuSetting setting;
  const auto weight = read_number<std::uint64_t>(fs, "cpu", group, "cpu.weight");
  if (!weight) return weight.error();
  setting.weight = *weight;
  const auto text = fs.read("cpu", group, "cpu.max");
  if (is_absent(text)) return setting;
  if (!text) return text.error();
  const std::string_view max = *text;
  const std::size_t blank = std::min(max.find(' '), max.size());
  if (max.substr(0, blank) != "max") {
    const auto quota = parse_number<std::int64_t>(max.substr(0, blank), "cpu.max");
    if (!quota) return quota.error();
    setting.quota_us = *quota;
  }
  if (blank < max.size()) {
    const auto period = parse_number<std::uint64_t>(max.substr(blank + 1), "cpu.max");
    if (!period) return period.error();
    setting.period_us = *period;
  }
  return setting;
}

void render_bandwidth_v1(const CpuSetting& from, const CpuSetting& to, std::vector<Write>& writes) {
  const auto write_quota = [&writes](std::int64_t quota) {
    writes.push_back({"cpu", "cpu.cfs_quota_us", std::to_string(quota)});
  };
  const bool new_period = from.period_us != to.period_us;
  // tg_set_cfs_bandwidth checks each write: quota/period may not exceed the nearest limited
  // ancestor's, nor fall below a descendant's. Between two legal settings a half-written one can be
  // either, except with no quota at all, which inherits and is always legal.
  if (new_period && from.quota_us) write_quota(-1);
  if (new_period) writes.push_back({"cpu", "cpu.cfs_period_us", std::to_string(to.period_us)});
  const bool lifted = new_period && from.quota_us;
  if (to.quota_us && (new_period || from.quota_us != to.quota_us)) write_quota(*to.quota_us);
  if (!to.quota_us && from.quota_us && !lifted) write_quota(-1);
}

std::string shown(const CpuSetting& setting) {
  return "weight " + std::to_string(setting.weight) + ", quota " +
         (setting.quota_us ? std::to_string(*setting.quota_us) + " us" : std::string("none")) +
         ", period " + std::to_string(setting.period_us) + " us";
}

// A burst that another program set outlives every quota that is written here.
std::string burst_hint(const CgroupFs& fs, const std::string& group, const Write& write) {
  const auto burst = read_number<std::int64_t>(fs, "cpu", group, "cpu.max.burst");
  const std::string number = write.text.substr(0, write.text.find(' '));
  const auto quota = parse_number<std::int64_t>(number, write.file);
  if (!burst || !quota || *quota >= *burst) return "";
  return " (a quota below cpu.max.burst, " + std::to_string(*burst) +
         " us, is refused: lower the burst)";
}

std::string hint(const CgroupFs& fs, const std::string& group, const Error& error,
                 const Write& write) {
  if (error.code.value() != EINVAL) return "";
  if (write.file == "cpu.max") return burst_hint(fs, group, write);
  return write.file == "cpu.cfs_quota_us"
             ? " (cgroup v1 allows no quota above the parent group's or below a child's)"
             : "";
}

// Nanoseconds.
Result<std::uint64_t> read_usage(const CgroupFs& fs, const std::string& group) {
  if (!fs.is_v2("cpuacct")) {
    return read_number<std::uint64_t>(fs, "cpuacct", group, "cpuacct.usage");
  }
  const auto microseconds = read_keyed(fs, "cpuacct", group, "cpu.stat", "usage_usec");
  if (!microseconds) return microseconds.error();
  return *microseconds * 1000;
}

}  // namespace

CpuSetting clamp_to_kernel(CpuSetting setting, bool is_v2) {
  const std::uint64_t least = is_v2 ? 1 : 2;
  const std::uint64_t most = is_v2 ? 10000 : 262144;
  if (setting.weight != 0) setting.weight = std::clamp(setting.weight, least, most);
  if (setting.quota_us) setting.quota_us = std::max(*setting.quota_us, kMinQuotaUs);
  setting.period_us = std::clamp(setting.period_us, kMinPeriodUs, kMaxPeriodUs);
  return setting;
}

bool limits_alike(const CpuSetting& a, const CpuSetting& b) {
  return a.weight == b.weight && a.quota_us == b.quota_us &&
         (!a.quota_us || a.period_us == b.period_us);
}

bool quotas_near(const CpuSetting& a, const CpuSetting& b) {
  if (!a.quota_us || !b.quota_us) return a.quota_us == b.quota_us;
  const auto cores = [](const CpuSetting& setting) {
    return static_cast<double>(*setting.quota_us) / static_cast<double>(setting.period_us);
  };
  return std::fabs(cores(a) - cores(b)) < 0.01;
}

std::vector<Write> render(const CpuSetting& from, const CpuSetting& wanted, bool is_v2) {
  const CpuSetting to = clamp_to_kernel(wanted, is_v2);
  std::vector<Write> writes;
  if (from.weight != to.weight && from.weight != 0 && to.weight != 0) {
    writes.push_back({"cpu", is_v2 ? "cpu.weight" : "cpu.shares", std::to_string(to.weight)});
  }
  if (!is_v2) {
    render_bandwidth_v1(from, to, writes);
  } else if (from.quota_us != to.quota_us || from.period_us != to.period_us) {
    const std::string quota = to.quota_us ? std::to_string(*to.quota_us) : "max";
    writes.push_back({"cpu", "cpu.max", quota + " " + std::to_string(to.period_us)});
  }
  return writes;
}

Result<CpuSetting> read_cpu(const CgroupFs& fs, const Group& group) {
  auto setting = fs.is_v2("cpu") ? read_v2(fs, group.cpu) : read_v1(fs, group.cpu);
  if (!setting) return wrap(setting.error(), "read the CPU setting");
  return setting;
}

Result<void> write_cpu(CgroupFs& fs, const Group& group, const CpuSetting& wanted) {
  const bool is_v2 = fs.is_v2("cpu");
  SettingKind<CpuSetting> kind;
  kind.name = "the CPU limit";
  kind.group = group.cpu;
  kind.read = [&] { return read_cpu(fs, group); };
  kind.render = [&](const CpuSetting& from, const CpuSetting& to) {
    return render(from, to, is_v2);
  };
  kind.shown = [](const CpuSetting& setting) { return shown(setting); };
  kind.hint = [&](const Error& error, const Write& write) {
    return hint(fs, group.cpu, error, write);
  };
  return write_setting(fs, kind, clamp_to_kernel(wanted, is_v2));
}

Result<std::uint64_t> read_cpu_usage(const CgroupFs& fs, const Group& group) {
  if (group.cpuacct.empty()) return errno_error(ENOENT, "no cpuacct group to read the use from");
  return read_usage(fs, group.cpuacct);
}

Result<std::uint64_t> read_host_cpu_usage(const CgroupFs& fs) { return read_usage(fs, ""); }

}  // namespace flowcon::cgroups
