// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/queue_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/json_arrays.h"
#include "base/json_fields.h"
#include "cluster/codec/queue_fields.h"

namespace flowcon::cluster::policy {
namespace {

enum class Stage { waiting, running, arriving };

json::object action_json(const QueueAction& action, const std::vector<IdleNode>& nodes) {
  using Op = QueueAction::Op;
  json::object object{{"op", name(action.op)}, {"job", action.job}};
  if (action.op == Op::enqueue) object["weight"] = action.weight;
  if (action.op == Op::start) {
    object["why"] = action.by_preempt ? "preempt" : "idle";
    for (auto& member : placement_json(action.placed, nodes)) {
      object.emplace(member.key(), member.value());
    }
  }
  if (action.op == Op::remove_worker || action.op == Op::add_worker) {
    object["node"] = nodes[action.node].id;
  }
  return object;
}

void job_fields(auto& io, auto& job, Stage stage, const QueueState& state, QueueFields& common) {
  const auto since_in = [&](FieldReader& reader, std::string_view name) {
    return stage == Stage::arriving ? reader.optional_number(name).value_or(state.now)
                                    : reader.number(name);
  };
  io("id", job.id);
  io.as("since", job.since, since_in);
  if (stage != Stage::arriving) io("weight", job.weight);
  common.size(io, job);
  if (stage != Stage::running) return;
  common.placed(io, job.placed, state.nodes);
  io.optional("done", job.done, false);
}

}  // namespace

static void fields(auto& io, Is<QueueState> auto& state) {
  QueueFields common;
  io("now", state.now);
  not_negative(io, "starve_limit", state.starve_limit);
  if (io.has("basis", state.basis != WeightBasis::worker)) {
    io.one_of("basis", state.basis, {WeightBasis::worker, WeightBasis::job},
              "must be worker or job");
  }
  io.optional("prune", state.prune, false);
  io.optional("repeat", state.repeat, false);
  io.optional("check_after", state.check_after, true);
  io.optional("starve_everywhere", state.starve_everywhere, true);
  common.nodes(io, state.nodes);
  std::unordered_set<std::string_view> ids;
  const auto jobs_of = [&](const char* list, auto& jobs, Stage stage) {
    io.each(list, jobs,
            [&](auto& inner, auto& job) { job_fields(inner, job, stage, state, common); });
    io.require_unique_ids(list, jobs, OwnId(), ids);
  };
  jobs_of("waiting", state.waiting, Stage::waiting);
  jobs_of("running", state.running, Stage::running);
  jobs_of("new", state.arriving, Stage::arriving);
}

static void fields(auto& io, Is<SharedDevice> auto& device) {
  io("id", device.id);
  not_negative(io, "mem", device.mem);
  not_negative(io, "util_used", device.util_used);
  not_negative(io, "mem_used", device.mem_used);
}

static void fields(auto& io, Is<DeviceTask> auto& task) {
  io("id", task.id);
  io.optional("gpus", task.gpus);
  if (task.gpus) return;
  not_negative(io, "util", task.util);
  not_negative(io, "mem", task.mem);
}

static void fields(auto& io, Is<ShareState> auto& state) {
  io("devices", state.devices);
  io.require_unique_ids("devices", state.devices);
  io("tasks", state.tasks);
  io.require_unique_ids("tasks", state.tasks);
}

Result<QueueState> queue_state_from(const json::value& json) { return read_json<QueueState>(json); }
Result<ShareState> share_state_from(const json::value& json) { return read_json<ShareState>(json); }

json::value to_json(const QueueState& state) { return fields_json(state); }
json::value to_json(const ShareState& state) { return fields_json(state); }

json::value to_json(const QueueDecision& decision) {
  const auto& nodes = decision.nodes;
  json::object object;
  object["branch"] = decision.branch ? json::value(name(*decision.branch)) : json::value(nullptr);
  object["actions"] = rendered(
      decision.actions, [&](const QueueAction& action) { return action_json(action, nodes); });
  object["waiting"] = rendered(decision.waiting, [](const WaitingJob& job) {
    return json::object{{"id", job.id}, {"weight", job.weight}};
  });
  object["running"] = rendered(decision.running, [&](const RunningJob& job) {
    return json::object{
        {"id", job.id}, {"weight", job.weight}, {"placed", placement_json(job.placed, nodes)}};
  });
  object["finished"] = texts(decision.finished);
  object["nodes"] = rendered(nodes, [](const IdleNode& node) { return node_json(node); });
  return object;
}

json::value to_json(const ShareDecision& decision) {
  json::object placed;
  placed.reserve(decision.placed.size());
  for (const TaskDevices& task : decision.placed) placed.emplace(task.task, texts(task.devices));
  return json::object{{"placed", std::move(placed)}, {"unplaced", texts(decision.unplaced)}};
}

}  // namespace flowcon::cluster::policy
