// SPDX-License-Identifier: Apache-2.0
// Overrides by people: pause and resume, pin and unpin, set; release.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

/// Containers, or all of them and those to come.
struct PauseOptions {
  std::string action;  ///< pause or resume: the command's name
  std::vector<std::string> containers;
  bool all = false;
};

struct PinOptions {
  std::vector<std::string> containers;
  std::string cpu;       ///< share of the host, "0.5" or "50%"
  std::string duration;  ///< as Go writes it; "" = until unpin
};

struct ContainersOptions {
  std::string action;  ///< release or unpin: the command's name
  std::vector<std::string> containers;
};

/// "" = not given; "none" removes an override.
struct SetOptions {
  std::vector<std::string> containers;
  std::string weight;
  std::string floor;
  std::string ceiling;
  std::string only_grow;  ///< true or false
};

// declare_… declares a command's options; check_… returns their error or ""; run_… asks flowcond
// container by container, prints the name of each finished one, continues after a failure, and then
// returns kFailed.

void declare_pause(CLI::App& app, PauseOptions& options);
[[nodiscard]] std::string check_pause(const PauseOptions& options);
[[nodiscard]] int run_pause(const Session& session, const PauseOptions& options);

void declare_pin(CLI::App& app, PinOptions& options);
[[nodiscard]] std::string check_pin(const PinOptions& options);
[[nodiscard]] int run_pin(const Session& session, const PinOptions& options);

void declare_containers(CLI::App& app, ContainersOptions& options);
[[nodiscard]] int run_containers(const Session& session, const ContainersOptions& options);

void declare_set(CLI::App& app, SetOptions& options);
[[nodiscard]] std::string check_set(const SetOptions& options);
[[nodiscard]] int run_set(const Session& session, const SetOptions& options);

/// Posts `body` to `action` of each container, as above.
[[nodiscard]] int run_on_each(const Session& session, const std::vector<std::string>& containers,
                              const std::string& action, const std::string& body);

/// The bodies of the calls, as docs/api.md has them.
[[nodiscard]] boost::json::object pin_body(const PinOptions& options);
[[nodiscard]] boost::json::object set_body(const SetOptions& options);

}  // namespace flowcon::plugin
