// SPDX-License-Identifier: Apache-2.0
#include "cgroups/cpu.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "base/text.h"

namespace flowcon::cgroups {
namespace {

constexpr std::int64_t kMinQuotaUs = 1000;       // min_cfs_quota_period, kernel/sched/core.c
constexpr std::uint64_t kMinPeriodUs = 1000;     // the same
constexpr std::uint64_t kMaxPeriodUs = 1000000;  // max_cfs_quota_period

template <class Number>
Result<Number> parse_number(std::string_view text, const std::string& file) {
  Number number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) {
    return errno_error(EBADMSG, file + " holds \"" + printable(text, 60) + "\", not a number");
  }
  return number;
}

template <class Number>
Result<Number> read_number(const CgroupFs& fs, const std::string& controller,
                           const std::string& group, const std::string& file) {
  const auto text = fs.read(controller, group, file);
  if (!text) return text.error();
  return parse_number<Number>(*text, file);
}

/// The number behind `key` in a file of "key number" lines.
Result<std::uint64_t> read_keyed(const CgroupFs& fs, const std::string& controller,
                                 const std::string& group, const std::string& file,
                                 std::string_view key) {
  const auto text = fs.read(controller, group, file);
  if (!text) return text.error();
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.size() > key.size() && line.substr(0, key.size()) == key && line[key.size()] == ' ') {
      return parse_number<std::uint64_t>(line.substr(key.size() + 1), file);
    }
  }
  return errno_error(EBADMSG, file + " has no line \"" + std::string(key) + "\"");
}

bool is_missing_file(const Error& error) { return error.code.value() == ENOENT; }

Result<CpuSetting> read_v1(const CgroupFs& fs, const std::string& group) {
  CpuSetting setting;
  const auto weight = read_number<std::uint64_t>(fs, "cpu", group, "cpu.shares");
  if (!weight) return weight.error();
  setting.weight = *weight;
  const auto quota = read_number<std::int64_t>(fs, "cpu", group, "cpu.cfs_quota_us");
  if (!quota && is_missing_file(quota.error())) return setting;
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
  if (!text && is_missing_file(text.error())) return setting;
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

std::string shown(const std::vector<Write>& writes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + writes[i].file + "=" + writes[i].text;
  }
  return text;
}

/// Puts back `from` after a failure halfway, so that a group is not left without its ceiling.
/// Returns what to tell about it.
std::string undo(CgroupFs& fs, const Group& group, const CpuSetting& from, bool is_v2) {
  const auto now = read_cpu(fs, group);
  if (!now) return "not undone";
  for (const Write& write : render(*now, from, is_v2)) {
    if (!fs.write(write.controller, group.cpu, write.file, write.text)) return "not undone";
  }
  return "undone";
}

Error failed(const Error& error, const std::vector<Write>& writes, std::size_t applied) {
  Error told = error;
  if (error.code.value() == EINVAL && writes[applied].file == "cpu.cfs_quota_us") {
    told.what += " (cgroup v1 allows no quota above the parent group's or below a child's)";
  }
  return told;
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
  const auto from = read_cpu(fs, group);
  if (!from) return from.error();
  const std::vector<Write> writes = render(*from, wanted, is_v2);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const auto done = fs.write(writes[i].controller, group.cpu, writes[i].file, writes[i].text);
    if (done) continue;
    Error error = failed(done.error(), writes, i);
    if (i == 0) return wrap(error, "set the CPU limit (nothing applied)");
    const bool gone = error.code.value() == ESTALE;
    const std::string after = gone ? "with the group gone" : undo(fs, group, *from, is_v2);
    return wrap(error, "set the CPU limit (applied " + shown(writes, i) + ", " + after + ")");
  }
  if (writes.empty()) return {};
  const auto now = read_cpu(fs, group);
  if (!now) return wrap(now.error(), "after writing " + shown(writes, writes.size()));
  if (render(*now, wanted, is_v2).empty()) return {};
  return errno_error(EIO, "set the CPU limit: wrote " + shown(clamp_to_kernel(wanted, is_v2)) +
                              ", the kernel holds " + shown(*now));
}

Result<std::uint64_t> read_cpu_usage(const CgroupFs& fs, const Group& group) {
  if (group.cpuacct.empty()) return errno_error(ENOENT, "no cpuacct group to read the use from");
  if (!fs.is_v2("cpuacct")) {
    return read_number<std::uint64_t>(fs, "cpuacct", group.cpuacct, "cpuacct.usage");
  }
  const auto microseconds = read_keyed(fs, "cpuacct", group.cpuacct, "cpu.stat", "usage_usec");
  if (!microseconds) return microseconds.error();
  return *microseconds * 1000;
}

Result<std::uint64_t> read_working_set(const CgroupFs& fs, const Group& group) {
  if (group.memory.empty()) return errno_error(ENOENT, "no memory group to read the use from");
  const bool is_v2 = fs.is_v2("memory");
  const auto used = read_number<std::uint64_t>(fs, "memory", group.memory,
                                               is_v2 ? "memory.current" : "memory.usage_in_bytes");
  if (!used) return used.error();
  const auto inactive = read_keyed(fs, "memory", group.memory, "memory.stat",
                                   is_v2 ? "inactive_file" : "total_inactive_file");
  if (!inactive) return inactive.error();
  return *used - std::min(*used, *inactive);
}

}  // namespace flowcon::cgroups
