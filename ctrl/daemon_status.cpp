// SPDX-License-Identifier: Apache-2.0
// What people are shown: the status of docs/api.md.
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/daemon_state.h"

namespace flowcon::ctrl {
namespace {

namespace json = boost::json;

json::array strings(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(valid_utf8(text));
  return out;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? valid_utf8(name) : std::string();
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

json::object metric_of(const Job& job) {
  json::object out;
  out["metric"] = out["goal"] = out["value"] = out["progress"] = nullptr;
  out["values"] = 0;
  if (!job.extractor) return out;
  const metrics::Report report = job.extractor->report();
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
  return out;
}

}  // namespace

std::string Daemon::note_of(const Job& job) const {
  if (!job.unsupported.empty()) return job.unsupported;
  if (!job.problem.empty()) return job.problem;
  if (!job.log_problem.empty()) return job.log_problem;
  const logs::TailStats tail = tails_.stats(job.id());
  if (!tail.problem.empty()) return tail.problem;
  if (!job.settings.spec_is_usable) return "no metric: a label is wrong; it keeps its fair share";
  if (job.extractor && job.extractor->count() == 0) {
    return tail.framing.lines == 0 ? "it has printed nothing yet; it keeps its fair share"
                                   : "no metric found in " + std::to_string(tail.framing.lines) +
                                         " lines yet; it keeps its fair share";
  }
  if (job.verdict == growth::Verdict::diverging) {
    return "the metric moves away from its goal or is not a number; it keeps its fair share";
  }
  return "";
}

std::string Daemon::status() const {
  json::object body;
  body["version"] = FLOWCON_VERSION;
  body["api"] = kApiVersion;
  body["host"] = host_name();
  body["cores"] = host_.cores;
  body["cgroup"] = cgroups::name(fs_->mode());
  body["limit_mode"] = find_option("limit-mode")->show(config_);
  body["dry_run"] = config_.dry_run;
  const EngineStatus& engine = pool_.engine();
  json::object engine_body;
  engine_body["reachable"] = engine.is_reachable;
  engine_body["version"] = engine.version.engine;
  engine_body["api"] = engine.version.api;
  engine_body["error"] = valid_utf8(engine.error);
  body["engine"] = std::move(engine_body);
  body["alpha"] = config_.alpha;
  body["beta"] = config_.beta;
  body["interval"] = interval_;
  body["initial_interval"] = config_.interval;
  body["all_completing"] = all_completing_;
  body["paused"] = is_all_paused_;
  body["short_of_memory"] = is_short_of_memory_;
  body["reverts"] = reverts_;
  body["reapplied"] = reapplied_;
  std::vector<std::string> warnings = start_warnings_;
  if (!engine.is_reachable && !engine.error.empty()) warnings.push_back(engine.error);
  if (!record_problem_.empty()) {
    warnings.push_back(record_problem_ + " (" + std::to_string(lost_records_) + " records lost)");
  }
  body["warnings"] = strings(warnings);
  json::array containers;
  // In order of arrival, then those that are paused or cannot be controlled.
  std::vector<std::string> order = active_;
  for (const auto& [id, job] : jobs_) {
    if (!job.unsupported.empty() || is_paused(job)) order.push_back(id);
  }
  for (const std::string& id : order) {
    const Job& job = jobs_.at(id);
    json::object c;
    c["id"] = id;
    c["name"] = valid_utf8(job.container.name);
    c["image"] = valid_utf8(job.container.image);
    c["state"] = !job.unsupported.empty() ? "unsupported"
                 : is_paused(job)         ? "paused"
                 : config_.dry_run        ? "observed"
                                          : "controlled";
    c["list"] = name(job.cpu.list);
    c["limit"] = is_paused(job) ? 1 : job.cpu.granted;
    c["growth"] = number_or_null(job.cpu.growth);
    c["verdict"] = verdict_of(job);
    for (auto& member : metric_of(job)) c[member.key()] = member.value();
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
