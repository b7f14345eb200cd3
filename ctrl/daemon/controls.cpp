// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/controls.h"

#include <utility>
#include <vector>

#include "base/text.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

// The choice that stands for all containers; no container has this id.
constexpr const char* kAll = "";

bool is_empty(const store::Choice& choice) {
  return choice.control.empty() && choice.settings.empty() && !choice.released;
}

}  // namespace

Async<Result<void>> Controls::read() {
  auto read = [this] { return store_.choices(); };
  Result<std::vector<store::Choice>> choices = co_await effects_.run(std::move(read));
  if (!choices) co_return choices.error();
  for (store::Choice& choice : *choices) keep(std::move(choice));
  is_all_paused_ = of(kAll).is_paused;
  co_return Result<void>();
}

Controls::Chosen Controls::chosen_in(store::Choice row) {
  Result<Control> control = parse_control(row.control);
  return {std::move(row), std::move(control)};
}

void Controls::keep(store::Choice choice) {
  Chosen chosen = chosen_in(std::move(choice));
  choices_.insert_or_assign(chosen.row.id, chosen);
}

store::Choice Controls::choice_of(const std::string& id) const {
  store::Choice none;
  none.id = id;
  return find(id).value_or(none);
}

std::optional<store::Choice> Controls::find(const std::string& id) const {
  const auto found = choices_.find(id);
  return found == choices_.end() ? std::nullopt : std::optional(found->second.row);
}

bool Controls::is_released(const std::string& id) const { return choice_of(id).released; }

std::string Controls::adopted_with(const std::string& id) const { return choice_of(id).settings; }

Control Controls::of(const std::string& id) const {
  const auto found = choices_.find(id);
  if (found == choices_.end()) return {};
  const Result<Control>& control = found->second.control;
  if (control) return *control;
  log::warning("cannot read the overrides of container " + printable(id, 12) + ": " +
               control.error().message());
  return {};
}

Async<Result<void>> Controls::save(std::string id, Control control) {
  store::Choice choice = choice_of(id);
  choice.control = render_control(control);
  if (is_empty(choice)) return forget(std::move(id));
  Chosen chosen{std::move(choice), std::move(control)};
  return write(std::move(chosen));
}

Async<Result<void>> Controls::save(store::Choice choice) {
  return write(chosen_in(std::move(choice)));
}

Async<Result<void>> Controls::write(Chosen chosen) {
  auto write = [this, row = chosen.row] { return store_.save_choice(row); };
  Result<void> saved = co_await effects_.run(std::move(write));
  if (saved) choices_.insert_or_assign(chosen.row.id, chosen);
  co_return saved;
}

Async<Result<void>> Controls::pause_all(bool is_paused) {
  Control control;
  control.is_paused = is_paused;
  Result<void> saved = co_await save(kAll, control);
  if (saved) is_all_paused_ = is_paused;
  co_return saved;
}

Async<Result<void>> Controls::forget(std::string id) {
  auto write = [this, id] { return store_.forget_choice(id); };
  Result<void> forgotten = co_await effects_.run(std::move(write));
  if (forgotten) choices_.erase(id);
  co_return forgotten;
}

Async<Result<void>> Controls::put_back(std::string id, std::optional<store::Choice> before) {
  if (before) return save(std::move(*before));
  return forget(std::move(id));
}

Async<void> Controls::forget_gone(Containers* containers, double now) {
  std::vector<std::string> ids;
  for (const auto& [id, choice] : choices_) {
    if (id != kAll) ids.push_back(id);
  }
  for (const std::string& id : ids) {
    Result<engine::Container> seen = co_await containers->inspect(id);
    if (seen) absences_.see(id);
    if (!is_absent(seen) || !absences_.is_gone(id, now)) continue;
    Result<void> forgotten = co_await forget(id);
    if (!forgotten) log::warning(forgotten.error().message());
  }
}

void Controls::save_ended_pin(const std::string& id, const Control& control) {
  spawn(io_, "pin ends", save_later(id, control));
}

Async<void> Controls::save_later(std::string id, Control control) {
  Result<void> saved = co_await save(std::move(id), std::move(control));
  if (!saved) log::warning(saved.error().message());
}

}  // namespace flowcon::ctrl
