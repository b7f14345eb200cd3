// SPDX-License-Identifier: Apache-2.0
// The daemon's options: one table that the command line, the files, the environment, --help and
// --print-config are all made from. Parsing of text only; reading files is cmd/flowcond's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cgroups/cpu.h"
#include "ctrl/accept.h"
#include "ctrl/events.h"
#include "ctrl/log.h"
#include "ctrl/model.h"
#include "ctrl/policy/cluster_options.h"
#include "ctrl/policy/host_options.h"

namespace flowcon::ctrl {

/// A policy as the option that chooses it shows it.
struct PolicyName {
  std::string name;
  std::string summary;
};

/// Those of `kinds`, which have a name and a summary.
template <class Kind>
std::vector<PolicyName> names_of(const std::vector<Kind>& kinds) {
  std::vector<PolicyName> names;
  for (const Kind& kind : kinds) names.push_back({kind.name, kind.summary});
  return names;
}

struct PolicyNames {
  std::vector<PolicyName> cluster, queue, place, allocate;
};

/// Those that ctrl does not know: set before options() is called.
PolicyNames& policy_names();

struct Limiting {
  cgroups::LimitMode mode = cgroups::LimitMode::weight;
  std::set<Resource> resources{kResources.begin(), kResources.end()};
  double io_bandwidth = 0;  ///< bytes per second that a disk can do; 0 = not known: no caps
  double reserve = 0;       ///< share of the host's CPU for what is not under control
  double memory_low = 0.1;  ///< the host is short of memory while less than this share is available
};

/// Where events are reported.
struct HookOptions {
  std::string program;  ///< and its arguments, separated by blanks; "" = none
  std::string url;      ///< "" = none
  std::set<EventKind> events{kEventKinds.begin(), kEventKinds.end()};
  double interval = 60;  ///< seconds between two reports of the same event
};

struct PeerOptions {
  std::vector<std::string> hosts;  ///< [user@]host[:port], checked
  bool from_swarm = false;  ///< members of the Docker Swarm are peers, its leader coordinates
  std::string socket;       ///< "" = beside Config::socket, see peer_socket_path()
  std::string group = "flowcon-peer";
  double heartbeat = 5;  ///< seconds
};

/// Migrations between hosts.
struct BalanceOptions : policy::ClusterOptions {
  std::string policy = "specon";  ///< one of policy_names().cluster
  bool rebalance = true;          ///< plans are made and followed, whatever the policy
};

/// What of this host the queue's jobs may use. Units: cores, bytes, GPUs. Empty parts were not
/// said.
struct Offer {
  /// Of a host's memory, where nobody says.
  static constexpr double kMemory = 0.8;
  bool is_none = false;  ///< no job is started
  std::optional<double> cpu;
  std::optional<double> mem;
  std::optional<double> gpu = {};

  /// Of a host that has so many.
  [[nodiscard]] double cores_of(double cores) const { return is_none ? 0 : cpu.value_or(cores); }
  /// Of a host that has so much; whole bytes.
  [[nodiscard]] double memory_of(double memory) const {
    return is_none ? 0 : std::floor(mem.value_or(kMemory * memory));
  }
  /// Of a host that has so many.
  [[nodiscard]] double gpus_of(std::size_t gpus) const {
    const auto all = static_cast<double>(gpus);
    return is_none ? 0 : std::min(gpu.value_or(all), all);
  }
};

/// Both are of it.
struct PortRange {
  std::uint16_t first = 29500;
  std::uint16_t last = 29999;
  bool operator==(const PortRange&) const = default;
};

/// What lets a job be on several hosts is found out; or nothing does.
inline constexpr const char* kAutoNetwork = "auto";
inline constexpr const char* kNoNetwork = "none";

struct QueueOptions {
  Offer offer;
  std::string policy = "left";       ///< one of policy_names().queue
  std::string place = "seeded";      ///< one of policy_names().place
  std::string allocate = "horizon";  ///< one of policy_names().allocate
  double allocate_interval = 300;    ///< seconds between two allocations
  bool allocate_events = true;       ///< and when a job comes or ends
  double starve_limit = 1800;        ///< seconds
  bool park = true;  ///< a running job may be saved and wait again, for one with less left
  double data_cache = 20.0 * (1ULL << 30);  ///< bytes of jobs' images and data, kept for later ones
  /// That hosts share, for jobs of several containers: kAutoNetwork, kNoNetwork, host, ports, or an
  /// overlay's name.
  std::string group_network = kNoNetwork;
  std::string advertise;       ///< address at which other hosts reach this one; "" = none
  PortRange group_ports;       ///< for tasks in the host's network, or published
  bool estimate_share = true;  ///< peers may read this host's profiles
};

struct Config : policy::HostOptions {
  std::string socket = "/run/flowcon/flowcon.sock";
  std::string socket_group = "docker";
  std::string engine = "/var/run/docker.sock";
  std::string state_dir = "/var/lib/flowcon";
  std::string policy = "milestone";  ///< a name of policy/host_policies.h
  bool only_grow = false;            ///< no limit is ever lowered
  bool image_labels = false;         ///< labels that come from a container's image count as its own
  Limiting limiting;
  double cores = 0;  ///< that containers can use together; 0 = all of the host's
  bool dry_run = false;
  double retention = 30;            ///< days that records are kept
  std::uint32_t store_size = 1024;  ///< MiB that they may take
  log::Level log_level = log::Level::info;
  std::string metrics_listen;  ///< address of the loopback interface and port; "" = no TCP
  HookOptions hooks;
  PeerOptions peers;
  BalanceOptions balance;
  QueueOptions queue;
  Accept accept;

  [[nodiscard]] bool limits(Resource resource) const {
    return limiting.resources.contains(resource);
  }
  /// Share of the host's CPU that all controlled containers can use together: by quota nobody uses
  /// the reserve.
  [[nodiscard]] double usable_cpu() const {
    const bool is_capped = limiting.mode == cgroups::LimitMode::quota && limits(Resource::cpu);
    return is_capped && !dry_run ? 1 - limiting.reserve : 1;
  }
  /// peer.sock in the folder of `socket` unless peers.socket is set.
  [[nodiscard]] std::string peer_socket_path() const;
};

/// One option: all that is said of it, once. Help, manual pages and packaging/flowcon.conf are made
/// from it (scripts/golden).
struct Option {
  std::string section;         ///< heading in the help, the manual page and the file
  std::string name;            ///< the word in the file; --name on the command line
  std::string value;           ///< what it takes, for help: "SECONDS", "weight|quota"
  std::string help;            ///< meaning, unit and range
  std::string default_text;    ///< the default, as text
  bool needs_restart = false;  ///< a reload does not change it
  bool is_list = false;        ///< may be repeated: each time adds to the values before
  bool is_line = false;        ///< in a file its value is the line as it is, quotes and all
  std::function<Result<void>(Config&, const std::string&)> apply;  ///< a person's text
  std::function<std::string(const Config&)> show;                  ///< text that `apply` takes
  std::function<void(Config& to, const Config& from)> copy;        ///< at a reload
};

/// All options, in the order of the help text.
[[nodiscard]] const std::vector<Option>& options();
/// Null where there is no such option.
[[nodiscard]] const Option* find_option(std::string_view name);
/// "there is no option intervall; did you mean interval?"
[[nodiscard]] std::string unknown_option(std::string_view name);
/// FLOWCON_INTERVAL_MAX for interval-max.
[[nodiscard]] std::string environment_name(std::string_view option);

/// Contradictions in a complete configuration. `said_at` gives the place where an option was set
/// ("flowcon.conf line 3"), for the message.
[[nodiscard]] Result<void> check(const Config& config,
                                 const std::map<std::string, std::string>& said_at);

}  // namespace flowcon::ctrl
