// SPDX-License-Identifier: Apache-2.0
// What containers of one group share on a host: a network of their own, and volumes. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "cluster/migration/plan/description.h"

namespace flowcon::cluster::migration {

/// Label of a container that is a task of a group: the id of the group's ticket.
inline constexpr const char* kGroupLabel = "org.flowcon.group";
/// Label of the one whose volumes are the group's: what others have written elsewhere stays there.
/// The same id, which no image of another group has.
inline constexpr const char* kLeaderLabel = "org.flowcon.leader";

/// Label of one that goes on with what another container began (ctrl/began_elsewhere.h).
inline constexpr const char* kGoesOnLabel = "org.flowcon.goes-on";

/// Label of one that listens on its host: the port there that is its own.
inline constexpr const char* kPortLabel = "org.flowcon.port";

/// The network of a group (id of its ticket) that is on one host.
[[nodiscard]] std::string group_network(std::string_view group);
inline constexpr const char* kGroupNetworks = "flowcon-group-";  ///< how their names begin
/// kGroupNetworks and 32 hexadecimal digits?
[[nodiscard]] bool is_group_network(std::string_view name);

/// What a task's volume `name` is called where its birth `birth` makes it.
[[nodiscard]] std::string task_volume(const std::string& birth, const std::string& name);
/// "flowcon-task-" and 32 hexadecimal digits?
[[nodiscard]] bool is_task_volume(std::string_view name);

/// The group that the container of a body for POST /containers/create is a task of; "" = none.
[[nodiscard]] std::string group_of(const boost::json::object& body);
/// Is it a task of a group, and not the one whose volumes come home?
[[nodiscard]] bool is_follower(const boost::json::object& body);

}  // namespace flowcon::cluster::migration
