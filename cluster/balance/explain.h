// SPDX-License-Identifier: Apache-2.0
// A recorded round of Algorithm 3, 4 or 5, or of steer, in a sentence about one container. Pure: it
// is decided again from its recorded state by the very function that decided it.
#pragma once

#include <functional>
#include <string>

namespace flowcon::cluster::balance {

/// "watching, was progressing: its value changed by 0.004, alpha is 0.01". `host_name` makes a
/// host's id one for people. "" where it is none of these algorithms; a sentence that says so where
/// the state is damaged or not about the container.
[[nodiscard]] std::string explain(
    const std::string& algorithm, const std::string& state, const std::string& container,
    const std::function<std::string(const std::string& id)>& host_name);

}  // namespace flowcon::cluster::balance
