// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/algorithms.h"

#include "cluster/codec/allocate_json.h"
#include "cluster/codec/decision_json.h"
#include "cluster/codec/left_json.h"
#include "cluster/codec/place_json.h"
#include "cluster/codec/queue_json.h"
#include "cluster/policy/explain.h"
#include "cluster/policy/explain_allocate.h"
#include "cluster/policy/explain_place.h"
#include "cluster/policy/explain_queue.h"
#include "ctrl/codec/estimate_json.h"
#include "ctrl/estimate/explain.h"

namespace flowcon::cluster::policy {
namespace {

using ctrl::policy::algorithm;
using ctrl::policy::Algorithm;
using ctrl::policy::PlaceChange;

std::vector<PlaceChange> category_changes(const boost::json::value& state,
                                          const boost::json::value& decision) {
  return ctrl::policy::place_changes(state, decision, "category");
}

std::vector<PlaceChange> moves_of(const boost::json::value&, const boost::json::value& decision) {
  return ctrl::policy::move_changes(decision);
}

std::vector<Algorithm> all_algorithms() {
  std::vector<Algorithm> all = ctrl::policy::host_algorithms();
  all.push_back(algorithm<categorise_state_from, decide_categorise>(
      "categories of a host's containers, who asks to migrate (SpeCon, Algorithm 3)",
      kCategoriseHelp, category_changes));
  all.push_back(algorithm<speculate_state_from, decide_speculate>(
      "the host for a container that asks to migrate (SpeCon, Algorithm 4)", kSpeculateHelp,
      ctrl::policy::request_changes));
  all.push_back(algorithm<rebalance_state_from, decide_rebalance>(
      "migrations that even out the load (SpeCon, Algorithm 5)", kRebalanceHelp, moves_of));
  all.push_back(algorithm<steer_state_from, decide_steer>(
      "migrations by the remaining work of each host (ours)", kSteerHelp, moves_of));
  all.push_back(algorithm<queue_state_from, decide_queue>(
      "starts of queued jobs, workers of running ones (KOD2)", kQueueHelp,
      ctrl::policy::no_changes));
  all.push_back(algorithm<left_state_from, decide_left>(
      "allocations of queued jobs by their remaining time (ours)", kLeftHelp,
      ctrl::policy::no_changes));
  all.push_back(algorithm<ctrl::estimate::estimate_state_from, ctrl::estimate::decide_estimate>(
      "resources of jobs, estimated from earlier ones (Liquid)", ctrl::estimate::kEstimateHelp,
      ctrl::policy::no_changes));
  all.push_back(algorithm<place_state_from, decide_place>(
      "nodes for the tasks of jobs: best-fit, or a batch at once (Liquid)", kPlaceHelp,
      ctrl::policy::no_changes));
  all.push_back(algorithm<share_state_from, decide_share>(
      "devices of a node for its tasks (Liquid)", kShareHelp, ctrl::policy::no_changes));
  all.push_back(algorithm<allocate_state_from, decide_allocate>(
      "nodes for each job (elastic allocator: greedy or rolling horizon)", kAllocateHelp,
      allocate_changes));
  return all;
}

}  // namespace

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> kAlgorithms = all_algorithms();
  return kAlgorithms;
}

}  // namespace flowcon::cluster::policy
