// SPDX-License-Identifier: Apache-2.0
// The container pool: which containers run, by the engine's event stream. Nothing is lost when the
// stream or the engine breaks, hangs or says nonsense: the list is compared with what is known
// after each reconnect and each minute, pings show whether the engine lives, and what it does not
// say of a container it is asked again (look_queue.h). New Cons and Finished Cons of FlowCon's
// figure are its two kinds of change.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ctrl/engine/client.h"

namespace flowcon::ctrl {

/// Something that happened to the pool. A container whose labels were not known to be its own
/// (label_problem) is reported as started again once they are. An end is reported also of one whose
/// start was not.
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

/// Units: seconds.
struct PoolTimes {
  /// With engine::kPingTime less than 15, in which a frozen engine has to be known.
  double ping_every = 4;
  double compare_every = 60;
};

class Pool {
 public:
  /// `wake` is called on the loop whenever take() has something new. `image_labels`: what a
  /// container has from its image counts as its own.
  Pool(boost::asio::io_context& io, engine::Client& client, bool image_labels,
       std::function<void()> wake, PoolTimes times = {});
  ~Pool();
  /// Begins to watch. Goes on until stop().
  void start();
  void stop();
  /// What changed since the last call, in order.
  [[nodiscard]] std::vector<Change> take();
  [[nodiscard]] bool has_changes() const;
  [[nodiscard]] const EngineStatus& engine() const;
  /// What the engine says in vain of containers that it lists, a sentence; "" = all are known.
  [[nodiscard]] std::string problem() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace flowcon::ctrl
