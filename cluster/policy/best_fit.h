// SPDX-License-Identifier: Apache-2.0
// Places jobs one after the other, task by task on the node of the least score (Liquid, Algorithm
// 1), and, ours, from each node as the first. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/policy/place_model.h"

namespace flowcon::cluster::policy {

/// The tasks of a job in order: their nodes, and the score of the job with each there.
struct JobPlaces {
  std::vector<std::size_t> nodes;
  std::vector<double> scores;
};

class BestFit {
 public:
  /// The model must outlive it. `most_looks`: of tasks at nodes, work counted alike everywhere.
  BestFit(const PlaceModel& model, bool is_seeded, bool removes_used,
          std::int64_t most_looks = 2'000'000'000);

  /// Places the next job and keeps its room; empty where it does not fit.
  [[nodiscard]] std::optional<JobPlaces> place(std::size_t job);

  /// Did this take more than a state of any use needs? Then nothing more is placed.
  [[nodiscard]] bool is_exhausted() const { return looks_left_ < 0; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // Parameter servers and workers of the job.
  struct Roles {
    double ps = 0;
    double workers = 0;
    [[nodiscard]] bool any() const { return ps + workers > 0; }
  };

  [[nodiscard]] std::optional<JobPlaces> by_domains(std::size_t job);
  [[nodiscard]] std::optional<JobPlaces> attempt(std::size_t job, std::size_t first);
  void find_offers(std::size_t job);
  [[nodiscard]] std::vector<double> offer_for(const PlaceModel::Task& task) const;
  [[nodiscard]] std::size_t best_node(const PlaceModel::Task& task,
                                      const std::vector<double>& offer) const;
  [[nodiscard]] double score_with(const PlaceModel::Task& task, std::size_t node) const;
  [[nodiscard]] double cost_with(const PlaceModel::Task& task, std::size_t node) const;
  [[nodiscard]] double fitness_with(std::size_t node, double gpus) const;
  [[nodiscard]] bool is_open(const PlaceModel::Task& task, std::size_t node) const;
  void put(const PlaceModel::Task& task, std::size_t node);
  void reach_all();
  void take_back();

  const PlaceModel& model_;
  bool is_seeded_ = false;
  bool removes_used_ = false;
  std::int64_t looks_left_ = 0;
  std::vector<std::size_t> all_;  // nodes
  std::vector<double> put_;       // by this call, a row of kinds a node
  std::vector<double> gpus_put_;  // of it

  // Of this job.
  std::vector<std::vector<double>> offers_;  // of the nodes without it, one each of unlike requests
  std::vector<std::size_t> offer_of_;        // by task
  std::size_t job_ = 0;
  std::size_t domain_ = kNone;
  std::vector<bool> is_out_;            // domains where it did not fit
  std::vector<std::size_t> own_nodes_;  // in the order of their first tasks
  std::vector<double> put_before_;      // the rows of these nodes without it
  std::vector<double> gpus_before_;
  std::vector<Roles> on_node_;
  std::vector<Roles> in_rack_;
  Roles placed_;
  double cost_ = 0;
  double fitness_ = 0;
  // With links: what pairs of one more task on each node with those put so far would cost.
  std::vector<Roles> cost_to_;
  std::vector<std::pair<bool, std::size_t>> unreached_;  // put since, is it a ps and where
  bool has_reached_ = false;
};

}  // namespace flowcon::cluster::policy
