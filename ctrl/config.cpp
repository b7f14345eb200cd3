// SPDX-License-Identifier: Apache-2.0
#include "ctrl/config.h"

#include <sys/un.h>

#include <algorithm>
#include <cmath>

#include "base/ssh_address.h"
#include "base/text.h"
#include "ctrl/api/loopback.h"
#include "ctrl/hook_gate.h"
#include "ctrl/option_kinds.h"
#include "ctrl/policy/host_policies.h"

namespace flowcon::ctrl {
namespace {

using namespace kinds;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kSocketPath = sizeof(sockaddr_un::sun_path) - 1;

Result<void> check_folder(const std::string& word) {
  const bool is_plain =
      word.starts_with('/') && word.find("/../") == std::string::npos && !word.ends_with("/..");
  return is_plain ? Result<void>() : bad_input(quoted(word) + " is not an absolute path");
}

Result<void> check_device(const std::string& word) {
  return word == "gpu" ? Result<void>() : check_folder(word);
}

// Some of the values in `known`, which name() names, or "all". `help` ends where they are listed.
std::vector<Option> path_options() {
  return {
      at_start(path("socket", "where the daemon listens", kSocketPath, at<&Config::socket>)),
      at_start(group("socket-group", "group that may use the socket", at<&Config::socket_group>)),
      at_start(path("engine", "socket of the Docker Engine", kSocketPath, at<&Config::engine>)),
      at_start(path("state-dir", "folder of the state files", 3000, at<&Config::state_dir>)),
  };
}

std::vector<Option> policy_options() {
  using growth::Estimator, growth::Normalise, growth::Parameters;
  // What divides the CPU by work divides the rest by growth.
  const std::string by_work =
      "; under policy " + policy::host_policy_names(policy::DividesBy::work) + " only ";
  return {
      policy_option("policy", "how the CPU is divided", names_of(policy::host_policies()),
                    at<&Config::policy>),
      number("alpha", "EFFICIENCY",
             "a job grows while its growth efficiency is at least this share of its first loss per "
             "second per whole host; below it in two decisions running, the job counts as "
             "converged" +
                 by_work + "for memory and block I/O",
             0, 1e6, at<&Config::alpha>),
      number("beta", "N",
             "no limit of a converged job falls below 1/(N x jobs)" + by_work +
                 "for memory and block I/O",
             1, 1e6, at<&Config::beta>),
      number("interval", "SECONDS",
             "time between two decisions by growth, before back-off" + by_work +
                 "about memory and block I/O",
             1, 86400, at<&Config::interval>),
      number("interval-max", "SECONDS",
             "longest interval that the back-off of policy flowcon reaches", 1, 86400,
             at<&Config::interval_max>),
      number("observe", "SECONDS",
             "time between two samples of usage and values, and under policy " +
                 policy::host_policy_names(policy::DividesBy::work) +
                 " between two decisions about the CPU",
             1, 3600, at<&Config::observe>),
      on_off("floor-all",
             "the floor of beta holds for growing jobs too" + by_work + "for memory and block I/O",
             at<&Config::floor_all>),
      on_off("only-grow", "never lower a limit; the label flowcon.only-grow does this for one job",
             at<&Config::only_grow>),
      at_start(on_off("image-labels",
                      "labels flowcon.* of a container's image count too; off: only labels given "
                      "to the container count",
                      at<&Config::image_labels>)),
      choice("growth.estimator", "progress from a robust trend, or from two values as published",
             Words<Estimator>{{"robust", Estimator::robust}, {"paper", Estimator::paper}},
             at<&Config::growth, &Parameters::estimator>),
      choice(
          "growth.normalise", "divisor of the values: the first stable one, their range, or 1",
          Words<Normalise>{
              {"first", Normalise::first}, {"range", Normalise::range}, {"none", Normalise::none}},
          at<&Config::growth, &Parameters::normalise>),
      on_off("growth.directed", "only a change towards the goal is progress",
             at<&Config::growth, &Parameters::directed>),
  };
}

std::vector<Option> limit_options() {
  using cgroups::LimitMode;
  Option resources = some_of("resources", "resources to limit", kResources,
                             at<&Config::limiting, &Limiting::resources>);
  resources.help +=
      " (memory softly, and only while the host is short of it; io by weight if the disk's "
      "scheduler knows weights)";
  return {
      choice("limit-mode",
             "how a share becomes a CPU limit: weight wastes nothing when a rival idles, quota is "
             "a cap",
             Words<LimitMode>{{"weight", LimitMode::weight}, {"quota", LimitMode::quota}},
             at<&Config::limiting, &Limiting::mode>),
      resources,
      at_start(number("cores", "N",
                      "cores that containers can use together, if a quota above them leaves less "
                      "than the host has; shares and estimates of remaining time are relative to "
                      "this number; 0: all of the host's",
                      0, 100000, at<&Config::cores>)),
      number("reserve", "SHARE",
             "share of the host's CPU reserved for processes that are not under control: by weight "
             "they get it when they want it, by quota nobody else uses it",
             0, 0.9, at<&Config::limiting, &Limiting::reserve>),
      number("memory-low", "SHARE",
             "the host is short of memory while less than this share of it is available, or while "
             "processes wait for memory a tenth of the time and not more than half is available",
             0, 1, at<&Config::limiting, &Limiting::memory_low>),
      number("io-bandwidth", "BYTES",
             "bandwidth of a disk per second; limit-mode quota caps block I/O only if this is "
             "above 0",
             0, 1e12, at<&Config::limiting, &Limiting::io_bandwidth>),
      at_start(on_off("dry-run",
                      "plan and show limits, write none; limits that an earlier flowcond left are "
                      "restored",
                      at<&Config::dry_run>)),
  };
}

std::vector<Option> record_options() {
  using log::Level;
  return {
      number("retention", "DAYS", "how long records are kept", 0.01, 36500, at<&Config::retention>),
      at_start(number("store-size", "MIB",
                      "maximum size of the records; above nine tenths of it the older half is "
                      "thinned, then the oldest are deleted",
                      16, 1048576, at<&Config::store_size>)),
      choice("log-level", "least important messages to log",
             Words<Level>{{"error", Level::error},
                          {"warning", Level::warning},
                          {"info", Level::info},
                          {"debug", Level::debug}},
             at<&Config::log_level>),
  };
}

std::vector<Option> hook_options() {
  return {
      at_start(line("metrics-listen", "ADDRESS:PORT",
                    "serve metrics for Prometheus over TCP, on a loopback address only; the socket "
                    "always serves them at /metrics",
                    at<&Config::metrics_listen>, api::parse_loopback)),
      line("hook", "PROGRAM",
           "program that gets events as JSON on its standard input: absolute path and arguments; "
           "there is no shell",
           at<&Config::hooks, &HookOptions::program>, parse_hook),
      line("webhook", "URL", "address that curl posts the same JSON to",
           at<&Config::hooks, &HookOptions::url>, check_webhook),
      some_of("hook-events", "the events to report", kEventKinds,
              at<&Config::hooks, &HookOptions::events>),
      number("hook-interval", "SECONDS",
             "the same event of a container is reported at most once in this time", 0, 86400,
             at<&Config::hooks, &HookOptions::interval>),
  };
}

std::vector<Option> cluster_options() {
  Option socket =
      path("peer-socket",
           "socket for peers, which ssh bridges; by default peer.sock beside the daemon's socket",
           kSocketPath, at<&Config::peers, &PeerOptions::socket>);
  socket.show = [](const Config& config) { return config.peer_socket_path(); };
  return {
      list("peer", "HOST", "another host with flowcond, [user@]host[:port]; may be repeated",
           at<&Config::peers, &PeerOptions::hosts>, parse_ssh_address),
      choice("peers-from",
             "where peers come from: static, the option peer and docker flowcon peer add; swarm, "
             "also the members of the Docker Swarm, whose leader coordinates (exchange keys by "
             "peer add)",
             Words<bool>{{"static", false}, {"swarm", true}},
             at<&Config::peers, &PeerOptions::from_swarm>),
      at_start(socket),
      at_start(group("peer-group", "group that may use the peer socket",
                     at<&Config::peers, &PeerOptions::group>)),
      at_start(number("peer-heartbeat", "SECONDS",
                      "longest time between two reports to peers; a peer that is silent three "
                      "times as long is unknown",
                      0.2, 20, at<&Config::peers, &PeerOptions::heartbeat>)),
      number("categorise-interval", "SECONDS",
             "time between two rounds that find converged containers", 1, 3600,
             at<&Config::balance, &BalanceOptions::categorise_interval>),
      number("categorise-alpha", "GROWTH",
             "a container progresses while its value changes by more than this share of its first "
             "one per round",
             0, 1e6, at<&Config::balance, &BalanceOptions::categorise_alpha>),
      policy_option("cluster-policy",
                    "how containers migrate between hosts, the same on all of them",
                    policy_names().cluster, at<&Config::balance, &BalanceOptions::policy>),
      number("max-moves", "N", "maximum migrations per container by balance", 0, 100,
             at<&Config::balance, &BalanceOptions::max_moves>),
      on_off("speculate",
             "migrate a converged container, at most once, to the least loaded host, if its label "
             "flowcon.migrate allows it",
             at<&Config::balance, &BalanceOptions::speculate>),
      on_off("rebalance",
             "even out the load when all containers of all hosts have converged or were migrated; "
             "off also stops balance",
             at<&Config::balance, &BalanceOptions::rebalance>),
      on_off("rebalance-idle",
             "rebalance also whenever a host is idle while another has two or more containers",
             at<&Config::balance, &BalanceOptions::rebalance_idle>),
  };
}

std::vector<Option> accept_options() {
  return {
      on_off("accept-privileged",
             "containers from peers may be privileged, or lack the engine's usual isolation",
             at<&Config::accept, &Accept::privileged>),
      on_off("accept-host-namespaces", "containers from peers may share namespaces of this host",
             at<&Config::accept, &Accept::host_namespaces>),
      on_off("accept-host-network",
             "containers from peers may be in this host's network, and in no other namespace of it",
             at<&Config::accept, &Accept::host_network>),
      list("accept-capabilities", "LIST",
           "capabilities that containers from peers may have beyond the engine's default ones; ALL "
           "for any",
           at<&Config::accept, &Accept::capabilities>, any_word),
      list("accept-mounts", "FOLDERS",
           "folders of this host that containers from peers may mount, with everything below",
           at<&Config::accept, &Accept::mounts>, check_folder),
      list("accept-devices", "LIST",
           "devices of this host that containers from peers may have; gpu for --gpus",
           at<&Config::accept, &Accept::devices>, check_device),
      list("accept-runtimes", "LIST", "runtimes beyond runc that containers from peers may use",
           at<&Config::accept, &Accept::runtimes>, any_word),
      on_off("accept-criu",
             "accept CRIU images from peers; CRIU restores processes with any rights they bring, "
             "so this trusts peers like root",
             at<&Config::accept, &Accept::criu>),
  };
}

std::vector<Option> make_options() {
  std::vector<Option> all;
  for (const auto& [section, some] : {std::pair{"Paths and sockets", path_options()},
                                      {"Policy", policy_options()},
                                      {"Limits", limit_options()},
                                      {"Records and log", record_options()},
                                      {"Metrics and hooks", hook_options()},
                                      {"Queue", queue_options()},
                                      {"Other hosts", cluster_options()},
                                      {"What peers may bring", accept_options()}}) {
    for (Option made : some) {
      made.section = section;
      made.default_text = made.show(Config());
      all.push_back(std::move(made));
    }
  }
  return all;
}

}  // namespace

std::string Config::peer_socket_path() const {
  return peers.socket.empty() ? socket.substr(0, socket.rfind('/')) + "/peer.sock" : peers.socket;
}

PolicyNames& policy_names() {
  static PolicyNames names;
  return names;
}

const std::vector<Option>& options() {
  static const std::vector<Option> all = make_options();
  return all;
}

const Option* find_option(std::string_view name) {
  for (const Option& option : options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string unknown_option(std::string_view name) {
  std::vector<std::string> names;
  for (const Option& option : options()) names.push_back(option.name);
  const std::string_view near = nearest_word(name, names);
  std::string sentence = "there is no option " + printable(name, 60);
  if (!near.empty()) sentence += "; did you mean " + std::string(near) + "?";
  return sentence;
}

std::string environment_name(std::string_view option) {
  std::string name = "FLOWCON_";
  for (const char c : option) {
    name +=
        c == '-' || c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

Result<void> check(const Config& config, const std::map<std::string, std::string>& said_at) {
  const auto place = [&](const char* option) {
    const auto at = said_at.find(option);
    return std::string(option) + " = " + find_option(option)->show(config) + " (" +
           (at == said_at.end() ? "default" : at->second) + ")";
  };
  if (config.interval_max < config.interval) {
    return bad_input(place("interval-max") + " is shorter than " + place("interval") +
                     ": raise the first or lower the second");
  }
  if (config.cores > 0 && config.queue.offer.cpu.value_or(0) > config.cores) {
    return bad_input(place("offer") + " is more than " + place("cores") +
                     ": lower the first or raise the second");
  }
  return {};
}

}  // namespace flowcon::ctrl
