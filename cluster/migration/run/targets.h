// SPDX-License-Identifier: Apache-2.0
// Which of the hosts that are known a move goes to or comes from. No I/O, no clock.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/network.h"

namespace flowcon::cluster::migration {

/// Seconds that a host has to look at its engine and disk, before it says whether it takes a
/// container.
inline constexpr double kJudgeTime = 60;

/// The peer that a person or a policy calls so, if it is reachable. Errors: say why it is not, or
/// that there is none.
[[nodiscard]] Result<Neighbour> find_neighbour(const Network& network, const std::string& name);

/// Which of the peers takes a container of this host by Algorithm 4, as if this host were not
/// there. Errors: none is reachable that takes containers.
[[nodiscard]] Result<Neighbour> least_loaded(const std::string& own_id,
                                             const std::vector<Neighbour>& all);

/// Why this host cannot ask the host `id` about a move, in words; empty: it can.
[[nodiscard]] std::string why_unreachable(const std::string& id, const std::vector<Neighbour>& all);

/// As people here call the host `id`; the beginning of its id where nobody does.
[[nodiscard]] std::string name_of_peer(const Network& network, const std::string& id);

}  // namespace flowcon::cluster::migration
