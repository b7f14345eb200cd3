// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/place_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/json_reader.h"
#include "cluster/codec/amounts_json.h"
#include "cluster/codec/arrays.h"

namespace flowcon::cluster::policy {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostListed = 10'000;

void read_options(FieldReader& reader, PlaceState& state) {
  const auto is_there = [&reader](const char* name) {
    const json::value* value = reader.find(name);
    return value && !value->is_null();
  };
  state.mode =
      reader.one_of("mode", {PlaceMode::immediate, PlaceMode::batch}, "must be immediate or batch");
  if (is_there("lambda")) state.lambda = reader.number("lambda", 0, 1);
  state.remove_used = option(reader, "remove_used", state.remove_used);
  state.seeded = option(reader, "seeded", state.seeded);
  if (is_there("seed")) state.seed = static_cast<std::uint64_t>(reader.count("seed"));
}

PlaceNode read_node(FieldReader& reader, AmountsReader& amounts) {
  PlaceNode node;
  node.id = reader.text("id");
  node.rack = reader.text("rack");
  node.domain = reader.text("domain");
  node.cap = amounts.read(reader, "cap", true);
  node.used = amounts.read(reader, "used", true);
  return node;
}

PlaceTask read_task(FieldReader& reader, AmountsReader& amounts) {
  PlaceTask task;
  task.id = reader.text("id");
  task.job = reader.text("job");
  task.role = reader.one_of("role", {TaskRole::ps, TaskRole::worker}, "must be ps or worker");
  task.request = amounts.read(reader, "req", true);
  return task;
}

}  // namespace

Result<PlaceState> place_state_from(const json::value& json) {
  FieldReader reader(json, "");
  AmountsReader amounts;
  PlaceState state;
  read_options(reader, state);
  state.nodes =
      reader.each("nodes", [&amounts](FieldReader& inner) { return read_node(inner, amounts); });
  reader.require_unique_ids("nodes", state.nodes);
  state.tasks =
      reader.each("tasks", [&amounts](FieldReader& inner) { return read_task(inner, amounts); });
  reader.require_unique_ids("tasks", state.tasks);
  if (state.nodes.size() > kMostListed) reader.complain("nodes", "are more than 10000");
  if (state.tasks.size() > kMostListed) reader.complain("tasks", "are more than 10000");
  if (reader.failed()) return reader.error();
  return state;
}

json::value to_json(const PlaceState& state) {
  json::object object{{"mode", name(state.mode)}, {"lambda", state.lambda}};
  if (state.remove_used) object["remove_used"] = true;
  if (state.seeded) object["seeded"] = true;
  if (state.seed != PlaceState().seed) object["seed"] = state.seed;
  object["nodes"] = rendered(state.nodes, [](const PlaceNode& node) {
    return json::object{{"id", node.id},
                        {"rack", node.rack},
                        {"domain", node.domain},
                        {"cap", amounts_json(node.cap)},
                        {"used", amounts_json(node.used)}};
  });
  object["tasks"] = rendered(state.tasks, [](const PlaceTask& task) {
    return json::object{{"id", task.id},
                        {"job", task.job},
                        {"role", name(task.role)},
                        {"req", amounts_json(task.request)}};
  });
  return object;
}

json::value to_json(const PlaceDecision& decision) {
  json::object placement;
  placement.reserve(decision.placement.size());
  for (const TaskPlace& place : decision.placement) placement.emplace(place.task, place.node);
  json::object object{{"placement", std::move(placement)}, {"unplaced", texts(decision.unplaced)}};
  if (decision.mode == PlaceMode::batch) {
    object["score"] = decision.score;
    object["fitness"] = decision.fitness;
    return object;
  }
  object["trace"] = rendered(decision.trace, [](const PlaceStep& step) {
    return json::array{step.place.task, step.place.node, step.score};
  });
  return object;
}

}  // namespace flowcon::cluster::policy
