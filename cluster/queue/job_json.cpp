// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/job_json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_arrays.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/queue/endpoint_json.h"
#include "cluster/queue/group.h"
#include "cluster/queue/task_json.h"

namespace flowcon::cluster::queue {
namespace {

// Bytes. With all of them full an entry is smaller than kMaxEntryBytes, whatever is escaped.
constexpr std::size_t kMaxText = 1000;  // of a name, a command or a note
constexpr std::size_t kMaxStepNote = 300;
constexpr std::size_t kMaxLife = 100;
constexpr std::int64_t kMostCount = 1'000'000'000;
constexpr std::int64_t kMostVersion = std::int64_t{1} << 53U;
constexpr double kMostSeconds = 1e12;
constexpr double kMostAmount = 1e18;
constexpr std::int64_t kMostStatus = 1'000'000'000;

// Cut where a character ends, so that cutting it again changes nothing.
std::string cut(const std::string& text, std::size_t most = kMaxText) {
  std::string whole = valid_utf8(text);
  if (whole.size() <= most) return whole;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(whole[end]) & 0xC0U) == 0x80U) --end;
  whole.resize(end);
  return whole;
}

// What is written can be read: one wrong number does not lose a job.
double bounded(double number, double most) { return number > 0 ? std::min(number, most) : 0; }

json::value optional(const std::optional<double>& number) {
  if (!number) return nullptr;
  return bounded(*number, kMostAmount);
}

std::int64_t counted(std::int64_t number, std::int64_t most = kMostCount) {
  return std::clamp<std::int64_t>(number, 0, most);
}

JobState state_in(FieldReader& reader) {
  const std::optional<JobState> state = parse_job_state(reader.text("state"));
  reader.require(state.has_value(), "state", "must be a state of a job");
  return state.value_or(JobState::waiting);
}

JobStep step_in(FieldReader& reader) {
  JobStep step;
  step.state = state_in(reader);
  step.time = reader.number("time", 0, kMostSeconds);
  step.note = printable(reader.text("note"), kMaxStepNote);
  step.host = reader.text("host");
  reader.require(step.host.empty() || is_random_id(step.host), "host",
                 "must be 32 hexadecimal digits");
  return step;
}

Task task_in(FieldReader& reader) {
  Task task;
  task.host = reader.text("host");
  task.birth = reader.text("birth");
  task.back = reader.text("back");
  task.life = cut(reader.text("life"), kMaxLife);
  task.why = printable(reader.text("why"), kMaxText);
  const std::string then = reader.text("then");
  task.then = parse_job_state(then);
  task.is_early = reader.boolean("early");
  reader.require(then.empty() || task.then, "then", "must be a state of a job");
  reader.require(is_random_id(task.host), "host", "must be 32 hexadecimal digits");
  reader.require(is_random_id(task.birth), "birth", "must be 32 hexadecimal digits");
  reader.require(task.back.empty() || is_random_id(task.back), "back",
                 "must be 32 hexadecimal digits");
  return task;
}

json::value task_json(const std::optional<Task>& task) {
  if (!task) return nullptr;
  return {{"host", task->host},
          {"birth", task->birth},
          {"back", task->back},
          {"life", cut(task->life, kMaxLife)},
          {"then", task->then ? name(*task->then) : ""},
          {"why", printable(task->why, kMaxText)},
          {"early", task->is_early}};
}

JobEntry entry_in(FieldReader& reader);

Group group_in(FieldReader& reader) {
  Group group;
  group.workers.least = reader.count("workers", kMostTasks);
  group.workers.most = reader.count("most_workers", kMostTasks);
  const std::optional<ctrl::Elastic> elastic = ctrl::parse_elastic(reader.text("elastic"));
  reader.require(elastic.has_value(), "elastic", "must be no, join, restart or torchrun");
  group.elastic = elastic.value_or(ctrl::Elastic::no);
  group.ps = reader.count("ps", kMostTasks);
  group.next_worker = reader.count("next_worker", kMostCount);
  group.next_ps = reader.count("next_ps", kMostCount);
  group.network = cut(reader.text("network"));
  const std::string then = reader.text("then");
  group.then = parse_job_state(then);
  reader.require(then.empty() || group.then, "then", "must be a state of a job");
  group.why = printable(reader.text("why"), kMaxText);
  group.tasks = reader.each("tasks", entry_in);
  reader.require(group.tasks.size() <= static_cast<std::size_t>(kMostTasks), "tasks",
                 "must be 256 at most");
  for (const JobEntry& task : group.tasks) {
    reader.require(!task.group && !task.task_of.empty(), "tasks", "must be tasks of a group");
  }
  return group;
}

JobEntry entry_in(FieldReader& reader) {
  JobEntry entry;
  entry.id = reader.text("id");
  entry.name = cut(reader.text("name"));
  entry.image = cut(reader.text("image"));
  entry.command = cut(reader.text("command"));
  entry.state = state_in(reader);
  entry.is_held = reader.boolean("held");
  entry.note = printable(reader.text("note"), kMaxText);
  entry.version = reader.count("version");
  entry.attempt = reader.count("attempt", kMostCount);
  entry.retries = reader.count("retries", kMostCount);
  entry.refusals = reader.count("refusals", kMostCount);
  entry.life = cut(reader.text("life"), kMaxLife);
  entry.was_asked_to_save = reader.boolean("asked_to_save");
  entry.is_unparkable = reader.boolean("unparkable");
  entry.has_parked = reader.boolean("parked");
  entry.has_doubled = reader.boolean("doubled");
  entry.least_memory = reader.number("least_memory", 0, kMostAmount);
  entry.cores = amount_in(reader, "cores");
  entry.chosen.cpu = amount_in(reader, "chosen_cpu");
  entry.chosen.mem = amount_in(reader, "chosen_mem");
  entry.chosen.priority = amount_in(reader, "chosen_priority");
  if (const std::optional<double> workers = amount_in(reader, "chosen_workers")) {
    const bool is_count =
        *workers >= 1 && *workers <= kMostTasks && *workers == std::floor(*workers);
    reader.require(is_count, "chosen_workers", "must be a number of workers");
    if (is_count) entry.chosen.workers = static_cast<std::int64_t>(*workers);
  }
  entry.weight = reader.number("weight", 0, 1);
  entry.is_starved = reader.boolean("starved");
  entry.submitted = reader.number("submitted", 0, kMostSeconds);
  entry.since = reader.number("since", 0, kMostSeconds);
  entry.waited = reader.number("waited", 0, kMostSeconds);
  entry.served = reader.number("served", 0, kMostSeconds);
  if (const std::optional<double> status = reader.optional_number("status")) {
    const bool is_status = std::abs(*status) <= kMostStatus && std::floor(*status) == *status;
    reader.require(is_status, "status", "must be an exit status");
    if (is_status) entry.status = static_cast<std::int64_t>(*status);
  }
  entry.task = reader.optional_object("task", task_in);
  entry.group = reader.optional_object("group", group_in);
  entry.task_of = reader.text("task_of");
  reader.require(entry.task_of.empty() || is_container_id(entry.task_of), "task_of",
                 "must be 64 hexadecimal digits");
  const std::optional<TaskEnd> end = parse_task_end(reader.text("end"));
  reader.require(end.has_value(), "end", "must be an end of a task");
  entry.end = end.value_or(TaskEnd::none);
  entry.at = reader.text("at");
  reader.require(entry.at.empty() || is_random_id(entry.at), "at", "must be 32 hexadecimal digits");
  entry.endpoint = reader.optional_object("endpoint", endpoint_in);
  entry.is_ps = reader.boolean("is_ps");
  entry.has_left = reader.boolean("has_left");
  const bool needs_task =
      !entry.group && (entry.state == JobState::placing || entry.state == JobState::returning);
  const bool is_early = entry.task && entry.task->is_early;
  const bool may_have_task = entry.state == JobState::waiting ? is_early : !is_closed(entry.state);
  reader.require(entry.task ? may_have_task : !needs_task, "task", "must go with its state");
  entry.steps = reader.each("steps", step_in);
  reader.require(entry.steps.size() <= kKeptSteps, "steps", "must be 50 at most");
  const bool is_unmade = !entry.task_of.empty() && entry.id.empty();
  reader.require(is_unmade || is_container_id(entry.id), "id", "must be 64 hexadecimal digits");
  return entry;
}

json::object entry_json(const JobEntry& entry);

json::value group_json(const std::optional<Group>& group) {
  if (!group) return nullptr;
  return {{"workers", group->workers.least},
          {"most_workers", group->workers.most},
          {"elastic", ctrl::name(group->elastic)},
          {"ps", group->ps},
          {"next_worker", counted(group->next_worker)},
          {"next_ps", counted(group->next_ps)},
          {"network", cut(group->network)},
          {"then", group->then ? name(*group->then) : ""},
          {"why", printable(group->why, kMaxText)},
          {"tasks", rendered(group->tasks, entry_json)}};
}

json::object entry_json(const JobEntry& entry) {
  json::array steps;
  const std::size_t before = entry.steps.size() - std::min(entry.steps.size(), kKeptSteps);
  for (std::size_t i = before; i < entry.steps.size(); ++i) {
    const JobStep& step = entry.steps[i];
    steps.push_back({{"state", name(step.state)},
                     {"time", bounded(step.time, kMostSeconds)},
                     {"note", printable(step.note, kMaxStepNote)},
                     {"host", step.host}});
  }
  json::object out{{"id", entry.id},
                   {"name", cut(entry.name)},
                   {"image", cut(entry.image)},
                   {"command", cut(entry.command)},
                   {"state", name(entry.state)},
                   {"held", entry.is_held},
                   {"note", printable(entry.note, kMaxText)},
                   {"version", counted(entry.version, kMostVersion)},
                   {"attempt", counted(entry.attempt)},
                   {"retries", counted(entry.retries)},
                   {"refusals", counted(entry.refusals)},
                   {"life", cut(entry.life, kMaxLife)},
                   {"asked_to_save", entry.was_asked_to_save},
                   {"unparkable", entry.is_unparkable},
                   {"parked", entry.has_parked},
                   {"doubled", entry.has_doubled},
                   {"least_memory", bounded(entry.least_memory, kMostAmount)},
                   {"cores", optional(entry.cores)},
                   {"chosen_cpu", optional(entry.chosen.cpu)},
                   {"chosen_mem", optional(entry.chosen.mem)},
                   {"chosen_priority", optional(entry.chosen.priority)},
                   {"chosen_workers", entry.chosen.workers
                                          ? json::value(counted(*entry.chosen.workers, kMostTasks))
                                          : json::value(nullptr)},
                   {"weight", bounded(entry.weight, 1)},
                   {"starved", entry.is_starved},
                   {"submitted", bounded(entry.submitted, kMostSeconds)},
                   {"since", bounded(entry.since, kMostSeconds)},
                   {"waited", bounded(entry.waited, kMostSeconds)},
                   {"served", bounded(entry.served, kMostSeconds)}};
  out["status"] = nullptr;
  if (entry.status) out["status"] = std::clamp(*entry.status, -kMostStatus, kMostStatus);
  out["task"] = task_json(entry.task);
  out["steps"] = std::move(steps);
  out["group"] = group_json(entry.group);
  out["task_of"] = entry.task_of;
  out["end"] = name(entry.end);
  out["at"] = entry.at;
  out["endpoint"] = entry.endpoint ? endpoint_json(*entry.endpoint) : json::value(nullptr);
  out["is_ps"] = entry.is_ps;
  out["has_left"] = entry.has_left;
  return out;
}

}  // namespace

std::string render_entry(const JobEntry& entry) { return render_json(entry_json(entry)); }

Result<JobEntry> parse_entry(std::string_view text) {
  if (text.size() > kMaxEntryBytes) return bad_input("a job's entry is too large");
  return read_fields(text, entry_in);
}

}  // namespace flowcon::cluster::queue
