// SPDX-License-Identifier: Apache-2.0
// A decision of a queue, or of device sharing, in a sentence about one job or task. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "cluster/policy/left_queue.h"
#include "cluster/policy/queue.h"
#include "cluster/policy/share.h"
#include "ctrl/policy/explain.h"

namespace flowcon::cluster::policy {

// Each takes a state and what was decided from it. Errors: the job is not in the state.

/// "starts on gpu1 (2 workers): its minimum fits there; weight 0.73".
[[nodiscard]] Result<std::string> explain(const QueueState& state, const QueueDecision& decision,
                                          const ctrl::policy::About& about);
/// "starts on gpu1 (2 workers): 120 s left, 1 job before it has less".
[[nodiscard]] Result<std::string> explain(const LeftState& state, const LeftDecision& decision,
                                          const ctrl::policy::About& about);
/// "gets gpu0: the most used device with room for it".
[[nodiscard]] Result<std::string> explain(const ShareState& state, const ShareDecision& decision,
                                          const ctrl::policy::About& about);

}  // namespace flowcon::cluster::policy
