// SPDX-License-Identifier: Apache-2.0
// CPU limits and use of one cgroup, in the spelling of cgroup v1 and v2. Rendering is pure; apply
// is one loop over writes. Knows neither Docker nor learning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cgroups/cgroup_fs.h"
#include "cgroups/group.h"
#include "cgroups/systemd.h"
#include "cgroups/weights.h"

namespace flowcon::cgroups {

/// A CPU setting as the kernel holds it.
/// Units: weight in the unit of its version (v1 cpu.shares 2..262144, default 1024; v2 cpu.weight
/// 1..10000, default 100); quota and period in microseconds; no quota = no cap.
struct CpuSetting {
  std::uint64_t weight = 0;
  std::optional<std::int64_t> quota_us;
  std::uint64_t period_us = 100000;
  bool operator==(const CpuSetting&) const = default;
};

/// The nearest setting that the kernel can hold. Weight 0 (a group with cpu.idle) stays 0.
/// Source: kernel/sched: v1 cpu.shares 2..262144, v2 cpu.weight 1..10000, quota at least 1000 us,
/// period 1000..1000000 us.
[[nodiscard]] CpuSetting clamp_to_kernel(CpuSetting setting, bool is_v2);

/// Whether two settings limit alike: equal, but for the period where neither has a quota. systemd
/// writes its default of 100000 us there, whatever was set.
[[nodiscard]] bool limits_alike(const CpuSetting& a, const CpuSetting& b);

/// Whether two quotas are less than one percent of a core apart, or both none. systemd keeps whole
/// percents, so a daemon-reload brings another quota than was set.
[[nodiscard]] bool quotas_near(const CpuSetting& a, const CpuSetting& b);

/// The writes that turn `from` into `to` (clamped), in the order that the kernel accepts; nothing
/// for what is equal already, and no weight where either is 0 (cpu.idle groups have none).
/// On v1 the kernel checks quota/period against parent and children at each of the two writes, so
/// where both change the quota is lifted first.
[[nodiscard]] std::vector<Write> render(const CpuSetting& from, const CpuSetting& to, bool is_v2);

/// Reads the present setting. A kernel without CPU bandwidth control has no quota files: no quota.
/// Errors: as CgroupFs::read; EBADMSG where a file does not hold what the kernel writes.
[[nodiscard]] Result<CpuSetting> read_cpu(const CgroupFs& fs, const Group& group);

/// Writes what differs and reads back. `to` is clamped first.
/// Errors: as CgroupFs::write, the message says what had been applied, and that is undone where
/// the kernel lets us; EINVAL on v1 also means a quota above the parent's or below a child's, on v2
/// one below the group's burst, which the message says; EIO and both settings in the message where
/// the kernel holds something else afterwards.
[[nodiscard]] Result<void> write_cpu(CgroupFs& fs, const Group& group, const CpuSetting& to);

/// CPU time used since the group was made (v1 cpuacct.usage, v2 usage_usec of cpu.stat).
/// Units: nanoseconds. Errors: as CgroupFs::read; EBADMSG.
[[nodiscard]] Result<std::uint64_t> read_cpu_usage(const CgroupFs& fs, const Group& group);

/// The same of all programs of the host, or of all that its cgroup namespace shows. Errors: as
/// above; the kernel does not report it (before Linux 5.8 on v2).
[[nodiscard]] Result<std::uint64_t> read_host_cpu_usage(const CgroupFs& fs);

/// One controlled container: what it had and what share it shall have.
struct Share {
  CpuSetting original;  ///< before control; its quota stays a ceiling
  std::string parent;   ///< parent group; weights compete among siblings only
  double limit = 1;     ///< share of the host in (0,1]
  double factor = 1;    ///< user's own factor on the weight (flowcon.weight), > 0
  double useful = 1;    ///< limit that it needs for what it can use, or uses
  double most = 1;      ///< share of the host that it may have
};

/// Settings for all controlled containers at once, in order. Pure.
///
/// weight: w_i = o_i f_i l_i * S, where o is the original weight, f the factor, l the limit and
///   S = sum(o_j) / sum(o_j f_j l_j) over the siblings (same parent); rounded to nearest, clamped
///   to the kernel's range. So the siblings keep together the weight they had, and one alone, or
///   all with the same limit and factor, keep exactly their originals. What clamping adds or takes
///   is not handed on. Quota and period stay the originals.
/// quota: quota = round(l * cores * period), at least 1000 us, never above the original quota;
///   the period is the original's where it had a quota, else 100000 us. A limit of 1 is exactly the
///   original. The weight follows the formula above with every l = 1.
///   What narrow ones (useful < limit) leave is lent to the others in proportion to their limits,
///   up to what each can use and may have; the sum of min(limit, useful) and loans is at most 1. A
///   narrow one keeps its own quota, and where there are loans weights follow the limits, so that
///   it has back at once what it can use after all.
///
/// `reserve`, 0..1: the share of the host that is kept for others, by weight as scaled_weights has
/// it, by quota by limits that are less by it.
/// `cores` is what the host has. A limit below 1e-6 counts as 1e-6, one that is above 1 or NaN as
/// 1; a factor that is not finite and positive counts as 1. A weight of 0 (cpu.idle) is left alone.
/// Source: DESIGN.md, Limits; docs/architecture.md.
[[nodiscard]] std::vector<CpuSetting> share_out(const std::vector<Share>& shares, LimitMode mode,
                                                double cores, bool is_v2, double reserve = 0);

/// How a quota is set in systemd. On daemon-reload it reads its own file of the unit again, and
/// there quotas are whole percents of a core, rounded down.
enum class Rounding {
  exact,          ///< exactly this quota until the next daemon-reload
  whole_percent,  ///< up to a whole percent, as runc does: no daemon-reload takes from it. systemd
                  ///< writes that quota at once, so write_cpu must follow where it is to be exact.
};

/// The properties of a unit for a setting: CPUWeight (v2) or CPUShares (v1), CPUQuotaPerSecUSec (us
/// of CPU time per second) and CPUQuotaPeriodUSec. Pure. UINT64_MAX takes a property back, as it is
/// where nobody has set it: so for the kernel's own default weight, for no quota, and for the
/// default period where there is no quota. The quota is rounded up, so that systemd, which rounds
/// down, does not arrive at less.
[[nodiscard]] std::vector<UnitProperty> unit_properties(const CpuSetting& to, bool is_v2,
                                                        Rounding rounding = Rounding::exact);

/// Sets a scope's CPU limits in systemd alone: tell_systemd of its unit_properties.
/// Blocks 2 s at most (effects thread). Errors: as the other tell_systemd.
[[nodiscard]] Result<void> tell_systemd(const std::string& scope, const CpuSetting& to, bool is_v2,
                                        Rounding rounding = Rounding::exact);

}  // namespace flowcon::cgroups
