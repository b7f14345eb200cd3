// SPDX-License-Identifier: Apache-2.0
// The daemon's options: one table that the command line, the files, the environment, --help and
// --print-config are all made from. Parsing of text only; reading files is cmd/flowcond's.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cgroups/cpu.h"
#include "ctrl/growth/growth.h"
#include "ctrl/log.h"
#include "ctrl/model.h"

namespace flowcon::ctrl {

struct Config {
  std::string socket = "/run/flowcon/flowcon.sock";
  std::string socket_group = "docker";
  std::string engine = "/var/run/docker.sock";
  std::string state_dir = "/var/lib/flowcon";
  double alpha = 0.03;        ///< growth efficiency, share of the first loss per second per host
  double beta = 2;            ///< the floor is 1/(beta*n)
  double interval = 20;       ///< seconds between two runs of the executor, before back-off
  double interval_max = 320;  ///< seconds; the back-off stops here
  double observe = 5;         ///< seconds between two looks at usage
  double retention = 30;      ///< days that records are kept
  cgroups::LimitMode limit_mode = cgroups::LimitMode::weight;
  bool floor_all = true;
  std::string resources = "cpu,memory,io";  ///< what is limited
  double io_bandwidth = 0;  ///< bytes per second that a disk can do; 0 = not known: no caps
  double memory_low = 0.1;  ///< the host is short of memory while less than this share is available
  bool only_grow = false;   ///< no limit is ever lowered
  growth::Parameters growth;
  bool dry_run = false;
  log::Level log_level = log::Level::info;

  [[nodiscard]] bool limits(Resource resource) const;
};

/// One option. `apply` takes the text that a person wrote.
struct Option {
  std::string name;            ///< the word in the file; --name on the command line
  std::string value;           ///< what it takes, for help: "SECONDS", "weight|quota"
  std::string help;            ///< meaning, unit and range
  std::string standard;        ///< the default, as text
  bool needs_restart = false;  ///< a reload does not change it
  std::function<Result<void>(Config&, const std::string&)> apply;
  std::function<std::string(const Config&)> show;
};

/// All options, in the order of the help text.
[[nodiscard]] const std::vector<Option>& options();
/// Null where there is no such option.
[[nodiscard]] const Option* find_option(std::string_view name);
/// "there is no option intervall; did you mean interval?"
[[nodiscard]] std::string unknown_option(std::string_view name);
/// FLOWCON_INTERVAL_MAX for interval-max.
[[nodiscard]] std::string environment_name(std::string_view option);

/// What contradicts itself in a complete configuration. `said_at` gives the place where an option
/// was set ("flowcon.conf line 3"), for the message.
[[nodiscard]] Result<void> check(const Config& config,
                                 const std::map<std::string, std::string>& said_at);

}  // namespace flowcon::ctrl
