// SPDX-License-Identifier: Apache-2.0
// Decisions as they are recorded.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "ctrl/model.h"

namespace flowcon::ctrl::policy {

/// One decision: what went in and what came out, as JSON that `flowcon-sim decide` takes and gives.
struct Round {
  std::string algorithm;  ///< a name of algorithm.h
  Resource resource = Resource::cpu;
  std::string state;
  std::string decision;
};

using Rounds = std::vector<Round>;

/// Adds one; null: nobody records.
template <class State, class Decision>
void add_round(Rounds* rounds, const State& state, const Decision& decision,
               Resource resource = Resource::cpu) {
  if (rounds == nullptr) return;
  rounds->push_back(
      {State::kAlgorithm, resource, render_json(to_json(state)), render_json(to_json(decision))});
}

}  // namespace flowcon::ctrl::policy
