// SPDX-License-Identifier: Apache-2.0
// What an admin says of how a host is divided: options of flowcond, and all that a host's policy is
// told of them.
#pragma once

#include "ctrl/growth/growth.h"

namespace flowcon::ctrl::policy {

struct HostOptions {
  double alpha = 0.03;        ///< growth efficiency, share of the first loss per second per host
  double beta = 2;            ///< the floor is 1/(beta*n)
  double interval = 20;       ///< seconds between two decisions by growth, before back-off
  double interval_max = 320;  ///< seconds; the back-off stops here
  double observe = 5;         ///< seconds between two samples of usage
  bool floor_all = true;
  growth::Parameters growth;
};

}  // namespace flowcon::ctrl::policy
