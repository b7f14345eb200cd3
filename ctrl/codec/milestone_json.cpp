// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/milestone_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/json.h"
#include "base/json_arrays.h"
#include "base/json_reader.h"

namespace flowcon::ctrl::policy {
namespace {

constexpr double kMost = 1e15;  // beyond any CPU seconds; keeps sums finite

void read_if(FieldReader& reader, const char* name, double low, double high, double& out) {
  if (reader.optional_number(name)) out = reader.number(name, low, high);
}

MilestoneMember read_member(FieldReader& reader) {
  MilestoneMember member;
  member.id = reader.text("id");
  member.left = reader.number("left");
  reader.require(member.left > 0 && member.left <= kMost, "left", "must be above 0");
  member.left90 = reader.optional_number("left90");
  reader.require(!member.left90 || (*member.left90 >= 0 && *member.left90 <= kMost), "left90",
                 "must not be below 0");
  read_if(reader, "open90", 0, 1, member.open90);
  member.is_blind = reader.optional_bool("blind");
  member.width = reader.optional_number("width");
  reader.require(!member.width || *member.width > 0, "width", "must be above 0");
  member.due = reader.optional_number("due");
  if (const auto span = reader.optional_number("span")) {
    reader.require(*span > 0, "span", "must be above 0");
    member.span = *span;
  }
  if (reader.optional_number("before")) {
    member.before = static_cast<std::size_t>(reader.count("before"));
  }
  member.share = reader.optional_number("share");
  return member;
}

}  // namespace

Result<MilestoneState> milestone_state_from(const json::value& value) {
  FieldReader reader(value, "");
  MilestoneState state;
  state.cores = reader.number("cores");
  reader.require(state.cores > 0 && state.cores <= kMost, "cores", "must be above 0");
  read_if(reader, "worth", 0, 1e6, state.worth);
  read_if(reader, "step", 1, 1e6, state.step);
  read_if(reader, "floor", 0, 1, state.floor);
  read_if(reader, "critical", 0, 1e6, state.critical);
  read_if(reader, "inertia", 0, 1e6, state.inertia);
  state.members = reader.each("containers", read_member);
  reader.require_unique_ids("containers", state.members);
  if (reader.failed()) return reader.error();
  return state;
}

json::value to_json(const MilestoneState& state) {
  json::object object;
  object["cores"] = state.cores;
  object["worth"] = state.worth;
  object["step"] = state.step;
  object["floor"] = state.floor;
  object["critical"] = state.critical;
  object["inertia"] = state.inertia;
  object["containers"] = rendered(state.members, [](const MilestoneMember& member) {
    json::object c;
    c["id"] = member.id;
    c["left"] = member.left;
    c["left90"] = number_or_null(member.left90);
    c["open90"] = member.open90;
    c["blind"] = member.is_blind;
    c["width"] = number_or_null(member.width);
    c["due"] = number_or_null(member.due);
    c["span"] = member.span;
    c["before"] = member.before ? json::value(*member.before) : json::value(nullptr);
    c["share"] = number_or_null(member.share);
    return c;
  });
  return object;
}

json::value to_json(const MilestoneDecision& decision) {
  json::array containers = rendered(decision.members, [](const Ranked& ranked) {
    return json::object{
        {"id", ranked.id}, {"rank", ranked.rank}, {"share", ranked.share}, {"key", ranked.key}};
  });
  return json::object{{"containers", std::move(containers)}};
}

}  // namespace flowcon::ctrl::policy
