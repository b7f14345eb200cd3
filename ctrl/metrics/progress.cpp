// SPDX-License-Identifier: Apache-2.0
// Which of several counters speaks for the whole job.
#include "ctrl/metrics/progress.h"

#include <algorithm>

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::size_t kMaxStates = 16;

}  // namespace

Progress::State& Progress::state(std::uint64_t key, Role role, double done) {
  for (State& known : states_) {
    if (known.key == key) return known;
  }
  if (states_.size() == kMaxStates) {
    // The one that was printed least gives way.
    auto least = std::min_element(states_.begin(), states_.end(),
                                  [](const State& a, const State& b) { return a.count < b.count; });
    *least = states_.back();
    states_.pop_back();
  }
  State fresh;
  fresh.key = key;
  fresh.role = role;
  fresh.first = done;
  fresh.done = done;
  states_.push_back(fresh);
  return states_.back();
}

void Progress::ratio(std::uint64_t key, Role role, double done, double total, std::uint64_t line) {
  if (!(total >= 1) || !(done >= 0) || done > total || total > 1e15) return;
  State& now = state(key, role, done);
  now.falls += done < now.done;
  now.rises += done > now.done;
  if (role == Role::epoch && done != now.done) now.fraction = 0;
  now.done = done;
  now.total = total;
  ++now.count;
  now.last_line = line;
  if (role == Role::epoch) return;
  for (State& outer : states_) {
    if (outer.role != Role::epoch) continue;
    outer.has_inner = true;
    // A validation bar within the epoch starts again: the epoch does not.
    outer.fraction = std::max(outer.fraction, done / total);
  }
}

void Progress::counter(std::uint64_t key, Role role, double done, std::uint64_t line) {
  if (!(done >= 0) || done > 1e15) return;
  State& now = state(key, role, done);
  now.falls += done < now.done;
  if (role == Role::epoch && done != now.done) now.fraction = 0;
  now.done = done;
  if (now.total > 0 && done > now.total) now.total = 0;  // another counter of the same name
  ++now.count;
  now.last_line = line;
}

void Progress::total(bool of_epochs, double total) {
  if (!(total >= 1) || total > 1e15) return;
  (of_epochs ? total_epochs_ : total_steps_) = total;
}

double Progress::total_of(const State& state) const {
  if (state.total > 0) return state.total;
  const double stated = state.role == Role::epoch ? total_epochs_ : total_steps_;
  return stated >= state.done ? stated : 0;
}

const Progress::State* Progress::best(bool epochs) const {
  const State* best = nullptr;
  for (const State& candidate : states_) {
    if ((candidate.role == Role::epoch) != epochs || total_of(candidate) <= 0) continue;
    if (!best || candidate.count > best->count) best = &candidate;
  }
  return best;
}

std::optional<Counter> Progress::result() const {
  const State* epoch = best(true);
  const State* inner = best(false);
  // One epoch in all, or a step counter that goes on across epochs, speaks for itself.
  const bool inner_is_global = inner && inner->falls == 0 && epoch && epoch->done > epoch->first &&
                               inner->rises > 1 && inner->total > 0;
  if (epoch && (total_of(*epoch) > 1 || !inner) && !inner_is_global) {
    const double total = total_of(*epoch);
    if (!epoch->has_inner || !inner) return Counter{epoch->done, total};
    const double before = epoch->first == 0 ? epoch->done : epoch->done - 1;
    return Counter{std::clamp(before + epoch->fraction, 0.0, total), total};
  }
  if (inner) return Counter{inner->done, total_of(*inner)};
  return std::nullopt;
}

}  // namespace flowcon::ctrl::metrics
