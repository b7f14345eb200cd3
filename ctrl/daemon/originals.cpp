// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/originals.h"

#include "base/text.h"
#include "cgroups/cpu.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

// Neither what it had nor what flowcond itself wrote once, which is nobody's wish.
void take_cpu(cgroups::CpuSetting& original, const cgroups::CpuSetting& there,
              const cgroups::CpuSetting& ours) {
  if (there.weight != ours.weight) original.weight = there.weight;
  if (!cgroups::quotas_near(there, original) && !cgroups::quotas_near(there, ours)) {
    original.quota_us = there.quota_us;
    original.period_us = there.period_us;
  }
}

}  // namespace

bool take_originals(Job& job, const cgroups::Setting& there, const Limits& limits) {
  if (job.is_limited && job.has_all_limits) return false;
  cgroups::Setting original = job.original;
  const cgroups::Setting ours = job.put_away.value_or(job.original);
  // systemd may bring back any earlier limit, so what is there may be nobody's wish.
  const bool is_sure = !limits.is_untold(job.id());
  if (is_sure && !job.is_limited) take_cpu(original.cpu, there.cpu, ours.cpu);
  if (is_sure && !(job.has_all_limits && there.memory == ours.memory)) {
    original.memory = there.memory;
  }
  if (is_sure && !cgroups::limits_alike(there.io, original.io) &&
      !(job.has_all_limits && cgroups::limits_alike(there.io, ours.io))) {
    original.io = there.io;
  }
  if (!job.is_limited) job.present.cpu = there.cpu;
  job.present.memory = there.memory;
  job.present.io = there.io;
  const bool is_new = original != job.original;
  job.original = original;
  const bool is_back = !job.is_limited && !cgroups::limits_alike(job.present, job.original);
  if (is_back) job.is_limited = true;
  if (is_back || is_new) job.is_original_saved = false;
  if (!is_new) return false;
  log::info("container " + printable(job.container.name, 80) +
            ": another program set new limits, which are its originals now");
  return true;
}

store::Original original_of(const Job& job, const Limits& limits) {
  // systemd may bring back what an earlier flowcond limited.
  const bool has_all_limits = job.has_all_limits || limits.is_untold(job.id());
  return {job.id(), job.container.name, job.group, job.original, job.life, has_all_limits};
}

Result<cgroups::Setting> read_present(const Job& job, const cgroups::CgroupFs& fs,
                                      const Limits& limits) {
  if (job.has_all_limits) return cgroups::read_setting(fs, job.group, limits.mechanism());
  const Result<cgroups::CpuSetting> cpu = cgroups::read_cpu(fs, job.group);
  if (!cpu) return cpu.error();
  cgroups::Setting setting = job.present;
  setting.cpu = *cpu;
  return setting;
}

store::Original original_to_restore(Job& job, const cgroups::CgroupFs& fs, const Limits& limits) {
  if (!job.has_all_limits) {
    const auto there = cgroups::read_setting(fs, job.group, limits.mechanism());
    if (there) (void)take_originals(job, *there, limits);
  }
  return original_of(job, limits);
}

}  // namespace flowcon::ctrl
