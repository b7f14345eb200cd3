// SPDX-License-Identifier: Apache-2.0
// Which of docker's options a job of the queue cannot have: the container has to outlive its end,
// nobody sits before it, and it starts where and when flowcond decides. Pure.
#pragma once

#include <string>
#include <vector>

namespace flowcon::plugin {

/// The first option among `docker_arguments` that stands in the way, as a sentence that says what
/// to do; "" = none.
[[nodiscard]] std::string submit_refusal(const std::vector<std::string>& docker_arguments);

}  // namespace flowcon::plugin
