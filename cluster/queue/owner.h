// SPDX-License-Identifier: Apache-2.0
// Owns the jobs of this host: finds their tickets by the engine's events, keeps their journal, has
// them started, saved and stopped, and sees their end. Decides nothing: job.h says what is next,
// the conductor who runs. For .cpp files only: it includes Asio.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "cluster/queue/jobs.h"
#include "cluster/queue/parking.h"
#include "cluster/queue/world.h"
#include "ctrl/events.h"

namespace flowcon::cluster::queue {

class Owner {
 public:
  /// `changed`: called when a job came, changed its state or ended.
  Owner(World& world, std::function<void(const Job& job)> changed);

  /// Reads the journal, then follows the engine.
  ctrl::Async<void> begin();
  /// After each pass of the daemon.
  void look();

  /// The journal is read: all jobs are known.
  [[nodiscard]] bool is_ready() const { return is_read_; }
  [[nodiscard]] const Jobs& jobs() const { return jobs_; }
  /// What is asked for, by what is known now. `may_estimate`: earlier runs may be looked at anew,
  /// which takes up to a millisecond. True where they were.
  bool size(Job& job, bool may_estimate = true) const;
  /// What this host gives to jobs.
  [[nodiscard]] Offer offer() const;
  /// What is to be done with a job next; forgotten where the job has changed since it was given.
  void give(const JobPtr& job, Order order);

  /// Has `change` applied to the entry and written. Errors: those of `change`, with no code; the
  /// store's.
  ctrl::Async<Result<void>> edit(
      JobPtr job, std::function<Result<JobEntry>(const JobEntry&, double now)> change);

  /// Why the journal or the engine cannot be used, for people; "" = they can.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  ctrl::Async<void> read();
  ctrl::Async<void> follow();
  ctrl::Async<void> list_tickets();
  ctrl::Async<void> enlist(std::string id);
  void hear(const ctrl::engine::Event& event);
  void wake(const JobPtr& job);
  ctrl::Async<void> drive(JobPtr job);
  ctrl::Async<bool> take_step(JobPtr job);
  ctrl::Async<std::optional<JobFacts>> facts(JobPtr job);
  ctrl::Async<Result<void>> write(JobPtr job, JobEntry entry);
  ctrl::Async<bool> carry_out(JobPtr job, Act act);
  ctrl::Async<bool> start(JobPtr job);
  void tell(const Job& job);

  World& world_;
  Parking parking_;
  std::function<void(const Job& job)> changed_;
  Jobs jobs_;
  /// Containers that may be jobs and could not be looked at; steady, when they are again.
  std::map<std::string, double> unseen_;
  std::string trouble_;
  bool is_read_ = false;
  unsigned streams_ = 0;
  unsigned stream_ = 0;      ///< of the engine's events; 0: none
  double stream_since_ = 0;  ///< steady
};

}  // namespace flowcon::cluster::queue
