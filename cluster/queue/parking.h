// SPDX-License-Identifier: Apache-2.0
// A running job of the queue saves itself and ends, so as to wait again: by the signal or command
// of its labels flowcon.checkpoint.*. Its container stays, and with it all that it has written. For
// .cpp files only: it includes Asio.
#pragma once

#include <string>

#include "cluster/queue/jobs.h"
#include "cluster/queue/world.h"

namespace flowcon::cluster::queue {

class Parking {
 public:
  explicit Parking(World& world) : world_(world) {}

  /// Asks it, and waits until it has ended, its time is over (flowcon.checkpoint.timeout) or it is
  /// no longer to be parked. Errors: why it has not ended, in words.
  ctrl::Async<Result<void>> save(JobPtr job);

 private:
  ctrl::Async<Result<void>> save_by_command(JobPtr job);
  ctrl::Async<Result<void>> save_by_signal(JobPtr job);

  World& world_;
};

}  // namespace flowcon::cluster::queue
