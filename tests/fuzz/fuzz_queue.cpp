// SPDX-License-Identifier: Apache-2.0
// States of both queues and of device sharing: whatever they say, a decision ends, promises nothing
// twice and is the same from the state as it is written.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "cluster/codec/left_json.h"
#include "cluster/codec/queue_json.h"
#include "cluster/policy/explain_queue.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace flowcon::cluster::policy;
using flowcon::ctrl::policy::About;

void check_queue(const boost::json::value& json) {
  const auto state = queue_state_from(json);
  if (!state) return;
  const auto decision = decide_queue(*state);
  if (!decision) return;
  const std::size_t jobs = state->waiting.size() + state->running.size() + state->arriving.size();
  if (decision->waiting.size() + decision->running.size() + decision->finished.size() != jobs) {
    std::abort();
  }
  for (const IdleNode& node : decision->nodes) {
    for (const auto& [kind, amount] : node.idle) {
      if (std::isnan(amount)) std::abort();
    }
  }
  for (const auto* list : {&state->waiting, &state->running, &state->arriving}) {
    for (const QueueJob& job : *list) {
      About about;
      about.id = job.id;
      if (!explain(*state, *decision, about)) std::abort();
    }
  }
  const auto again = queue_state_from(to_json(*state));
  if (!again) std::abort();
  const auto same = decide_queue(*again);
  if (!same || flowcon::render_json(to_json(*same)) != flowcon::render_json(to_json(*decision)))
    std::abort();
}

void check_left(const boost::json::value& json) {
  const auto state = left_state_from(json);
  if (!state) return;
  const auto decision = decide_left(*state);
  if (!decision) return;
  if (decision->jobs.size() != state->jobs.size()) std::abort();
  for (const LeftPlace& place : decision->jobs) {
    if (!(place.left >= 0) || !std::isfinite(place.left)) std::abort();
    About about;
    about.id = place.id;
    if (!explain(*state, *decision, about)) std::abort();
  }
  for (const IdleNode& node : decision->nodes) {
    for (const auto& [kind, amount] : node.idle) {
      if (std::isnan(amount)) std::abort();
    }
  }
  const auto again = left_state_from(to_json(*state));
  if (!again) std::abort();
  const auto same = decide_left(*again);
  if (!same || flowcon::render_json(to_json(*same)) != flowcon::render_json(to_json(*decision)))
    std::abort();
}

void check_share(const boost::json::value& json) {
  const auto state = share_state_from(json);
  if (!state) return;
  const ShareDecision decision = decide_share(*state);
  if (decision.placed.size() + decision.unplaced.size() != state->tasks.size()) std::abort();
  for (const DeviceTask& task : state->tasks) {
    About about;
    about.id = task.id;
    if (!explain(*state, decision, about)) std::abort();
  }
  const auto again = share_state_from(to_json(*state));
  if (!again || flowcon::render_json(to_json(decide_share(*again))) !=
                    flowcon::render_json(to_json(decision))) {
    std::abort();
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json =
      flowcon::parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json) return 0;
  check_queue(*json);
  check_left(*json);
  check_share(*json);
  return 0;
}
