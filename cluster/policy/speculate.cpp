// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/speculate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace flowcon::cluster::policy {
namespace {

// Ordered like numbers even where a measurement is none.
double usage_of(const Worker& worker) {
  return std::isnan(worker.usage) ? std::numeric_limits<double>::infinity() : worker.usage;
}

void move_converged(Counts& from, Counts& to) {
  from.cc = std::max<std::int64_t>(from.cc - 1, 0);
  ++to.cc;
}

// The workers in the order in which Algorithm 4 prefers them.
class Preference {
 public:
  Preference(const Weights& weights, const std::vector<Worker>& workers) : weights_(weights) {
    seats_.reserve(workers.size());
    for (const Worker& worker : workers) {
      seats_.push_back({worker.counts, score_of(worker.counts, weights), usage_of(worker)});
      order_.insert(key(seats_.size() - 1));
    }
  }

  // The one that takes a container of `source`; `source` itself where none weighs less.
  [[nodiscard]] std::size_t target_of(std::size_t source) const {
    const auto& [score, usage, first] = *order_.begin();
    return seats_[source].score == score ? source : first;
  }

  void move(std::size_t source, std::size_t target) {
    order_.erase(key(source));
    order_.erase(key(target));
    move_converged(seats_[source].counts, seats_[target].counts);
    for (const std::size_t index : {source, target}) {
      seats_[index].score = score_of(seats_[index].counts, weights_);
      order_.insert(key(index));
    }
  }

 private:
  struct Seat {
    Counts counts;
    double score = 0;
    double usage = 0;
  };
  using Key = std::tuple<double, double, std::size_t>;

  [[nodiscard]] Key key(std::size_t index) const {
    return {seats_[index].score, seats_[index].usage, index};
  }

  Weights weights_;
  std::vector<Seat> seats_;
  std::set<Key> order_;
};

}  // namespace

bool is_valid(const Weights& weights) {
  return std::isfinite(weights.pc) && weights.pc > weights.wc && weights.wc > weights.cc &&
         weights.cc > 0;
}

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

std::vector<Worker> workers_after(std::vector<Worker> workers, const std::string& source,
                                  const SpeculateDecision& decision) {
  if (!decision.move) return workers;
  const auto find = [&workers](const std::string& id) {
    return std::find_if(workers.begin(), workers.end(),
                        [&id](const Worker& worker) { return worker.id == id; });
  };
  const auto from = find(source);
  const auto to = find(decision.target);
  if (from != workers.end() && to != workers.end()) move_converged(from->counts, to->counts);
  return workers;
}

std::vector<Answer> decide_requests(const Weights& weights, const std::vector<Worker>& workers,
                                    const std::vector<Request>& requests) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < workers.size(); ++i) places.emplace(workers[i].id, i);

  Preference preference(weights, workers);
  std::vector<Answer> answers;
  answers.reserve(requests.size());
  for (const Request& request : requests) {
    Answer answer{request.container, request.source, false};
    if (const auto found = places.find(request.source); found != places.end()) {
      const std::size_t source = found->second;
      const std::size_t target = preference.target_of(source);
      answer.move = target != source;
      if (answer.move) {
        preference.move(source, target);
        answer.target = workers[target].id;
      }
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace flowcon::cluster::policy
