// SPDX-License-Identifier: Apache-2.0
#include "cluster/balance/algorithms.h"

#include "cluster/balance/explain.h"
#include "cluster/balance/explain_allocate.h"
#include "cluster/codec/allocate_json.h"
#include "cluster/codec/decision_json.h"

namespace flowcon::cluster::balance {
namespace {

using namespace policy;
using ctrl::policy::Algorithm;
using ctrl::policy::decide_text;
using ctrl::policy::explain_state;
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
  all.push_back({"categorise",
                 "categories of a host's containers, who asks to move (SpeCon, Algorithm 3)",
                 decide_text<categorise_state_from, decide_categorise>,
                 explain_state<categorise_state_from, decide_categorise>, category_changes});
  all.push_back({"speculate", "the host for a container that asks to move (SpeCon, Algorithm 4)",
                 decide_text<speculate_state_from, decide_speculate>,
                 explain_state<speculate_state_from, decide_speculate>,
                 ctrl::policy::request_changes});
  all.push_back({"rebalance", "moves that even out the hosts (SpeCon, Algorithm 5)",
                 decide_text<rebalance_state_from, decide_rebalance>,
                 explain_state<rebalance_state_from, decide_rebalance>, moves_of});
  all.push_back({"balance", "moves by the work that is left on each host (ours)",
                 decide_text<steer_state_from, decide_steer>,
                 explain_state<steer_state_from, decide_steer>, moves_of});
  all.push_back({"allocate", "nodes for each job (elastic allocator: greedy or rolling horizon)",
                 decide_text<allocate_state_from, decide_allocate>,
                 explain_state<allocate_state_from, decide_allocate>, allocate_changes});
  return all;
}

}  // namespace

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> kAlgorithms = all_algorithms();
  return kAlgorithms;
}

}  // namespace flowcon::cluster::balance
