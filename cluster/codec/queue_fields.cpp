// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/queue_fields.h"

#include <algorithm>

namespace flowcon::cluster::policy {
namespace {

constexpr std::int64_t kMostPlaced = 1'000'000'000;  // on a node; sums stay countable

std::int64_t read_least_one(FieldReader& reader, const char* name) {
  const std::int64_t count = reader.count(name);
  reader.require(count >= 1, name, "must be at least 1");
  return count;
}

}  // namespace

std::vector<QueueNode> QueueFields::nodes(FieldReader& state) {
  std::vector<QueueNode> nodes = state.each("nodes", [this](FieldReader& reader) {
    QueueNode node;
    node.id = reader.text("id");
    node.cap = amounts_.read(reader, "cap", true);
    node.idle = amounts_.read(reader, "idle", false);
    return node;
  });
  state.require_unique_ids("nodes", nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) places_.emplace(nodes[i].id, i);
  return nodes;
}

void QueueFields::read_size(FieldReader& reader, QueueJob& job) {
  job.min = read_least_one(reader, "min");
  job.max = read_least_one(reader, "max");
  reader.require(job.max >= job.min, "max", "must be at least min");
  job.ps = reader.count("ps");
  job.worker_request = amounts_.read(reader, "worker_request", true);
  job.ps_request = amounts_.read(reader, "ps_request", true);
}

std::vector<Amounts> QueueFields::by_node(FieldReader& state, const char* name) {
  std::vector<Amounts> all(places_.size());
  FieldReader inner(state.member(name), state.place(name));
  for (const auto& member : object_of(state.member(name))) {
    const std::string node(member.key());
    const auto place = places_.find(node);
    if (place == places_.end()) inner.complain(node, "is the id of no node");
    if (inner.failed()) break;
    all[place->second] = amounts_.read(inner, node.c_str(), true);
  }
  state.take_complaint(inner);
  return all;
}

Placement QueueFields::placed(FieldReader& reader) {
  return reader.object("placed", [this](FieldReader& inner) {
    return Placement{counts(inner, "ps"), counts(inner, "workers")};
  });
}

std::vector<NodeCount> QueueFields::counts(FieldReader& reader, const char* name) {
  std::vector<NodeCount> counts;
  FieldReader inner(reader.member(name), reader.place(name));
  for (const auto& member : object_of(reader.member(name))) {
    const auto place = places_.find(std::string(member.key()));
    if (place == places_.end()) inner.complain(member.key(), "is the id of no node");
    const std::int64_t count = inner.count(member.key());
    inner.require(count <= kMostPlaced, member.key(), "must be at most 10^9");
    if (inner.failed()) break;
    if (count > 0) counts.push_back({place->second, count});
  }
  reader.take_complaint(inner);
  std::sort(counts.begin(), counts.end(),
            [](const NodeCount& a, const NodeCount& b) { return a.node < b.node; });
  return counts;
}

json::object node_json(const QueueNode& node) {
  return {{"id", node.id}, {"cap", amounts_json(node.cap)}, {"idle", amounts_json(node.idle)}};
}

json::object node_json(const IdleNode& node) {
  return {{"id", node.id}, {"idle", amounts_json(node.idle)}};
}

void add_size(json::object& object, const QueueJob& job) {
  object["min"] = job.min;
  object["max"] = job.max;
  object["ps"] = job.ps;
  object["worker_request"] = amounts_json(job.worker_request);
  object["ps_request"] = amounts_json(job.ps_request);
}

}  // namespace flowcon::cluster::policy
