// SPDX-License-Identifier: Apache-2.0
// The end of control: every limit is put back, in the kernel at once and then for good, but those
// that are left to the flowcond that follows. For .cpp files only: it includes Asio.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cgroups/cgroup_fs.h"
#include "ctrl/async.h"
#include "ctrl/config.h"
#include "ctrl/daemon/log_follower.h"
#include "ctrl/daemon/planning.h"
#include "ctrl/daemon/roster.h"
#include "ctrl/daemon/takeover.h"
#include "ctrl/limits.h"

namespace flowcon::ctrl {

class Release {
 public:
  /// All of it outlives this.
  struct Parts {
    const Config& config;
    const cgroups::CgroupFs& fs;
    Roster& roster;
    const Planning& planning;
    LogFollower& logs;
    Takeover& takeover;
    Limits& limits;
  };
  explicit Release(const Parts& parts) : parts_(parts) {}

  /// When a stop begins: whether limits are left to the next flowcond. Jobs may then save
  /// themselves for longer than a request for that counts.
  void take_request();
  /// In the kernel; no limit is written from then on.
  void put_back();
  [[nodiscard]] bool is_begun() const { return is_begun_; }
  /// What a pass that was under way could not restore.
  void put_back_rest();
  /// systemd and the store hear of it. What was done, for people.
  Async<std::string> finish();

 private:
  [[nodiscard]] std::set<std::string> leave_to_next() const;

  Parts parts_;
  bool is_begun_ = false;
  bool is_handed_over_ = false;
  std::vector<Limits::PutBack> put_back_;  ///< in the kernel; to be finished
  std::set<std::string> left_;             ///< whose limits are left to the next flowcond
};

}  // namespace flowcon::ctrl
