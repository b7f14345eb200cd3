// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/backoff.h"

#include <algorithm>

namespace flowcon::cluster::peers {

double Backoff::next(double chance) {
  const double wait = next_ * (1 - kJitter + 2 * kJitter * std::clamp(chance, 0.0, 1.0));
  next_ = std::min(next_ * 2, kMost);
  return wait;
}

}  // namespace flowcon::cluster::peers
