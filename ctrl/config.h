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

/// A policy as the option that chooses it shows it.
struct PolicyName {
  std::string name;
  std::string summary;
};

/// Those of the option cluster-policy, which ctrl does not know: set before options() is called.
std::vector<PolicyName>& cluster_policy_names();

struct Config {
  std::string socket = "/run/flowcon/flowcon.sock";
  std::string socket_group = "docker";
  std::string engine = "/var/run/docker.sock";
  std::string state_dir = "/var/lib/flowcon";
  std::string policy = "milestone";  ///< a name of policy/host_policies.h
  double alpha = 0.03;        ///< growth efficiency, share of the first loss per second per host
  double beta = 2;            ///< the floor is 1/(beta*n)
  double interval = 20;       ///< seconds between two decisions by growth, before back-off
  double interval_max = 320;  ///< seconds; the back-off stops here
  double observe = 5;         ///< seconds between two looks at usage
  double retention = 30;      ///< days that records are kept
  double store_size = 1024;   ///< MiB that they may take
  cgroups::LimitMode limit_mode = cgroups::LimitMode::weight;
  bool floor_all = true;
  std::string resources = "cpu,memory,io";  ///< what is limited
  double cores = 0;         ///< that containers can use together; 0 = all of the host's
  double io_bandwidth = 0;  ///< bytes per second that a disk can do; 0 = not known: no caps
  double memory_low = 0.1;  ///< the host is short of memory while less than this share is available
  bool only_grow = false;   ///< no limit is ever lowered
  bool image_labels = false;  ///< labels that come from a container's image count as its own
  growth::Parameters growth;
  bool dry_run = false;
  std::string metrics_listen;  ///< address of the loopback interface and port; "" = no TCP
  std::string hook;            ///< program and words, parted by blanks; "" = none
  std::string webhook;         ///< "" = none
  std::string hook_events = "converged,diverging,nan,migrated,revert,failure";
  double hook_interval = 60;  ///< seconds between two calls for the same
  std::string peer_socket;    ///< "" = beside `socket`, see peer_socket_path()
  std::string peer_group = "flowcon-peer";
  double peer_heartbeat = 5;        ///< seconds
  std::vector<std::string> peers;   ///< [user@]host[:port], checked
  double categorise_interval = 30;  ///< seconds
  double categorise_alpha = 0.01;   ///< growth in one interval, share of the first value
  // What peers may bring here; [accept] in the file.
  bool accept_privileged = false;
  bool accept_host_namespaces = false;
  std::vector<std::string> accept_capabilities;  ///< "SYS_PTRACE"; "ALL"
  std::vector<std::string> accept_mounts;        ///< folders of this host, with all below them
  std::vector<std::string> accept_devices;       ///< paths; "gpu" for --gpus
  std::vector<std::string> accept_runtimes;      ///< beyond runc
  bool accept_criu = false;  ///< processes that CRIU froze there; who may bring them is as root
  bool peers_from_swarm = false;  ///< members of the Docker Swarm are peers, its leader coordinates
  std::string cluster_policy = "specon";  ///< one of cluster_policy_names()
  double max_moves = 2;                   ///< of one container, under balance; a whole number
  bool speculate = true;                  ///< converged containers go where they hurt least
  bool rebalance = true;                  ///< the load is evened out when all have converged
  bool rebalance_idle = true;             ///< … and whenever a host idles beside one with two
  log::Level log_level = log::Level::info;

  [[nodiscard]] bool limits(Resource resource) const;
  /// peer.sock in the folder of `socket` unless another one is said.
  [[nodiscard]] std::string peer_socket_path() const;
};

/// One option. `apply` takes the text that a person wrote.
struct Option {
  std::string name;            ///< the word in the file; --name on the command line
  std::string value;           ///< what it takes, for help: "SECONDS", "weight|quota"
  std::string help;            ///< meaning, unit and range
  std::string standard;        ///< the default, as text
  bool needs_restart = false;  ///< a reload does not change it
  bool is_list = false;        ///< may be said again: each time adds to what was said before
  bool is_line = false;        ///< in a file its value is the line as it is, quotes and all
  std::function<Result<void>(Config&, const std::string&)> apply;
  std::function<std::string(const Config&)> show;
  /// For a list that a reload changes: forgets what was said, so that `apply` begins anew.
  std::function<void(Config&)> clear;
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
