// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/job_json.h"

#include <algorithm>
#include <cmath>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_fields.h"
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
constexpr std::size_t kMaxAlias = 63;  // of a name of DNS
constexpr std::int64_t kMostCount = 1'000'000'000;
constexpr std::int64_t kMostVersion = std::int64_t{1} << 53U;
constexpr double kMostSeconds = 1e12;
constexpr double kMostAmount = 1e18;
constexpr std::int64_t kNone = 0;
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

void text(auto& io, const char* field, auto& of, std::size_t most = kMaxText) {
  io.cleaned(field, of, [most](const std::string& said) { return cut(said, most); });
}

void note(auto& io, const char* field, auto& of, std::size_t most = kMaxText) {
  io.cleaned(field, of, [most](const std::string& said) { return printable(said, most); });
}

void number(auto& io, const char* field, auto& of, double most) {
  const auto clean = [most](double written) { return bounded(written, most); };
  io.cleaned(field, of, clean, 0, most);
}

void count(auto& io, const char* field, auto& of, std::int64_t most = kMostCount) {
  const auto clean = [most](auto written) { return std::clamp(written, kNone, most); };
  io.cleaned(field, of, clean, most);
}

void amount(auto& io, const char* field, auto& of) {
  io.as(field, of, amount_in, [](const std::optional<double>& written) {
    return number_or_null(written ? std::optional(bounded(*written, kMostAmount)) : std::nullopt);
  });
}

void require_id(auto& io, const char* field, const std::string& id, bool may_be_none = true) {
  const bool is_right = (may_be_none && id.empty()) || is_random_id(id);
  io.require(is_right, field, "must be 32 hexadecimal digits");
}

// `said`: as it stands there, for require_then().
void then(auto& io, auto& of, std::string& said) {
  const auto read = [&said](FieldReader& reader, std::string_view field) {
    said = reader.text(field);
    return parse_job_state(said);
  };
  io.as("then", of, read,
        [](const std::optional<JobState>& state) { return state ? name(*state) : ""; });
}

void require_then(auto& io, auto& of, const std::string& said) {
  io.require(said.empty() || of, "then", "must be a state of a job");
}

std::optional<std::int64_t> chosen_workers_in(FieldReader& reader, std::string_view field) {
  const std::optional<double> workers = amount_in(reader, field);
  if (!workers) return std::nullopt;
  const bool is_count = *workers >= 1 && *workers <= kMostTasks && *workers == std::floor(*workers);
  reader.require(is_count, field, "must be a number of workers");
  return is_count ? std::optional(static_cast<std::int64_t>(*workers)) : std::nullopt;
}

std::optional<std::int64_t> status_in(FieldReader& reader, std::string_view field) {
  const std::optional<double> status = reader.optional_number(field);
  if (!status) return std::nullopt;
  const bool is_status = std::abs(*status) <= kMostStatus && std::floor(*status) == *status;
  reader.require(is_status, field, "must be an exit status");
  return is_status ? std::optional(static_cast<std::int64_t>(*status)) : std::nullopt;
}

// What is written of it can be read.
auto clamped(std::int64_t least, std::int64_t most) {
  return [least, most](const std::optional<std::int64_t>& number) {
    return json_of(number ? std::optional(std::clamp(*number, least, most)) : std::nullopt);
  };
}

std::vector<JobStep> steps_in(FieldReader& reader, std::string_view field) {
  return reader.each(field, value_in<JobStep>);
}

json::value last_steps(const std::vector<JobStep>& steps) {
  const auto kept = static_cast<std::ptrdiff_t>(std::min(steps.size(), kKeptSteps));
  return json_of(std::vector<JobStep>(steps.end() - kept, steps.end()));
}

}  // namespace

static void fields(auto& io, Is<JobStep> auto& step) {
  io.one_of("state", step.state, parse_job_state, "must be a state of a job");
  number(io, "time", step.time, kMostSeconds);
  note(io, "note", step.note, kMaxStepNote);
  io("host", step.host);
  require_id(io, "host", step.host);
}

static void fields(auto& io, Is<Task> auto& task) {
  std::string said;
  io("host", task.host);
  io("birth", task.birth);
  io("back", task.back);
  text(io, "life", task.life, kMaxLife);
  io.leave_room("then");
  note(io, "why", task.why);
  then(io, task.then, said);
  io("early", task.is_early);
  require_then(io, task.then, said);
  require_id(io, "host", task.host, false);
  require_id(io, "birth", task.birth, false);
  require_id(io, "back", task.back);
}

static void fields(auto& io, Is<OwedPort> auto& port) {
  io("host", port.host);
  io("endpoint", port.endpoint);
  require_id(io, "host", port.host);
}

static void fields(auto& io, Is<Group> auto& group) {
  std::string said;
  io("workers", group.workers.least, kMostTasks);
  io("most_workers", group.workers.most, kMostTasks);
  io.one_of("elastic", group.elastic, ctrl::parse_elastic, "must be no, join, restart or torchrun");
  io("ps", group.ps, kMostTasks);
  count(io, "next_worker", group.next_worker);
  count(io, "next_ps", group.next_ps);
  text(io, "network", group.network);
  then(io, group.then, said);
  require_then(io, group.then, said);
  note(io, "why", group.why);
  io("tasks", group.tasks);
  io.require(group.tasks.size() <= static_cast<std::size_t>(kMostTasks), "tasks",
             "must be 256 at most");
  for (const JobEntry& task : group.tasks) {
    io.require(!task.group && !task.task_of.empty(), "tasks", "must be tasks of a group");
  }
  if (io.has("owed", !group.owed.empty())) io("owed", group.owed);
  io.require(group.owed.size() <= kMostOwed, "owed", "must be 256 at most");
}

static void fields(auto& io, Is<JobEntry> auto& entry) {
  io("id", entry.id);
  text(io, "name", entry.name);
  text(io, "image", entry.image);
  text(io, "command", entry.command);
  io.one_of("state", entry.state, parse_job_state, "must be a state of a job");
  io("held", entry.is_held);
  note(io, "note", entry.note);
  count(io, "version", entry.version, kMostVersion);
  count(io, "attempt", entry.attempt);
  count(io, "retries", entry.retries);
  count(io, "refusals", entry.refusals);
  text(io, "life", entry.life, kMaxLife);
  io("asked_to_save", entry.was_asked_to_save);
  io("unparkable", entry.is_unparkable);
  io("parked", entry.has_parked);
  if (io.has("saved", entry.has_saved)) io("saved", entry.has_saved);
  io("doubled", entry.has_doubled);
  number(io, "least_memory", entry.least_memory, kMostAmount);
  amount(io, "cores", entry.cores);
  amount(io, "chosen_cpu", entry.chosen.cpu);
  amount(io, "chosen_mem", entry.chosen.mem);
  if (io.has("chosen_gpu", entry.chosen.gpu.has_value())) {
    amount(io, "chosen_gpu", entry.chosen.gpu);
  }
  amount(io, "chosen_priority", entry.chosen.priority);
  io.as("chosen_workers", entry.chosen.workers, chosen_workers_in, clamped(0, kMostTasks));
  number(io, "weight", entry.weight, 1);
  io("starved", entry.is_starved);
  number(io, "submitted", entry.submitted, kMostSeconds);
  number(io, "since", entry.since, kMostSeconds);
  number(io, "waited", entry.waited, kMostSeconds);
  number(io, "served", entry.served, kMostSeconds);
  io.as("status", entry.status, status_in, clamped(-kMostStatus, kMostStatus));
  io("task", entry.task);
  io.leave_room("steps");
  io("group", entry.group);
  io("task_of", entry.task_of);
  io.require(entry.task_of.empty() || is_container_id(entry.task_of), "task_of",
             "must be 64 hexadecimal digits");
  io.one_of("end", entry.end, parse_task_end, "must be an end of a task");
  io("at", entry.at);
  require_id(io, "at", entry.at);
  io("endpoint", entry.endpoint);
  if (io.has("alias", !entry.alias.empty())) text(io, "alias", entry.alias, kMaxAlias);
  io("is_ps", entry.is_ps);
  io("has_left", entry.has_left);
  const bool needs_task =
      !entry.group && (entry.state == JobState::placing || entry.state == JobState::returning);
  const bool is_early = entry.task && entry.task->is_early;
  const bool may_have_task = entry.state == JobState::waiting ? is_early : !is_closed(entry.state);
  io.require(entry.task ? may_have_task : !needs_task, "task", "must go with its state");
  io.as("steps", entry.steps, steps_in, last_steps);
  io.require(entry.steps.size() <= kKeptSteps, "steps", "must be 50 at most");
  const bool is_unmade = !entry.task_of.empty() && entry.id.empty();
  io.require(is_unmade || is_container_id(entry.id), "id", "must be 64 hexadecimal digits");
}

std::string render_entry(const JobEntry& entry) { return render_json(fields_json(entry)); }

Result<JobEntry> parse_entry(std::string_view text) {
  if (text.size() > kMaxEntryBytes) return bad_input("a job's entry is too large");
  return read_fields(text, value_in<JobEntry>);
}

}  // namespace flowcon::cluster::queue
