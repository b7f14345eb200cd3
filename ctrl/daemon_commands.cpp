// SPDX-License-Identifier: Apache-2.0
// What people ask: the requests of docs/api.md.
#include <unistd.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/daemon_state.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

namespace json = boost::json;

constexpr int kApiVersion = 1;

// "%2F" and the like in a path segment. Errors: cut or not hexadecimal.
Result<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const std::string hex(text.substr(i + 1, 2));
    if (hex.size() != 2 || hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
      return bad_input("the address has a % without two hexadecimal digits");
    }
    out += static_cast<char>(std::stoi(hex, nullptr, 16));
    i += 2;
  }
  return out;
}

json::value number_or_null(const std::optional<double>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::array strings(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(valid_utf8(text));
  return out;
}

std::string who(const std::string& id, const std::string& name) {
  json::object body;
  body["id"] = id;
  body["name"] = valid_utf8(name);
  return render_json(body);
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? valid_utf8(name) : std::string();
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

Async<api::Response> Daemon::answer(api::Request request) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  const bool is_get = request.method == "GET";
  if (path == "/v1/version" && is_get) {
    json::object body;
    body["version"] = FLOWCON_VERSION;
    body["api"] = kApiVersion;
    api::Response response;
    response.body = render_json(body);
    co_return response;
  }
  if (path == "/v1/status" && is_get) {
    api::Response response;
    response.body = status();
    co_return response;
  }
  const std::string prefix = "/v1/containers/";
  const auto slash = path.rfind('/');
  if (path.rfind(prefix, 0) == 0 && slash > prefix.size()) {
    Result<std::string> name =
        percent_decoded(std::string_view(path).substr(prefix.size(), slash - prefix.size()));
    if (!name) co_return api::failure(400, name.error().message());
    const std::string verb = path.substr(slash + 1);
    if (verb == "history" && is_get) co_return co_await history(std::move(*name));
    if (request.method == "POST") {
      if (verb == "adopt") co_return co_await adopt(std::move(*name), std::move(request.body));
      if (verb == "release") co_return co_await release(std::move(*name));
    }
  }
  co_return api::failure(404, "there is no " + printable(request.method, 10) + " " +
                                  printable(path, 200) + "; docs/api.md lists what there is");
}

std::string Daemon::find_job(const std::string& name) const {
  std::string by_prefix;
  for (const auto& [id, job] : jobs_) {
    if (id == name || job.container.name == name) return id;
    if (!name.empty() && id.rfind(name, 0) == 0) {
      if (!by_prefix.empty()) return "";  // not unique
      by_prefix = id;
    }
  }
  return by_prefix;
}

Async<api::Response> Daemon::adopt(std::string name, std::string body) {
  Result<Settings> settings = parse_choice(body);
  if (!settings) co_return api::failure(422, settings.error().message());
  Result<engine::Container> seen = co_await client_.inspect(name);
  if (!seen) {
    const bool is_unknown = seen.error().code == boost::system::errc::no_such_file_or_directory;
    co_return api::failure(is_unknown ? 404 : 502, seen.error().what);
  }
  const std::string shown = printable(seen->name, 80);
  if (!seen->running) co_return api::failure(409, "container " + shown + " does not run");
  const auto guard = co_await pass_.lock();
  const std::string id = seen->id;
  const auto there = jobs_.find(id);
  if (there != jobs_.end() && there->second.unsupported.empty()) {
    co_return api::failure(409, "container " + shown + " is under control already");
  }
  const bool was_listed = there != jobs_.end();
  store::Choice choice;
  choice.id = id;
  choice.settings = body;
  auto save = [this, choice] { return store_->save_choice(choice); };
  Result<void> saved = co_await effects_.run(std::move(save));
  if (!saved) co_return api::failure(507, saved.error().message());
  choices_[id] = choice;
  admit(*seen, *settings, moment());
  const auto admitted = jobs_.find(id);
  if (admitted == jobs_.end()) co_return api::failure(409, "container " + shown + " has ended");
  if (!admitted->second.unsupported.empty()) {
    const std::string reason = admitted->second.unsupported;
    if (!was_listed) jobs_.erase(admitted);
    choices_.erase(id);
    auto forget = [this, id] { return store_->forget_choice(id); };
    Result<void> forgotten = co_await effects_.run(std::move(forget));
    if (!forgotten) log::warning(forgotten.error().message());
    co_return api::failure(422, "container " + shown + ": " + reason);
  }
  is_compare_due_ = true;
  wake();
  api::Response response;
  response.body = who(id, seen->name);
  co_return response;
}

Async<api::Response> Daemon::release(std::string name) {
  const auto guard = co_await pass_.lock();
  const std::string id = find_job(name);
  if (id.empty()) {
    co_return api::failure(404, "container " + printable(name, 80) + " is not under control");
  }
  const std::string shown = jobs_.at(id).container.name;
  if (jobs_.at(id).is_limited) {
    const Job& job = jobs_.at(id);
    store::Original original{id, shown, job.group, job.original};
    Result<void> restored = co_await limits_.restore(std::move(original));
    if (!restored) co_return api::failure(500, restored.error().message());
  }
  store::Choice choice;
  choice.id = id;
  choice.released = true;
  auto save = [this, choice] { return store_->save_choice(choice); };
  Result<void> saved = co_await effects_.run(std::move(save));
  if (!saved) log::warning(saved.error().message() + "; a restart will control it again");
  choices_[id] = choice;
  tails_.stop(id, false);
  record_end(jobs_.at(id), moment().wall);
  std::erase(active_, id);
  jobs_.erase(id);
  is_compare_due_ = true;
  log::info("container " + printable(shown, 80) + " is released; its original limits are back");
  wake();
  api::Response response;
  response.body = who(id, shown);
  co_return response;
}

Async<api::Response> Daemon::history(std::string name) {
  if (const std::string id = find_job(name); !id.empty()) name = id;
  auto read = [this, name] { return store_->history(name); };
  Result<store::History> found = co_await effects_.run(std::move(read));
  if (!found) {
    const bool is_unknown = found.error().code == boost::system::errc::no_such_file_or_directory;
    co_return api::failure(is_unknown ? 404 : 500, found.error().what);
  }
  json::object body;
  body["id"] = found->run.id;
  body["name"] = valid_utf8(found->run.name);
  body["metric"] =
      found->run.metric.empty() ? json::value(nullptr) : json::value(valid_utf8(found->run.metric));
  body["goal"] = flowcon::ctrl::name(found->run.goal);
  body["started"] = found->run.started;
  body["finished"] = number_or_null(found->run.finished);
  json::array samples, usage, decisions;
  for (const Sample& s : found->samples) samples.push_back(json::array{s.time, s.value});
  for (const store::UsageRow& u : found->usage) {
    usage.push_back(json::array{u.time, u.cpu, u.memory});
  }
  for (const store::DecisionRow& d : found->decisions) {
    decisions.push_back(
        json::array{d.time, flowcon::ctrl::name(d.list), d.limit, number_or_null(d.growth)});
  }
  body["samples"] = std::move(samples);
  body["usage"] = std::move(usage);
  body["decisions"] = std::move(decisions);
  api::Response response;
  response.body = render_json(body);
  co_return response;
}

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
  body["reverts"] = reverts_;
  std::vector<std::string> warnings = start_warnings_;
  if (!engine.is_reachable && !engine.error.empty()) warnings.push_back(engine.error);
  if (!record_problem_.empty()) {
    warnings.push_back(record_problem_ + " (" + std::to_string(lost_records_) + " records lost)");
  }
  body["warnings"] = strings(warnings);
  json::array containers;
  // In order of arrival, then those that cannot be controlled.
  std::vector<std::string> order = active_;
  for (const auto& [id, job] : jobs_) {
    if (!job.unsupported.empty()) order.push_back(id);
  }
  for (const std::string& id : order) {
    const Job& job = jobs_.at(id);
    json::object c;
    c["id"] = id;
    c["name"] = valid_utf8(job.container.name);
    c["image"] = valid_utf8(job.container.image);
    c["state"] = !job.unsupported.empty() ? "unsupported"
                 : config_.dry_run        ? "observed"
                                          : "controlled";
    c["list"] = name(job.list);
    c["limit"] = job.limit;
    c["growth"] = number_or_null(job.growth);
    c["verdict"] = verdict_of(job);
    for (auto& member : metric_of(job)) c[member.key()] = member.value();
    c["cpu"] = number_or_null(job.cpu_share);
    c["memory"] = job.has_reading ? json::value(job.reading.memory) : json::value(nullptr);
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
