// SPDX-License-Identifier: Apache-2.0
// What the states of both queues have in common as JSON: nodes, jobs and where their tasks are.
// Text and types only, no decision.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/json_reader.h"
#include "cluster/codec/amounts_json.h"
#include "cluster/policy/queue.h"

namespace flowcon::cluster::policy {

/// Reads nodes, then jobs that may be on them.
class QueueFields {
 public:
  /// The array "nodes" of {"id","cap","idle"}.
  [[nodiscard]] std::vector<QueueNode> nodes(FieldReader& state);

  /// Of a job "min", "max", "ps" and its two requests.
  void read_size(FieldReader& reader, QueueJob& job);

  /// {node:{resource:amount}}, at the places of the nodes.
  [[nodiscard]] std::vector<Amounts> by_node(FieldReader& state, const char* name);

  /// "placed":{"ps":{node:count},"workers":{node:count}}, without counts of 0.
  [[nodiscard]] Placement placed(FieldReader& reader);

  /// Complains of the first job, read from the array `list`, whose id one before it has, in this
  /// list or another.
  template <class Jobs, class IdOf>
  void require_new_ids(FieldReader& state, const char* list, const Jobs& jobs, IdOf id_of) {
    for (std::size_t i = 0; i < jobs.size() && !state.failed(); ++i) {
      if (ids_.insert(id_of(jobs[i])).second) continue;
      state.complain_of_repeated(indexed(list, i) + ".id", id_of(jobs[i]));
    }
  }

 private:
  std::vector<NodeCount> counts(FieldReader& reader, const char* name);

  std::unordered_map<std::string, std::size_t> places_;  // of the nodes, by id
  AmountsReader amounts_;
  std::unordered_set<std::string> ids_;  // of the jobs so far
};

/// What QueueFields reads back.
[[nodiscard]] boost::json::object node_json(const QueueNode& node);
void add_size(boost::json::object& object, const QueueJob& job);

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

[[nodiscard]] boost::json::object node_json(const IdleNode& node);

}  // namespace flowcon::cluster::policy
