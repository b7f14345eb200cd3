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
#include "base/json_fields.h"
#include "base/text.h"
#include "cluster/codec/amounts_json.h"

namespace flowcon::cluster::policy {
namespace {

constexpr std::size_t kMostListed = 10'000;
constexpr std::size_t kMostLinks = 100'000;
constexpr double kMostBytes = 1e15;    // a second, so that no sum of costs overflows
constexpr double kLeastBytes = 0.001;  // of a link

bool has_links(FieldReader& reader, const PlaceState&) {
  if (!reader.has("links")) return false;
  const std::size_t links = reader.array("links").size();
  if (links > kMostLinks) reader.complain("links", "are more than 100000");
  return links > 0;
}
bool has_links(FieldWriter&, const PlaceState& state) { return !state.links.empty(); }

void link_fields(auto& io, auto& link, const std::unordered_set<std::string_view>& nodes) {
  io("a", link.a);
  io.require(nodes.count(link.a) > 0, "a", "must be the id of a node");
  io("b", link.b);
  io.require(nodes.count(link.b) > 0, "b", "must be the id of a node");
  io.require(link.a != link.b, "b", "must be another node than a");
  io("bytes_per_s", link.bytes_per_s, kLeastBytes, kMostBytes);
}

void require_unique_links(FieldReader& reader, const PlaceState& state) {
  std::set<std::pair<std::string_view, std::string_view>> pairs;
  for (std::size_t i = 0; i < state.links.size() && !reader.failed(); ++i) {
    const PlaceLink& link = state.links[i];
    if (pairs.insert(std::minmax<std::string_view>(link.a, link.b)).second) continue;
    reader.complain(indexed("links", i), "is there twice: \"" + printable(link.a, 40) +
                                             "\" and \"" + printable(link.b, 40) + '"');
  }
}
void require_unique_links(FieldWriter&, const PlaceState&) {}

std::vector<JobTraffic> read_traffic(FieldReader& reader, const PlaceState& state) {
  std::vector<JobTraffic> traffic;
  std::unordered_set<std::string_view> jobs;
  for (const PlaceTask& task : state.tasks) jobs.insert(task.job);
  FieldReader inner(reader.member("traffic"), "traffic");
  for (const auto& member : object_of(reader.member("traffic"))) {
    const std::string_view job = member.key();
    if (jobs.count(job) == 0) inner.complain(job, "is the job of no task");
    traffic.push_back({std::string(job), inner.number(job, 0, kMostBytes)});
    if (inner.failed()) break;
  }
  reader.take_complaint(inner);
  return traffic;
}

json::object traffic_json(const std::vector<JobTraffic>& traffic) {
  json::object object;
  for (const JobTraffic& of_job : traffic) object.emplace(of_job.job, of_job.bytes_per_s);
  return object;
}

void network_fields(auto& io, auto& state) {
  std::unordered_set<std::string_view> nodes;
  for (const PlaceNode& node : state.nodes) nodes.insert(node.id);
  io.each("links", state.links,
          [&nodes](auto& inner, auto& link) { link_fields(inner, link, nodes); });
  require_unique_links(io, state);
  const auto read = [&state](FieldReader& reader, auto) { return read_traffic(reader, state); };
  if (io.has("traffic")) io.as("traffic", state.traffic, read, traffic_json);
}

}  // namespace

static void fields(auto& io, Is<PlaceState> auto& state) {
  const PlaceState plain;
  AmountsReader amounts;
  io.one_of("mode", state.mode, {PlaceMode::immediate, PlaceMode::batch},
            "must be immediate or batch");
  if (io.has("lambda")) io("lambda", state.lambda, 0, 1);
  io.optional("remove_used", state.remove_used, plain.remove_used);
  io.optional("seeded", state.seeded, plain.seeded);
  io.optional("hub", state.hub, plain.hub);
  io.optional("seed", state.seed, plain.seed, FieldReader::kMostCounted);
  io.optional("plans", state.plans, plain.plans, plain.plans);
  io.require(state.plans >= 1, "plans", "must be at least 1");
  const bool is_linked = has_links(io, state);
  io.each("nodes", state.nodes, [&](auto& inner, auto& node) {
    inner("id", node.id);
    // With links the nodes that name no rack, or no domain, are in one.
    if (!is_linked || inner.has("rack", !node.rack.empty())) inner("rack", node.rack);
    if (!is_linked || inner.has("domain", !node.domain.empty())) inner("domain", node.domain);
    amounts(inner, "cap", node.cap);
    amounts(inner, "used", node.used);
  });
  io.require_unique_ids("nodes", state.nodes);
  io.each("tasks", state.tasks, [&](auto& inner, auto& task) {
    inner("id", task.id);
    inner("job", task.job);
    inner.one_of("role", task.role, {TaskRole::ps, TaskRole::worker}, "must be ps or worker");
    amounts(inner, "req", task.request);
  });
  io.require_unique_ids("tasks", state.tasks);
  if (state.nodes.size() > kMostListed) io.complain("nodes", "are more than 10000");
  if (state.tasks.size() > kMostListed) io.complain("tasks", "are more than 10000");
  if (is_linked && !io.failed()) network_fields(io, state);
}

Result<PlaceState> place_state_from(const json::value& json) { return read_json<PlaceState>(json); }

json::value to_json(const PlaceState& state) { return fields_json(state); }

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
