// SPDX-License-Identifier: Apache-2.0
// This host as its extension knows it: what the daemon has seen of its jobs, and what can be asked
// of it for other hosts. For .cpp files only: it includes Asio.
#pragma once

#include <optional>
#include <string>

#include "ctrl/daemon/carry_over.h"
#include "ctrl/daemon/controls.h"
#include "ctrl/daemon/meter.h"
#include "ctrl/daemon/notifier.h"
#include "ctrl/daemon/planning.h"
#include "ctrl/daemon/roster.h"
#include "ctrl/daemon/schedule.h"
#include "ctrl/daemon/snapshot.h"
#include "ctrl/daemon/world.h"
#include "ctrl/effects.h"
#include "ctrl/extension.h"

namespace flowcon::ctrl {

class OwnHost : public LocalHost {
 public:
  /// All of it outlives this.
  struct Parts {
    boost::asio::io_context& io;
    Effects& effects;
    const World& world;
    const Config& config;
    const Host& host;
    Roster& roster;
    Schedule& schedule;
    const Planning& planning;
    const Meter& meter;
    const Controls& controls;
    Notifier& notifier;
    CarryOver& carry_over;
    Shown& shown;
    const api::Routes& routes;
  };
  explicit OwnHost(const Parts& parts) : parts_(parts) {}

  boost::asio::io_context& io() override { return parts_.io; }
  Effects& effects() override { return parts_.effects; }
  store::Store& store() override { return *parts_.world.store; }
  [[nodiscard]] const Config& config() const override { return parts_.config; }
  [[nodiscard]] HostSnapshot view() const override;
  [[nodiscard]] std::optional<double> value_of(const std::string& id) const override;
  [[nodiscard]] std::optional<double> last_value_at(const std::string& id) const override;
  [[nodiscard]] std::optional<JobForecast> forecast(const std::string& id) const override;
  [[nodiscard]] std::optional<InUse> use_of(const std::string& id) const override;
  [[nodiscard]] std::optional<Settings> settings_of(const std::string& id) const override;
  [[nodiscard]] std::string name_of(const std::string& id) const override;
  [[nodiscard]] std::string find(const std::string& name) const override {
    return parts_.roster.find(name);
  }
  Async<api::Response> answer(api::Request request) override;
  void warn(const std::string& sentence) override;
  void apply_limits() override;
  void tell(Event event) override { parts_.notifier.tell(std::move(event)); }
  Async<Result<std::string>> export_history(std::string id) override;
  Async<Result<void>> import_history(std::string id, std::string bundle,
                                     std::string log_path) override;
  Async<Result<void>> forget_history(std::string id) override;

 private:
  Parts parts_;
};

}  // namespace flowcon::ctrl
