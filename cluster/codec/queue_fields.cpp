// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/queue_fields.h"

#include <algorithm>

namespace flowcon::cluster::policy {

constexpr std::int64_t kMostPlaced = 1'000'000'000;  // on a node; sums stay countable

std::vector<Amounts> QueueFields::by_node(FieldReader& state, std::string_view name) {
  std::vector<Amounts> all(places_.size());
  FieldReader inner(state.member(name), state.place(name));
  for (const auto& member : object_of(state.member(name))) {
    const std::string node(member.key());
    const auto place = places_.find(node);
    if (place == places_.end()) inner.complain(node, "is the id of no node");
    if (inner.failed()) break;
    all[place->second] = amounts_.read(inner, node, true);
  }
  state.take_complaint(inner);
  return all;
}

Placement QueueFields::placed_in(FieldReader& job) {
  return job.object("placed", [this](FieldReader& inner) {
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

json::object node_json(const IdleNode& node) {
  return {{"id", node.id}, {"idle", amounts_json(node.idle)}};
}

}  // namespace flowcon::cluster::policy
