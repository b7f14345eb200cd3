// SPDX-License-Identifier: Apache-2.0
// Limits that stay while one flowcond takes the place of another, on the side of the one that
// comes: what it finds, until its containers claim it. For .cpp files only: it includes Asio.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ctrl/async.h"
#include "ctrl/handover.h"
#include "ctrl/job.h"
#include "ctrl/limits.h"

namespace flowcon::ctrl {

class Takeover {
 public:
  /// What an earlier flowcond has left; `originals`: what its containers had before any limit.
  void begin(Handover handed, std::vector<store::Original> originals, double now);
  /// Limits that could not be put back: what the containers have now is ours, and must not be taken
  /// for what they had.
  void keep(store::Original original, double now);
  [[nodiscard]] std::set<std::string> kept() const;
  /// A container that came under control has what was left of it.
  void claim(Job& job);
  /// True once for a container that was handed over.
  bool joins(const std::string& id) { return handed_.jobs.erase(id) > 0; }
  [[nodiscard]] double interval() const { return handed_.interval; }
  /// Nothing is written before all of them are there.
  [[nodiscard]] bool is_awaiting(double now) const;
  /// Puts back in the kernel what nobody has claimed; Limits::finish() is to follow.
  [[nodiscard]] std::vector<Limits::PutBack> put_back(const Limits& limits);
  /// Restores what nobody has claimed in time.
  Async<void> restore_unclaimed(Limits* limits, double now);

 private:
  Handover handed_;
  std::map<std::string, store::Original> kept_;  // limits that no job has claimed
  double until_ = 0;                             // steady; 0 = nothing waits to be claimed
};

}  // namespace flowcon::ctrl
