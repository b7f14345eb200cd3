// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/series_set.h"

#include <algorithm>

namespace flowcon::ctrl::metrics {

Series* SeriesSet::find(std::uint64_t identity) const {
  const auto known = index_.find(identity);
  return known == index_.end() ? nullptr : series_[known->second].get();
}

bool SeriesSet::is_full() const {
  return series_.size() >= (is_bounded() ? kMost : kMostUnbounded);
}

Series& SeriesSet::add(std::uint64_t identity, SeriesTraits traits) {
  index_.emplace(identity, series_.size());
  identities_.push_back(identity);
  return *series_.emplace_back(std::make_unique<Series>(std::move(traits)));
}

std::size_t SeriesSet::room_of(const Series& series) const {
  return !is_bounded() || &series == favoured_ ? keep_ : std::min(keep_, kSmallKeep);
}

/// Half of the series go: those with the fewest values, the oldest first. Amortised over the
/// insertions that made room necessary, the cost of a line stays linear.
void SeriesSet::evict() {
  std::vector<std::size_t> order(series_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto worth = [&](std::size_t i) {
    const Series& series = *series_[i];
    const bool metric = series.traits.info.role == Role::metric;
    return series.added * (metric ? 4 : 1);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool favoured_a = series_[a].get() == favoured_;
    const bool favoured_b = series_[b].get() == favoured_;
    if (favoured_a != favoured_b) return favoured_a;
    if (worth(a) != worth(b)) return worth(a) > worth(b);
    return series_[a]->last_line > series_[b]->last_line;
  });
  order.resize(order.size() / 2);
  std::sort(order.begin(), order.end());
  std::vector<std::unique_ptr<Series>> kept;
  std::vector<std::uint64_t> identities;
  index_.clear();
  for (std::size_t i : order) {
    index_.emplace(identities_[i], kept.size());
    kept.push_back(std::move(series_[i]));
    identities.push_back(identities_[i]);
  }
  series_ = std::move(kept);
  identities_ = std::move(identities);
}

}  // namespace flowcon::ctrl::metrics
