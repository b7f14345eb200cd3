// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/categories.h"

namespace flowcon::cluster::policy {

CategoryRound Categories::take_round(const std::vector<Observed>& containers, double alpha,
                                     double now, double interval) {
  CategoryRound round;
  round.state.alpha = alpha;
  for (const Observed& seen : containers) {
    const auto known = states_.find(seen.id);
    const CategoryState before = known == states_.end() ? CategoryState() : known->second;
    const bool is_recent = known != states_.end() && now - before.seen <= 1.5 * interval;
    ObservedContainer container;
    container.id = seen.id;
    container.category = before.category;
    container.value = seen.value;
    if (is_recent) container.previous_value = before.value;
    container.previous_growth = before.growth;
    container.migrated = before.migrated.has_value();
    round.state.containers.push_back(std::move(container));
  }
  round.decision = decide_categorise(round.state);
  round.is_news = !round.decision.requests.empty();
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const CategorisedContainer& decided = round.decision.containers[i];
    CategoryState& state = states_[decided.id];
    const bool is_converged = decided.category == Category::cc;
    if (decided.category != state.category) round.is_news = true;
    if (is_converged && !state.converged) state.converged = now;
    if (!is_converged) state.converged.reset();
    state.category = decided.category;
    state.value = containers[i].value;
    state.growth = decided.growth;
    state.seen = now;
  }
  return round;
}

Counts Categories::count(const std::vector<std::string>& ids) const {
  Counts counts;
  for (const std::string& id : ids) {
    const CategoryState* state = find(id);
    counts.add(state != nullptr ? state->category : Category::pc);
  }
  return counts;
}

const CategoryState* Categories::find(const std::string& id) const {
  const auto found = states_.find(id);
  return found == states_.end() ? nullptr : &found->second;
}

void Categories::mark_migrated(const std::string& id, double now) { states_[id].migrated = now; }

std::vector<std::string> Categories::forget_old(double now) {
  std::vector<std::string> gone;
  for (auto state = states_.begin(); state != states_.end();) {
    if (now - state->second.seen <= kKept) {
      ++state;
      continue;
    }
    gone.push_back(state->first);
    state = states_.erase(state);
  }
  return gone;
}

}  // namespace flowcon::cluster::policy
