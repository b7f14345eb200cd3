// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/queue_json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/codec/amounts_json.h"
#include "cluster/codec/arrays.h"

namespace flowcon::cluster::policy {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMostPlaced = 1'000'000'000;  // on a node; sums stay countable

enum class Stage { waiting, running, arriving };

std::int64_t read_least_one(FieldReader& reader, const char* name) {
  const std::int64_t count = reader.count(name);
  reader.require(count >= 1, name, "must be at least 1");
  return count;
}

// What is read beside a job: the nodes that it may be on, the resources there are.
class QueueReader {
 public:
  explicit QueueReader(const json::value& json) : reader_(json, "") {}

  Result<QueueState> read() {
    state_.now = reader_.number("now");
    state_.starve_limit = read_amount(reader_, "starve_limit");
    read_options();
    state_.nodes = reader_.each("nodes", [this](FieldReader& reader) { return node(reader); });
    reader_.require_unique_ids("nodes", state_.nodes);
    for (std::size_t i = 0; i < state_.nodes.size(); ++i) places_.emplace(state_.nodes[i].id, i);
    state_.waiting = jobs("waiting", Stage::waiting);
    state_.running = jobs("running", Stage::running);
    state_.arriving = jobs("new", Stage::arriving);
    if (reader_.failed()) return reader_.error();
    return std::move(state_);
  }

 private:
  void read_options() {
    if (const json::value* basis = reader_.find("basis"); basis && !basis->is_null()) {
      state_.basis =
          reader_.one_of("basis", {WeightBasis::worker, WeightBasis::job}, "must be worker or job");
    }
    state_.prune = option(reader_, "prune", state_.prune);
    state_.repeat = option(reader_, "repeat", state_.repeat);
    state_.check_after = option(reader_, "check_after", state_.check_after);
    state_.starve_everywhere = option(reader_, "starve_everywhere", state_.starve_everywhere);
  }

  QueueNode node(FieldReader& reader) {
    QueueNode node;
    node.id = reader.text("id");
    node.cap = amounts_.read(reader, "cap", true);
    node.idle = amounts_.read(reader, "idle", false);
    return node;
  }

  std::vector<QueueJob> jobs(const char* list, Stage stage) {
    std::vector<QueueJob> jobs =
        reader_.each(list, [this, stage](FieldReader& reader) { return job(reader, stage); });
    for (std::size_t i = 0; i < jobs.size() && !reader_.failed(); ++i) {
      if (ids_.insert(jobs[i].id).second) continue;
      reader_.complain_of_repeated(indexed(list, i) + ".id", jobs[i].id);
    }
    return jobs;
  }

  QueueJob job(FieldReader& reader, Stage stage) {
    QueueJob job;
    job.id = reader.text("id");
    job.since = stage == Stage::arriving ? reader.optional_number("since").value_or(state_.now)
                                         : reader.number("since");
    if (stage != Stage::arriving) job.weight = reader.number("weight");
    job.min = read_least_one(reader, "min");
    job.max = read_least_one(reader, "max");
    reader.require(job.max >= job.min, "max", "must be at least min");
    job.ps = reader.count("ps");
    job.worker_request = amounts_.read(reader, "worker_request", true);
    job.ps_request = amounts_.read(reader, "ps_request", true);
    if (stage == Stage::running) {
      job.placed = placed(reader);
      job.done = reader.optional_bool("done");
    }
    return job;
  }

  Placement placed(FieldReader& reader) {
    FieldReader inner(reader.member("placed"), reader.place("placed"));
    Placement placement{counts(inner, "ps"), counts(inner, "workers")};
    reader.take_complaint(inner);
    return placement;
  }

  std::vector<NodeCount> counts(FieldReader& reader, const char* name) {
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

  FieldReader reader_;
  QueueState state_;
  std::unordered_map<std::string, std::size_t> places_;  // of the nodes, by id
  AmountsReader amounts_;
  std::unordered_set<std::string> ids_;  // of the jobs so far
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
  if (const json::value* gpus = reader.find("gpus"); gpus && !gpus->is_null()) {
    task.gpus = reader.count("gpus");
    return task;
  }
  task.util = read_amount(reader, "util");
  task.mem = read_amount(reader, "mem");
  return task;
}

// {"ps":{node:count},"workers":{node:count}}; the nodes have their ids.
template <class Nodes>
json::object placement_json(const Placement& placement, const Nodes& nodes) {
  const auto counts = [&nodes](const std::vector<NodeCount>& from) {
    json::object object;
    object.reserve(from.size());
    for (const NodeCount& here : from) object.emplace(nodes[here.node].id, here.count);
    return object;
  };
  return {{"ps", counts(placement.ps)}, {"workers", counts(placement.workers)}};
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
  object["min"] = job.min;
  object["max"] = job.max;
  object["ps"] = job.ps;
  object["worker_request"] = amounts_json(job.worker_request);
  object["ps_request"] = amounts_json(job.ps_request);
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
  object["nodes"] = rendered(state.nodes, [](const QueueNode& node) {
    return json::object{
        {"id", node.id}, {"cap", amounts_json(node.cap)}, {"idle", amounts_json(node.idle)}};
  });
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
  object["nodes"] = rendered(nodes, [](const IdleNode& node) {
    return json::object{{"id", node.id}, {"idle", amounts_json(node.idle)}};
  });
  return object;
}

json::value to_json(const ShareDecision& decision) {
  json::object placed;
  placed.reserve(decision.placed.size());
  for (const TaskDevices& task : decision.placed) placed.emplace(task.task, texts(task.devices));
  return json::object{{"placed", std::move(placed)}, {"unplaced", texts(decision.unplaced)}};
}

}  // namespace flowcon::cluster::policy
