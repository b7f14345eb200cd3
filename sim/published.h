// SPDX-License-Identifier: Apache-2.0
// A published figure beside ours.
#pragma once

#include <string>

namespace flowcon::sim {

struct PublishedRow {
  std::string experiment, published, ours, goal;
  bool is_met;
};

}  // namespace flowcon::sim
