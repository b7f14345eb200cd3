// SPDX-License-Identifier: Apache-2.0
// Decides which jobs of the queue run: whenever something has changed, at most once a second, it
// adds up what is free, asks the policy (cluster/policy/queue_policies.h), and gives orders to the
// owner. Keeps nothing that may not be lost. For .cpp files only: it includes Asio.
#pragma once

#include "cluster/policy/queue_policies.h"
#include "cluster/queue/owner.h"

namespace flowcon::cluster::queue {

class Conductor {
 public:
  Conductor(World& world, Owner& owner) : world_(world), owner_(owner) {}

  /// Something has changed: decides as soon as it may.
  void wake();
  /// After each pass of the daemon: decides where it is due.
  void look();
  /// What is free for jobs now.
  [[nodiscard]] policy::Amounts free() const;
  /// What is left of a job, by its counter or earlier runs. Unit: seconds. Empty: not known.
  [[nodiscard]] std::optional<double> left(const Job& job) const;

 private:
  ctrl::Async<void> look_soon();
  void decide();
  [[nodiscard]] policy::QueueView view() const;
  void give(const policy::QueuePlan& plan, const policy::QueueView& view);
  void note(const policy::QueuePlan& plan, const policy::QueueView& view);
  void record(const policy::QueuePlan& plan, bool has_orders);

  World& world_;
  Owner& owner_;
  bool is_due_ = true;
  bool is_looking_soon_ = false;
  double next_ = 0;  ///< steady; not before
  double last_ = 0;  ///< steady
};

}  // namespace flowcon::cluster::queue
