// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/originals.h"

#include "base/text.h"
#include "cgroups/cpu.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

// What flowcond wrote once of what it does not limit now.
cgroups::Setting ours_of(const Job& job) {
  const cgroups::Setting put_away = job.put_away.value_or(job.original);
  return job.has_all_limits ? put_away : cgroups::with_cpu(job.original, put_away.cpu);
}

}  // namespace

bool take_originals(Job& job, const cgroups::Setting& there, const Limits& limits) {
  if (job.is_limited && job.has_all_limits) return false;
  cgroups::Setting original = job.original;
  // systemd may bring back any earlier limit, so what is there may be nobody's wish.
  if (!limits.is_untold(job.id())) {
    const cgroups::CpuSetting& cpu = job.is_limited ? original.cpu : there.cpu;
    original = cgroups::take_others(original, cgroups::with_cpu(there, cpu), ours_of(job));
  }
  job.present = job.is_limited ? cgroups::with_cpu(there, job.present.cpu) : there;
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
  return cgroups::with_cpu(job.present, *cpu);
}

store::Original original_to_restore(Job& job, const cgroups::CgroupFs& fs, const Limits& limits) {
  if (!job.has_all_limits) {
    const auto there = cgroups::read_setting(fs, job.group, limits.mechanism());
    if (there) (void)take_originals(job, *there, limits);
  }
  return original_of(job, limits);
}

}  // namespace flowcon::ctrl
