// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/commands.h"

#include <utility>

#include "base/text.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

api::Response who(const std::string& id, const std::string& name) {
  return api::answer_with({{"id", id}, {"name", valid_utf8(name)}});
}

}  // namespace

// There is none, or it is one of others.
Async<api::Response> Commands::no_such_container(std::string name) {
  const std::string shown = printable(name, 80);
  const Result<engine::Container> seen = co_await at_.containers.inspect(std::move(name));
  if (!seen) co_return api::failure(404, "No such container: " + shown);
  co_return api::failure(404, "No such container: " + shown +
                                  " is not under control (docker flowcon adopt " + shown + ")");
}

void Commands::run_soon() {
  at_.schedule.is_apply_due = true;
  at_.schedule.wake();
}

Async<api::Response> Commands::adopt(api::Call call) {
  Result<Settings> settings = parse_choice(call.body);
  if (!settings) co_return api::failure(422, settings.error());
  Result<engine::Container> seen = co_await at_.containers.inspect(call.name);
  if (!seen) co_return api::failure(502, seen.error());
  const std::string shown = "container " + printable(seen->name, 80);
  if (!seen->running) co_return api::failure(409, shown + " is not running");
  const auto guard = co_await at_.pass.lock();
  const std::string id = seen->id;
  std::map<std::string, Job>& jobs = at_.roster.jobs;
  const auto there = jobs.find(id);
  if (there != jobs.end() && there->second.unsupported.empty()) {
    co_return api::failure(409, shown + " is already under control");
  }
  const bool was_listed = there != jobs.end();
  const std::optional<store::Choice> before = at_.controls.find(id);
  store::Choice choice;
  choice.id = id;
  // Nothing said is a choice, too.
  choice.settings = call.body.find_first_not_of(" \t\r\n") == std::string::npos ? "{}" : call.body;
  Result<void> saved = co_await at_.controls.save(std::move(choice));
  if (!saved) co_return api::failure(507, saved.error());
  at_.intake.admit(*seen, *settings, at_.world.clock());
  const auto admitted = jobs.find(id);
  const bool is_there = admitted != jobs.end();
  if (!is_there || !admitted->second.unsupported.empty()) {
    const std::string reason = is_there ? ": " + admitted->second.unsupported : " is not running";
    if (is_there && !was_listed) jobs.erase(admitted);
    // What a person had chosen before holds.
    Result<void> undone = co_await at_.controls.put_back(id, before);
    if (!undone) log::warning(undone.error().message());
    co_return api::failure(is_there ? 422 : 409, shown + reason);
  }
  at_.schedule.is_compare_due = true;
  at_.schedule.wake();
  co_return who(id, seen->name);
}

Async<api::Response> Commands::release(api::Call call) {
  if (at_.roster.find(call.name).empty()) co_return co_await no_such_container(call.name);
  const auto guard = co_await at_.pass.lock();
  const std::string id = at_.roster.find(call.name);
  if (id.empty()) co_return api::failure(404, "No such container: " + printable(call.name, 80));
  const std::string shown = at_.roster.jobs.at(id).container.name;
  Result<void> released = co_await at_.intake.release(id);
  if (!released) co_return api::failure(500, released.error().message());
  log::event(log::MessageId::decided,
             "container " + printable(shown, 80) + " is released; its original limits are back",
             id);
  at_.schedule.wake();
  co_return who(id, shown);
}

Async<api::Response> Commands::change(api::Call call, Change how) {
  if (at_.roster.find(call.name).empty()) co_return co_await no_such_container(call.name);
  const auto guard = co_await at_.pass.lock();
  const std::string id = at_.roster.find(call.name);
  if (id.empty()) co_return api::failure(404, "No such container: " + printable(call.name, 80));
  const std::string shown = at_.roster.jobs.at(id).container.name;
  if (const std::string& why = at_.roster.jobs.at(id).unsupported; !why.empty()) {
    co_return api::failure(404, "container " + printable(shown, 80) + ": " + why);
  }
  Control control = at_.roster.jobs.at(id).control;
  if (Result<void> changed = how(control, call.body, at_.world.clock().wall); !changed) {
    co_return api::failure(422, changed.error());
  }
  if (Result<void> saved = co_await at_.controls.save(id, control); !saved) {
    co_return api::failure(507, saved.error());
  }
  // Only a pass of the loop ends a job, and it waits for the lock.
  Job& job = at_.roster.jobs.at(id);
  job.control = control;
  job.settings = with_values(job.given, control);
  Result<void> followed = co_await at_.intake.follow_pause(id);
  run_soon();
  if (!followed) co_return api::failure(500, followed.error().message());
  const std::string user = "user " + std::to_string(call.user);
  log::event(log::MessageId::decided,
             "container " + printable(shown, 80) + ": " + user +
                 (control == Control() ? " cleared all overrides"
                                       : " set overrides " + render_control(control)),
             id);
  co_return who(id, shown);
}

Async<api::Response> Commands::pause_all(api::Call call, bool is_paused) {
  const auto guard = co_await at_.pass.lock();
  if (Result<void> saved = co_await at_.controls.pause_all(is_paused); !saved) {
    co_return api::failure(507, saved.error());
  }
  std::vector<std::string> ids;
  for (const auto& [id, job] : at_.roster.jobs) {
    if (job.unsupported.empty()) ids.push_back(id);
  }
  std::string problem;
  for (const std::string& id : ids) {
    Result<void> followed = co_await at_.intake.follow_pause(id);
    if (!followed) problem = followed.error().message();
  }
  run_soon();
  if (!problem.empty()) co_return api::failure(500, problem);
  log::event(log::MessageId::decided, "user " + std::to_string(call.user) +
                                          (is_paused ? " paused" : " resumed") +
                                          " control of all containers");
  co_return api::Response{200, is_paused ? R"({"paused":true})" : R"({"paused":false})"};
}

}  // namespace flowcon::ctrl
