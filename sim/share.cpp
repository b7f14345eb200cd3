// SPDX-License-Identifier: Apache-2.0
#include "sim/share.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace flowcon::sim {

std::vector<double> water_fill(const std::vector<Demand>& demands, double cores) {
  std::vector<double> rates(demands.size(), 0);
  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Who is full at the lowest level comes first.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return demands[a].cap * demands[b].weight < demands[b].cap * demands[a].weight;
  });
  double weights = 0;
  for (const Demand& demand : demands) weights += demand.weight;
  double left = cores;
  for (const std::size_t i : order) {
    const Demand& demand = demands[i];
    const double fair = weights > 0 ? left * demand.weight / weights : 0;
    rates[i] = std::max(0.0, std::min(demand.cap, fair));
    left -= rates[i];
    weights -= demand.weight;
  }
  return rates;
}

double effective_sharers(const std::vector<double>& rates) {
  double sum = 0;
  double squares = 0;
  for (const double rate : rates) {
    sum += rate;
    squares += rate * rate;
  }
  return squares > 0 ? sum * sum / squares : 0;
}

}  // namespace flowcon::sim
