// SPDX-License-Identifier: Apache-2.0
// The container pool: which containers run, by the engine's event stream, with nothing lost when
// the stream or the engine breaks (after each reconnect the list is compared with what is known).
// New Cons and Finished Cons of FlowCon's figure are its two kinds of change.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ctrl/async.h"
#include "ctrl/engine/client.h"

namespace flowcon::ctrl {

/// Something that happened to the pool.
struct Change {
  enum class Kind { started, finished, updated };
  Kind kind = Kind::started;
  engine::Container container;     ///< finished: only the id is set
  double time = 0;                 ///< seconds since the epoch; 0 = noticed later, time not known
  std::optional<int> exit_status;  ///< finished, and the engine said so
};

struct EngineStatus {
  bool is_reachable = false;
  engine::Version version;
  std::string error;  ///< "" while reachable
};

class Pool {
 public:
  /// `wake` is called on the loop whenever take() has something new.
  Pool(boost::asio::io_context& io, engine::Client& client, std::function<void()> wake);
  ~Pool();
  /// Begins to watch. Goes on until stop().
  void start();
  void stop();
  /// What changed since the last call, in order.
  [[nodiscard]] std::vector<Change> take();
  [[nodiscard]] bool has_changes() const;
  [[nodiscard]] const EngineStatus& engine() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace flowcon::ctrl
