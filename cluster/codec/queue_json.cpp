// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/queue_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>

#include "base/json_arrays.h"
#include "base/json_reader.h"
#include "cluster/codec/amounts_json.h"
#include "cluster/codec/queue_fields.h"

namespace flowcon::cluster::policy {
namespace {

enum class Stage { waiting, running, arriving };

class QueueReader {
 public:
  explicit QueueReader(const json::value& json) : reader_(json, "") {}

  Result<QueueState> read() {
    state_.now = reader_.number("now");
    state_.starve_limit = read_amount(reader_, "starve_limit");
    read_options();
    state_.nodes = fields_.nodes(reader_);
    state_.waiting = jobs("waiting", Stage::waiting);
    state_.running = jobs("running", Stage::running);
    state_.arriving = jobs("new", Stage::arriving);
    if (reader_.failed()) return reader_.error();
    return std::move(state_);
  }

 private:
  void read_options() {
    if (reader_.has("basis")) {
      state_.basis =
          reader_.one_of("basis", {WeightBasis::worker, WeightBasis::job}, "must be worker or job");
    }
    state_.prune = option(reader_, "prune", state_.prune);
    state_.repeat = option(reader_, "repeat", state_.repeat);
    state_.check_after = option(reader_, "check_after", state_.check_after);
    state_.starve_everywhere = option(reader_, "starve_everywhere", state_.starve_everywhere);
  }

  std::vector<QueueJob> jobs(const char* list, Stage stage) {
    std::vector<QueueJob> jobs =
        reader_.each(list, [this, stage](FieldReader& reader) { return job(reader, stage); });
    fields_.require_new_ids(reader_, list, jobs, [](const QueueJob& job) { return job.id; });
    return jobs;
  }

  QueueJob job(FieldReader& reader, Stage stage) {
    QueueJob job;
    job.id = reader.text("id");
    job.since = stage == Stage::arriving ? reader.optional_number("since").value_or(state_.now)
                                         : reader.number("since");
    if (stage != Stage::arriving) job.weight = reader.number("weight");
    fields_.read_size(reader, job);
    if (stage == Stage::running) {
      job.placed = fields_.placed(reader);
      job.done = reader.optional_bool("done");
    }
    return job;
  }

  FieldReader reader_;
  QueueState state_;
  QueueFields fields_;
};

SharedDevice read_device(FieldReader& reader) {
  SharedDevice device;
  device.id = reader.text("id");
  device.mem = read_amount(reader, "mem");
  device.util_used = read_amount(reader, "util_used");
  device.mem_used = read_amount(reader, "mem_used");
  return device;
}

DeviceTask read_task(FieldReader& reader) {
  DeviceTask task;
  task.id = reader.text("id");
  if (reader.has("gpus")) {
    task.gpus = reader.count("gpus");
    return task;
  }
  task.util = read_amount(reader, "util");
  task.mem = read_amount(reader, "mem");
  return task;
}

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

json::object job_json(const QueueJob& job, const QueueState& state, Stage stage) {
  json::object object{{"id", job.id}, {"since", job.since}};
  if (stage != Stage::arriving) object["weight"] = job.weight;
  add_size(object, job);
  if (stage == Stage::running) {
    object["placed"] = placement_json(job.placed, state.nodes);
    if (job.done) object["done"] = true;
  }
  return object;
}

}  // namespace

Result<QueueState> queue_state_from(const json::value& json) { return QueueReader(json).read(); }

Result<ShareState> share_state_from(const json::value& json) {
  FieldReader reader(json, "");
  ShareState state;
  state.devices = reader.each("devices", read_device);
  reader.require_unique_ids("devices", state.devices);
  state.tasks = reader.each("tasks", read_task);
  reader.require_unique_ids("tasks", state.tasks);
  if (reader.failed()) return reader.error();
  return state;
}

json::value to_json(const QueueState& state) {
  const QueueState plain;
  json::object object{{"now", state.now}, {"starve_limit", state.starve_limit}};
  if (state.basis != plain.basis) object["basis"] = name(state.basis);
  if (state.prune) object["prune"] = true;
  if (state.repeat) object["repeat"] = true;
  if (!state.check_after) object["check_after"] = false;
  if (!state.starve_everywhere) object["starve_everywhere"] = false;
  object["nodes"] = rendered(state.nodes, [](const QueueNode& node) { return node_json(node); });
  const auto jobs = [&state](const std::vector<QueueJob>& from, Stage stage) {
    return rendered(from, [&](const QueueJob& job) { return job_json(job, state, stage); });
  };
  object["waiting"] = jobs(state.waiting, Stage::waiting);
  object["running"] = jobs(state.running, Stage::running);
  object["new"] = jobs(state.arriving, Stage::arriving);
  return object;
}

json::value to_json(const ShareState& state) {
  return json::object{
      {"devices", rendered(state.devices,
                           [](const SharedDevice& device) {
                             return json::object{{"id", device.id},
                                                 {"mem", device.mem},
                                                 {"util_used", device.util_used},
                                                 {"mem_used", device.mem_used}};
                           })},
      {"tasks", rendered(state.tasks, [](const DeviceTask& task) {
         if (task.gpus) return json::object{{"id", task.id}, {"gpus", *task.gpus}};
         return json::object{{"id", task.id}, {"util", task.util}, {"mem", task.mem}};
       })}};
}

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
