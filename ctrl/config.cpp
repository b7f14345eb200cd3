// SPDX-License-Identifier: Apache-2.0
#include "ctrl/config.h"

#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/ssh_address.h"
#include "base/text.h"
#include "ctrl/api/scrape.h"
#include "ctrl/events.h"
#include "ctrl/hook_gate.h"
#include "ctrl/policy/host_policies.h"

namespace flowcon::ctrl {
namespace {

Result<double> parse_number(const std::string& text, double low, double high) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(number >= low && number <= high)) {
    return bad_input("\"" + printable(text, 60) + "\" is not a number from " + render_number(low) +
                     " to " + render_number(high));
  }
  return number;
}

// True if `word` is one of the words of a list with commas.
bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

Option number(std::string name, std::string value, std::string help, double low, double high,
              double Config::*field) {
  Option option;
  option.name = std::move(name);
  option.value = std::move(value);
  option.help = std::move(help) + " (" + render_number(low) + " to " + render_number(high) + ")";
  option.apply = [=](Config& config, const std::string& text) -> Result<void> {
    Result<double> parsed = parse_number(text, low, high);
    if (!parsed) return parsed.error();
    config.*field = *parsed;
    return {};
  };
  option.show = [=](const Config& config) { return render_number(config.*field); };
  return option;
}

Option whole_number(std::string name, std::string value, std::string help, double low, double high,
                    double Config::*field) {
  Option option = number(std::move(name), std::move(value), std::move(help), low, high, field);
  option.apply = [apply = option.apply, field](Config& config,
                                               const std::string& text) -> Result<void> {
    if (Result<void> applied = apply(config, text); !applied) return applied;
    if (config.*field == std::floor(config.*field)) return {};
    return bad_input("\"" + printable(text, 60) + "\" is not a whole number");
  };
  return option;
}

Option path(std::string name, std::string help, std::size_t longest, std::string Config::*field) {
  Option option;
  option.name = std::move(name);
  option.value = "PATH";
  option.help = std::move(help);
  option.apply = [=](Config& config, const std::string& text) -> Result<void> {
    // Docker writes unix:///var/run/docker.sock; take both spellings.
    const std::string plain = text.rfind("unix://", 0) == 0 ? text.substr(7) : text;
    if (plain.empty() || plain.front() != '/') {
      return bad_input("\"" + printable(text, 60) + "\" is not an absolute path");
    }
    if (plain.size() > longest || plain.find('\0') != std::string::npos) {
      return bad_input("the path is longer than " + std::to_string(longest) + " bytes");
    }
    config.*field = plain;
    return {};
  };
  option.show = [=](const Config& config) { return config.*field; };
  return option;
}

Option group(std::string name, std::string help, std::string Config::*field) {
  Option option;
  option.name = std::move(name);
  option.value = "GROUP";
  option.help = std::move(help);
  option.apply = [=](Config& config, const std::string& text) -> Result<void> {
    config.*field = text;
    return {};
  };
  option.show = [=](const Config& config) { return config.*field; };
  return option;
}

// Hosts with commas, blanks or line ends between them; one that is there already is not added.
Result<void> add_peers(Config& config, const std::string& text) {
  constexpr std::size_t kMostPeers = 1000;
  constexpr const char* kBetween = ", \t\n";
  for (std::size_t at = text.find_first_not_of(kBetween); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    const std::string word = text.substr(at, end - at);
    if (Result<SshAddress> address = parse_ssh_address(word); !address) return address.error();
    const auto& known = config.peers;
    if (std::find(known.begin(), known.end(), word) == known.end()) config.peers.push_back(word);
    if (config.peers.size() > kMostPeers) return bad_input("there are more than 1000 peers");
    at = text.find_first_not_of(kBetween, end);
  }
  return {};
}

std::string show_peers(const Config& config) {
  std::string out;
  for (const std::string& peer : config.peers) out += (out.empty() ? "" : ",") + peer;
  return out;
}

// Words with commas or blanks between them; each time adds to what was said before.
Option words(std::string name, std::string value, std::string help,
             std::vector<std::string> Config::*field) {
  Option option;
  option.name = std::move(name);
  option.value = std::move(value);
  option.help = std::move(help);
  option.is_list = true;
  option.clear = [=](Config& config) { (config.*field).clear(); };
  option.apply = [=](Config& config, const std::string& text) -> Result<void> {
    constexpr std::size_t kMostWords = 1000;
    constexpr const char* kBetween = ", \t\n";
    for (std::size_t at = text.find_first_not_of(kBetween); at != std::string::npos;) {
      const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
      if ((config.*field).size() >= kMostWords) return bad_input("there are more than 1000 words");
      (config.*field).push_back(text.substr(at, end - at));
      at = text.find_first_not_of(kBetween, end);
    }
    return {};
  };
  option.show = [=](const Config& config) {
    std::string out;
    for (const std::string& word : config.*field) out += (out.empty() ? "" : ",") + word;
    return out;
  };
  return option;
}

// Folders and devices are paths.
Option paths(std::string name, std::string value, std::string help,
             std::vector<std::string> Config::*field) {
  Option option = words(std::move(name), std::move(value), std::move(help), field);
  option.apply = [=, add = option.apply](Config& config, const std::string& text) -> Result<void> {
    if (Result<void> added = add(config, text); !added) return added;
    for (const std::string& word : config.*field) {
      const bool is_plain =
          word.starts_with('/') && word.find("/../") == std::string::npos && !word.ends_with("/..");
      if (!is_plain && word != "gpu") {
        return bad_input("\"" + printable(word, 60) + "\" is not an absolute path");
      }
    }
    return {};
  };
  return option;
}

// An option that takes one of a few words. `words` pairs each with its value.
template <class T, class Reach>
Option choice(std::string name, std::string help, std::vector<std::pair<std::string, T>> words,
              Reach reach) {
  Option option;
  option.name = std::move(name);
  for (const auto& [word, value] : words) option.value += (option.value.empty() ? "" : "|") + word;
  option.help = std::move(help);
  option.apply = [words, reach, names = option.value](Config& config,
                                                      const std::string& text) -> Result<void> {
    for (const auto& [word, value] : words) {
      if (word == text) {
        reach(config) = value;
        return {};
      }
    }
    return bad_input("\"" + printable(text, 60) + "\" is none of " + names);
  };
  option.show = [words, reach](const Config& config) {
    Config copy = config;
    for (const auto& [word, value] : words) {
      if (value == reach(copy)) return word;
    }
    return std::string();
  };
  return option;
}

Option policy_option(std::string name, std::string help, const std::vector<PolicyName>& known,
                     std::string Config::*field) {
  std::vector<std::pair<std::string, std::string>> words;
  for (const PolicyName& one : known) {
    help += (words.empty() ? ": " : "; ") + one.name + ", " + one.summary;
    words.emplace_back(one.name, one.name);
  }
  return choice<std::string>(std::move(name), std::move(help), std::move(words),
                             [field](Config& c) -> std::string& { return c.*field; });
}

void add_cluster_options(std::vector<Option>& all) {
  constexpr std::size_t kSocketPath = sizeof(sockaddr_un::sun_path) - 1;
  Option socket =
      path("peer-socket",
           "socket for peers, which ssh bridges; by default peer.sock beside the daemon's socket",
           kSocketPath, &Config::peer_socket);
  socket.show = [](const Config& config) { return config.peer_socket_path(); };
  all.push_back(socket);
  all.push_back(group("peer-group", "group that may use the peer socket", &Config::peer_group));
  all.push_back(number("peer-heartbeat", "SECONDS",
                       "longest time between two reports to peers; a peer that is silent three "
                       "times as long is unknown",
                       0.2, 20, &Config::peer_heartbeat));
  Option peer;
  peer.name = "peer";
  peer.value = "HOST";
  peer.help = "another host with flowcond, [user@]host[:port]; may be repeated";
  peer.apply = add_peers;
  peer.show = show_peers;
  peer.is_list = true;
  peer.clear = [](Config& config) { config.peers.clear(); };
  all.push_back(peer);
  all.push_back(number("categorise-interval", "SECONDS",
                       "time between two rounds that find converged containers", 1, 3600,
                       &Config::categorise_interval));
  all.push_back(number("categorise-alpha", "GROWTH",
                       "a container progresses while its value changes by more than this share of "
                       "its first one per round",
                       0, 1e6, &Config::categorise_alpha));
  all.push_back(choice<bool>(
      "peers-from",
      "static: peers come from the option peer and from docker flowcon peer add; swarm: members of "
      "the Docker Swarm are peers too, and its leader coordinates (exchange keys by peer add)",
      {{"static", false}, {"swarm", true}}, [](Config& c) -> bool& { return c.peers_from_swarm; }));
  const auto on_off = [] {
    return std::vector<std::pair<std::string, bool>>{{"on", true}, {"off", false}};
  };
  all.push_back(policy_option("cluster-policy", "how containers migrate between hosts",
                              cluster_policy_names(), &Config::cluster_policy));
  all.back().help += "; set the same on all hosts";
  all.push_back(whole_number("max-moves", "N", "maximum migrations per container by balance", 0,
                             100, &Config::max_moves));
  all.push_back(choice<bool>("speculate",
                             "migrate a converged container, at most once, to the least loaded "
                             "host, if its label flowcon.migrate allows it",
                             on_off(), [](Config& c) -> bool& { return c.speculate; }));
  all.push_back(choice<bool>("rebalance",
                             "even out the load when all containers of all hosts have converged or "
                             "were migrated; off also stops balance",
                             on_off(), [](Config& c) -> bool& { return c.rebalance; }));
  all.push_back(choice<bool>(
      "rebalance-idle",
      "rebalance also whenever a host is idle while another has two or more containers", on_off(),
      [](Config& c) -> bool& { return c.rebalance_idle; }));
}

// One word or line that `check` has nothing against; "" where it may be none.
Option checked(std::string name, std::string value, std::string help, std::string Config::*field,
               Result<void> (*check)(const std::string&)) {
  Option option;
  option.name = std::move(name);
  option.value = std::move(value);
  option.help = std::move(help);
  option.is_line = true;
  option.apply = [=](Config& config, const std::string& text) -> Result<void> {
    if (Result<void> good = text.empty() ? Result<void>() : check(text); !good) return good;
    config.*field = text;
    return {};
  };
  option.show = [=](const Config& config) { return config.*field; };
  return option;
}

Result<void> check_hook(const std::string& text) {
  const auto words = parse_hook(text);
  return words ? Result<void>() : Result<void>(words.error());
}

Result<void> check_listen(const std::string& text) {
  const auto address = api::parse_loopback(text);
  return address ? Result<void>() : Result<void>(address.error());
}

Result<void> apply_hook_events(Config& config, const std::string& text) {
  std::string list;
  for (const std::string_view event : kEventNames) {
    if (has_word(text, std::string(event))) {
      list += (list.empty() ? "" : ",") + std::string(event);
    }
  }
  // Nothing else is in it, and nothing twice.
  if (list.size() != text.size() || list.empty()) {
    return bad_input("\"" + printable(text, 60) +
                     "\" is not a list of converged, diverging, nan, migrated, revert and failure");
  }
  config.hook_events = list;
  return {};
}

void add_watching_options(std::vector<Option>& all) {
  all.push_back(checked("metrics-listen", "ADDRESS:PORT",
                        "serve metrics for Prometheus over TCP, on an address of this host only; "
                        "the socket always serves them at /metrics",
                        &Config::metrics_listen, check_listen));
  all.push_back(checked("hook", "PROGRAM",
                        "program that gets events as JSON on its standard input: absolute path and "
                        "arguments; there is no shell",
                        &Config::hook, check_hook));
  all.push_back(checked("webhook", "URL", "address that curl posts the same JSON to",
                        &Config::webhook, check_webhook));
  Option events;
  events.name = "hook-events";
  events.value = "LIST";
  events.help =
      "comma-separated list of the events to report: converged, diverging, nan, migrated, revert, "
      "failure";
  events.apply = apply_hook_events;
  events.show = [](const Config& config) { return config.hook_events; };
  all.push_back(events);
  all.push_back(number("hook-interval", "SECONDS",
                       "the same event of a container is reported at most once in this time", 0,
                       86400, &Config::hook_interval));
}

Result<void> apply_resources(Config& config, const std::string& text) {
  std::string list;
  for (const Resource resource : {Resource::cpu, Resource::memory, Resource::io}) {
    if (has_word(text, name(resource)))
      list += (list.empty() ? "" : ",") + std::string(name(resource));
  }
  // Nothing else is in it, and nothing twice.
  if (list.size() != text.size() || list.empty()) {
    return bad_input("\"" + printable(text, 60) +
                     "\" is not a list of cpu, memory and io, such as cpu,io");
  }
  config.resources = list;
  return {};
}

std::vector<std::pair<std::string, bool>> truth() { return {{"true", true}, {"false", false}}; }

void add_accept_options(std::vector<Option>& all) {
  all.push_back(
      choice<bool>("accept-privileged",
                   "containers from peers may be privileged, or lack the engine's usual isolation",
                   truth(), [](Config& c) -> bool& { return c.accept_privileged; }));
  all.push_back(choice<bool>("accept-host-namespaces",
                             "containers from peers may share namespaces of this host", truth(),
                             [](Config& c) -> bool& { return c.accept_host_namespaces; }));
  all.push_back(words("accept-capabilities", "LIST",
                      "capabilities that containers from peers may have beyond the engine's "
                      "default ones; ALL for any",
                      &Config::accept_capabilities));
  all.push_back(
      paths("accept-mounts", "FOLDERS",
            "folders of this host that containers from peers may mount, with everything below",
            &Config::accept_mounts));
  all.push_back(paths("accept-devices", "LIST",
                      "devices of this host that containers from peers may have; gpu for --gpus",
                      &Config::accept_devices));
  all.push_back(words("accept-runtimes", "LIST",
                      "runtimes beyond runc that containers from peers may use",
                      &Config::accept_runtimes));
  all.push_back(choice<bool>("accept-criu",
                             "accept CRIU images from peers; CRIU restores processes with any "
                             "rights they bring, so this trusts peers like root",
                             {{"on", true}, {"off", false}},
                             [](Config& c) -> bool& { return c.accept_criu; }));
}

std::vector<Option> make_options() {
  constexpr std::size_t kSocketPath = sizeof(sockaddr_un::sun_path) - 1;
  std::vector<Option> all;
  all.push_back(path("socket", "where the daemon listens", kSocketPath, &Config::socket));
  all.push_back(group("socket-group", "group that may use the socket", &Config::socket_group));
  all.push_back(path("engine", "socket of the Docker Engine", kSocketPath, &Config::engine));
  all.push_back(path("state-dir", "folder of the state files", 3000, &Config::state_dir));
  std::vector<PolicyName> host_policies;
  for (const policy::HostPolicyKind& kind : policy::host_policies()) {
    host_policies.push_back({kind.name, kind.summary});
  }
  all.push_back(policy_option("policy", "how the CPU is divided", host_policies, &Config::policy));
  all.push_back(
      number("alpha", "EFFICIENCY",
             "a job grows while its growth efficiency is at least this share of its first loss per "
             "second per whole host; below it in two decisions running, the job counts as "
             "converged; under policy milestone only for memory and block I/O",
             0, 1e6, &Config::alpha));
  all.push_back(number("beta", "N",
                       "no limit of a converged job falls below 1/(N x jobs); under policy "
                       "milestone only for memory and block I/O",
                       1, 1e6, &Config::beta));
  all.push_back(number("interval", "SECONDS",
                       "time between two decisions by growth, before back-off; under policy "
                       "milestone only about memory and block I/O",
                       1, 86400, &Config::interval));
  all.push_back(number("interval-max", "SECONDS",
                       "longest interval that the back-off of policy flowcon reaches", 1, 86400,
                       &Config::interval_max));
  all.push_back(number("observe", "SECONDS",
                       "time between two samples of usage and values, and under policy milestone "
                       "between two decisions about the CPU",
                       1, 3600, &Config::observe));
  all.push_back(choice<cgroups::LimitMode>(
      "limit-mode",
      "how a share becomes a CPU limit: weight wastes nothing when a rival idles, quota is a cap",
      {{"weight", cgroups::LimitMode::weight}, {"quota", cgroups::LimitMode::quota}},
      [](Config& c) -> cgroups::LimitMode& { return c.limit_mode; }));
  Option resources;
  resources.name = "resources";
  resources.value = "LIST";
  resources.help =
      "comma-separated list of what to limit: cpu, memory, io (memory softly, and only while the "
      "host is short of it; io by weight if the disk's scheduler knows weights)";
  resources.apply = apply_resources;
  resources.show = [](const Config& config) { return config.resources; };
  all.push_back(resources);
  all.push_back(number("cores", "N",
                       "cores that containers can use together, if a quota above them leaves less "
                       "than the host has; shares and estimates of remaining time are relative to "
                       "this number; 0: all of the host's",
                       0, 100000, &Config::cores));
  all.push_back(
      number("memory-low", "SHARE",
             "the host is short of memory while less than this share of it is available, or "
             "while processes wait for memory a tenth of the time",
             0, 1, &Config::memory_low));
  all.push_back(number(
      "io-bandwidth", "BYTES",
      "bandwidth of a disk per second; limit-mode quota caps block I/O only if this is above 0", 0,
      1e12, &Config::io_bandwidth));
  all.push_back(choice<bool>("floor-all",
                             "the floor of beta holds for growing jobs too; under policy milestone "
                             "only for memory and block I/O",
                             truth(), [](Config& c) -> bool& { return c.floor_all; }));
  all.push_back(choice<bool>(
      "only-grow", "never lower a limit; the label flowcon.only-grow does this for one job",
      truth(), [](Config& c) -> bool& { return c.only_grow; }));
  all.push_back(choice<bool>("image-labels",
                             "labels flowcon.* of a container's image count too; off: only labels "
                             "given to the container count",
                             {{"on", true}, {"off", false}},
                             [](Config& c) -> bool& { return c.image_labels; }));
  all.push_back(choice<growth::Estimator>(
      "growth.estimator", "progress from a robust trend, or from two values as published",
      {{"robust", growth::Estimator::robust}, {"paper", growth::Estimator::paper}},
      [](Config& c) -> growth::Estimator& { return c.growth.estimator; }));
  all.push_back(choice<growth::Normalise>(
      "growth.normalise", "divisor of the values: the first stable one, their range, or 1",
      {{"first", growth::Normalise::first},
       {"range", growth::Normalise::range},
       {"none", growth::Normalise::none}},
      [](Config& c) -> growth::Normalise& { return c.growth.normalise; }));
  all.push_back(choice<bool>("growth.directed", "only a change towards the goal is progress",
                             truth(), [](Config& c) -> bool& { return c.growth.directed; }));
  all.push_back(
      number("retention", "DAYS", "how long records are kept", 0.01, 36500, &Config::retention));
  all.push_back(whole_number("store-size", "MIB",
                             "maximum size of the records; above nine tenths of it the older half "
                             "is thinned, then the oldest are deleted",
                             16, 1048576, &Config::store_size));
  all.push_back(choice<bool>("dry-run", "plan and show limits, write none", truth(),
                             [](Config& c) -> bool& { return c.dry_run; }));
  add_watching_options(all);
  add_cluster_options(all);
  add_accept_options(all);
  all.push_back(choice<log::Level>("log-level", "least important messages to log",
                                   {{"error", log::Level::error},
                                    {"warning", log::Level::warning},
                                    {"info", log::Level::info},
                                    {"debug", log::Level::debug}},
                                   [](Config& c) -> log::Level& { return c.log_level; }));
  for (Option& option : all) {
    option.standard = option.show(Config());
    for (const char* fixed :
         {"socket", "socket-group", "engine", "state-dir", "dry-run", "cores", "peer-socket",
          "peer-group", "peer-heartbeat", "metrics-listen", "image-labels", "store-size"}) {
      if (option.name == fixed) option.needs_restart = true;
    }
  }
  return all;
}

}  // namespace

bool Config::limits(Resource resource) const { return has_word(resources, name(resource)); }

std::string Config::peer_socket_path() const {
  return peer_socket.empty() ? socket.substr(0, socket.rfind('/')) + "/peer.sock" : peer_socket;
}

std::vector<PolicyName>& cluster_policy_names() {
  static std::vector<PolicyName> names;
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
  return {};
}

}  // namespace flowcon::ctrl
