// SPDX-License-Identifier: Apache-2.0
#include "cluster/balance/algorithms.h"

#include "cluster/balance/explain.h"
#include "cluster/codec/decision_json.h"
#include "cluster/codec/explain_queue.h"
#include "cluster/codec/queue_json.h"

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

// A container's list or host is none of the queue's: its jobs are not containers yet.
std::vector<PlaceChange> no_changes(const boost::json::value&, const boost::json::value&) {
  return {};
}

// As decide_text, of a decision that can fail.
Result<std::string> decide_queue_text(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return json.error();
  const auto state = queue_state_from(*json);
  if (!state) return state.error();
  const auto decision = decide_queue(*state);
  if (!decision) return decision.error();
  return render_json(to_json(*decision));
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
  all.push_back({"queue", "who of the queue starts, gives workers, gets some (KOD2)",
                 decide_queue_text, explain_state<queue_state_from, decide_queue>, no_changes});
  all.push_back({"share", "devices of a node for its tasks (Liquid)",
                 decide_text<share_state_from, decide_share>,
                 explain_state<share_state_from, decide_share>, no_changes});
  return all;
}

}  // namespace

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> kAlgorithms = all_algorithms();
  return kAlgorithms;
}

}  // namespace flowcon::cluster::balance
