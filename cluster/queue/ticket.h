// SPDX-License-Identifier: Apache-2.0
// A job of the queue as its container says it: what was asked for by labels and by docker's own
// options, and whether it can wait at all. Touches nothing.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/estimate/features.h"
#include "ctrl/gpus.h"
#include "ctrl/queue_labels.h"
#include "ctrl/settings.h"

namespace flowcon::cluster::queue {

struct Ticket {
  std::string id;
  std::string name;
  ctrl::QueueLabels labels;
  ctrl::estimate::Command command;   ///< what earlier runs are compared with
  std::optional<double> docker_cpu;  ///< cores, of --cpus or the like
  std::optional<double> docker_mem;  ///< bytes, of --memory
  ctrl::GpuDevices gpus;             ///< of --gpus
  double docker_swap = 0;            ///< bytes beyond docker_mem, −1: without bound
  std::string network;               ///< of --network; "" = the engine's own choice
  ctrl::Checkpoint checkpoint;
  bool saves_itself = false;  ///< its labels say how
  bool has_volumes = false;   ///< that it may write to
  bool has_gpu = false;       ///< or another device
  /// It has a label "signal": its engine writes that over the signal that an event names.
  bool hides_signal = false;
  int stop_signal = 15;  ///< that docker stop sends: its image's or --stop-signal, else SIGTERM
  std::string refusal;   ///< why it cannot be a job; "" = it can
};

/// `inspect`: the engine's answer to GET /containers/ID/json with the container's own labels alone
/// (migration::with_own_labels). Errors: it is none.
[[nodiscard]] Result<Ticket> parse_ticket(const boost::json::value& inspect);

}  // namespace flowcon::cluster::queue
