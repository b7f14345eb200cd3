// SPDX-License-Identifier: Apache-2.0
// What people decide: pause, resume, pin, set. Each is saved first and then made real, so that a
// restart of the daemon or of the container forgets nothing.
#include <algorithm>

#include "base/text.h"
#include "ctrl/daemon/daemon_state.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

// The choice that stands for all containers; no container has this id.
constexpr const char* kAll = "";

}  // namespace

Control Daemon::control_of(const std::string& id) const {
  const auto choice = choices_.find(id);
  if (choice == choices_.end()) return {};
  Result<Control> control = parse_control(choice->second.control);
  if (control) return *control;
  log::warning("what was decided about " + printable(id, 12) +
               " cannot be read: " + control.error().message());
  return {};
}

Async<Result<void>> Daemon::save_control(std::string id, Control control) {
  store::Choice choice = choices_.contains(id) ? choices_.at(id) : store::Choice();
  choice.id = id;
  choice.control = render_control(control);
  const bool is_empty = choice.control.empty() && choice.settings.empty() && !choice.released;
  auto save = [this, choice, is_empty] {
    return is_empty ? world_.store->forget_choice(choice.id) : world_.store->save_choice(choice);
  };
  Result<void> saved = co_await effects_.run(std::move(save));
  if (!saved) co_return saved.error();
  if (is_empty) {
    choices_.erase(id);
  } else {
    choices_[id] = choice;
  }
  co_return Result<void>();
}

Async<void> Daemon::save_ended_pin(std::string id, Control control) {
  Result<void> saved = co_await save_control(std::move(id), std::move(control));
  // Where it cannot be saved it ends again after a restart.
  if (!saved) log::warning(saved.error().message());
}

// Leaves the lists and gets its original limits back, or comes back as an arrival.
Async<Result<void>> Daemon::follow_pause(std::string id) {
  const bool is_active = std::find(active_.begin(), active_.end(), id) != active_.end();
  if (is_active != is_aside(jobs_.at(id), is_all_paused_)) co_return Result<void>();
  is_compare_due_ = true;
  if (!is_active) {
    static_cast<PerResource<Place>&>(jobs_.at(id)) = PerResource<Place>();
    active_.push_back(id);
    co_return Result<void>();
  }
  std::erase(active_, id);
  if (!jobs_.at(id).is_limited) co_return Result<void>();
  store::Original original = original_of(jobs_.at(id));
  Result<void> restored = co_await limits_.restore(std::move(original));
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) co_return Result<void>();
  if (!restored) {
    found->second.problem = restored.error().message();
    co_return restored;
  }
  found->second.present = found->second.original;
  found->second.is_limited = found->second.is_original_saved = false;
  co_return Result<void>();
}

Async<api::Response> Daemon::change_control(std::string name, ControlChange change, unsigned user) {
  const auto guard = co_await pass_.lock();
  const std::string id = find_job(name);
  if (id.empty() || !jobs_.at(id).unsupported.empty()) co_return not_controlled(name);
  Control control = jobs_.at(id).control;
  if (Result<void> changed = change(control); !changed) {
    co_return api::failure(422, changed.error().message());
  }
  if (Result<void> saved = co_await save_control(id, control); !saved) {
    co_return api::failure(507, saved.error().message());
  }
  // Only a pass of the loop ends a job, and it waits for the lock.
  Job& job = jobs_.at(id);
  job.control = control;
  job.settings = with_values(job.given, control);
  const std::string shown = job.container.name;
  Result<void> followed = co_await follow_pause(id);
  apply_limits();
  if (!followed) co_return api::failure(500, followed.error().message());
  log::event(log::Event::decided,
             "container " + printable(shown, 80) + ": user " + std::to_string(user) + " decided " +
                 (control == Control() ? std::string("nothing any more") : render_control(control)),
             id);
  co_return who(id, shown);
}

Async<api::Response> Daemon::pause_all(bool is_paused, unsigned user) {
  const auto guard = co_await pass_.lock();
  Control control;
  control.is_paused = is_paused;
  if (Result<void> saved = co_await save_control(kAll, control); !saved) {
    co_return api::failure(507, saved.error().message());
  }
  is_all_paused_ = is_paused;
  std::vector<std::string> ids;
  for (const auto& [id, job] : jobs_) {
    if (job.unsupported.empty()) ids.push_back(id);
  }
  std::string problem;
  for (const std::string& id : ids) {
    Result<void> followed = co_await follow_pause(id);
    if (!followed) problem = followed.error().message();
  }
  apply_limits();
  if (!problem.empty()) co_return api::failure(500, problem);
  log::event(log::Event::decided,
             "user " + std::to_string(user) +
                 (is_paused ? " pauses control of all containers" : " resumes control"));
  api::Response response;
  response.body = is_paused ? R"({"paused":true})" : R"({"paused":false})";
  co_return response;
}

}  // namespace flowcon::ctrl
