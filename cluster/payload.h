// SPDX-License-Identifier: Apache-2.0
// A connection to a peer for the payloads of one migration.
#pragma once

#include <string>

#include "base/result.h"
#include "cluster/network.h"
#include "ctrl/async.h"
#include "ctrl/pull.h"

namespace flowcon::cluster {

class PayloadConnection {
 public:
  virtual ~PayloadConnection() = default;
  /// PUT with that body, one after the other; returns the answer, whatever its status. A peer that
  /// answers an error before it has all is sent no more.
  virtual Async<Result<Answer>> put(std::string target, ctrl::Pull body, double idle_seconds) = 0;
  /// Ends it within a second and a half. One that is dropped is ended at once.
  virtual Async<void> close() = 0;
};

}  // namespace flowcon::cluster
