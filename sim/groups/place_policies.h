// SPDX-License-Identifier: Apache-2.0
// Placements as policies of the simulator: first come, first served, as a whole; the first job
// that does not fit ends the round. Nobody is moved.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/groups/policy.h"

namespace flowcon::sim::groups {

/// Each task to a random node with room.
[[nodiscard]] std::unique_ptr<GroupPolicy> make_random(std::uint64_t seed);
/// To the node with the fewest tasks of the job, then with the fewest GPUs in use.
[[nodiscard]] std::unique_ptr<GroupPolicy> make_even(std::uint64_t seed);
/// To the node with the least share of its GPUs in use, then of its cores.
[[nodiscard]] std::unique_ptr<GroupPolicy> make_least_loaded(std::uint64_t seed);
/// Liquid's best-fit as printed (decide_place, immediate).
[[nodiscard]] std::unique_ptr<GroupPolicy> make_best_fit(std::uint64_t seed);
/// The same from each node.
[[nodiscard]] std::unique_ptr<GroupPolicy> make_seeded(std::uint64_t seed);
/// All that wait at once (decide_place, batch).
[[nodiscard]] std::unique_ptr<GroupPolicy> make_genetic(std::uint64_t seed);

}  // namespace flowcon::sim::groups
