// SPDX-License-Identifier: Apache-2.0
// On which hosts the tasks of jobs start: what is known of all jobs as a state of placement
// (cluster/policy/place.h), and back. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/policy/place.h"
#include "cluster/queue/all_jobs.h"
#include "ctrl/policy/round.h"

namespace flowcon::cluster::queue {

struct PlacePolicyKind {
  std::string name;
  std::string summary;         ///< for the help: where tasks go
  bool is_seeded = true;       ///< PlaceState::seeded
  bool is_for_bursts = false;  ///< jobs that start at the same moment are placed together
};

[[nodiscard]] const std::vector<PlacePolicyKind>& place_policies();
/// Null where there is none of that name.
[[nodiscard]] const PlacePolicyKind* find_place_policy(std::string_view name);

/// A placement as it is recorded, the jobs that it is of, and a sentence about each.
struct PlaceRound {
  ctrl::policy::Round round;
  std::vector<std::string> jobs;
  std::vector<std::string> sentences;
};

/// Where the tasks of a job go.
struct Spot {
  policy::Placement placed;
  std::optional<std::size_t> hub;  ///< where the first worker goes, that the others meet at
};

/// By one policy, for one decision. A pair of tasks on two hosts costs what the job's workers send,
/// over what moves between the two hosts were seen to carry; without earlier runs a worker is
/// thought to send 10 MB/s. In a job without parameter servers its workers meet at the first one. A
/// job that one host holds goes there as a whole. Of many hosts the 64 idlest are tried, and of
/// many jobs the first 16, with 128 tasks each at most. Source: ALGORITHMS.md §10.
class Places {
 public:
  /// `all` must outlive it. `rounds`: where placements are recorded; null: nowhere.
  Places(const AllJobs& all, const PlacePolicyKind& policy, std::vector<PlaceRound>* rounds)
      : all_(all), policy_(policy), rounds_(rounds) {}

  /// Is there room for its tasks on the hosts that take it? Where: one of them, else the idlest
  /// first (KOD2, 4.1).
  [[nodiscard]] std::optional<policy::Placement> find(
      std::size_t job, const std::vector<policy::Amounts>& idle) const;

  /// Where its tasks wait least for each other. Empty: no room is found, or it was asked too often.
  [[nodiscard]] std::optional<Spot> closest(std::size_t job,
                                            const std::vector<policy::Amounts>& idle);

  /// Which of these jobs, that start at the same moment, it places together: none, or at least
  /// three, in their order. One whose data is nearer to one host than to another goes by that.
  [[nodiscard]] std::vector<std::size_t> burst(const std::vector<std::size_t>& jobs) const;
  /// All of them, on as few hosts as possible and close together. Empty: no room is found for all.
  [[nodiscard]] std::map<std::size_t, Spot> together(const std::vector<std::size_t>& jobs,
                                                     const std::vector<policy::Amounts>& idle);

  /// The nearest first, for one more worker of a job that meets there.
  void sort_by_distance(std::vector<std::size_t>& nodes, std::size_t hub) const;

 private:
  [[nodiscard]] std::vector<std::size_t> candidates(const std::vector<std::size_t>& jobs,
                                                    const std::vector<policy::Amounts>& idle) const;
  [[nodiscard]] std::map<std::size_t, Spot> decide(const std::vector<std::size_t>& jobs,
                                                   const std::vector<policy::Amounts>& idle,
                                                   policy::PlaceMode mode);
  [[nodiscard]] const policy::WaitingTask& task(std::size_t job) const {
    return all_.view.jobs[job];
  }

  const AllJobs& all_;
  const PlacePolicyKind& policy_;
  std::vector<PlaceRound>* rounds_;
  int decisions_ = 0;
};

}  // namespace flowcon::cluster::queue
