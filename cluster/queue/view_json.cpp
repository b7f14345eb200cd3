// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/view_json.h"

#include <boost/json/array.hpp>

#include "base/json.h"
#include "base/json_arrays.h"
#include "base/text.h"
#include "cluster/queue/group.h"
#include "ctrl/codec/estimate_json.h"

namespace flowcon::cluster::queue {
namespace {

// When its run began; none while it waits.
std::optional<double> started_of(const JobEntry& entry) {
  for (auto step = entry.steps.rbegin(); step != entry.steps.rend(); ++step) {
    if (step->state == JobState::running) return step->time;
  }
  return std::nullopt;
}

json::value host_json(const Network& network, const std::string& host) {
  if (host.empty()) return nullptr;
  return json::value(valid_utf8(name_of_host(network, host)));
}

// Of a group: what each of its tasks does.
json::array tasks_json(const JobEntry& entry, const Network& network) {
  json::array all;
  if (!entry.group) return all;
  for (const JobEntry& task : entry.group->tasks) {
    all.push_back({{"name", task.name},
                   {"id", task.id},
                   {"role", task.is_ps ? "ps" : "worker"},
                   {"host", host_json(network, task.at)},
                   {"state", name(task.state)},
                   {"exit", task.status ? json::value(*task.status) : json::value(nullptr)},
                   {"note", task.note}});
  }
  return all;
}

}  // namespace

std::string note_of(const Job& job) {
  const JobEntry& entry = job.entry;
  if (!job.trouble.empty()) return job.trouble;
  if (entry.state == JobState::waiting && entry.is_held) {
    return entry.note.empty() || entry.note == "is held" ? "is held" : "is held: " + entry.note;
  }
  if (entry.state == JobState::waiting && !job.obstacle.empty()) {
    return entry.note.empty() ? job.obstacle : entry.note + "; " + job.obstacle;
  }
  return entry.note;
}

json::object view_of(const Job& job, std::optional<double> left, double now) {
  const JobEntry& entry = job.entry;
  const bool is_open = !is_closed(entry.state);
  json::object out{
      {"id", entry.id},           {"name", entry.name},         {"image", entry.image},
      {"command", entry.command}, {"state", name(entry.state)}, {"held", entry.is_held}};
  const bool is_away = entry.task || (entry.group && !job.host_shown.empty());
  out["host"] = is_away ? json::value(valid_utf8(job.host_shown)) : json::value(nullptr);
  const bool is_placed = entry.group && !entry.group->tasks.empty();
  out["workers"] = is_placed     ? present(*entry.group, false)
                   : entry.group ? workers_of(entry).least
                                 : 1;
  out["most_workers"] = entry.group ? workers_of(entry).most : 1;
  out["elastic"] = entry.group ? ctrl::name(entry.group->elastic) : "no";
  out["ps"] = entry.group ? entry.group->ps : 0;
  out["order"] = job.order_shown > 0 && entry.state == JobState::waiting
                     ? json::value(job.order_shown)
                     : json::value(nullptr);
  out["request"] = {{"cpu", job.request.cpu.value},
                    {"mem", job.request.mem.value},
                    {"cpu_from", name(job.request.cpu.source)},
                    {"mem_from", name(job.request.mem.source)},
                    {"gpu", job.request.gpu.value},
                    {"gpu_from", name(job.request.gpu.source)}};
  out["priority"] = entry.chosen.priority.value_or(job.ticket ? job.ticket->labels.priority : 1);
  out["retries"] = entry.retries;
  out["attempt"] = entry.attempt;
  out["waited"] = waited(entry, now);
  out["served"] = served(entry, now);
  out["left"] = is_open ? number_or_null(left) : json::value(nullptr);
  out["starved"] = entry.is_starved;
  out["submitted"] = entry.submitted;
  out["started"] = number_or_null(started_of(entry));
  out["ended"] = is_open ? json::value(nullptr) : json::value(entry.since);
  out["exit"] = entry.status ? json::value(*entry.status) : json::value(nullptr);
  out["note"] = note_of(job);
  return out;
}

json::object details_of(const Job& job, const Network& network, std::optional<double> left,
                        double now) {
  json::object out = view_of(job, left, now);
  const std::optional<Task>& task = job.entry.task;
  if (task) out["task"] = {{"host", task->host}, {"birth", task->birth}, {"back", task->back}};
  out["steps"] = rendered(job.entry.steps, [&network](const JobStep& step) {
    return json::object{{"state", name(step.state)},
                        {"time", step.time},
                        {"note", step.note},
                        {"host", host_json(network, step.host)}};
  });
  out["tasks"] = tasks_json(job.entry, network);
  if (job.group) out["group"] = job.group->entry.name;
  json::array warnings;
  if (job.ticket) {
    for (const std::string& warning : job.ticket->labels.warnings) {
      warnings.push_back(json::value(valid_utf8(warning)));
    }
  }
  out["warnings"] = std::move(warnings);
  out["estimate"] =
      job.estimates.empty() ? json::value(nullptr) : ctrl::estimate::to_json(job.estimates);
  return out;
}

}  // namespace flowcon::cluster::queue
