// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/targets.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/migration/plan/refusals.h"
#include "cluster/policy/speculate.h"

namespace flowcon::cluster::migration {

Result<Neighbour> find_neighbour(const Network& network, const std::string& name) {
  for (const Neighbour& one : network.neighbours()) {
    if (one.name != name && one.id != name && !(one.state && one.state->name == name)) continue;
    if (one.is_reachable && !one.id.empty()) return one;
    return bad_input(one.name + kNotReachable +
                     (one.error.empty() ? "" : ": " + printable(one.error, 300)));
  }
  return bad_input(kNoPeer + printable(name, 80) + "; docker flowcon peer ls lists the peers");
}

Result<Neighbour> least_loaded(const std::string& own_id, const std::vector<Neighbour>& all) {
  policy::SpeculateState state;
  state.source = own_id;
  state.draining = true;
  state.workers.push_back({own_id, {}, 0});
  for (const Neighbour& one : all) {
    if (!one.is_reachable || !one.state || one.state->draining || one.id.empty()) continue;
    state.workers.push_back({one.id, one.state->counts, one.state->usage});
  }
  const policy::SpeculateDecision decision = policy::decide_speculate(state);
  const auto found = std::find_if(all.begin(), all.end(), [&](const Neighbour& one) {
    return decision.move && one.id == decision.target;
  });
  if (found == all.end()) return bad_input("no peer is reachable that takes containers");
  return *found;
}

std::string why_unreachable(const std::string& id, const std::vector<Neighbour>& all) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Neighbour& one) { return one.id == id && !id.empty(); });
  if (found != all.end() && found->is_reachable) return "";
  const std::string why = found == all.end() ? "" : found->error;
  return kUnreached + (why.empty() ? std::string() : ": " + printable(why, 300));
}

std::string name_of_peer(const Network& network, const std::string& id) {
  for (const Neighbour& one : network.neighbours()) {
    if (one.id == id) return one.name;
  }
  return id.substr(0, 12);
}

}  // namespace flowcon::cluster::migration
