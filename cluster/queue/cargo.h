// SPDX-License-Identifier: Apache-2.0
// What this host's jobs would take along to other hosts: weighs them one after the other, and knows
// which images and networks are here and how fast earlier moves went. For .cpp files only: it
// includes Asio.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "cluster/migration/run/engine.h"
#include "cluster/queue/jobs.h"
#include "cluster/queue/world.h"

namespace flowcon::cluster::queue {

class Cargo {
 public:
  /// `weighed`: called when something is known of a job that was not.
  Cargo(World& world, const Jobs& jobs, std::function<void()> weighed)
      : world_(world), jobs_(jobs), weighed_(std::move(weighed)) {}

  /// After each pass of the daemon, where there are other hosts.
  void look();
  /// Others may have come.
  void images_changed() { next_listing_ = 0; }
  /// As short_image() has them.
  [[nodiscard]] const std::set<std::string>& images() const { return images_; }
  /// As Freight::shared has them.
  [[nodiscard]] const std::set<std::string>& shared() const { return shared_; }
  /// As HostJobs::swarm.
  [[nodiscard]] const std::set<std::string>& swarm() const { return about_.managers; }
  /// As HostJobs::architecture.
  [[nodiscard]] const std::string& architecture() const { return about_.architecture; }
  /// Of the last move to each host, by its id. Unit: bytes a second.
  [[nodiscard]] std::map<std::string, double> rates() const;

 private:
  Async<void> list();
  /// Null: there is none.
  [[nodiscard]] JobPtr next() const;
  /// And after it all others of which nothing is known.
  Async<void> weigh(JobPtr job);

  World& world_;
  const Jobs& jobs_;
  std::function<void()> weighed_;
  std::set<std::string> images_;
  std::set<std::string> shared_;
  migration::About about_;
  bool is_listing_ = false;
  bool is_weighing_ = false;
  double next_listing_ = 0;  ///< steady
};

}  // namespace flowcon::cluster::queue
