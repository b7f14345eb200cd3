// SPDX-License-Identifier: Apache-2.0
// What a job asks for beside what this host and the others have. For .cpp files only: it includes
// Asio.
#pragma once

#include <string>

#include "cluster/queue/groups.h"
#include "cluster/queue/jobs.h"
#include "cluster/queue/world.h"

namespace flowcon::cluster::queue {

class Sizing {
 public:
  /// Both outlive it.
  Sizing(World& world, const Groups& groups) : world_(world), groups_(groups) {}

  /// What is asked for, by what is known now. `may_estimate`: earlier runs may be looked at anew,
  /// which takes up to a millisecond. True where they were.
  bool size(Job& job, bool may_estimate = true) const;
  bool size(Job& job, bool may_estimate, const Offers& offers) const;
  /// What this host gives to jobs.
  [[nodiscard]] Offer offer() const;
  [[nodiscard]] Offers offers() const;
  /// Could this host hold it, if nothing else were there?
  [[nodiscard]] bool may_run_here(const Job& job) const;
  /// Why no host could ever hold the job; "" = it may wait. `advice`: what a person may do about
  /// that.
  [[nodiscard]] std::string why_hopeless(const Job& job, const char* advice) const;
  /// The same with this entry instead of its own.
  [[nodiscard]] std::string why_hopeless(const Job& job, JobEntry changed) const;

 private:
  World& world_;
  const Groups& groups_;
};

}  // namespace flowcon::cluster::queue
