// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcond/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "cluster/policy/cluster_policies.h"
#include "cluster/policy/queue_policies.h"
#include "cluster/queue/allocation.h"
#include "cluster/queue/places.h"
#include "ctrl/log.h"

namespace flowcon::cmd {
namespace {

constexpr std::size_t kLongestLine = 4096;

const bool kHasPolicies = [] {
  ctrl::policy_names() = {ctrl::names_of(cluster::policy::cluster_policies()),
                          ctrl::names_of(cluster::policy::queue_policies()),
                          ctrl::names_of(cluster::queue::place_policies()),
                          ctrl::names_of(cluster::queue::allocate_policies())};
  return true;
}();

// CLI11 takes brackets and quotes around a value off.
std::string behind_equals(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t", line.find('=') + 1);
  if (begin == std::string::npos) return "";
  const std::size_t last = line.find_last_not_of(" \t\r");
  return last < begin ? "" : line.substr(begin, last + 1 - begin);
}

// One line of a file. CLI11 knows the syntax (comments, quotes); a line at a time, so that a
// mistake has a line number.
Result<void> take_line(std::string line, const std::string& place, std::string& section,
                       ctrl::Config& config, std::map<std::string, std::string>& said_at,
                       std::map<std::string, std::string>& said_here) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos || line[first] == '#' || line[first] == ';') return {};
  if (line.size() > kLongestLine) return bad_input(place + ": the line is longer than 4096 bytes");
  if (line[first] == '[') {
    const std::string word = line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
    if (word != "[accept]") {
      return bad_input(place +
                       ": the only section is [accept]; write the other options "
                       "above it");
    }
    section = "accept-";
    return {};
  }
  // CLI11 takes a comment behind a value for a part of it.
  for (std::size_t at = line.find('#', first); at != std::string::npos;
       at = line.find('#', at + 1)) {
    if (line[at - 1] == ' ' || line[at - 1] == '\t') line.erase(at);
  }
  if (line.find('=') == std::string::npos) {
    return bad_input(place + ": \"" + printable(line, 60) + "\" is not of the form option = value");
  }
  CLI::ConfigINI syntax;
  // A ; within a value belongs to it.
  syntax.comment('\0')->parentSeparator('\0')->arrayBounds('\0', '\0')->arrayDelimiter('\0');
  std::istringstream in(line);
  std::vector<CLI::ConfigItem> items;
  try {
    items = syntax.from_config(in);
  } catch (const CLI::Error& e) {
    return bad_input(place + ": " + printable(e.what()));
  }
  for (CLI::ConfigItem& item : items) {
    if (!item.name.starts_with(section)) item.name.insert(0, section);
    const ctrl::Option* option = ctrl::find_option(item.name);
    if (option == nullptr) {
      const std::string plain = item.name.substr(section.size());
      const bool is_above = !section.empty() && ctrl::find_option(plain) != nullptr;
      return bad_input(place + ": " +
                       (is_above ? plain + " is not of the section [accept]; write it above that"
                                 : ctrl::unknown_option(item.name)));
    }
    const auto before = said_here.find(item.name);
    if (before != said_here.end() && !option->is_list) {
      return bad_input(place + ": " + item.name + " is set already at " + before->second +
                       "; remove one of the two");
    }
    std::string value = joined(item.inputs, " ");
    if (option->is_line) value = behind_equals(line);
    if (Result<void> applied = option->apply(config, value); !applied) {
      return bad_input(place + ": " + item.name + ": " + applied.error().message());
    }
    said_at[item.name] = said_here[item.name] = place;
  }
  return {};
}

Result<void> read_one_file(const std::string& path, ctrl::Config& config,
                           std::map<std::string, std::string>& said_at, Mistakes mistakes) {
  std::ifstream file(path);
  if (!file) return errno_error(errno, "reading the configuration " + path);
  std::map<std::string, std::string> said_here;
  std::string line, section;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string place = path + ":" + std::to_string(number);
    auto taken = take_line(line, place, section, config, said_at, said_here);
    if (!taken && mistakes == Mistakes::end) return taken;
  }
  if (file.bad()) return errno_error(errno, "reading the configuration " + path);
  return {};
}

// A variable that looks like an option's, in any case. Others with this beginning may be anybody's:
// a site's, a job's (FLOWCON_RESUME), a test's.
void warn_of_typos() {
  std::vector<std::string> names;
  for (const ctrl::Option& option : ctrl::options())
    names.push_back(ctrl::environment_name(option.name));
  for (char** next = environ; *next != nullptr; ++next) {
    const std::string_view name = std::string_view(*next).substr(0, std::strcspn(*next, "="));
    const std::string said = upper(name);
    if (!said.starts_with("FLOWCON_") || std::find(names.begin(), names.end(), name) != names.end())
      continue;
    const std::string_view near = nearest_word(said, names);
    if (near.empty()) continue;
    ctrl::log::warning("environment " + printable(name, 80) + " is not an option; did you mean " +
                       std::string(near) + "?");
  }
}

Result<void> read_environment(ctrl::Config& config, std::map<std::string, std::string>& said_at,
                              Mistakes mistakes) {
  for (const ctrl::Option& option : ctrl::options()) {
    const std::string name = ctrl::environment_name(option.name);
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) continue;
    if (Result<void> applied = option.apply(config, value); !applied) {
      if (mistakes == Mistakes::skip) continue;
      return bad_input("environment " + name + ": " + applied.error().message());
    }
    said_at[option.name] = "environment " + name;
  }
  if (mistakes == Mistakes::end) warn_of_typos();
  return {};
}

std::string first_line_usage(const std::string& problem) {
  return problem + "\n\nUsage:  flowcond [OPTIONS]\n\nRun 'flowcond --help' for more information";
}

// What is given of each option goes to `given`.
void declare_options(CLI::App& app, std::map<std::string, std::string>& given) {
  for (const ctrl::Option& option : ctrl::options()) {
    const std::string help = option.help + (option.needs_restart ? "; needs a restart" : "") +
                             " (default " + option.default_text + ")";
    auto* declared = app.add_option("--" + option.name, given[option.name], help);
    declared->option_text(option.value)->group(option.section);
    if (option.value == "on|off") declared->expected(0, 1);
    if (option.is_list) declared->multi_option_policy(CLI::MultiOptionPolicy::Join);
  }
}

// The word alone; "--park=" and "--park ''" have an empty value.
bool is_bare_flag(const std::string& flag, int argc, const char* const* argv) {
  const auto* const end = argv + argc;
  const auto* const found = std::find(argv, end, flag);
  return found != end && (found + 1 == end || std::string_view(found[1]).substr(0, 1) == "-");
}

// CLI11 says "The following argument was not expected: --intervall"; suggest the intended option.
Error unexpected(const std::string& extra) {
  return bad_input(first_line_usage(extra.starts_with("--")
                                        ? ctrl::unknown_option(extra.substr(2, extra.find('=') - 2))
                                        : "unexpected argument " + printable(extra, 60)));
}

// Of the command line: option -> value.
using Given = std::map<std::string, std::string>;

// The files, the environment and the command line. `file`: "" = the one that may be there.
Result<void> read_places(const std::string& file, const Given& given, Mistakes mistakes,
                         Invocation& to) {
  if (!file.empty() && mistakes == Mistakes::end && ::access(file.c_str(), F_OK) != 0) {
    return errno_error(errno, "reading the configuration " + file);
  }
  const std::string path = file.empty() ? kDefaultConfig : file;
  if (auto read = read_config_file(path, to.config, to.said_at, mistakes); !read) return read;
  if (auto read = read_environment(to.config, to.said_at, mistakes); !read) return read;
  for (const ctrl::Option& option : ctrl::options()) {
    const auto found = given.find(option.name);
    if (found == given.end()) continue;
    if (auto applied = option.apply(to.config, found->second); !applied) {
      if (mistakes == Mistakes::skip) continue;
      return bad_input(first_line_usage("--" + option.name + ": " + applied.error().message()));
    }
    to.said_at[option.name] = "command line";
  }
  return mistakes == Mistakes::skip ? Result<void>() : ctrl::check(to.config, to.said_at);
}

}  // namespace

Result<void> read_config_file(const std::string& path, ctrl::Config& config,
                              std::map<std::string, std::string>& said_at, Mistakes mistakes) {
  std::error_code code;
  // Where that is not known reading it says why.
  if (std::filesystem::exists(path, code) || code) {
    auto read = read_one_file(path, config, said_at, mistakes);
    if (!read && mistakes == Mistakes::end) return read;
  }
  std::vector<std::string> drop_ins;
  for (const auto& entry : std::filesystem::directory_iterator(path + ".d", code)) {
    if (entry.path().extension() == ".conf") drop_ins.push_back(entry.path().string());
  }
  std::sort(drop_ins.begin(), drop_ins.end());
  for (const std::string& drop_in : drop_ins) {
    auto read = read_one_file(drop_in, config, said_at, mistakes);
    if (!read && mistakes == Mistakes::end) return read;
  }
  return {};
}

Result<Invocation> parse_command_line(int argc, const char* const* argv,
                                      std::optional<ctrl::Config>* readable) {
  CLI::App app(
      "The daemon of docker flowcon: reads the logs of training containers, gives more CPU to "
      "those\nthat are still learning, and less to converged ones.",
      "flowcond");
  app.allow_extras();
  app.get_formatter()->column_width(34);
  std::string file;
  bool check_only = false;
  bool print_only = false;
  app.set_version_flag("--version", "flowcond " FLOWCON_VERSION);
  app.add_option("--config", file,
                 std::string("configuration file; FILE.d/*.conf are read after it (default ") +
                     kDefaultConfig + " if it exists)")
      ->option_text("FILE");
  app.add_flag("--check-config", check_only, "check the configuration, report errors, and exit");
  app.add_flag("--print-config", print_only, "show every option, its value and where it is set");
  Given given;
  declare_options(app, given);
  Invocation invocation;
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    invocation.action = Invocation::Action::show_and_exit;
    invocation.output = app.help();
    return invocation;
  } catch (const CLI::CallForVersion& e) {
    invocation.action = Invocation::Action::show_and_exit;
    invocation.output = std::string(e.what()) + "\n";
    return invocation;
  } catch (const CLI::ParseError& e) {
    const std::vector<std::string> extras = app.remaining();
    return extras.empty() ? bad_input(first_line_usage(e.what())) : unexpected(extras.front());
  }
  for (const ctrl::Option& option : ctrl::options()) {
    const std::string flag = "--" + option.name;
    if (app.count(flag) == 0) {
      given.erase(option.name);
    } else if (option.value == "on|off" && is_bare_flag(flag, argc, argv)) {
      given[option.name] = "on";
    }
  }
  const std::vector<std::string> extras = app.remaining();
  Result<void> read;
  if (extras.empty()) {
    read = read_places(file, given, Mistakes::end, invocation);
  } else {
    read = unexpected(extras.front());
  }
  if (!read) {
    if (readable != nullptr && !print_only && !check_only) {
      Invocation partly;
      (void)read_places(file, given, Mistakes::skip, partly);
      *readable = partly.config;
    }
    return read.error();
  }
  if (print_only) invocation.action = Invocation::Action::print_config;
  if (check_only) invocation.action = Invocation::Action::check_config;
  return invocation;
}

std::string render_config(const Invocation& invocation) {
  std::string out;
  for (const ctrl::Option& option : ctrl::options()) {
    const auto at = invocation.said_at.find(option.name);
    std::string line = option.name + " = " + option.show(invocation.config);
    line.resize(std::max<std::size_t>(line.size() + 1, 44), ' ');
    out += line + "# " + (at == invocation.said_at.end() ? "default" : at->second) + "\n";
  }
  return out;
}

}  // namespace flowcon::cmd
