// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/speculate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flowcon::cluster::policy {
namespace {

// Ordered like numbers even where a measurement is none.
double usage_of(const Worker& worker) {
  return std::isnan(worker.usage) ? std::numeric_limits<double>::infinity() : worker.usage;
}

}  // namespace

double score_of(const Counts& counts, const Weights& weights) {
  return static_cast<double>(counts.pc) * weights.pc + static_cast<double>(counts.wc) * weights.wc +
         static_cast<double>(counts.cc) * weights.cc;
}

SpeculateDecision decide_speculate(const SpeculateState& state) {
  SpeculateDecision decision;
  decision.target = state.source;
  double least = std::numeric_limits<double>::infinity();
  bool is_source_known = false;
  decision.scores.reserve(state.workers.size());
  for (const Worker& worker : state.workers) {
    decision.scores.push_back({worker.id, score_of(worker.counts, state.weights)});
    is_source_known = is_source_known || worker.id == state.source;
    if (state.draining && worker.id == state.source) continue;
    least = std::min(least, decision.scores.back().score);
  }

  bool is_source_candidate = false;
  const Worker* best = nullptr;
  for (std::size_t i = 0; i < state.workers.size(); ++i) {
    const Worker& worker = state.workers[i];
    if (decision.scores[i].score != least) continue;
    if (state.draining && worker.id == state.source) continue;
    decision.candidates.push_back(worker.id);
    is_source_candidate = is_source_candidate || worker.id == state.source;
    if (!best || usage_of(worker) < usage_of(*best)) best = &worker;
  }
  decision.move = best && is_source_known && !is_source_candidate;
  if (decision.move) decision.target = best->id;
  return decision;
}

}  // namespace flowcon::cluster::policy
