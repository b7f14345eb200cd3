// SPDX-License-Identifier: Apache-2.0
// What the states of both queues have in common as JSON: nodes, jobs and where their tasks are.
// Text and types only, no decision.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json_fields.h"
#include "cluster/codec/amounts_json.h"
#include "cluster/policy/queue.h"

namespace flowcon::cluster::policy {

/// {"ps":{node:count},"workers":{node:count}}; the nodes have their ids.
template <class Nodes>
boost::json::object placement_json(const Placement& placement, const Nodes& nodes) {
  const auto counts = [&nodes](const std::vector<NodeCount>& from) {
    boost::json::object object;
    object.reserve(from.size());
    for (const NodeCount& here : from) object.emplace(nodes[here.node].id, here.count);
    return object;
  };
  return {{"ps", counts(placement.ps)}, {"workers", counts(placement.workers)}};
}

/// Nodes, then jobs that may be on them.
class QueueFields {
 public:
  /// The array "nodes" of {"id","cap","idle"}.
  template <class Io>
  void nodes(Io& io, Is<std::vector<QueueNode>> auto& nodes) {
    io.each("nodes", nodes, [this](auto& inner, auto& node) {
      inner("id", node.id);
      amounts_(inner, "cap", node.cap);
      amounts_(inner, "idle", node.idle, false);
    });
    io.require_unique_ids("nodes", nodes);
    if constexpr (Io::kReads) {
      for (std::size_t i = 0; i < nodes.size(); ++i) places_.emplace(nodes[i].id, i);
    }
  }

  /// Of a job "min", "max", "ps" and its two requests.
  void size(auto& io, Is<QueueJob> auto& job) {
    io("min", job.min);
    io.require(job.min >= 1, "min", "must be at least 1");
    io("max", job.max);
    io.require(job.max >= 1, "max", "must be at least 1");
    io.require(job.max >= job.min, "max", "must be at least min");
    io("ps", job.ps);
    amounts_(io, "worker_request", job.worker_request);
    amounts_(io, "ps_request", job.ps_request);
  }

  /// {node:{resource:amount}}, at the places of the nodes.
  [[nodiscard]] std::vector<Amounts> by_node(FieldReader& state, std::string_view name);

  /// "placed":{"ps":{node:count},"workers":{node:count}}, without counts of 0.
  void placed(auto& io, Is<Placement> auto& placed, const std::vector<QueueNode>& nodes) {
    io.as(
        "placed", placed, [this](FieldReader& job, auto) { return placed_in(job); },
        [&](const Placement& here) { return placement_json(here, nodes); });
  }

 private:
  Placement placed_in(FieldReader& job);
  std::vector<NodeCount> counts(FieldReader& reader, const char* name);

  std::unordered_map<std::string, std::size_t> places_;  // of the nodes, by id
  AmountsReader amounts_;
};

[[nodiscard]] boost::json::object node_json(const IdleNode& node);

}  // namespace flowcon::cluster::policy
