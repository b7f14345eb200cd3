// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/options.h"

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cluster/policy/allocate.h"

namespace flowcon::sim {
namespace {

constexpr int kMostCbcSeconds = 86'400;

std::string known_algorithms() { return joined(algorithms(), ", ", &Algorithm::name); }

std::string hint(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view near = nearest_word(word, known);
  return near.empty() ? "." : "; did you mean " + std::string(near) + "?";
}

Error usage_error(const std::string& problem, bool is_decide) {
  if (is_decide) {
    return bad_input(problem +
                     "\n\nUsage:  flowcon-sim decide ALGORITHM [OPTIONS] < STATE > DECISION\n\n"
                     "Run 'flowcon-sim decide --help' for more information");
  }
  return bad_input(problem +
                   "\n\nUsage:  flowcon-sim COMMAND\n\n"
                   "Run 'flowcon-sim --help' for more information");
}

constexpr std::string_view kDecideOptions = R"(
Options:
      --lines         One state a line, one decision a line; a bad line gives {"error":"..."} there
      --cbc SECONDS   allocate, milp: where bound is more than 0.1 % above objective, the solver CBC
                      (coinor-cbc) goes on from the plan for so long; the better plan is printed
  -h, --help          Print this help
)";

constexpr std::string_view kDecideStatus =
    "\nExit status: 0 done, 1 the state is wrong (the message names the field), 125 wrong usage.\n";

std::string decide_help() {
  std::string text =
      "\nUsage:  flowcon-sim decide ALGORITHM [OPTIONS] < STATE > DECISION\n\n"
      "Make one decision by hand: a state as JSON on standard input, the decision as JSON on\n"
      "standard output. The daemon calls the same code; 'explain' prints the states it decided "
      "on.\n"
      "Nothing else is read, and the same state gives the same decision.\n\n"
      "Algorithms:\n";
  for (const Algorithm& algorithm : algorithms()) {
    std::string name(algorithm.name);
    name.resize(12, ' ');
    text += "  " + name + std::string(algorithm.summary) + "\n";
  }
  text += kDecideOptions;
  for (const Algorithm& algorithm : algorithms()) text.append("\n").append(algorithm.help);
  return text.append(kDecideStatus);
}

constexpr std::string_view kHelp = R"(
Usage:  flowcon-sim COMMAND

The decisions of docker-flowcon without containers.

Commands:
  decide          Make one decision by hand, from JSON to JSON
  run             Simulate a schedule of jobs under policies
  bound           Print a bound that no policy can beat on a schedule
  jobs            Print the jobs of a schedule as a table
  published       Print published figures beside those of the simulator

Options:
  -h, --help      Print this help
      --version   Print the version

Run 'flowcon-sim COMMAND --help' for more information on a command.
)";

}  // namespace

Result<Invocation> parse_command_line(int argc, const char* const* argv) {
  CLI::App app("", "flowcon-sim");
  app.allow_extras();
  app.set_help_flag();
  bool wants_help = false;
  bool wants_version = false;
  bool lines = false;
  std::string name;
  app.add_flag("-h,--help", wants_help);
  app.add_flag("--version", wants_version);
  CLI::App* decide = app.add_subcommand("decide");
  decide->allow_extras();
  decide->set_help_flag();
  decide->add_flag("-h,--help", wants_help);
  decide->add_flag("--lines", lines);
  int cbc_seconds = 0;
  decide->add_option("--cbc", cbc_seconds)->check(CLI::Range(1, kMostCbcSeconds));
  const CLI::Option* algorithm = decide->add_option("ALGORITHM", name);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return usage_error(printable(e.what()), decide->parsed());
  }

  Invocation invocation;
  const bool is_decide = decide->parsed();
  if (wants_help) {
    invocation.text = is_decide ? decide_help() : std::string(kHelp);
    return invocation;
  }
  if (wants_version) {
    invocation.text = "flowcon-sim " FLOWCON_VERSION "\n";
    return invocation;
  }
  const std::vector<std::string> extras = app.remaining(true);
  if (!extras.empty()) {
    const std::string& word = extras.front();
    const bool is_option = word.size() > 1 && word[0] == '-';
    if (is_option) {
      const std::vector<std::string_view> known =
          is_decide ? std::vector<std::string_view>{"--lines", "--cbc", "--help"}
                    : std::vector<std::string_view>{"--version", "--help"};
      return usage_error("unknown option " + printable(word, 60) + hint(word, known), is_decide);
    }
    if (is_decide) return usage_error("one algorithm only, not also " + printable(word, 60), true);
    return usage_error("unknown command " + printable(word, 60) +
                           hint(word, {"decide", "run", "bound", "jobs", "published"}),
                       false);
  }
  if (!is_decide) return usage_error("a command is missing", false);
  if (algorithm->count() == 0) {
    return usage_error("name an algorithm: " + known_algorithms(), true);
  }
  invocation.algorithm = find_algorithm(name);
  invocation.lines = lines;
  invocation.cbc_seconds = cbc_seconds;
  if (cbc_seconds > 0 && name != cluster::policy::AllocateState::kAlgorithm) {
    return usage_error("--cbc is an option of allocate alone", true);
  }
  if (invocation.algorithm) return invocation;
  std::vector<std::string_view> names;
  for (const Algorithm& known : algorithms()) names.push_back(known.name);
  return usage_error("unknown algorithm " + printable(name, 60) + hint(name, names) +
                         " Algorithms: " + known_algorithms(),
                     true);
}

}  // namespace flowcon::sim
