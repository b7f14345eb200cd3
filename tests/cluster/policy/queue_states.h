// SPDX-License-Identifier: Apache-2.0
// States of the queue for tests: nodes and jobs in few words, and what became of them.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cluster/policy/queue.h"
#include "cluster/policy/scale.h"
#include "tests/support/catch.h"

namespace flowcon::test {

namespace policy = cluster::policy;

/// A whole number from 0 to `below` - 1.
inline double drawn(std::mt19937& random, unsigned below) {
  return static_cast<double>(random() % below);
}

/// A node of `cap` cores, all idle unless told otherwise.
inline policy::QueueNode node(const std::string& id, double cap, double idle) {
  return {id, {{"cpu", cap}}, {{"cpu", idle}}};
}
inline policy::QueueNode node(const std::string& id, double cap) { return node(id, cap, cap); }

/// A job of `min` to `max` workers of `cpu` cores.
inline policy::QueueJob job(const std::string& id, double weight, std::int64_t min,
                            std::int64_t max, double cpu) {
  policy::QueueJob job;
  job.id = id;
  job.weight = weight;
  job.min = min;
  job.max = max;
  job.worker_request = {{"cpu", cpu}};
  return job;
}

/// The same with parameter servers.
inline policy::QueueJob with_ps(policy::QueueJob job, std::int64_t ps, double cpu) {
  job.ps = ps;
  job.ps_request = {{"cpu", cpu}};
  return job;
}

inline policy::QueueJob since(policy::QueueJob job, double when) {
  job.since = when;
  return job;
}

/// Running: `workers` on nodes by their place in the state.
inline policy::QueueJob on(policy::QueueJob job, std::vector<policy::NodeCount> workers,
                           std::vector<policy::NodeCount> ps = {}) {
  job.placed = {std::move(ps), std::move(workers)};
  return job;
}

inline std::string shown(const policy::Placement& placed) {
  std::string text;
  for (const auto& [node, count] : placed.ps) {
    text += " p" + std::to_string(node) + '=' + std::to_string(count);
  }
  for (const auto& [node, count] : placed.workers) {
    text += " w" + std::to_string(node) + '=' + std::to_string(count);
  }
  return text;
}

/// "start a idle p0=1 w0=2, add a 1, starve b, finish c"; places are those of the nodes.
inline std::string shown(const policy::QueueDecision& decision) {
  using Op = policy::QueueAction::Op;
  std::string text;
  for (const policy::QueueAction& action : decision.actions) {
    text += std::string(text.empty() ? "" : ", ") + name(action.op) + ' ' + action.job;
    if (action.op == Op::start) {
      text += (action.by_preempt ? " preempt" : " idle") + shown(action.placed);
    } else if (action.op == Op::add_worker || action.op == Op::remove_worker) {
      text += ' ' + std::to_string(action.node);
    }
  }
  return text;
}

inline policy::QueueDecision decided(const policy::QueueState& state) {
  auto decision = policy::decide_queue(state);
  REQUIRE(decision.has_value());
  return std::move(*decision);
}

inline std::string actions_of(const policy::QueueState& state) { return shown(decided(state)); }

/// As a queue makes it of a job; both must outlive it.
inline policy::QueuedGroup group_of(const policy::QueueJob& job, const policy::Room& room) {
  policy::QueuedGroup group;
  group.id = job.id;
  group.since = job.since;
  group.weight = job.weight;
  group.max = job.max;
  group.minimum = {
      room.needs_of(job.ps_request), room.needs_of(job.worker_request), job.ps, job.min, {}};
  group.minimum.whole = whole_of(group.minimum, room.kinds());
  group.placed = job.placed;
  for (const auto& here : job.placed.workers) group.workers += here.count;
  return group;
}

}  // namespace flowcon::test
