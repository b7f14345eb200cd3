// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/milestone_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/json_arrays.h"
#include "base/json_fields.h"

namespace flowcon::ctrl::policy {

constexpr double kMost = 1e15;  // beyond any CPU seconds; keeps sums finite

static void fields(auto& io, Is<MilestoneMember> auto& member) {
  io("id", member.id);
  io("left", member.left);
  io.require(member.left > 0 && member.left <= kMost, "left", "must be above 0");
  io.nullable("left90", member.left90);
  const double left90 = member.left90.value_or(0);
  io.require(left90 >= 0 && left90 <= kMost, "left90", "must not be below 0");
  if (io.has("open90")) io("open90", member.open90, 0, 1);
  if (io.has("blind")) io("blind", member.is_blind);
  io.optional("trust", member.trust, 1);
  io.require(member.trust > 0 && member.trust <= 1, "trust", "must be above 0, at most 1");
  io.optional("from", member.from, "");
  io.nullable("width", member.width);
  io.require(member.width.value_or(1) > 0, "width", "must be above 0");
  io.nullable("due", member.due);
  if (io.has("span")) positive(io, "span", member.span);
  io.nullable("before", member.before, FieldReader::kMostCounted);
  io.nullable("share", member.share);
}

static void fields(auto& io, Is<MilestoneState> auto& state) {
  io("cores", state.cores);
  io.require(state.cores > 0 && state.cores <= kMost, "cores", "must be above 0");
  if (io.has("worth")) io("worth", state.worth, 0, 1e6);
  if (io.has("step")) io("step", state.step, 1, 1e6);
  if (io.has("floor")) io("floor", state.floor, 0, 1);
  if (io.has("critical")) io("critical", state.critical, 0, 1e6);
  if (io.has("inertia")) io("inertia", state.inertia, 0, 1e6);
  io("containers", state.members);
  io.require_unique_ids("containers", state.members);
}

Result<MilestoneState> milestone_state_from(const json::value& json) {
  return read_json<MilestoneState>(json);
}

json::value to_json(const MilestoneState& state) { return fields_json(state); }

json::value to_json(const MilestoneDecision& decision) {
  json::array containers = rendered(decision.members, [](const Ranked& ranked) {
    return json::object{
        {"id", ranked.id}, {"rank", ranked.rank}, {"share", ranked.share}, {"key", ranked.key}};
  });
  return json::object{{"containers", std::move(containers)}};
}

}  // namespace flowcon::ctrl::policy
