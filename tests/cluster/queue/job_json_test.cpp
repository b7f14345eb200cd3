// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/job_json.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "base/json.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::queue {
namespace {

JobEntry some_entry() {
  JobEntry entry;
  entry.id = std::string(64, 'a');
  entry.name = "vae";
  entry.image = "trainer:2";
  entry.command = "python3 vae.py";
  entry.state = JobState::parking;
  entry.is_held = true;
  entry.note = "is parked";
  entry.version = 7;
  entry.attempt = 2;
  entry.retries = 3;
  entry.refusals = 1;
  entry.life = "1795255200.25";
  entry.was_asked_to_save = true;
  entry.is_unparkable = true;
  entry.has_parked = true;
  entry.has_saved = true;
  entry.has_doubled = true;
  entry.least_memory = 4e9;
  entry.cores = 1.5;
  entry.chosen = {2.0, 3e9, 0.5};
  entry.weight = 0.25;
  entry.is_starved = true;
  entry.submitted = 1.7e9;
  entry.since = 1.7e9 + 100.125;
  entry.waited = 40;
  entry.served = 60.5;
  entry.status = 137;
  entry.task = Task{std::string(32, 'b'), std::string(32, 'c'), std::string(32, 'd'),
                    "1795255300.5",       JobState::waiting,    "has saved itself"};
  entry.steps = {{JobState::waiting, 1.7e9, ""}, {JobState::parking, 1.7e9 + 100, "is parked"}};
  return entry;
}

std::string any_text(std::mt19937& random, std::size_t most) {
  static const std::string kPieces[] = {"a",    "\"",   "\\",       "\n",           "\x1b[2J",
                                        "\xff", "\xc3", "\xc3\xa9", "\xe2\x80\xa6", " ",
                                        "\x7f", "\xf0"};
  std::string text;
  for (std::size_t left = random() % (most + 1); left > 0; --left) {
    text += kPieces[random() % std::size(kPieces)];
  }
  return text;
}

double any_number(std::mt19937& random) {
  const double numbers[] = {0,
                            0.1,
                            1,
                            1.8e9 + 0.123456,
                            1e12,
                            1e18,
                            -1,
                            1e300,
                            -0.0,
                            1e-9,
                            std::numeric_limits<double>::infinity(),
                            std::nan("")};
  return numbers[random() % std::size(numbers)];
}

JobEntry any_entry(std::mt19937& random) {
  const auto flag = [&] { return random() % 2 == 0; };
  const auto maybe = [&] { return flag() ? std::optional(any_number(random)) : std::nullopt; };
  const auto count = [&] { return static_cast<std::int64_t>(random()) * (flag() ? 1 : -5); };
  const auto state = [&] { return static_cast<JobState>(random() % 11); };
  JobEntry entry;
  entry.id = std::string(64, "0123456789abcdef"[random() % 16]);
  entry.name = any_text(random, 1500);
  entry.image = any_text(random, 1500);
  entry.command = any_text(random, 1500);
  entry.state = state();
  entry.is_held = flag();
  entry.note = any_text(random, 1500);
  entry.version = count();
  entry.attempt = count();
  entry.retries = count();
  entry.refusals = count();
  entry.life = any_text(random, 150);
  entry.was_asked_to_save = flag();
  entry.is_unparkable = flag();
  entry.has_parked = flag();
  entry.has_saved = flag();
  entry.has_doubled = flag();
  entry.least_memory = any_number(random);
  entry.cores = maybe();
  entry.chosen = {maybe(), maybe(), maybe()};
  entry.weight = any_number(random);
  entry.is_starved = flag();
  entry.submitted = any_number(random);
  entry.since = any_number(random);
  entry.waited = any_number(random);
  entry.served = any_number(random);
  if (flag()) entry.status = count();
  const bool needs_task = entry.state == JobState::placing || entry.state == JobState::returning;
  if (needs_task || (flag() && entry.state != JobState::waiting && !is_closed(entry.state))) {
    entry.task = Task{std::string(32, 'b'),  std::string(32, 'c'), "",
                      any_text(random, 150), std::nullopt,         any_text(random, 1500)};
    if (flag()) entry.task->then = state();
  }
  for (std::size_t left = random() % 80; left > 0; --left) {
    entry.steps.push_back({state(), any_number(random), any_text(random, 500)});
  }
  return entry;
}

// What is said of some_entry() with one member changed.
std::string error_with(const char* name, const boost::json::value& value) {
  boost::json::value whole = *parse_json(render_entry(some_entry()));
  whole.as_object()[name] = value;
  const auto parsed = parse_entry(render_json(whole));
  return parsed ? "" : parsed.error().message();
}

TEST_CASE("a group's entry has those of its tasks") {
  JobEntry entry = some_entry();
  entry.task.reset();
  entry.state = JobState::returning;
  entry.group = Group();
  entry.group->workers = {2, 5};
  entry.group->elastic = ctrl::Elastic::join;
  entry.chosen.workers = 3;
  entry.group->ps = 1;
  entry.group->next_worker = 4;
  entry.group->network = "train";
  entry.group->then = JobState::failed;
  entry.group->why = "net-w3 ended with status 1";
  JobEntry task = some_entry();
  task.task_of = entry.id;
  task.end = TaskEnd::saved;
  task.is_ps = task.has_left = true;
  task.at = std::string(32, 'e');
  task.endpoint = Endpoint{"192.0.2.7", 29500, "eth1"};
  task.alias = "3f9a1c2b4d5e-w3";
  entry.group->tasks = {task, task};
  entry.group->tasks[1].id.clear();
  CHECK(render_entry(entry).find("owed") == std::string::npos);
  entry.group->owed = {{task.at, *task.endpoint}};
  const Result<JobEntry> read = parse_entry(render_entry(entry));
  REQUIRE(read.has_value());
  REQUIRE(read->group);
  CHECK(read->group->workers == ctrl::WorkerRange{2, 5});
  CHECK(read->group->elastic == ctrl::Elastic::join);
  CHECK(read->chosen.workers == 3);
  CHECK(read->group->tasks[0].is_ps);
  CHECK(read->group->tasks[0].has_left);
  CHECK(read->group->ps == 1);
  CHECK(read->group->next_worker == 4);
  CHECK(read->group->network == "train");
  CHECK(read->group->tasks[0].at == task.at);
  CHECK(read->group->tasks[0].alias == task.alias);
  CHECK(read->group->tasks[0].endpoint == task.endpoint);
  REQUIRE(read->group->owed.size() == 1);
  CHECK(read->group->owed[0].host == task.at);
  CHECK(read->group->owed[0].endpoint == task.endpoint);
  CHECK(read->group->then == JobState::failed);
  CHECK(read->group->why == entry.group->why);
  REQUIRE(read->group->tasks.size() == 2);
  CHECK(read->group->tasks[0].end == TaskEnd::saved);
  CHECK(read->group->tasks[0].task_of == entry.id);
  CHECK(read->group->tasks[1].id.empty());
  CHECK(read->group->tasks[0].task->birth == some_entry().task->birth);
}

TEST_CASE("a group in a group, and a task that is none's, are refused") {
  JobEntry entry = some_entry();
  entry.group = Group();
  entry.group->tasks = {some_entry()};
  CHECK_FALSE(parse_entry(render_entry(entry)).has_value());
  entry.group->tasks[0].task_of = entry.id;
  CHECK(parse_entry(render_entry(entry)).has_value());
  entry.group->tasks[0].group = Group();
  CHECK_FALSE(parse_entry(render_entry(entry)).has_value());
  JobEntry alone = some_entry();
  alone.id.clear();
  CHECK_FALSE(parse_entry(render_entry(alone)).has_value());
}

TEST_CASE("a job's entry is read back as it was written") {
  const JobEntry entry = some_entry();
  const Result<JobEntry> read = parse_entry(render_entry(entry));
  REQUIRE(read.has_value());
  CHECK(read->id == entry.id);
  CHECK(read->name == entry.name);
  CHECK(read->image == entry.image);
  CHECK(read->command == entry.command);
  CHECK(read->state == entry.state);
  CHECK(read->is_held);
  CHECK(read->note == entry.note);
  CHECK(read->version == 7);
  CHECK(read->attempt == 2);
  CHECK(read->retries == 3);
  CHECK(read->refusals == 1);
  CHECK(read->life == entry.life);
  CHECK(read->was_asked_to_save);
  CHECK(read->is_unparkable);
  CHECK(read->has_parked);
  CHECK(read->has_saved);
  CHECK(read->has_doubled);
  CHECK(read->least_memory == 4e9);
  CHECK(read->cores == 1.5);
  CHECK(read->chosen == entry.chosen);
  CHECK(read->weight == 0.25);
  CHECK(read->is_starved);
  CHECK(read->submitted == entry.submitted);
  CHECK(read->since == entry.since);
  CHECK(read->waited == 40);
  CHECK(read->served == 60.5);
  CHECK(read->status == 137);
  REQUIRE(read->steps.size() == 2);
  CHECK(read->steps[1].state == JobState::parking);
  CHECK(read->steps[1].note == "is parked");
}

TEST_CASE("whatever an entry holds, what is written can be read, and is the same again") {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const std::string text = render_entry(any_entry(random));
    REQUIRE(text.size() <= kMaxEntryBytes);
    const Result<JobEntry> read = parse_entry(text);
    INFO(text);
    REQUIRE(read.has_value());
    REQUIRE(render_entry(*read) == text);
  }
}

TEST_CASE("an entry that is as long as it can be is still one") {
  JobEntry entry = some_entry();
  entry.name = entry.image = entry.command = std::string(5000, '\x01');
  entry.note = std::string(5000, '"');
  entry.life = std::string(500, '\x01');
  entry.steps.assign(70, {JobState::cancelled, 1.7e9 + 0.123456, std::string(5000, '\\')});
  const std::string text = render_entry(entry);
  CHECK(text.size() <= kMaxEntryBytes);
  const Result<JobEntry> read = parse_entry(text);
  REQUIRE(read.has_value());
  CHECK(read->steps.size() == kKeptSteps);
  CHECK(read->name == std::string(1000, '\x01'));
}

TEST_CASE("a damaged entry is refused or is one that can be written") {
  std::mt19937 random(2);
  const std::string whole = render_entry(some_entry());
  for (int i = 0; i < 5000; ++i) {
    std::string text = whole;
    for (std::size_t left = 1 + random() % 3; left > 0; --left) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          text.erase(at, 1 + random() % 4);
          break;
        default:
          text.insert(at, 1, whole[random() % whole.size()]);
      }
    }
    const Result<JobEntry> read = parse_entry(text);
    if (!read) continue;
    const std::string again = render_entry(*read);
    const Result<JobEntry> second = parse_entry(again);
    INFO(text);
    REQUIRE(second.has_value());
    REQUIRE(render_entry(*second) == again);
  }
}

TEST_CASE("a member of an entry that is not what it may be is named") {
  const std::pair<const char*, boost::json::value> wrong[] = {
      {"id", "A"},          {"id", 7},
      {"id", "g"},          {"name", nullptr},
      {"state", "asleep"},  {"state", 3},
      {"held", "yes"},      {"version", -1},
      {"version", 1.5},     {"attempt", 2e9},
      {"retries", -1},      {"refusals", nullptr},
      {"life", 3},          {"weight", 1.5},
      {"weight", -0.5},     {"cores", -1},
      {"chosen_mem", 1e19}, {"least_memory", nullptr},
      {"since", -1},        {"since", 1e13},
      {"status", 0.5},      {"status", 1e10},
      {"status", "0"},      {"steps", nullptr},
      {"steps", "none"},    {"parked", 1},
      {"served", "long"},
  };
  for (const auto& [name, value] : wrong) {
    INFO(name << " " << render_json(value));
    CHECK(error_with(name, value).find(name) != std::string::npos);
  }
  boost::json::array many(kKeptSteps + 1, {{"state", "waiting"}, {"time", 1}, {"note", ""}});
  CHECK(error_with("steps", many).find("steps") != std::string::npos);
  CHECK(error_with("steps", boost::json::array{{{"state", "waiting"}, {"note", ""}}}) != "");
  CHECK(error_with("color", "red").empty());
  CHECK_FALSE(parse_entry("").has_value());
  CHECK_FALSE(parse_entry("[]").has_value());
  CHECK_FALSE(parse_entry("{}").has_value());
  CHECK_FALSE(parse_entry(std::string(kMaxEntryBytes + 1, ' ')).has_value());
}

TEST_CASE("a note is made safe to show") {
  JobEntry entry = some_entry();
  entry.note = "\x1b[2Jgone";
  const Result<JobEntry> read = parse_entry(render_entry(entry));
  REQUIRE(read.has_value());
  CHECK(read->note.find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace flowcon::cluster::queue
