// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/decision_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>

#include "base/json_arrays.h"
#include "base/json_reader.h"

namespace flowcon::ctrl::policy {
namespace {

Member read_member(FieldReader& reader) {
  Member member;
  member.id = reader.text("id");
  member.list = reader.one_of("list", {List::nl, List::wl, List::cl}, "must be NL, WL or CL");
  member.limit = reader.number_or_null("limit");
  member.growth = reader.number_or_null("growth");
  return member;
}

ExecutorState read_executor(FieldReader& reader) {
  ExecutorState state;
  state.alpha = reader.number("alpha");
  state.beta = reader.number("beta");
  reader.require(state.beta >= 1, "beta", "must be at least 1");
  state.interval = reader.number("interval");
  reader.require(state.interval > 0, "interval", "must be above 0");
  state.interval_max = reader.optional_number("interval_max");
  reader.require(!state.interval_max || *state.interval_max > 0, "interval_max", "must be above 0");
  state.floor_all = reader.optional_bool("floor_all");

  state.containers = reader.each("containers", read_member);
  reader.require_unique_ids("containers", state.containers);
  return state;
}

json::object seat(const std::string& id, List list, const std::optional<double>& limit) {
  return {{"id", id}, {"list", name(list)}, {"limit", number_or_null(limit)}};
}

template <class Seats>
json::array seats(const Seats& from) {
  return rendered(from, [](const auto& one) { return seat(one.id, one.list, one.limit); });
}

json::object state_object(const ExecutorState& state) {
  json::object object{{"alpha", state.alpha}, {"beta", state.beta}, {"interval", state.interval}};
  if (state.interval_max) object["interval_max"] = *state.interval_max;
  if (state.floor_all) object["floor_all"] = true;
  object["containers"] = rendered(state.containers, [](const Member& member) {
    json::object container = seat(member.id, member.list, member.limit);
    container["growth"] = number_or_null(member.growth);
    return container;
  });
  return object;
}

}  // namespace

Result<ExecutorState> executor_state_from(const json::value& json) {
  FieldReader reader(json, "");
  ExecutorState state = read_executor(reader);
  if (reader.failed()) return reader.error();
  return state;
}

Result<ListenerState> listener_state_from(const json::value& json) {
  FieldReader reader(json, "");
  ListenerState state;
  state.executor = read_executor(reader);
  state.initial_interval = reader.number("initial_interval");
  reader.require(state.initial_interval > 0, "initial_interval", "must be above 0");
  const json::array& active = reader.array("active");
  state.active.reserve(active.size());
  for (std::size_t i = 0; i < active.size() && !reader.failed(); ++i) {
    state.active.push_back(reader.text_of(active[i], indexed("active", i)));
  }
  if (reader.failed()) return reader.error();
  return state;
}

json::value to_json(const ExecutorState& state) { return state_object(state); }

json::value to_json(const ListenerState& state) {
  json::object object = state_object(state.executor);
  object["initial_interval"] = state.initial_interval;
  object["active"] = texts(state.active);
  return object;
}

json::value to_json(const ExecutorDecision& decision) {
  return json::object{{"interval", decision.interval},
                      {"all_completing", decision.all_completing},
                      {"containers", seats(decision.containers)}};
}

json::value to_json(const ListenerDecision& decision) {
  return json::object{{"arrived", texts(decision.arrived)},
                      {"departed", texts(decision.departed)},
                      {"rerun", decision.rerun},
                      {"interval", decision.interval},
                      {"containers", seats(decision.containers)}};
}

}  // namespace flowcon::ctrl::policy
