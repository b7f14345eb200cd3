// SPDX-License-Identifier: Apache-2.0
// What people are shown: the status of docs/api.md.
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/digits.h"
#include "base/json.h"
#include "base/text.h"
#include "ctrl/daemon/snapshot.h"

namespace flowcon::ctrl {
namespace {

constexpr double kBusyCores = 0.1;

json::array strings(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(valid_utf8(text));
  return out;
}

// Of a log; without the end of a line in it, that is what Docker waits for.
constexpr std::uint64_t kMuchOutput = 16 * 1024;

json::value gpu_of(const Job& job) {
  if (!job.gpu) return nullptr;
  json::object out;
  out["use"] = number_or_null(job.gpu->use);
  out["memory"] = job.gpu->memory_bytes;
  return out;
}

json::object place_of(const Place& place) {
  json::object out;
  out["list"] = name(place.list);
  out["limit"] = place.granted;
  out["growth"] = number_or_null(place.growth);
  return out;
}

json::value pin_of(const Control& control) {
  if (!control.pin) return nullptr;
  json::object pin;
  pin["limit"] = control.pin->limit;
  pin["until"] = number_or_null(control.pin->until);
  return pin;
}

// `count` of the values that are kept, evenly, the last one always.
json::array recent_of(const std::vector<Sample>& samples, std::size_t count) {
  json::array values;
  const std::size_t shown = std::min(count, samples.size());
  for (std::size_t i = 0; i < shown; ++i) {
    values.emplace_back(samples[(i + 1) * samples.size() / shown - 1].value);
  }
  return values;
}

json::object metric_of(const Job& job, std::size_t recent) {
  json::object out;
  out["metric"] = out["goal"] = out["value"] = out["progress"] = nullptr;
  out["values"] = 0;
  if (recent > 0) out["recent"] = json::array();
  if (!job.extractor) return out;
  const metrics::Report& report = job.extractor->report();
  if (report.counter) {
    json::object progress;
    progress["done"] = report.counter->done;
    progress["total"] = report.counter->total > 0 ? json::value(report.counter->total) : nullptr;
    if (report.counter->total > 0) {
      progress["from"] = metrics::name(report.counter->from);
    } else {
      progress["within"] = report.counter->within;
    }
    out["progress"] = std::move(progress);
  }
  if (report.metric.empty()) return out;
  out["metric"] = valid_utf8(report.metric);
  out["goal"] = name(report.goal);
  out["values"] = report.count;
  if (!report.samples.empty()) out["value"] = report.samples.back().value;
  if (recent > 0) out["recent"] = recent_of(report.samples, recent);
  return out;
}

// Seconds to its end at its present use of the CPU; null where its end is only guessed.
json::value time_left_of(const Snapshot& seen, const Job& job) {
  constexpr double kLeastUse = 0.01;  // cores
  const double used = job.cpu_share.value_or(0) * seen.host.cores;
  if (!job.unsupported.empty() || !(used >= kLeastUse)) return nullptr;
  if (seen.planning.basis_of(job) == growth::Basis::age) return nullptr;
  const std::optional<JobForecast> forecast = seen.planning.forecast(job);
  return forecast ? json::value(forecast->left / used) : json::value(nullptr);
}

// What becomes of a job whose metric says nothing.
std::string lot_of(const Snapshot& seen, const Job& job) {
  const bool is_ranked = seen.planning.divides_by() == policy::DividesBy::work &&
                         seen.config.limits(Resource::cpu) && !is_aside(job, seen.is_all_paused);
  if (!is_ranked) return "the container keeps its fair share";
  switch (seen.planning.basis_of(job)) {
    case growth::Basis::counter:
      return "its remaining time comes from its progress counter";
    case growth::Basis::memory:
      return "its remaining time comes from earlier runs";
    case growth::Basis::age:
      break;
  }
  return std::string("its remaining time is a guess") +
         (job.settings.floor ? "" : "; set flowcon.floor to guarantee it CPU");
}

// One that waits for its data (`is_busy` false) has no output to hold back.
std::string no_metric_text(const metrics::Report& report, std::uint64_t lines, bool is_busy) {
  if (lines == 0) {
    return is_busy ? "no output yet; if it prints, it may be buffered: -e PYTHONUNBUFFERED=1, "
                     "python -u, stdbuf -oL, or flowcon.log=FILE"
                   : "no output yet";
  }
  if (!report.unsure_of.empty()) {
    return "not sure: " + report.unsure_of + " (" + share_text(report.confidence) + ")";
  }
  if (!report.warning.empty()) return report.warning;
  const std::string where = " in " + std::to_string(lines) + " lines yet";
  return report.missing.empty() ? "no metric found" + where : report.missing;
}

std::string note_of(const Snapshot& seen, const Job& job) {
  if (!job.unsupported.empty()) return job.unsupported;
  if (!job.problem.empty()) return job.problem;
  if (job.frozen) return "frozen (docker pause)";
  if (!job.log_problem.empty()) return job.log_problem;
  const logs::TailStats tail = seen.tails.stats(job.id());
  if (!tail.problem.empty()) return tail.problem;
  if (!job.settings.spec_is_usable) return "no metric: a label is wrong; " + lot_of(seen, job);
  if (job.settings.log.empty() && tail.bytes >= kMuchOutput && tail.framing.newlines == 0) {
    return "its output has no newlines, and Docker passes it on only in blocks of 16 KiB: print "
           "newlines; " +
           lot_of(seen, job);
  }
  if (job.extractor && job.extractor->count() == 0) {
    const bool is_busy = job.cpu_share.value_or(0) * seen.host.cores > kBusyCores;
    return no_metric_text(job.extractor->report(), tail.framing.lines, is_busy) + "; " +
           lot_of(seen, job);
  }
  if (job.verdict == growth::Verdict::diverging) {
    return "the metric moves away from its goal or is not a number; " + lot_of(seen, job);
  }
  if (!job.extractor) return "";
  const metrics::Report& report = job.extractor->report();
  if (report.goal_guess.empty() || report.count < 2) return report.warning;
  return std::string("goal ") + name(report.goal) + " is a guess (" + report.goal_guess +
         "): set flowcon.goal";
}

json::object container_of(const Snapshot& seen, const Job& job, std::size_t recent) {
  json::object c;
  c["id"] = job.id();
  c["name"] = valid_utf8(job.container.name);
  c["image"] = valid_utf8(job.container.image);
  c["state"] = seen.state_of(job);
  c["list"] = name(job.cpu.list);
  c["limit"] = is_aside(job, seen.is_all_paused) ? 1 : job.cpu.granted;
  c["growth"] = number_or_null(job.cpu.growth);
  c["verdict"] = verdict_of(job);
  for (auto& member : metric_of(job, recent)) c[member.key()] = member.value();
  c["left"] = time_left_of(seen, job);
  c["cpu"] = number_or_null(job.cpu_share);
  c["memory"] = job.has_reading ? json::value(job.reading.memory) : json::value(nullptr);
  c["io"] = number_or_null(job.io_rate);
  c["network"] = number_or_null(job.network_rate);
  c["gpu"] = gpu_of(job);
  json::object resources;
  for (const Resource resource : kResources) {
    if (seen.config.limits(resource)) resources[name(resource)] = place_of(job[resource]);
  }
  c["resources"] = std::move(resources);
  c["weight"] = job.settings.weight;
  c["floor"] = number_or_null(job.settings.floor);
  c["ceiling"] = number_or_null(job.settings.ceiling);
  c["only_grow"] = job.settings.only_grow || seen.config.only_grow;
  c["pinned"] = pin_of(job.control);
  c["since"] = job.container.started;
  c["reason"] = job.reason;
  c["note"] = valid_utf8(note_of(seen, job));
  c["warnings"] = strings(job.settings.warnings);
  return c;
}

}  // namespace

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? valid_utf8(name) : std::string();
}

bool is_aside(const Job& job, bool is_all_paused) {
  return is_all_paused || job.control.is_paused || job.container.is_frozen;
}

std::string engine_problem(const Containers& containers) {
  const EngineStatus& engine = containers.engine();
  return engine.is_reachable ? "" : engine.error;
}

const char* Snapshot::state_of(const Job& job) const {
  const bool is_paused = is_all_paused || job.control.is_paused;
  return !job.unsupported.empty() ? "unsupported"
         : is_paused              ? "paused"
         : job.frozen             ? "frozen"
         : config.dry_run         ? "observed"
                                  : "controlled";
}

std::vector<std::string> Snapshot::warnings() const {
  std::vector<std::string> warnings = shown.warnings;
  for (const std::string& problem : {engine_problem(containers), containers.problem()}) {
    if (!problem.empty()) warnings.push_back(problem);
  }
  if (!recorder.problem().empty()) {
    warnings.push_back(recorder.problem() + " (" + std::to_string(recorder.lost()) +
                       " records lost)");
  }
  return warnings;
}

std::string status_of(const Snapshot& seen, std::size_t recent) {
  json::object body;
  body["version"] = FLOWCON_VERSION;
  body["api"] = kApiVersion;
  body["host"] = host_name();
  body["cores"] = seen.host.cores;
  body["cgroup"] = cgroups::name(seen.fs.mode());
  body["limit_mode"] = find_option("limit-mode")->show(seen.config);
  body["dry_run"] = seen.config.dry_run;
  const EngineStatus& engine = seen.containers.engine();
  json::object engine_body;
  engine_body["socket"] = valid_utf8(seen.config.engine);
  engine_body["reachable"] = engine.is_reachable;
  engine_body["version"] = engine.version.engine;
  engine_body["api"] = engine.version.api;
  engine_body["error"] = valid_utf8(engine.error);
  body["engine"] = std::move(engine_body);
  body["policy"] = seen.config.policy;
  body["alpha"] = seen.config.alpha;
  body["beta"] = seen.config.beta;
  body["interval"] = seen.planning.interval();
  body["initial_interval"] = seen.config.interval;
  body["interval_max"] = seen.config.interval_max;
  body["observe"] = seen.config.observe;
  body["floor_all"] = seen.config.floor_all;
  body["growth"] = {{"estimator", find_option("growth.estimator")->show(seen.config)},
                    {"normalise", find_option("growth.normalise")->show(seen.config)},
                    {"directed", seen.config.growth.directed}};
  body["all_completing"] = seen.planning.all_completing();
  body["paused"] = seen.is_all_paused;
  body["short_of_memory"] = seen.shown.is_short_of_memory;
  body["reverts"] = seen.shown.counts.reverts;
  body["reapplied"] = seen.shown.counts.reapplied;
  body["warnings"] = strings(seen.warnings());
  json::array containers;
  // In order of arrival, then those that are paused or frozen or cannot be controlled.
  std::vector<std::string> order = seen.roster.active;
  const std::set<std::string> listed(order.begin(), order.end());
  for (const auto& [id, job] : seen.roster.jobs) {
    if (!listed.contains(id)) order.push_back(id);
  }
  for (const std::string& id : order) {
    containers.push_back(container_of(seen, seen.roster.jobs.at(id), recent));
  }
  body["containers"] = std::move(containers);
  const auto queue = seen.extension != nullptr ? seen.extension->queue_counts() : std::nullopt;
  if (queue) body["queue"] = {{"waiting", queue->waiting}, {"running", queue->running}};
  return render_json(body);
}

}  // namespace flowcon::ctrl
