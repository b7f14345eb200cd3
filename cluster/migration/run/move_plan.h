// SPDX-License-Identifier: Apache-2.0
// What one move is about: the copy that is to be made and what travels to it. Goes into the
// journal, and from the source to the target. Pure; what is read comes from another machine.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cluster/migration/plan/accept.h"
#include "cluster/migration/run/image.h"
#include "cluster/migration/run/parts.h"
#include "cluster/moves.h"
#include "ctrl/extension.h"
#include "ctrl/settings.h"

namespace flowcon::cluster::migration {

/// A plan's greatest size in bytes.
inline constexpr std::size_t kMaxPlanBytes = 4U << 20;

/// The label that says which move a container or volume was made for.
inline constexpr const char* kMoveLabel = ctrl::kMovedLabel;

/// A volume that is made on the target and travels. Of data (plan/data_volume.h) it may be there.
struct PlannedVolume {
  std::string name;
  boost::json::object labels;
  std::uint64_t bytes = 0;  ///< of data: an estimate; else 0
};

struct Plan {
  boost::json::object body;            ///< of POST /containers/create, without a restart policy
  boost::json::object restart_policy;  ///< as the engine writes it; empty: none
  ImageInfo image;
  std::string image_name;  ///< for people
  std::vector<PlannedVolume> volumes;
  std::vector<Part> parts;
  std::uint64_t bytes = 0;  ///< of what travels beside the image, before it is packed; an estimate
  Cause cause = kPerson;
  /// How long a copy may print nothing until it is taken to run on, in seconds; and does only a
  /// value, not any line, show it before?
  double confirm = 30;
  bool awaits_value = false;
  ctrl::Checkpoint checkpoint;     ///< source only
  bool has_brought_image = false;  ///< target only: the image came with this move
  bool is_birth = false;           ///< of a job's task, which is started from its beginning
  policy::Amounts request;         ///< of a birth: what the task asks for; cores, bytes, GPUs
  bool is_early = false;           ///< of a birth: as MoveOrder::is_early
  bool is_first = false;           ///< of a birth: as MoveOrder::is_first
  std::string birth;               ///< of a return: the birth whose copy goes home
  std::string user_mapping;        ///< of the source's engine: user_mapping(); of a return: ""
};

[[nodiscard]] const char* name(PartKind kind);

/// The member by which a target says that it compares Plan::user_mapping with its own.
inline constexpr const char* kComparesUsers = "compares_users";

/// What in an engine's answer to GET /info gives files other owners than those that a container
/// sees: "UID.GID" (userns-remap: what is root there), or a word for what equals no other one's;
/// empty: nothing.
[[nodiscard]] std::string user_mapping(const boost::json::value& info);

/// Of what a target answers that has nothing against `plan`: an older one does not compare, and is
/// taken for one that maps no users.
[[nodiscard]] bool has_compared(const Plan& plan, const boost::json::value& said);

/// Have files that travel between two such engines the same owners?
[[nodiscard]] bool is_same_mapping(const std::string& one, const std::string& other);

/// Errors: too long, not JSON, a member that is missing or not what it may be: every name, path and
/// id is held to what it may be, a part lies where the body mounts it, a mounted volume of a name
/// travels, data is mounted to be read. What a host accepts beyond that is accept.h's to say.
[[nodiscard]] Result<Plan> parse_plan(std::string_view text);

/// The same of a plan that a peer offers. Errors: also what is beyond bounds.h.
[[nodiscard]] Result<Plan> parse_offer(const boost::json::value& offered);

/// What parse_plan() reads back as the same.
[[nodiscard]] boost::json::object to_json(const Plan& plan);

/// The body of POST /containers/create for the copy of the move `id`; `image` names the plan's.
[[nodiscard]] boost::json::object create_body(const Plan& plan, const std::string& id,
                                              const std::string& image);

/// Does it bring processes that CRIU froze? Before the move begins the layer alone says so.
[[nodiscard]] bool needs_criu(const Plan& plan);

/// Every reason why the plan is not accepted: refusals() of its body, and what CRIU would restore.
[[nodiscard]] std::vector<std::string> refusals(const Plan& plan, const AcceptPolicy& policy);

/// The ports of the host that the copy would listen at: {port, "tcp"}.
[[nodiscard]] std::vector<std::pair<int, std::string>> fixed_ports(const Plan& plan);

}  // namespace flowcon::cluster::migration
