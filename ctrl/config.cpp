// SPDX-License-Identifier: Apache-2.0
#include "ctrl/config.h"

#include <sys/un.h>

#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

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

std::vector<Option> make_options() {
  constexpr std::size_t kSocketPath = sizeof(sockaddr_un::sun_path) - 1;
  std::vector<Option> all;
  all.push_back(path("socket", "where the daemon listens", kSocketPath, &Config::socket));
  Option group;
  group.name = "socket-group";
  group.value = "GROUP";
  group.help = "group that may use the socket";
  group.apply = [](Config& config, const std::string& text) -> Result<void> {
    config.socket_group = text;
    return {};
  };
  group.show = [](const Config& config) { return config.socket_group; };
  all.push_back(group);
  all.push_back(path("engine", "socket of the Docker Engine", kSocketPath, &Config::engine));
  all.push_back(path("state-dir", "folder of the state file", 3000, &Config::state_dir));
  all.push_back(number("alpha", "EFFICIENCY",
                       "a job grows while its growth efficiency is at least this: share of its "
                       "first loss per second per whole host",
                       0, 1e6, &Config::alpha));
  all.push_back(number("beta", "N", "no limit of a completing job falls below 1/(N x jobs)", 1, 1e6,
                       &Config::beta));
  all.push_back(number("interval", "SECONDS", "time between two decisions, before back-off", 1,
                       86400, &Config::interval));
  all.push_back(number("interval-max", "SECONDS", "the back-off stops at this interval", 1, 86400,
                       &Config::interval_max));
  all.push_back(number("observe", "SECONDS", "time between two looks at usage and values", 1, 3600,
                       &Config::observe));
  all.push_back(choice<cgroups::LimitMode>(
      "limit-mode",
      "how a share becomes a CPU limit: weight wastes nothing when a rival idles, quota is a cap",
      {{"weight", cgroups::LimitMode::weight}, {"quota", cgroups::LimitMode::quota}},
      [](Config& c) -> cgroups::LimitMode& { return c.limit_mode; }));
  Option resources;
  resources.name = "resources";
  resources.value = "LIST";
  resources.help =
      "what is limited: any of cpu, memory, io, with commas (memory softly, and only while the "
      "host "
      "is short of it; io by weight where a disk's scheduler knows weights)";
  resources.apply = apply_resources;
  resources.show = [](const Config& config) { return config.resources; };
  all.push_back(resources);
  all.push_back(
      number("memory-low", "SHARE",
             "the host is short of memory while less than this share of it is available, or "
             "while processes wait for memory a tenth of the time",
             0, 1, &Config::memory_low));
  all.push_back(number("io-bandwidth", "BYTES",
                       "what a disk can do per second; limit-mode quota caps block I/O only where "
                       "this is above 0",
                       0, 1e12, &Config::io_bandwidth));
  all.push_back(choice<bool>("floor-all", "the floor of beta holds for growing jobs too", truth(),
                             [](Config& c) -> bool& { return c.floor_all; }));
  all.push_back(choice<bool>("only-grow",
                             "no limit is ever lowered; flowcon.only-grow says it of one job",
                             truth(), [](Config& c) -> bool& { return c.only_grow; }));
  all.push_back(choice<growth::Estimator>(
      "growth.estimator", "progress from a robust trend, or from two values as published",
      {{"robust", growth::Estimator::robust}, {"paper", growth::Estimator::paper}},
      [](Config& c) -> growth::Estimator& { return c.growth.estimator; }));
  all.push_back(choice<growth::Normalise>(
      "growth.normalise", "what values are divided by: the first stable one, their range, or 1",
      {{"first", growth::Normalise::first},
       {"range", growth::Normalise::range},
       {"none", growth::Normalise::none}},
      [](Config& c) -> growth::Normalise& { return c.growth.normalise; }));
  all.push_back(choice<bool>("growth.directed", "only a change towards the goal is progress",
                             truth(), [](Config& c) -> bool& { return c.growth.directed; }));
  all.push_back(
      number("retention", "DAYS", "how long records are kept", 0.01, 36500, &Config::retention));
  all.push_back(choice<bool>("dry-run", "plan and show limits, write none", truth(),
                             [](Config& c) -> bool& { return c.dry_run; }));
  all.push_back(choice<log::Level>("log-level", "the least important messages that are logged",
                                   {{"error", log::Level::error},
                                    {"warning", log::Level::warning},
                                    {"info", log::Level::info},
                                    {"debug", log::Level::debug}},
                                   [](Config& c) -> log::Level& { return c.log_level; }));
  for (Option& option : all) {
    option.standard = option.show(Config());
    for (const char* fixed : {"socket", "socket-group", "engine", "state-dir", "dry-run"}) {
      if (option.name == fixed) option.needs_restart = true;
    }
  }
  return all;
}

}  // namespace

bool Config::limits(Resource resource) const { return has_word(resources, name(resource)); }

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
