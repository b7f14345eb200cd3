// SPDX-License-Identifier: Apache-2.0
// What people decided about containers (adopt, release, pause, pin, set), kept across restarts of
// the daemon and of the containers. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <optional>
#include <string>

#include "ctrl/async.h"
#include "ctrl/control.h"
#include "ctrl/daemon/absences.h"
#include "ctrl/daemon/world.h"
#include "ctrl/effects.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl {

class Controls {
 public:
  /// All have to outlive it.
  Controls(boost::asio::io_context& io, Effects& effects, store::Store& store)
      : io_(io), effects_(effects), store_(store) {}

  /// Reads what was kept; once, before all others. Errors: the store's.
  Async<Result<void>> read();
  /// Control of all containers is suspended.
  [[nodiscard]] bool is_all_paused() const { return is_all_paused_; }
  [[nodiscard]] bool is_released(const std::string& id) const;
  /// The body of its adopt; "" where nobody adopted it.
  [[nodiscard]] std::string adopted_with(const std::string& id) const;
  [[nodiscard]] Control of(const std::string& id) const;

  /// What was chosen for it; nothing where that is nothing.
  [[nodiscard]] std::optional<store::Choice> find(const std::string& id) const;

  /// Each is saved first, and holds once it is. Errors: the store's; nothing has changed then.
  Async<Result<void>> save(std::string id, Control control);
  Async<Result<void>> save(store::Choice choice);
  Async<Result<void>> pause_all(bool is_paused);
  Async<Result<void>> forget(std::string id);
  /// What find() said of it.
  Async<Result<void>> put_back(std::string id, std::optional<store::Choice> before);
  /// Of containers that the engine has not known for a day. `now`: steady, seconds.
  Async<void> forget_gone(Containers* containers, double now);
  /// In the background; where it cannot be saved the pin ends again after a restart.
  void save_ended_pin(const std::string& id, const Control& control);
  /// It holds, saved or not.
  void keep(store::Choice choice);

 private:
  /// What a person chose, and the row that keeps it.
  struct Chosen {
    store::Choice row;
    Result<Control> control;  ///< no control where the row's cannot be read
  };

  [[nodiscard]] static Chosen chosen_in(store::Choice row);
  [[nodiscard]] store::Choice choice_of(const std::string& id) const;
  Async<Result<void>> write(Chosen chosen);
  Async<void> save_later(std::string id, Control control);

  boost::asio::io_context& io_;
  Effects& effects_;
  store::Store& store_;
  std::map<std::string, Chosen> choices_;
  Absences absences_;
  bool is_all_paused_ = false;
};

}  // namespace flowcon::ctrl
