// SPDX-License-Identifier: Apache-2.0
// What people ask: the requests of docs/api.md.
#include <algorithm>
#include <ctime>
#include <limits>

#include "base/json.h"
#include "base/text.h"
#include "cgroups/abilities.h"
#include "ctrl/api/scrape.h"
#include "ctrl/daemon/daemon_state.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

namespace json = boost::json;

api::Response no_such_call(const api::Request& request) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  return api::failure(404, "there is no " + printable(request.method, 10) + " " +
                               printable(path, 200) + "; docs/api.md lists what there is");
}

// "12:04:10", with the day where it is not today's.
std::string clock_text(double time, double now) {
  const auto seconds = static_cast<std::time_t>(time);
  const auto today = static_cast<std::time_t>(now);
  std::tm then{}, there{};
  if (::localtime_r(&seconds, &then) == nullptr || ::localtime_r(&today, &there) == nullptr) {
    return "";
  }
  const bool is_today = then.tm_yday == there.tm_yday && then.tm_year == there.tm_year;
  char text[40];
  return std::strftime(text, sizeof text, is_today ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then) > 0
             ? text
             : "";
}

}  // namespace

api::Response who(const std::string& id, const std::string& name) {
  json::object body;
  body["id"] = id;
  body["name"] = valid_utf8(name);
  api::Response response;
  response.body = render_json(body);
  return response;
}

api::Response not_controlled(const std::string& name) {
  return api::failure(404, "container " + printable(name, 80) + " is not under control");
}

Async<api::Response> Daemon::answer(api::Request request) {
  if (request.method == "GET" && request.target == "/metrics") {
    api::Response text;
    text.body = metrics_of(snapshot());
    text.type = api::kMetricsType;
    co_return text;
  }
  Result<api::Call> call = api::parse_call(request.method, request.target);
  if (!call) {
    const bool is_elsewhere = call.error().code == boost::system::errc::no_such_file_or_directory;
    co_return api::failure(is_elsewhere ? 404 : 422, call.error().what);
  }
  if (companion_ && companion_->answers(*call)) {
    co_return co_await companion_->answer(std::move(*call), std::move(request));
  }
  if (call->peer) co_return no_such_call(request);
  if (call->container) co_return co_await answer_about(std::move(*call), std::move(request));
  const std::string& verb = call->verb;
  api::Response response;
  if (verb == "GET version") {
    json::object body;
    body["version"] = FLOWCON_VERSION;
    body["api"] = kApiVersion;
    response.body = render_json(body);
  } else if (verb == "GET status") {
    response.body = status_of(snapshot(), call->recent);
  } else if (verb == "GET runs") {
    response = co_await runs(call->since);
  } else if (verb == "GET changes") {
    response = co_await changes(call->since, call->after);
  } else if (verb == "GET doctor") {
    response = co_await doctor();
  } else if (verb == "POST pause" || verb == "POST resume") {
    response = co_await pause_all(verb == "POST pause", request.user);
  } else {
    response = no_such_call(request);
  }
  co_return response;
}

Async<api::Response> Daemon::answer_about(api::Call call, api::Request request) {
  const std::string& verb = call.verb;
  std::string name = *call.container;
  if (verb == "GET past-log") co_return co_await past_log(std::move(name), call.from);
  if (verb == "GET history") co_return co_await history(std::move(name), call.since);
  if (verb == "POST adopt") co_return co_await adopt(std::move(name), std::move(request.body));
  if (verb == "POST release") co_return co_await release(std::move(name));
  if (verb == "GET explain") co_return co_await explain_last(std::move(name), call.last);
  ControlChange change;
  if (verb == "POST pause" || verb == "POST resume") {
    change = [is_paused = verb == "POST pause"](Control& control) -> Result<void> {
      control.is_paused = is_paused;
      return {};
    };
  } else if (verb == "POST pin") {
    change = [body = std::move(request.body), now = moment().wall](Control& c) -> Result<void> {
      Result<Pin> pin = parse_pin(body, now);
      if (!pin) return pin.error();
      c.pin = *pin;
      return {};
    };
  } else if (verb == "POST unpin") {
    change = [](Control& control) -> Result<void> {
      control.pin.reset();
      return {};
    };
  } else if (verb == "POST set") {
    change = [body = std::move(request.body)](Control& control) {
      return merge_values(control, body);
    };
  } else {
    co_return no_such_call(request);
  }
  co_return co_await change_control(std::move(name), std::move(change), request.user);
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
  Result<engine::Container> seen = co_await containers_->inspect(name);
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
  auto save = [this, choice] { return world_.store->save_choice(choice); };
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
    auto forget = [this, id] { return world_.store->forget_choice(id); };
    Result<void> forgotten = co_await effects_.run(std::move(forget));
    if (!forgotten) log::warning(forgotten.error().message());
    co_return api::failure(422, "container " + shown + ": " + reason);
  }
  is_compare_due_ = true;
  wake();
  co_return who(id, seen->name);
}

Async<api::Response> Daemon::release(std::string name) {
  const auto guard = co_await pass_.lock();
  const std::string id = find_job(name);
  if (id.empty()) co_return not_controlled(name);
  const std::string shown = jobs_.at(id).container.name;
  if (jobs_.at(id).is_limited) {
    store::Original original = original_of(jobs_.at(id));
    Result<void> restored = co_await limits_.restore(std::move(original));
    if (!restored) co_return api::failure(500, restored.error().message());
  }
  store::Choice choice;
  choice.id = id;
  choice.released = true;
  auto save = [this, choice] { return world_.store->save_choice(choice); };
  Result<void> saved = co_await effects_.run(std::move(save));
  if (!saved) log::warning(saved.error().message() + "; a restart will control it again");
  choices_[id] = choice;
  jobs_.at(id).read_until = tails_.stop(id, false);
  record_end(jobs_.at(id), moment().wall);
  std::erase(active_, id);
  planning_.forget(id);
  jobs_.erase(id);
  is_compare_due_ = true;
  log::event(log::Event::decided,
             "container " + printable(shown, 80) + " is released; its original limits are back",
             id);
  wake();
  co_return who(id, shown);
}

Async<api::Response> Daemon::history(std::string name, std::optional<double> since) {
  if (const std::string id = find_job(name); !id.empty()) name = id;
  const double from = since.value_or(-std::numeric_limits<double>::infinity());
  auto read = [this, name, from] { return world_.store->history(name, from); };
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
    usage.push_back(
        json::array{u.time, u.cpu, u.memory, number_or_null(u.io), number_or_null(u.network)});
  }
  for (const store::DecisionRow& d : found->decisions) {
    decisions.push_back(
        json::array{d.time, flowcon::ctrl::name(d.list), d.limit, number_or_null(d.growth)});
  }
  body["samples"] = std::move(samples);
  body["usage"] = std::move(usage);
  body["decisions"] = std::move(decisions);
  json::array stays;
  for (const store::Stay& s : found->stays) {
    stays.push_back(
        json::object{{"host", valid_utf8(s.host)}, {"began", s.began}, {"ended", s.ended}});
  }
  body["stays"] = std::move(stays);
  api::Response response;
  response.body = render_json(body);
  co_return response;
}

Async<api::Response> Daemon::doctor() {
  auto probe = [this] { return cgroups::probe_abilities(*world_.fs); };
  std::vector<cgroups::Ability> abilities = co_await effects_.run(std::move(probe));
  const EngineStatus& engine = containers_->engine();
  cgroups::Ability found{"engine", engine.is_reachable, "", ""};
  if (engine.is_reachable) {
    found.detail = engine.version.engine + " at " + config_.engine;
  } else if (engine.error.empty()) {
    found.detail = "flowcond has just begun and has not heard of it yet";
    found.advice = "look again in a moment";
  } else {
    found.detail = engine.error;
    found.advice = "start Docker: systemctl start docker";
  }
  abilities.push_back(std::move(found));
  json::array all;
  for (const cgroups::Ability& ability : abilities) {
    json::object one;
    one["name"] = ability.name;
    one["found"] = ability.is_there;
    one["detail"] = valid_utf8(ability.detail);
    one["advice"] = valid_utf8(ability.advice);
    all.push_back(std::move(one));
  }
  json::object body;
  body["abilities"] = std::move(all);
  api::Response response;
  response.body = render_json(body);
  co_return response;
}

std::string Daemon::sentence_of(const std::string& id,
                                const store::ExplainedRound& explained) const {
  const store::Round& round = explained.round;
  const policy::Algorithm* algorithm = find_algorithm(round.algorithm);
  if (algorithm == nullptr) return "";
  policy::About about = asked_of(id);
  if (explained.since) about.since = clock_text(*explained.since, round.time);
  about.granted = explained.granted;
  return policy::sentence_about(*algorithm, round.state, about);
}

Async<api::Response> Daemon::explain_last(std::string name, std::size_t count) {
  if (const std::string id = find_job(name); !id.empty()) name = id;
  auto read = [this, name, count] { return world_.store->explained(name, count); };
  Result<store::Explained> found = co_await effects_.run(std::move(read));
  if (!found) {
    const bool is_unknown = found.error().code == boost::system::errc::no_such_file_or_directory;
    co_return api::failure(is_unknown ? 404 : 500, found.error().what);
  }
  json::object head;
  head["id"] = found->run.id;
  head["name"] = valid_utf8(found->run.name);
  // State and decision go out as they are kept, byte for byte: they are to be decided again.
  std::string body = render_json(head);
  body.pop_back();
  body += ",\"decisions\":[";
  const char* separator = "";
  for (const store::ExplainedRound& explained : found->rounds) {
    const store::Round& round = explained.round;
    json::object about;
    about["time"] = round.time;
    about["algorithm"] = round.algorithm;
    about["resource"] = round.resource;
    about["sentence"] = sentence_of(found->run.id, explained);
    std::string text = render_json(about);
    text.pop_back();
    body +=
        separator + text + ",\"state\":" + round.state + ",\"decision\":" + round.decision + "}";
    separator = ",";
  }
  body += "]}";
  api::Response response;
  response.body = std::move(body);
  co_return response;
}

}  // namespace flowcon::ctrl
