// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/job_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace flowcon::cluster::queue {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxText = 1000;  // bytes of a name, a command or a note
constexpr std::int64_t kMostCount = 1'000'000'000;
constexpr double kMostSeconds = 1e12;
constexpr double kMostAmount = 1e18;

std::string cut(const std::string& text) { return valid_utf8(text.substr(0, kMaxText)); }

json::value optional(const std::optional<double>& number) { return number_or_null(number); }

JobState state_in(FieldReader& reader) {
  const std::optional<JobState> state = parse_job_state(reader.text("state"));
  reader.require(state.has_value(), "state", "must be a state of a job");
  return state.value_or(JobState::waiting);
}

std::optional<double> amount_in(FieldReader& reader, const char* name) {
  const std::optional<double> amount = reader.optional_number(name);
  reader.require(!amount || (*amount >= 0 && *amount <= kMostAmount), name,
                 "must be from 0 to 10^18");
  return amount;
}

JobStep step_in(FieldReader& reader) {
  JobStep step;
  step.state = state_in(reader);
  step.time = reader.number("time", 0, kMostSeconds);
  step.note = cut(reader.text("note"));
  return step;
}

JobEntry entry_in(FieldReader& reader) {
  JobEntry entry;
  entry.id = reader.text("id");
  entry.name = cut(reader.text("name"));
  entry.image = cut(reader.text("image"));
  entry.command = cut(reader.text("command"));
  entry.state = state_in(reader);
  entry.is_held = reader.boolean("held");
  entry.note = cut(reader.text("note"));
  entry.version = reader.count("version");
  entry.attempt = reader.count("attempt", kMostCount);
  entry.retries = reader.count("retries", kMostCount);
  entry.refusals = reader.count("refusals", kMostCount);
  entry.life = cut(reader.text("life"));
  entry.was_asked_to_save = reader.boolean("asked_to_save");
  entry.is_unparkable = reader.boolean("unparkable");
  entry.has_parked = reader.boolean("parked");
  entry.has_doubled = reader.boolean("doubled");
  entry.least_memory = reader.number("least_memory", 0, kMostAmount);
  entry.cores = amount_in(reader, "cores");
  entry.chosen.cpu = amount_in(reader, "chosen_cpu");
  entry.chosen.mem = amount_in(reader, "chosen_mem");
  entry.chosen.priority = amount_in(reader, "chosen_priority");
  entry.weight = reader.number("weight", 0, 1);
  entry.is_starved = reader.boolean("starved");
  entry.submitted = reader.number("submitted", 0, kMostSeconds);
  entry.since = reader.number("since", 0, kMostSeconds);
  entry.waited = reader.number("waited", 0, kMostSeconds);
  entry.served = reader.number("served", 0, kMostSeconds);
  if (const std::optional<double> status = reader.optional_number("status")) {
    reader.require(*status >= -1e9 && *status <= 1e9, "status", "must be an exit status");
    entry.status = static_cast<std::int64_t>(*status);
  }
  entry.steps = reader.each("steps", step_in);
  reader.require(entry.steps.size() <= kKeptSteps, "steps", "must be 50 at most");
  reader.require(
      entry.id.size() == 64 && entry.id.find_first_not_of("0123456789abcdef") == std::string::npos,
      "id", "must be 64 hexadecimal digits");
  return entry;
}

}  // namespace

std::string render_entry(const JobEntry& entry) {
  json::array steps;
  for (const JobStep& step : entry.steps) {
    steps.push_back({{"state", name(step.state)}, {"time", step.time}, {"note", cut(step.note)}});
  }
  json::object out{{"id", entry.id},
                   {"name", cut(entry.name)},
                   {"image", cut(entry.image)},
                   {"command", cut(entry.command)},
                   {"state", name(entry.state)},
                   {"held", entry.is_held},
                   {"note", cut(entry.note)},
                   {"version", entry.version},
                   {"attempt", entry.attempt},
                   {"retries", entry.retries},
                   {"refusals", entry.refusals},
                   {"life", entry.life},
                   {"asked_to_save", entry.was_asked_to_save},
                   {"unparkable", entry.is_unparkable},
                   {"parked", entry.has_parked},
                   {"doubled", entry.has_doubled},
                   {"least_memory", entry.least_memory},
                   {"cores", optional(entry.cores)},
                   {"chosen_cpu", optional(entry.chosen.cpu)},
                   {"chosen_mem", optional(entry.chosen.mem)},
                   {"chosen_priority", optional(entry.chosen.priority)},
                   {"weight", entry.weight},
                   {"starved", entry.is_starved},
                   {"submitted", entry.submitted},
                   {"since", entry.since},
                   {"waited", entry.waited},
                   {"served", entry.served}};
  out["status"] = entry.status ? json::value(*entry.status) : json::value(nullptr);
  out["steps"] = std::move(steps);
  return render_json(out);
}

Result<JobEntry> parse_entry(std::string_view text) {
  if (text.size() > kMaxEntryBytes) return bad_input("a job's entry is too large");
  return read_fields(text, entry_in);
}

}  // namespace flowcon::cluster::queue
