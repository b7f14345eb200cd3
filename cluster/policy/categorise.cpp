// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/categorise.h"

#include <cmath>

namespace flowcon::cluster::policy {
namespace {

bool is_measured(const std::optional<double>& number) { return number && std::isfinite(*number); }

std::optional<double> growth_of(const ObservedContainer& container) {
  if (!is_measured(container.value) || !is_measured(container.previous_value)) return std::nullopt;
  return std::abs(*container.value - *container.previous_value);
}

// Below alpha and still slowing: one step nearer to leaving.
bool is_slowing(const ObservedContainer& container, double growth, double alpha) {
  return growth < alpha && is_measured(container.previous_growth) &&
         growth < *container.previous_growth;
}

}  // namespace

CategoriseDecision decide_categorise(const CategoriseState& state) {
  CategoriseDecision decision;
  decision.containers.reserve(state.containers.size());
  for (const ObservedContainer& container : state.containers) {
    const std::optional<double> growth = growth_of(container);
    Category category = container.category;
    if (growth && !container.migrated) {
      if (*growth > state.alpha) {
        category = Category::pc;
      } else if (is_slowing(container, *growth, state.alpha)) {
        if (category == Category::cc) decision.requests.push_back(container.id);
        category = category == Category::pc ? Category::wc : Category::cc;
      }
    }
    decision.containers.push_back({container.id, category, growth});
  }
  const Counts counts = count_categories(decision.containers);
  if (counts.pc + counts.wc <= 1) decision.requests.clear();
  return decision;
}

Counts count_categories(const std::vector<CategorisedContainer>& containers) {
  Counts counts;
  for (const CategorisedContainer& container : containers) counts.add(container.category);
  return counts;
}

}  // namespace flowcon::cluster::policy
