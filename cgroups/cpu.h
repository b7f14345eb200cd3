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

namespace flowcon::cgroups {

/// Where one container lives. Paths without leading slash, below each controller's mount point.
struct Group {
  std::string cpu;      ///< on v2 the unified path
  std::string cpuacct;  ///< equals cpu on v2
  std::string memory;
  std::string scope;    ///< systemd unit ("docker-….scope") or "" with the cgroupfs driver
};

/// The cgroups of a process. Errors: ESRCH the process is gone; bad paths are refused.
[[nodiscard]] Result<Group> find_group(std::int64_t pid, Mode mode);

/// The same from the text of /proc/PID/cgroup. Pure.
[[nodiscard]] Result<Group> parse_proc_cgroup(const std::string& text, Mode mode);

/// A CPU setting as the kernel holds it.
/// Units: weight in the unit of its version (v1 cpu.shares 2..262144, default 1024; v2 cpu.weight
/// 1..10000, default 100); quota and period in microseconds; no quota = no cap.
struct CpuSetting {
  std::uint64_t weight = 0;
  std::optional<std::int64_t> quota_us;
  std::uint64_t period_us = 100000;
  bool operator==(const CpuSetting&) const = default;
};

struct Write {
  std::string controller;
  std::string file;
  std::string text;
  bool operator==(const Write&) const = default;
};

/// The writes that turn `from` into `to`, in the order that the kernel accepts; nothing for what
/// is equal already.
[[nodiscard]] std::vector<Write> render(const CpuSetting& from, const CpuSetting& to, bool is_v2);

/// Reads the present setting. Errors: as CgroupFs::read.
[[nodiscard]] Result<CpuSetting> read_cpu(const CgroupFs& fs, const Group& group);

/// Writes and reads back. Errors: as CgroupFs::write; EIO and both settings in the message where
/// the kernel holds something else afterwards.
[[nodiscard]] Result<void> write_cpu(CgroupFs& fs, const Group& group, const CpuSetting& to);

/// CPU time used since the group was made. Units: nanoseconds.
[[nodiscard]] Result<std::uint64_t> read_cpu_usage(const CgroupFs& fs, const Group& group);

/// Memory that cannot be dropped at once: current minus inactive file. Units: bytes.
[[nodiscard]] Result<std::uint64_t> read_working_set(const CgroupFs& fs, const Group& group);

/// How a share becomes a CPU setting.
enum class LimitMode { weight, quota };

/// One controlled container: what it had and what share it shall have.
struct Share {
  CpuSetting original;   ///< before control; its quota stays a ceiling
  std::string parent;    ///< parent group; weights compete among siblings only
  double limit = 1;      ///< share of the host in (0,1]
  double factor = 1;     ///< user's own factor on the weight (flowcon.weight), > 0
};

/// Settings for all controlled containers at once, in order.
/// weight: proportional to original weight x factor x limit, scaled so that the containers below
/// one parent keep together the weight they had (docs/architecture.md); quota untouched.
/// quota: limit x cores, never above the original quota; a limit of 1 is the original; weight
/// untouched but for `factor`. `cores` is what the host has.
[[nodiscard]] std::vector<CpuSetting> share_out(const std::vector<Share>& shares, LimitMode mode,
                                                double cores, bool is_v2);

/// Tells systemd about a scope's setting, so that a daemon-reload keeps it (runtime properties).
/// Errors: no system bus, unit unknown.
[[nodiscard]] Result<void> tell_systemd(const std::string& scope, const CpuSetting& to, bool is_v2);

}  // namespace flowcon::cgroups
