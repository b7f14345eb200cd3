// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/milestone.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flowcon::ctrl::policy {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kNarrow = 0.95;  // of the host; a job that uses more of it is not narrow

// Of the end; the work to it is done for the chance that it is there.
double whole_key(const MilestoneMember& member, double worth) {
  return member.left / member.trust / (1 + worth * std::clamp(member.open90, 0.0, 1.0));
}

double key_of(const MilestoneMember& member, double worth) {
  const double open = std::clamp(member.open90, 0.0, 1.0);
  const double whole = whole_key(member, worth);
  if (!member.left90 || !(worth > 0) || !(open > 0)) return whole;
  return std::min(*member.left90 / worth, whole);
}

// Whose place is but a guess at its end.
bool is_guess(const MilestoneMember& member, double worth) {
  if (!member.is_blind) return false;
  return key_of(member, worth) >= whole_key(member, worth);
}

class Ranking {
 public:
  explicit Ranking(const MilestoneState& state) : state_(state) {
    for (const MilestoneMember& member : state.members) {
      keys_.push_back(key_of(member, state.worth));
      total_ += member.left;
      longest_ = std::max(longest_, alone(member));
    }
  }

  // Indices into the members, the first to go first.
  std::vector<std::size_t> order() {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < keys_.size(); ++i) all.push_back(i);
    std::vector<std::size_t> first = critical();
    Backward plain = backward(all, state_.cores);
    if (first.empty()) return plain.order;
    double taken = 0;
    for (const std::size_t i : first) {
      std::erase(all, i);
      taken += *state_.members[i].width;
    }
    const double beside = std::max(state_.cores - taken, (1 - kNarrow) * state_.cores);
    const Backward rest = backward(std::move(all), beside);
    if (rest.latest > std::max(0.0, plain.latest)) return plain.order;
    for (const std::size_t i : rest.order) first.push_back(i);
    return first;
  }

  [[nodiscard]] double key(std::size_t i) const { return keys_[i]; }

 private:
  using Place = std::vector<std::size_t>::iterator;

  struct Backward {
    std::vector<std::size_t> order;  // the first to go first
    double latest = -kNever;         // how late somebody will be, in spans
  };

  // Of the jobs in `rest` when so many cores are theirs.
  [[nodiscard]] Backward backward(std::vector<std::size_t> rest, double cores) const {
    Backward made;
    double end = 0;
    for (const std::size_t i : rest) end += state_.members[i].left / cores;
    while (!rest.empty()) {
      const auto last = pick_last(rest, end);
      const MilestoneMember& member = state_.members[*last];
      made.order.push_back(*last);
      made.latest = std::max(made.latest, lateness(member, end));
      end -= member.left / cores;
      rest.erase(last);
    }
    std::reverse(made.order.begin(), made.order.end());
    return made;
  }

  // Seconds that it takes with all the cores that it can use.
  [[nodiscard]] double alone(const MilestoneMember& member) const {
    return member.left / std::min(member.width.value_or(state_.cores), state_.cores);
  }

  [[nodiscard]] bool is_critical(const MilestoneMember& member) const {
    if (member.width.value_or(state_.cores) > kNarrow * state_.cores) return false;
    return alone(member) >= state_.critical * std::max(total_ / state_.cores, longest_);
  }

  // The longest of them first.
  [[nodiscard]] std::vector<std::size_t> critical() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (is_critical(state_.members[i])) found.push_back(i);
    }
    std::stable_sort(found.begin(), found.end(), [this](std::size_t a, std::size_t b) {
      return alone(state_.members[a]) > alone(state_.members[b]);
    });
    return found;
  }

  // A key as it counts: an order that stands is kept while the difference is small.
  [[nodiscard]] double weighed(std::size_t i) const {
    const std::optional<std::size_t>& before = state_.members[i].before;
    if (!before) return keys_[i];
    const double n = static_cast<double>(keys_.size());
    const double place = std::min(1.0, static_cast<double>(*before) / n);
    return keys_[i] * (1 + state_.inertia * place);
  }

  [[nodiscard]] Place pick_last(std::vector<std::size_t>& rest, double end) const {
    Place best = rest.end();
    for (auto i = rest.begin(); i != rest.end(); ++i) {
      const MilestoneMember& member = state_.members[*i];
      const double its_end = std::max(end, alone(member));
      if (member.due.value_or(kNever) < its_end * (1 - 1e-9)) continue;
      if (best == rest.end() || weighed(*i) >= weighed(*best)) best = i;
    }
    if (best != rest.end()) return best;
    return std::min_element(rest.begin(), rest.end(), [this, end](std::size_t a, std::size_t b) {
      return lateness(state_.members[a], end) < lateness(state_.members[b], end);
    });
  }

  // Of a job that ends when all are done: later than it is to, in spans.
  [[nodiscard]] double lateness(const MilestoneMember& member, double end) const {
    return (std::max(end, alone(member)) - member.due.value_or(kNever)) / member.span;
  }

  const MilestoneState& state_;
  std::vector<double> keys_;
  double total_ = 0;
  double longest_ = 0;
};

// Those share alike what falls to them together.
void share_guesses(const MilestoneState& state, MilestoneDecision& decision) {
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < state.members.size(); ++i) {
    if (!is_guess(state.members[i], state.worth)) continue;
    sum += decision.members[i].share;
    count += 1;
  }
  for (std::size_t i = 0; i < state.members.size(); ++i) {
    if (is_guess(state.members[i], state.worth)) decision.members[i].share = sum / count;
  }
}

}  // namespace

MilestoneDecision decide_milestone(const MilestoneState& state) {
  MilestoneDecision decision;
  const std::size_t n = state.members.size();
  if (n == 0) return decision;
  Ranking ranking(state);
  const std::vector<std::size_t> order = ranking.order();
  std::vector<double> parts;
  parts.reserve(n);
  double sum = 0;
  for (std::size_t rank = 0; rank < n; ++rank) {
    parts.push_back(std::pow(state.step, -static_cast<double>(rank)));
    sum += parts.back();
  }
  const double least = state.floor / static_cast<double>(n);
  decision.members.resize(n);
  for (std::size_t rank = 0; rank < n; ++rank) {
    const std::size_t i = order[rank];
    const double part = parts[rank] / sum;
    decision.members[i] = {state.members[i].id, rank, least + (1 - state.floor) * part,
                           ranking.key(i)};
  }
  share_guesses(state, decision);
  return decision;
}

}  // namespace flowcon::ctrl::policy
