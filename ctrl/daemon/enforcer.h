// SPDX-License-Identifier: Apache-2.0
// Makes real what the policy decided: from the share of each job to what it is granted (floors,
// ceilings, pins), from there to settings of the kernel, and these to Limits. For .cpp files only:
// it includes Asio.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "cgroups/cgroup_fs.h"
#include "cgroups/memory.h"
#include "cgroups/setting.h"
#include "ctrl/async.h"
#include "ctrl/config.h"
#include "ctrl/daemon/controls.h"
#include "ctrl/daemon/meter.h"
#include "ctrl/daemon/planning.h"
#include "ctrl/daemon/roster.h"
#include "ctrl/daemon/snapshot.h"
#include "ctrl/extension.h"
#include "ctrl/limits.h"

namespace flowcon::ctrl {

class Enforcer {
 public:
  /// All have to outlive it; `extension` may come later.
  Enforcer(const Config& config, const Host& host, const World& world, Effects& effects,
           Roster& roster, Controls& controls, const Planning& planning, const Meter& meter,
           const std::unique_ptr<Extension>& extension, Shown& shown);

  /// Writes what has changed for those who share the host; counts it in `shown`.
  Async<void> apply(Moment now);
  /// The next apply() makes soft limits of what jobs use, which has to be read for it.
  [[nodiscard]] bool softens_memory() const;
  [[nodiscard]] Limits& limits() { return limits_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }

 private:
  void grant_all(Moment now);
  [[nodiscard]] cgroups::MemoryParameters thresholds() const;
  void note_guarantees();
  bool read_original(Job& job, const cgroups::Setting& planned);
  [[nodiscard]] std::map<std::string, cgroups::Setting> plan();
  [[nodiscard]] std::map<std::string, double> bandwidths() const;
  [[nodiscard]] Target target_of(const Job& job, const cgroups::Setting& planned) const;
  void take_outcome(Job& job, cgroups::Setting planned, const Outcome& outcome);

  const Config& config_;
  const Host& host_;
  cgroups::CgroupFs& fs_;
  Roster& roster_;
  Controls& controls_;
  const Planning& planning_;
  const Meter& meter_;
  const std::unique_ptr<Extension>& extension_;
  Shown& shown_;
  Limits limits_;
  std::map<std::string, double> logged_;  ///< by id, the share that the log has told
};

}  // namespace flowcon::ctrl
