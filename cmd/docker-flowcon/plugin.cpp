// SPDX-License-Identifier: Apache-2.0
// From docker's command line to one command of ours.
#include "cmd/docker-flowcon/plugin.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <ostream>

#include "base/text.h"
#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/completion.h"
#include "cmd/docker-flowcon/endings.h"
#include "cmd/docker-flowcon/globals.h"
#include "cmd/docker-flowcon/usage.h"

namespace flowcon::plugin {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kHooks = "docker-cli-plugin-hooks";
constexpr std::string_view kSocketVariable = "FLOWCON_SOCKET";

int usage_error(Terminal& terminal, const Command& command, const std::string& problem,
                const std::string& suggestion) {
  terminal.err << render_usage_error(command, problem, suggestion);
  return kWrongUsage;
}

// CLI11 takes the words last one first. What is wrong with a single option's value shows here; the
// rest was found by scan_words().
std::string parse_options(const Command& command, const Words& words) {
  try {
    command.app->parse(Words(words.rbegin(), words.rend()));
  } catch (const CLI::Error& error) {
    return printable(error.what(), 1000);
  }
  return "";
}

class Plugin {
 public:
  explicit Plugin(Session& session) : session_(session), terminal_(session.terminal) {}

  int run() {
    const Words& words = session_.invocation.words;
    if (!words.empty() && words.front() == kHooks) return kDone;  // nothing to hint at
    if (is_completion_call(words)) return run_completion(session_, root_, commands_);
    if (session_.invocation.wants_version) {
      terminal_.out << "docker flowcon version " FLOWCON_VERSION "\n";
      return kDone;
    }
    const Scan scan = scan_words(*root_.app, words, root_.style);
    if (!scan.problem.empty()) return usage_error(terminal_, root_, scan.problem, scan.suggestion);
    const Words& rest = scan.positionals;
    warn_letter_h(scan);
    const std::string problem = parse_options(root_, without_help(scan.own));
    if (!problem.empty()) return usage_error(terminal_, root_, problem, "");
    if (rest.empty() && !scan.wants_help && !session_.invocation.wants_help) {
      // As docker's own groups of commands: nothing was asked, so nothing goes to stdout.
      terminal_.err << render_help(root_, commands_, terminal_.width);
      return kDone;
    }
    const bool is_help = !rest.empty() && rest.front() == "help";
    if (session_.invocation.wants_help || scan.wants_help || is_help) {
      return help(is_help ? Words(rest.begin() + 1, rest.end()) : rest);
    }
    const Command* command = find(commands_, rest.front());
    if (command == nullptr) return unknown_command(root_, commands_, rest.front());
    return run_command(*command, Words(rest.begin() + 1, rest.end()));
  }

 private:
  static const Command* find(const std::vector<Command>& commands, const std::string& name) {
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const Command& c) { return c.app->get_name() == name; });
    return found == commands.end() ? nullptr : &*found;
  }

  int unknown_command(const Command& above, const std::vector<Command>& commands,
                      const std::string& name) const {
    Words names{"help"};
    for (const Command& command : commands) {
      if (!command.is_hidden) names.push_back(command.app->get_name());
    }
    const std::string_view near = nearest_word(name, names);
    return usage_error(terminal_, above, "unknown command: " + above.path + " " + printable(name),
                       near.empty() ? "" : above.path + " " + std::string(near));
  }

  int help(const Words& topic) const {
    // Options behind the topic ("docker help flowcon status -q") change nothing about it.
    Words names;
    std::copy_if(topic.begin(), topic.end(), std::back_inserter(names),
                 [](const std::string& word) { return word.empty() || word[0] != '-'; });
    const Command* command = &root_;
    const std::vector<Command>* below = &commands_;
    for (const std::string& name : names) {
      if (name == "help" || (below->empty() && command != &root_)) break;
      const Command* next = find(*below, name);
      if (next == nullptr) return unknown_command(*command, *below, name);
      command = next;
      below = &next->below;
    }
    terminal_.out << render_help(*command, *below, terminal_.width);
    return kDone;
  }

  // A command that has others under it.
  int run_group(const Command& group, const Words& rest, bool wants_help) const {
    if (rest.empty() && !wants_help && group.run) return run_work(group, rest);
    if (rest.empty() || wants_help || rest.front() == "help") {
      if (rest.size() > 1) {
        const Command* topic = find(group.below, rest[1]);
        if (topic == nullptr) return unknown_command(group, group.below, rest[1]);
        terminal_.out << render_help(*topic, {}, terminal_.width);
        return kDone;
      }
      const bool is_asked = wants_help || !rest.empty();
      (is_asked ? terminal_.out : terminal_.err)
          << render_help(group, group.below, terminal_.width);
      return kDone;
    }
    const Command* command = find(group.below, rest.front());
    if (command == nullptr) return unknown_command(group, group.below, rest.front());
    return run_command(*command, Words(rest.begin() + 1, rest.end()));
  }

  void warn_letter_h(const Scan& scan) const {
    if (scan.used_letter_h) {
      terminal_.err << "Flag shorthand -h has been deprecated, use --help\n";
    }
  }

  // CLI11 does not know the options that scan_words() answered for.
  static Words without_help(Words words) {
    words.erase(std::remove_if(words.begin(), words.end(),
                               [](const std::string& word) {
                                 return word == "-h" || word.compare(0, 6, "--help") == 0;
                               }),
                words.end());
    return words;
  }

  int run_command(const Command& command, const Words& words) const {
    const Scan scan = scan_words(*command.app, words, command.style);
    warn_letter_h(scan);
    if (scan.wants_help && command.below.empty()) {
      terminal_.out << render_help(command, {}, terminal_.width);
      return kDone;
    }
    if (!scan.problem.empty()) {
      const std::string subject = scan.lacks_subject ? "'" + command.path + "' " : "";
      return usage_error(terminal_, command, subject + scan.problem, scan.suggestion);
    }
    const Words& rest = scan.positionals;
    std::string problem = parse_options(command, without_help(scan.own));
    if (problem.empty() && command.check) problem = command.check(rest);
    if (!problem.empty()) return usage_error(terminal_, command, problem, "");
    if (!command.below.empty()) return run_group(command, rest, scan.wants_help);
    if (!scan.suggestion.empty()) {
      // docker has the last word on it, so that an option it gets one day is not in the way.
      terminal_.err << printable(scan.unknown) << " is not an option of " << command.path
                    << "; did you mean " << scan.suggestion << "?\n";
    }
    return run_work(command, rest);
  }

  // Others with this beginning may be anybody's.
  void warn_of_typos() const {
    if (session_.chose_socket) return;
    for (const auto& [name, value] : session_.environment) {
      const bool is_near = !nearest_word(upper(name), std::array{kSocketVariable}).empty();
      if (!is_near || name == kSocketVariable) continue;
      terminal_.err << "environment " << printable(name, 80) << " is not used; did you mean "
                    << kSocketVariable << "?\n";
    }
  }

  int run_work(const Command& command, const Words& rest) const {
    warn_of_typos();
    if (terminal_.owns_process) {
      // Not for `run` and `submit`: what they get goes to the docker below them (HandOn).
      if (command.style != WordStyle::before_image) end_on_signals(terminal_.is_interactive);
      end_with_docker(session_.environment);
    }
    return command.run(rest);
  }

  Session& session_;
  Terminal& terminal_;
  Command root_ = make_root(session_);
  std::vector<Command> commands_ = make_commands(session_);
};

}  // namespace

std::string lookup(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

int run_plugin(const std::vector<std::string>& words, const Environment& environment,
               Terminal& terminal) {
  const Result<Invocation> invocation = parse_globals(words);
  if (!invocation) {
    terminal.err << invocation.error().message()
                 << "\n\nRun 'docker --help' for more information\n";
    return kWrongUsage;
  }
  Session session{*invocation, environment, terminal};
  const std::string socket = lookup(environment, kSocketVariable);
  if (!socket.empty()) {
    session.socket = socket;
    session.chose_socket = true;
  }
  return Plugin(session).run();
}

}  // namespace flowcon::plugin
