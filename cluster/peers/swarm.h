// SPDX-License-Identifier: Apache-2.0
// The members of a Docker Swarm, as an engine names them. Pure. The swarm is only read: for who is
// there and who leads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/ssh_address.h"

namespace flowcon::cluster::peers {

/// What GET /info says of this host's own part.
struct SwarmPart {
  std::string node;                  ///< its id in the swarm; "" = it has no part in one now
  bool is_in_none = false;           ///< nor will it have, as it is: it never joined, or has left
  bool is_manager = false;           ///< it may ask who else is there
  std::vector<SshAddress> managers;  ///< where they are; not this host itself
};

struct SwarmMember {
  SshAddress address;
  std::string name;  ///< as it calls itself
  bool is_leader = false;
  bool is_here = false;
  bool is_up = true;     ///< as the managers see it; one that is not may be a member all the same
  bool is_down = false;  ///< they have given it up; neither: they do not know
};

/// Members without an address that ssh could take are left out. Errors: not JSON, no such answer.
[[nodiscard]] Result<SwarmPart> parse_swarm_part(std::string_view info);
/// GET /nodes, which managers answer; who is down is left out where another of its name is up.
/// `node` is this host's. Errors: as above.
[[nodiscard]] Result<std::vector<SwarmMember>> parse_swarm_nodes(std::string_view nodes,
                                                                 std::string_view node);

}  // namespace flowcon::cluster::peers
