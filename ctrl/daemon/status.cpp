// SPDX-License-Identifier: Apache-2.0
// What people are shown: the status of docs/api.md.
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/daemon/daemon_state.h"

namespace flowcon::ctrl {
namespace {

namespace json = boost::json;

json::array strings(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(valid_utf8(text));
  return out;
}

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
    progress["total"] = report.counter->total;
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

}  // namespace

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? valid_utf8(name) : std::string();
}

const char* Daemon::state_of(const Job& job) const {
  return !job.unsupported.empty() ? "unsupported"
         : is_paused(job)         ? "paused"
         : job.frozen             ? "frozen"
         : config_.dry_run        ? "observed"
                                  : "controlled";
}

std::vector<std::string> Daemon::warnings() const {
  std::vector<std::string> warnings = start_warnings_;
  for (const std::string& problem : {engine_problem(), containers_->problem()}) {
    if (!problem.empty()) warnings.push_back(problem);
  }
  if (!recorder_.problem().empty()) {
    warnings.push_back(recorder_.problem() + " (" + std::to_string(recorder_.lost()) +
                       " records lost)");
  }
  return warnings;
}

std::string Daemon::note_of(const Job& job) const {
  if (!job.unsupported.empty()) return job.unsupported;
  if (!job.problem.empty()) return job.problem;
  if (job.frozen) return "frozen (docker pause)";
  if (!job.log_problem.empty()) return job.log_problem;
  const logs::TailStats tail = tails_.stats(job.id());
  if (!tail.problem.empty()) return tail.problem;
  if (!job.settings.spec_is_usable) return "no metric: a label is wrong; " + lot_of(job);
  if (job.extractor && job.extractor->count() == 0) {
    return (tail.framing.lines == 0
                ? "it has printed nothing yet; "
                : "no metric found in " + std::to_string(tail.framing.lines) + " lines yet; ") +
           lot_of(job);
  }
  if (job.verdict == growth::Verdict::diverging) {
    return "the metric moves away from its goal or is not a number; " + lot_of(job);
  }
  return "";
}

// What becomes of a job whose metric says nothing.
std::string Daemon::lot_of(const Job& job) const {
  const bool is_ranked = planning_.divides_by() == policy::DividesBy::work &&
                         config_.limits(Resource::cpu) && !is_aside(job);
  if (!is_ranked) return "it keeps its fair share";
  switch (planning_.basis_of(job)) {
    case growth::Basis::counter:
      return "its progress counter says when it goes";
    case growth::Basis::memory:
      return "earlier runs say when it goes";
    case growth::Basis::age:
      break;
  }
  return job.settings.floor ? "its end is guessed"
                            : "its end is guessed; a flowcon.floor keeps it a share";
}

HostView Daemon::view() const {
  HostView view;
  view.name = host_name();
  view.cores = host_.cores;
  view.memory = host_.memory;
  for (const auto& [id, job] : jobs_) {
    if (!job.unsupported.empty()) continue;
    view.jobs.push_back(id);
    view.usage += job.cpu_share.value_or(0);
  }
  view.usage = std::clamp(view.usage, 0.0, 1.0);
  return view;
}

std::optional<double> Daemon::value_of(const std::string& id) const {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || !found->second.extractor) return std::nullopt;
  if (found->second.frozen) return std::nullopt;  // that it stands still is not its own doing
  const metrics::Report& report = found->second.extractor->report();
  if (report.samples.empty()) return std::nullopt;
  const growth::Scale seen{report.head, report.low, report.high};
  const std::optional<double> scale = growth::scale_of(seen, config_.growth.normalise);
  const double value = scale ? report.samples.back().value / *scale : NAN;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<double> Daemon::last_value_at(const std::string& id) const {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || !found->second.extractor) return std::nullopt;
  const Job& job = found->second;
  if (!job.settings.log.empty() && !job.settings.log_is_events) return std::nullopt;
  const metrics::Report& report = job.extractor->report();
  return report.samples.empty() ? std::nullopt : std::optional(report.samples.back().time);
}

std::optional<JobForecast> Daemon::forecast(const std::string& id) const {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || !found->second.has_track) return std::nullopt;
  return planning_.forecast(found->second);
}

std::optional<Settings> Daemon::settings_of(const std::string& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? std::nullopt : std::optional(found->second.settings);
}

std::string Daemon::name_of(const std::string& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? "" : found->second.container.name;
}

std::string Daemon::status(std::size_t recent) const {
  json::object body;
  body["version"] = FLOWCON_VERSION;
  body["api"] = kApiVersion;
  body["host"] = host_name();
  body["cores"] = host_.cores;
  body["cgroup"] = cgroups::name(world_.fs->mode());
  body["limit_mode"] = find_option("limit-mode")->show(config_);
  body["dry_run"] = config_.dry_run;
  const EngineStatus& engine = containers_->engine();
  json::object engine_body;
  engine_body["reachable"] = engine.is_reachable;
  engine_body["version"] = engine.version.engine;
  engine_body["api"] = engine.version.api;
  engine_body["error"] = valid_utf8(engine.error);
  body["engine"] = std::move(engine_body);
  body["policy"] = config_.policy;
  body["alpha"] = config_.alpha;
  body["beta"] = config_.beta;
  body["interval"] = planning_.interval();
  body["initial_interval"] = config_.interval;
  body["interval_max"] = config_.interval_max;
  body["observe"] = config_.observe;
  body["floor_all"] = config_.floor_all;
  body["growth"] = {{"estimator", find_option("growth.estimator")->show(config_)},
                    {"normalise", find_option("growth.normalise")->show(config_)},
                    {"directed", config_.growth.directed}};
  body["all_completing"] = planning_.all_completing();
  body["paused"] = is_all_paused_;
  body["short_of_memory"] = is_short_of_memory_;
  body["reverts"] = reverts_;
  body["reapplied"] = reapplied_;
  body["warnings"] = strings(warnings());
  json::array containers;
  // In order of arrival, then those that are paused or frozen or cannot be controlled.
  std::vector<std::string> order = active_;
  for (const auto& [id, job] : jobs_) {
    if (!job.unsupported.empty() || is_aside(job)) order.push_back(id);
  }
  for (const std::string& id : order) {
    const Job& job = jobs_.at(id);
    json::object c;
    c["id"] = id;
    c["name"] = valid_utf8(job.container.name);
    c["image"] = valid_utf8(job.container.image);
    c["state"] = state_of(job);
    c["list"] = name(job.cpu.list);
    c["limit"] = is_aside(job) ? 1 : job.cpu.granted;
    c["growth"] = number_or_null(job.cpu.growth);
    c["verdict"] = verdict_of(job);
    for (auto& member : metric_of(job, recent)) c[member.key()] = member.value();
    c["cpu"] = number_or_null(job.cpu_share);
    c["memory"] = job.has_reading ? json::value(job.reading.memory) : json::value(nullptr);
    c["io"] = number_or_null(job.io_rate);
    c["network"] = number_or_null(job.network_rate);
    c["gpu"] = gpu_of(job);
    json::object resources;
    for (const Resource resource : {Resource::cpu, Resource::memory, Resource::io}) {
      if (config_.limits(resource)) resources[name(resource)] = place_of(job.place(resource));
    }
    c["resources"] = std::move(resources);
    c["weight"] = job.settings.weight;
    c["floor"] = number_or_null(job.settings.floor);
    c["ceiling"] = number_or_null(job.settings.ceiling);
    c["only_grow"] = job.settings.only_grow || config_.only_grow;
    c["pinned"] = pin_of(job.control);
    c["since"] = job.container.started;
    c["reason"] = job.reason;
    c["note"] = valid_utf8(note_of(job));
    c["warnings"] = strings(job.settings.warnings);
    containers.push_back(std::move(c));
  }
  body["containers"] = std::move(containers);
  return render_json(body);
}

}  // namespace flowcon::ctrl
