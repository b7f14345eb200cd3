// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/place_json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/json_arrays.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/codec/amounts_json.h"

namespace flowcon::cluster::policy {
namespace {

constexpr std::size_t kMostListed = 10'000;
constexpr std::size_t kMostLinks = 100'000;
constexpr double kMostBytes = 1e15;    // a second, so that no sum of costs overflows
constexpr double kLeastBytes = 0.001;  // of a link

void read_options(FieldReader& reader, PlaceState& state) {
  state.mode =
      reader.one_of("mode", {PlaceMode::immediate, PlaceMode::batch}, "must be immediate or batch");
  if (reader.has("lambda")) state.lambda = reader.number("lambda", 0, 1);
  state.remove_used = option(reader, "remove_used", state.remove_used);
  state.seeded = option(reader, "seeded", state.seeded);
  state.hub = option(reader, "hub", state.hub);
  if (reader.has("seed")) state.seed = static_cast<std::uint64_t>(reader.count("seed"));
  if (!reader.has("plans")) return;
  state.plans = reader.count("plans", state.plans);
  reader.require(state.plans >= 1, "plans", "must be at least 1");
}

// With links the nodes that name no rack, or no domain, are in one.
PlaceNode read_node(FieldReader& reader, AmountsReader& amounts, bool has_links) {
  PlaceNode node;
  node.id = reader.text("id");
  if (!has_links || reader.has("rack")) node.rack = reader.text("rack");
  if (!has_links || reader.has("domain")) node.domain = reader.text("domain");
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

PlaceLink read_link(FieldReader& reader, const std::unordered_set<std::string_view>& nodes) {
  PlaceLink link;
  const auto end = [&](const char* name) {
    std::string id = reader.text(name);
    if (!reader.failed()) reader.require(nodes.count(id) > 0, name, "must be the id of a node");
    return id;
  };
  link.a = end("a");
  link.b = end("b");
  if (!reader.failed()) reader.require(link.a != link.b, "b", "must be another node than a");
  link.bytes_per_s = reader.number("bytes_per_s", kLeastBytes, kMostBytes);
  return link;
}

void read_links(FieldReader& reader, PlaceState& state) {
  std::unordered_set<std::string_view> nodes;
  for (const PlaceNode& node : state.nodes) nodes.insert(node.id);
  state.links =
      reader.each("links", [&nodes](FieldReader& inner) { return read_link(inner, nodes); });
  std::set<std::pair<std::string_view, std::string_view>> pairs;
  for (std::size_t i = 0; i < state.links.size() && !reader.failed(); ++i) {
    const PlaceLink& link = state.links[i];
    if (pairs.insert(std::minmax<std::string_view>(link.a, link.b)).second) continue;
    reader.complain(indexed("links", i), "is there twice: \"" + printable(link.a, 40) +
                                             "\" and \"" + printable(link.b, 40) + '"');
  }
}

void read_traffic(FieldReader& reader, PlaceState& state) {
  if (!reader.has("traffic")) return;
  std::unordered_set<std::string_view> jobs;
  for (const PlaceTask& task : state.tasks) jobs.insert(task.job);
  FieldReader inner(reader.member("traffic"), "traffic");
  for (const auto& member : object_of(reader.member("traffic"))) {
    const std::string_view job = member.key();
    if (jobs.count(job) == 0) inner.complain(job, "is the job of no task");
    state.traffic.push_back({std::string(job), inner.number(job, 0, kMostBytes)});
    if (inner.failed()) break;
  }
  reader.take_complaint(inner);
}

}  // namespace

Result<PlaceState> place_state_from(const json::value& json) {
  FieldReader reader(json, "");
  AmountsReader amounts;
  PlaceState state;
  read_options(reader, state);
  bool has_links = false;
  if (reader.has("links")) {
    const std::size_t links = reader.array("links").size();
    if (links > kMostLinks) reader.complain("links", "are more than 100000");
    has_links = links > 0;
  }
  state.nodes = reader.each(
      "nodes", [&](FieldReader& inner) { return read_node(inner, amounts, has_links); });
  reader.require_unique_ids("nodes", state.nodes);
  state.tasks =
      reader.each("tasks", [&amounts](FieldReader& inner) { return read_task(inner, amounts); });
  reader.require_unique_ids("tasks", state.tasks);
  if (state.nodes.size() > kMostListed) reader.complain("nodes", "are more than 10000");
  if (state.tasks.size() > kMostListed) reader.complain("tasks", "are more than 10000");
  if (has_links && !reader.failed()) {
    read_links(reader, state);
    read_traffic(reader, state);
  }
  if (reader.failed()) return reader.error();
  return state;
}

json::value to_json(const PlaceState& state) {
  json::object object{{"mode", name(state.mode)}, {"lambda", state.lambda}};
  if (state.remove_used) object["remove_used"] = true;
  if (state.seeded) object["seeded"] = true;
  if (state.hub) object["hub"] = true;
  if (state.seed != PlaceState().seed) object["seed"] = state.seed;
  if (state.plans != PlaceState().plans) object["plans"] = state.plans;
  const bool has_links = !state.links.empty();
  object["nodes"] = rendered(state.nodes, [has_links](const PlaceNode& node) {
    json::object one{{"id", node.id}};
    if (!has_links || !node.rack.empty()) one["rack"] = node.rack;
    if (!has_links || !node.domain.empty()) one["domain"] = node.domain;
    one["cap"] = amounts_json(node.cap);
    one["used"] = amounts_json(node.used);
    return one;
  });
  object["tasks"] = rendered(state.tasks, [](const PlaceTask& task) {
    return json::object{{"id", task.id},
                        {"job", task.job},
                        {"role", name(task.role)},
                        {"req", amounts_json(task.request)}};
  });
  if (!has_links) return object;
  object["links"] = rendered(state.links, [](const PlaceLink& link) {
    return json::object{{"a", link.a}, {"b", link.b}, {"bytes_per_s", link.bytes_per_s}};
  });
  json::object traffic;
  for (const JobTraffic& of_job : state.traffic) traffic.emplace(of_job.job, of_job.bytes_per_s);
  object["traffic"] = std::move(traffic);
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
