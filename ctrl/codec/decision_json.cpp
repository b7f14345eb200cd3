// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/decision_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>

#include "base/json_arrays.h"
#include "base/json_fields.h"

namespace flowcon::ctrl::policy {
namespace {

std::vector<std::string> read_ids(FieldReader& reader, std::string_view name) {
  std::vector<std::string> ids;
  const json::array& listed = reader.array(name);
  for (std::size_t i = 0; i < listed.size() && !reader.failed(); ++i) {
    ids.push_back(reader.text_of(listed[i], indexed(name, i)));
  }
  return ids;
}

template <class Seats>
json::array seats(const Seats& from) {
  return rendered(from, [](const auto& one) {
    return json::object{{"id", one.id}, {"list", name(one.list)}, {"limit", json_of(one.limit)}};
  });
}

}  // namespace

static void fields(auto& io, Is<Member> auto& member) {
  io("id", member.id);
  io.one_of("list", member.list, {List::nl, List::wl, List::cl}, "must be NL, WL or CL");
  io("limit", member.limit);
  io("growth", member.growth);
}

static void fields(auto& io, Is<ExecutorState> auto& state) {
  io("alpha", state.alpha);
  io("beta", state.beta);
  io.require(state.beta >= 1, "beta", "must be at least 1");
  positive(io, "interval", state.interval);
  io.optional("interval_max", state.interval_max);
  io.require(state.interval_max.value_or(1) > 0, "interval_max", "must be above 0");
  io.optional("floor_all", state.floor_all, false);
  io("containers", state.containers);
  io.require_unique_ids("containers", state.containers);
}

static void fields(auto& io, Is<ListenerState> auto& state) {
  fields(io, state.executor);
  positive(io, "initial_interval", state.initial_interval);
  io.as("active", state.active, read_ids);
}

Result<ExecutorState> executor_state_from(const json::value& json) {
  return read_json<ExecutorState>(json);
}
Result<ListenerState> listener_state_from(const json::value& json) {
  return read_json<ListenerState>(json);
}

json::value to_json(const ExecutorState& state) { return fields_json(state); }
json::value to_json(const ListenerState& state) { return fields_json(state); }

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
