// SPDX-License-Identifier: Apache-2.0
// A running job of the queue saves itself and ends, so as to wait again: by the signal or command
// of its labels flowcon.checkpoint.*. Its container stays, and with it all that it has written. For
// .cpp files only: it includes Asio.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cluster/queue/ticket.h"
#include "cluster/queue/world.h"

namespace flowcon::cluster::queue {

/// What is asked of one container.
struct Save {
  std::string container;  ///< full id
  ctrl::Checkpoint how;
  bool saves_itself = false;  ///< its labels say how
  bool has_saved = false;     ///< its command said so
  std::function<bool()> is_wanted = [] { return true; };
};

class Parking {
 public:
  explicit Parking(World& world) : world_(world) {}

  /// Asks it, and waits until it has ended, its time is over (flowcon.checkpoint.timeout) or it is
  /// no longer wanted. Errors: why it has not ended, in words.
  Async<Result<void>> save(std::shared_ptr<Save> save);

 private:
  Async<Result<void>> save_by_command(std::shared_ptr<Save> save);
  Async<Result<void>> save_by_signal(std::shared_ptr<Save> save);

  World& world_;
};

}  // namespace flowcon::cluster::queue
