// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/tune/history.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <cmath>
#include <functional>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "ctrl/policy/host_policies.h"

namespace flowcon::plugin {
namespace {

namespace growth = ctrl::growth;

constexpr std::size_t kNameBytes = 200;
constexpr std::size_t kTrainingBytes = 400;
constexpr std::int64_t kFileVersion = 1;
constexpr double kMostCores = 1e5;
constexpr double kMostTime = 1e11;   // seconds since the epoch; a run, too
constexpr double kMostNumber = 1e6;  // as the options of flowcond
constexpr double kMostSeconds = 86400;

struct Range {
  double low;
  double high;
};

double within(const std::optional<double>& number, Range range, double otherwise) {
  const bool is_good = number && *number >= range.low && *number <= range.high;
  return is_good ? *number : otherwise;
}

std::string_view estimator_name(growth::Estimator estimator) {
  return estimator == growth::Estimator::paper ? "paper" : "robust";
}
std::string_view normalise_name(growth::Normalise normalise) {
  return normalise == growth::Normalise::none    ? "none"
         : normalise == growth::Normalise::range ? "range"
                                                 : "first";
}

growth::Parameters growth_of(const json::value& value) {
  growth::Parameters parameters;
  if (text_of(member(value, "estimator")) == "paper") {
    parameters.estimator = growth::Estimator::paper;
  }
  for (const growth::Normalise how : {growth::Normalise::none, growth::Normalise::range}) {
    if (text_of(member(value, "normalise")) == normalise_name(how)) parameters.normalise = how;
  }
  const json::value& directed = member(value, "directed");
  parameters.directed = !directed.is_bool() || directed.get_bool();
  return parameters;
}

sim::TuneBase base_of(const json::value& status) {
  sim::TuneBase base;
  sim::TuneSetting& present = base.present;
  const auto number = [&](const char* name) { return real_of(member(status, name)); };
  const std::string policy = text_of(member(status, "policy"));
  if (ctrl::policy::find_host_policy(policy) != nullptr) present.policy = policy;
  present.is_quota = text_of(member(status, "limit_mode")) == "quota";
  present.alpha = within(number("alpha"), {0, kMostNumber}, present.alpha);
  present.beta = within(number("beta"), {1, kMostNumber}, present.beta);
  present.interval = within(number("initial_interval"), {1, kMostSeconds}, present.interval);
  present.interval_max = std::max(
      within(number("interval_max"), {1, kMostSeconds}, present.interval_max), present.interval);
  base.observe = within(number("observe"), {1, 3600}, base.observe);
  const json::value& floor_all = member(status, "floor_all");
  base.floor_all = !floor_all.is_bool() || floor_all.get_bool();
  base.growth = growth_of(member(status, "growth"));
  return base;
}

// The rows of a list that have a time and a number, in order of time.
std::vector<ctrl::Sample> rows_of(const json::value& list) {
  std::vector<ctrl::Sample> rows;
  for (const json::value& row : list_of(list)) {
    const std::optional<double> time = real_of(item_of(row, 0));
    const std::optional<double> number = real_of(item_of(row, 1));
    if (time && number && std::isfinite(*time)) rows.push_back({*time, *number});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ctrl::Sample& a, const ctrl::Sample& b) { return a.time < b.time; });
  return rows;
}

const char* reason(sim::Unfit unfit) {
  switch (unfit) {
    case sim::Unfit::is_running:
      return "not ended";
    case sim::Unfit::has_moved:
      return "was on other hosts, too";
    case sim::Unfit::has_few_values:
      return "fewer than 8 values";
    case sim::Unfit::has_gaps:
      return "not recorded throughout";
    case sim::Unfit::used_nothing:
      break;
  }
  return "no CPU time used";
}

// Image and, in the place of a command that a saved file should not tell, a number that is its own.
// Where flowcond does not know which training a run was, it is its image.
std::string training_name(const json::value& run) {
  const std::string image = printable(text_of(member(run, "image")), kNameBytes);
  const std::string training = text_of(member(run, "training"));
  if (training.empty()) return image;
  return image + " #" + std::to_string(std::hash<std::string>()(training));
}

json::object json_of(const sim::ReplayRun& run) {
  json::array points;
  for (const sim::CurvePoint& point : run.points) {
    points.push_back(json::array{point.x, point.value});
  }
  return {
      {"name", run.name},           {"training", run.training},   {"started", run.started},
      {"seconds", run.seconds},     {"cpu_seconds", run.work},    {"cores", run.cores},
      {"values", run.values},       {"counter", run.has_counter}, {"goal", ctrl::name(run.goal)},
      {"points", std::move(points)}};
}

double number_in(FieldReader& reader, const char* name, Range range) {
  const double number = reader.number(name);
  const std::string rule =
      "must be from " + render_number(range.low) + " to " + render_number(range.high);
  reader.require(number >= range.low && number <= range.high, name, rule.c_str());
  return number;
}

// True where the word is the second of two.
bool is_second(FieldReader& reader, const char* name, const char* first, const char* second) {
  const std::string word = reader.text(name);
  const std::string rule = std::string("must be ") + first + " or " + second;
  reader.require(word == first || word == second, name, rule.c_str());
  return word == second;
}

std::vector<sim::CurvePoint> read_points(FieldReader& reader) {
  std::vector<sim::CurvePoint> points;
  const json::array& rows = reader.array("points");
  reader.require(rows.size() >= 2 && rows.size() <= sim::ReplayRun::kMostPoints, "points",
                 "must have 2 to 400 elements");
  double before = 0;
  for (std::size_t i = 0; i < rows.size() && !reader.failed(); ++i) {
    const std::optional<double> x = real_of(item_of(rows[i], 0));
    const std::optional<double> value = real_of(item_of(rows[i], 1));
    const bool is_good =
        x && value && *x >= before && *x <= 1 && std::abs(*value) <= sim::ReplayRun::kMostValue;
    if (!is_good) {
      reader.complain(indexed("points", i),
                      "must be a share of the work, not less than the one before, and a value");
      break;
    }
    before = *x;
    points.push_back({*x, *value});
  }
  return points;
}

sim::ReplayRun read_run(FieldReader& reader) {
  sim::ReplayRun run;
  run.name = printable(reader.text("name"), kNameBytes);
  run.training = printable(reader.text("training"), kTrainingBytes);
  run.started = number_in(reader, "started", {0, kMostTime});
  run.seconds = number_in(reader, "seconds", {0.001, kMostTime});
  run.work = number_in(reader, "cpu_seconds", {1e-6, kMostTime});
  run.cores = number_in(reader, "cores", {sim::ReplayRun::kLeastCores, kMostCores});
  run.values = static_cast<std::uint32_t>(
      number_in(reader, "values", {double{sim::ReplayRun::kLeastValues}, 1e9}));
  run.has_counter = reader.boolean("counter");
  run.goal = is_second(reader, "goal", "min", "max") ? ctrl::Goal::max : ctrl::Goal::min;
  run.points = read_points(reader);
  return run;
}

sim::TuneSetting read_present(FieldReader& reader) {
  sim::TuneSetting present;
  present.policy = reader.text("policy");
  reader.require(ctrl::policy::find_host_policy(present.policy) != nullptr, "policy",
                 ("must be one of " + ctrl::policy::host_policy_names()).c_str());
  present.is_quota = is_second(reader, "limit_mode", "weight", "quota");
  present.alpha = number_in(reader, "alpha", {0, kMostNumber});
  present.beta = number_in(reader, "beta", {1, kMostNumber});
  present.interval = number_in(reader, "initial_interval", {1, kMostSeconds});
  present.interval_max = number_in(reader, "interval_max", {present.interval, kMostSeconds});
  return present;
}

}  // namespace

Result<TuneHistory> begin_tune_history(const json::value& status) {
  TuneHistory history;
  history.host = printable(text_of(member(status, "host")), kNameBytes);
  const std::optional<double> cores = real_of(member(status, "cores"));
  if (!cores || !(*cores >= sim::ReplayRun::kLeastCores && *cores <= kMostCores)) {
    return bad_input("flowcond does not say how many cores the host has");
  }
  history.cores = *cores;
  history.base = base_of(status);
  return history;
}

void add_tune_run(TuneHistory& history, const json::value& run, const json::value& recorded) {
  sim::RecordedRun record;
  record.started = real_of(member(recorded, "started")).value_or(0);
  record.finished = real_of(member(recorded, "finished"));
  record.has_moved = !list_of(member(recorded, "stays")).empty() || is_true(member(run, "moved"));
  if (text_of(member(recorded, "goal")) == "max") record.goal = ctrl::Goal::max;
  record.samples = rows_of(member(recorded, "samples"));
  for (const ctrl::Sample& row : rows_of(member(recorded, "usage"))) {
    record.usage.push_back({row.time, row.value});
  }
  sim::Reading reading = sim::read_recorded(record, history.cores);
  if (reading.unfit) {
    ++history.left_out[reason(*reading.unfit)];
    return;
  }
  sim::ReplayRun& read = reading.run;
  read.name = printable(text_of(member(run, "name")), kNameBytes);
  read.training = training_name(run);
  read.has_counter = is_true(member(run, "counter"));
  history.runs.push_back(std::move(read));
}

void finish_tune_history(TuneHistory& history) {
  std::vector<sim::ReplayRun>& runs = history.runs;
  std::stable_sort(runs.begin(), runs.end(), [](const sim::ReplayRun& a, const sim::ReplayRun& b) {
    return a.started < b.started;
  });
  if (runs.size() <= sim::kMostRuns) return;
  const std::size_t older = runs.size() - sim::kMostRuns;
  history.left_out["older than the last " + std::to_string(sim::kMostRuns)] += older;
  runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(older));
}

std::string render_tune_history(const TuneHistory& history) {
  const sim::TuneBase& base = history.base;
  json::object left_out;
  for (const auto& [why, count] : history.left_out) left_out[why] = count;
  json::array runs;
  for (const sim::ReplayRun& run : history.runs) runs.push_back(json_of(run));
  const json::object file{{"flowcon_history", kFileVersion},
                          {"host", history.host},
                          {"cores", history.cores},
                          {"policy", base.present.policy},
                          {"limit_mode", base.present.is_quota ? "quota" : "weight"},
                          {"alpha", base.present.alpha},
                          {"beta", base.present.beta},
                          {"initial_interval", base.present.interval},
                          {"interval_max", base.present.interval_max},
                          {"observe", base.observe},
                          {"floor_all", base.floor_all},
                          {"growth",
                           {{"estimator", estimator_name(base.growth.estimator)},
                            {"normalise", normalise_name(base.growth.normalise)},
                            {"directed", base.growth.directed}}},
                          {"left_out", std::move(left_out)},
                          {"runs", std::move(runs)}};
  return render_json(file) + "\n";
}

Result<TuneHistory> parse_tune_history(std::string_view text, const std::string& name) {
  const std::string shown = printable(name, 400);
  const Result<json::value> file = parse_json(text);
  if (!file) return wrap(file.error(), shown);
  const json::value& version = member(*file, "flowcon_history");
  if (!version.is_int64() || version.get_int64() != kFileVersion) {
    return bad_input(shown +
                     " is no history that docker flowcon tune --save of this version wrote");
  }
  TuneHistory history;
  FieldReader reader(*file, "");
  history.host = printable(reader.text("host"), kNameBytes);
  history.cores = number_in(reader, "cores", {sim::ReplayRun::kLeastCores, kMostCores});
  history.base.present = read_present(reader);
  history.base.observe = number_in(reader, "observe", {1, 3600});
  history.base.floor_all = reader.boolean("floor_all");
  history.base.growth = growth_of(reader.member("growth"));
  const json::array& runs = reader.array("runs");
  reader.require(runs.size() <= sim::kMostRuns, "runs", "must have at most 300 elements");
  if (!reader.failed()) history.runs = reader.each("runs", read_run);
  if (reader.failed()) return wrap(reader.error(), shown);
  if (const json::object* left_out = member(*file, "left_out").if_object()) {
    for (const auto& [why, count] : *left_out) {
      const bool is_count = count.is_int64() && count.get_int64() >= 0;
      if (is_count && history.left_out.size() < 10) {
        history.left_out[printable(std::string_view(why), 80)] =
            static_cast<std::size_t>(count.get_int64());
      }
    }
  }
  finish_tune_history(history);
  return history;
}

}  // namespace flowcon::plugin
