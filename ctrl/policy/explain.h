// SPDX-License-Identifier: Apache-2.0
// One recorded decision of FlowCon in a sentence that a person understands, and what sentences
// about others are made of. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "ctrl/policy/executor.h"

namespace flowcon::ctrl::policy {

/// What is asked of a recorded decision.
struct About {
  std::string id;     ///< of the container
  std::string since;  ///< when it came to its list, as a person reads a clock; "" = not known
  std::optional<double>
      granted;  ///< its share, where floor, ceiling, pin or pause made another one
  /// A host's id as people know it; empty: as it is.
  std::function<std::string(const std::string& id)> host_name;
};

// Each takes a state and what was decided from it. Errors: the container is not in the state.

/// "converged since 12:04:10: growth 0.8 %/s is under alpha 3 %; limit lowered from 40 % to 25 %".
[[nodiscard]] Result<std::string> explain(const ExecutorState& state,
                                          const ExecutorDecision& decision, const About& about);

/// "arrived: joins NL with limit 1, and the executor runs at once".
[[nodiscard]] Result<std::string> explain(const ListenerState& state,
                                          const ListenerDecision& decision, const About& about);

/// To three digits: more says nothing to a person.
[[nodiscard]] std::string rounded(double number);
/// "12.5 %": growth and alpha; limits are share_text().
[[nodiscard]] std::string percent(double share);
/// "; effective share 20 % (…)" where that is not the decided one; else empty.
[[nodiscard]] std::string granted(const About& about, double decided);

}  // namespace flowcon::ctrl::policy
