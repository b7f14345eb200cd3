// SPDX-License-Identifier: Apache-2.0
#include "ctrl/config.h"

#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>

#include "base/json.h"
#include "base/ssh_address.h"
#include "base/text.h"
#include "ctrl/api/loopback.h"
#include "ctrl/hook_gate.h"
#include "ctrl/policy/host_policies.h"
#include "ctrl/queue_labels.h"

namespace flowcon::ctrl {
namespace {

constexpr std::size_t kSocketPath = sizeof(sockaddr_un::sun_path) - 1;

template <class T>
using Field = T& (*)(Config&);

// The member that one or two member pointers lead to.
template <auto... Path>
auto& at(Config& config) {
  return (config.*....*Path);
}

std::string quoted(const std::string& text) { return "\"" + printable(text, 60) + "\""; }

// `take` changes a value by a text, `show` turns it into one.
template <class T, class Take, class Show>
Option option(std::string name, std::string value, std::string help, Field<T> field, Take take,
              Show show) {
  Option made;
  made.name = std::move(name);
  made.value = std::move(value);
  made.help = std::move(help);
  made.apply = [=](Config& config, const std::string& text) -> Result<void> {
    return take(text, field(config));
  };
  made.show = [=](const Config& config) { return show(field(const_cast<Config&>(config))); };
  made.copy = [=](Config& to, const Config& from) { field(to) = field(const_cast<Config&>(from)); };
  return made;
}

// A reload does not change it.
Option at_start(Option made) {
  made.needs_restart = true;
  return made;
}

template <class T>
Option number(std::string name, std::string value, std::string help, double low, double high,
              Field<T> field) {
  const std::string range = render_number(low) + " to " + render_number(high);
  return option(
      std::move(name), std::move(value), help + " (" + range + ")", field,
      [=](const std::string& text, T& taken) -> Result<void> {
        double parsed = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, parsed);
        if (error != std::errc() || stop != end || !(parsed >= low && parsed <= high)) {
          return bad_input(quoted(text) + " is not a number from " + range);
        }
        if (std::integral<T> && parsed != std::floor(parsed)) {
          return bad_input(quoted(text) + " is not a whole number");
        }
        taken = static_cast<T>(parsed);
        return {};
      },
      [](const T& shown) { return render_number(static_cast<double>(shown)); });
}

// A text that `check` has nothing against.
template <class Check>
Option text_option(std::string name, std::string value, std::string help, Field<std::string> field,
                   Check check) {
  return option(
      std::move(name), std::move(value), std::move(help), field,
      [=](const std::string& text, std::string& taken) -> Result<void> {
        if (Result<void> good = check(text); !good) return good;
        taken = text;
        return {};
      },
      [](const std::string& shown) { return shown; });
}

Option path(std::string name, std::string help, std::size_t longest, Field<std::string> field) {
  Option made = text_option(
      std::move(name), "PATH", std::move(help), field,
      [=](const std::string& text) -> Result<void> {
        if (text.empty() || text.front() != '/') {
          return bad_input(quoted(text) + " is not an absolute path");
        }
        if (text.size() > longest || text.find('\0') != std::string::npos) {
          return bad_input("the path is longer than " + std::to_string(longest) + " bytes");
        }
        return {};
      });
  // Docker writes unix:///var/run/docker.sock; take both spellings.
  made.apply = [apply = made.apply](Config& config, const std::string& text) {
    return apply(config, text.starts_with("unix://") ? text.substr(7) : text);
  };
  return made;
}

Option group(std::string name, std::string help, Field<std::string> field) {
  return text_option(std::move(name), "GROUP", std::move(help), field,
                     [](const std::string&) -> Result<void> { return {}; });
}

// A whole line, quotes and all; "" for none.
template <class Check>
Option line(std::string name, std::string value, std::string help, Field<std::string> field,
            Check check) {
  Option made = text_option(std::move(name), std::move(value), std::move(help), field,
                            [=](const std::string& text) -> Result<void> {
                              if (text.empty()) return {};
                              const auto good = check(text);
                              return good ? Result<void>() : Result<void>(good.error());
                            });
  made.is_line = true;
  return made;
}

// Values with commas, blanks or line ends between them.
std::vector<std::string> split(const std::string& text) {
  constexpr const char* kBetween = ", \t\n";
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(kBetween); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBetween, end);
  }
  return words;
}

template <class List, class Name>
std::string join(const List& list, Name name, const char* between = ",") {
  std::string out;
  for (const auto& value : list) out += (out.empty() ? "" : between) + std::string(name(value));
  return out;
}

// Values that `check` has nothing against; a known one is not added again.
template <class Check>
Option list(std::string name, std::string value, std::string help,
            Field<std::vector<std::string>> field, Check check) {
  Option made = option(
      std::move(name), std::move(value), std::move(help), field,
      [=](const std::string& text, std::vector<std::string>& taken) -> Result<void> {
        constexpr std::size_t kMostWords = 1000;
        for (const std::string& word : split(text)) {
          if (const auto good = check(word); !good) return good.error();
          if (std::find(taken.begin(), taken.end(), word) == taken.end()) taken.push_back(word);
          if (taken.size() > kMostWords) return bad_input("there are more than 1000 values");
        }
        return {};
      },
      [](const std::vector<std::string>& shown) {
        return join(shown, [](const std::string& word) { return word; });
      });
  made.is_list = true;
  return made;
}

Result<void> any_word(const std::string&) { return {}; }

Result<void> check_folder(const std::string& word) {
  const bool is_plain =
      word.starts_with('/') && word.find("/../") == std::string::npos && !word.ends_with("/..");
  return is_plain ? Result<void>() : bad_input(quoted(word) + " is not an absolute path");
}

Result<void> check_device(const std::string& word) {
  return word == "gpu" ? Result<void>() : check_folder(word);
}

// Some of the values in `known`, which name() names, or "all". `help` ends where they are listed.
template <class Known, class T = typename Known::value_type>
Option some_of(std::string name_of, std::string help, const Known& known,
               Field<std::set<T>> field) {
  const auto word_of = [](T value) { return name(value); };
  const std::string names = join(known, word_of, ", ");
  return option(
      std::move(name_of), "LIST", "all or a comma-separated list of " + help + ": " + names, field,
      [=](const std::string& text, std::set<T>& taken) -> Result<void> {
        if (text == "all") {
          taken = {known.begin(), known.end()};
          return {};
        }
        std::set<T> found;
        for (const std::string& word : split(text)) {
          const auto is_meant = [&](T value) { return name(value) == word; };
          const auto value = std::find_if(known.begin(), known.end(), is_meant);
          if (value == known.end()) return bad_input(quoted(word) + " is none of " + names);
          if (!found.insert(*value).second) return bad_input(quoted(word) + " is there twice");
        }
        if (found.empty()) return bad_input("it needs at least one of " + names);
        taken = std::move(found);
        return {};
      },
      [=](const std::set<T>& shown) {
        return shown.size() == known.size() ? "all" : join(shown, word_of);
      });
}

// One of a few words, each with its value.
template <class T>
using Words = std::vector<std::pair<std::string, T>>;

template <class T>
Option choice(std::string name, std::string help, const Words<T>& words, Field<T> field) {
  const std::string names = join(
      words, [](const auto& word) { return word.first; }, "|");
  return option(
      std::move(name), names, std::move(help), field,
      [=](const std::string& text, T& taken) -> Result<void> {
        for (const auto& [word, value] : words) {
          if (word != text) continue;
          taken = value;
          return {};
        }
        return bad_input(quoted(text) + " is none of " + names);
      },
      [=](const T& shown) {
        for (const auto& [word, value] : words) {
          if (value == shown) return word;
        }
        return std::string();
      });
}

Option truth(std::string name, std::string help, Field<bool> field) {
  return choice(std::move(name), std::move(help), Words<bool>{{"true", true}, {"false", false}},
                field);
}

Option on_off(std::string name, std::string help, Field<bool> field) {
  return choice(std::move(name), std::move(help), Words<bool>{{"on", true}, {"off", false}}, field);
}

std::vector<Option> path_options() {
  return {
      at_start(path("socket", "where the daemon listens", kSocketPath, at<&Config::socket>)),
      at_start(group("socket-group", "group that may use the socket", at<&Config::socket_group>)),
      at_start(path("engine", "socket of the Docker Engine", kSocketPath, at<&Config::engine>)),
      at_start(path("state-dir", "folder of the state files", 3000, at<&Config::state_dir>)),
  };
}

Option policy_option(std::string name, std::string help, const std::vector<PolicyName>& known,
                     Field<std::string> field) {
  Words<std::string> words;
  for (const PolicyName& one : known) {
    help += (words.empty() ? ": " : "; ") + one.name + ", " + one.summary;
    words.emplace_back(one.name, one.name);
  }
  return choice(std::move(name), std::move(help), words, field);
}

std::vector<PolicyName> host_policy_names() {
  std::vector<PolicyName> names;
  for (const policy::HostPolicyKind& kind : policy::host_policies()) {
    names.push_back({std::string(kind.name), std::string(kind.summary)});
  }
  return names;
}

std::vector<Option> policy_options() {
  using growth::Estimator, growth::Normalise, growth::Parameters;
  return {
      policy_option("policy", "how the CPU is divided", host_policy_names(), at<&Config::policy>),
      number("alpha", "EFFICIENCY",
             "a job grows while its growth efficiency is at least this share of its first loss per "
             "second per whole host; below it in two decisions running, the job counts as "
             "converged; under policy milestone only for memory and block I/O",
             0, 1e6, at<&Config::alpha>),
      number("beta", "N",
             "no limit of a converged job falls below 1/(N x jobs); under policy milestone only "
             "for memory and block I/O",
             1, 1e6, at<&Config::beta>),
      number("interval", "SECONDS",
             "time between two decisions by growth, before back-off; under policy milestone only "
             "about memory and block I/O",
             1, 86400, at<&Config::interval>),
      number("interval-max", "SECONDS",
             "longest interval that the back-off of policy flowcon reaches", 1, 86400,
             at<&Config::interval_max>),
      number("observe", "SECONDS",
             "time between two samples of usage and values, and under policy milestone between two "
             "decisions about the CPU",
             1, 3600, at<&Config::observe>),
      truth("floor-all",
            "the floor of beta holds for growing jobs too; under policy milestone only for memory "
            "and block I/O",
            at<&Config::floor_all>),
      truth("only-grow", "never lower a limit; the label flowcon.only-grow does this for one job",
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
      truth("growth.directed", "only a change towards the goal is progress",
            at<&Config::growth, &Parameters::directed>),
  };
}

std::vector<Option> limit_options() {
  using cgroups::LimitMode;
  Option resources = some_of("resources", "what to limit", kResources,
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
             "share of the host's CPU that is kept for what is not under control: by weight it is "
             "theirs when they want it, by quota nobody else uses it",
             0, 0.9, at<&Config::limiting, &Limiting::reserve>),
      number("memory-low", "SHARE",
             "the host is short of memory while less than this share of it is available, or while "
             "processes wait for memory a tenth of the time",
             0, 1, at<&Config::limiting, &Limiting::memory_low>),
      number("io-bandwidth", "BYTES",
             "bandwidth of a disk per second; limit-mode quota caps block I/O only if this is "
             "above 0",
             0, 1e12, at<&Config::limiting, &Limiting::io_bandwidth>),
      at_start(truth("dry-run", "plan and show limits, write none", at<&Config::dry_run>)),
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
                    "serve metrics for Prometheus over TCP, on an address of this host only; the "
                    "socket always serves them at /metrics",
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
                    cluster_policy_names(), at<&Config::balance, &BalanceOptions::policy>),
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

Option offer_option() {
  return option(
      "offer", "auto|none|LIST",
      "what this host gives to jobs of the queue: none; auto, all cores and 80 % of the memory; or "
      "cpu=CORES and mem=BYTES (units K, M, G, T), either of them or both, such as cpu=6 mem=20G",
      Field<Offer>(at<&Config::queue, &QueueOptions::offer>),
      [](const std::string& text, Offer& taken) -> Result<void> {
        const bool is_word = text == "auto" || text == "none";
        const Result<Request> offer = is_word ? Request() : parse_request(text);
        if (!offer) return wrap(offer.error(), "neither auto nor none");
        taken = {text == "none", offer->cpu, offer->mem};
        return {};
      },
      [](const Offer& shown) -> std::string {
        if (shown.is_none) return "none";
        return shown.cpu || shown.mem ? render_request({shown.cpu, shown.mem}) : "auto";
      });
}

Option data_cache_option() {
  return option(
      "data-cache", "BYTES",
      "how much data of other hosts' jobs is kept here for later ones: volumes that they only read "
      "(units K, M, G, T; 0 keeps none)",
      Field<double>(at<&Config::queue, &QueueOptions::data_cache>),
      [](const std::string& text, double& taken) -> Result<void> {
        const std::optional<double> bytes = parse_bytes(text);
        if (!bytes || *bytes > 1e15) return bad_input(quoted(text) + " is no size, such as 20G");
        taken = std::floor(*bytes);
        return {};
      },
      render_bytes);
}

std::vector<Option> queue_options() {
  return {
      offer_option(),
      policy_option("queue-policy", "in which order jobs run", queue_policy_names(),
                    at<&Config::queue, &QueueOptions::policy>),
      number("starve-limit", "SECONDS",
             "a job that has waited longer in all comes before all that came later", 1, 1e9,
             at<&Config::queue, &QueueOptions::starve_limit>),
      on_off("park",
             "a running job with a checkpoint may be saved and wait again, so that one with less "
             "left goes first",
             at<&Config::queue, &QueueOptions::park>),
      data_cache_option(),
  };
}

std::vector<Option> accept_options() {
  return {
      truth("accept-privileged",
            "containers from peers may be privileged, or lack the engine's usual isolation",
            at<&Config::accept, &Accept::privileged>),
      truth("accept-host-namespaces", "containers from peers may share namespaces of this host",
            at<&Config::accept, &Accept::host_namespaces>),
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

std::vector<PolicyName>& cluster_policy_names() {
  static std::vector<PolicyName> names;
  return names;
}

std::vector<PolicyName>& queue_policy_names() {
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
  if (config.cores > 0 && config.queue.offer.cpu.value_or(0) > config.cores) {
    return bad_input(place("offer") + " is more than " + place("cores") +
                     ": lower the first or raise the second");
  }
  return {};
}

}  // namespace flowcon::ctrl
