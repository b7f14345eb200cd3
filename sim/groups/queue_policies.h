// SPDX-License-Identifier: Apache-2.0
// Queues as policies of the simulator: the product's decisions, and the plain ones beside them.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/groups/policy.h"

namespace flowcon::sim::groups {

/// In order of arrival, each with the most workers that affinity can place, at least `min`; the
/// first that does not fit ends the round. Nobody is resized.
[[nodiscard]] std::unique_ptr<GroupPolicy> make_fifo(std::uint64_t seed);

/// KOD2's queue (decide_queue), a pass whenever a job comes or ends.
[[nodiscard]] std::unique_ptr<GroupPolicy> make_kod2(std::uint64_t seed);

/// The same with `prune` and `repeat`.
[[nodiscard]] std::unique_ptr<GroupPolicy> make_kod2_repeat(std::uint64_t seed);

/// Least left first (decide_left).
[[nodiscard]] std::unique_ptr<GroupPolicy> make_left(std::uint64_t seed);

/// Task after task in order of arrival, each to a random node with room; who finds none waits, and
/// those behind it are tried. No gangs, no resizing.
[[nodiscard]] std::unique_ptr<GroupPolicy> make_tf_operator(std::uint64_t seed);

/// The same with the waiting tasks of all jobs in random order.
[[nodiscard]] std::unique_ptr<GroupPolicy> make_tf_operator_whole(std::uint64_t seed);

}  // namespace flowcon::sim::groups
