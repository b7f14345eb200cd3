// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/options.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace {

using flowcon::test::check_golden;

const std::string kKnown =
    "executor, listener, milestone, categorise, speculate, rebalance, balance, queue, left, "
    "estimate, "
    "place, share, allocate";

flowcon::Result<flowcon::sim::Invocation> parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "flowcon-sim");
  return flowcon::sim::parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

std::string text(const std::vector<const char*>& arguments) {
  const auto invocation = parsed(arguments);
  REQUIRE(invocation.has_value());
  CHECK(invocation->algorithm == nullptr);
  return invocation->text;
}

// The first line of a usage error; the rest says the usage and where help is.
std::string problem(const std::vector<const char*>& arguments) {
  const auto invocation = parsed(arguments);
  REQUIRE_FALSE(invocation.has_value());
  const std::string message = invocation.error().message();
  CHECK(message.find("\n\nUsage:  flowcon-sim ") != std::string::npos);
  CHECK(message.find("--help' for more information") != std::string::npos);
  return message.substr(0, message.find('\n'));
}

}  // namespace

TEST_CASE("help is as recorded, wherever it is asked for") {
  check_golden("flowcon-sim/help.txt", text({"--help"}));
  check_golden("flowcon-sim/help.txt", text({"-h"}));
  check_golden("flowcon-sim/decide_help.txt", text({"decide", "--help"}));
  check_golden("flowcon-sim/decide_help.txt", text({"decide", "executor", "-h"}));
}

TEST_CASE("help names every algorithm") {
  for (const auto& algorithm : flowcon::sim::algorithms()) {
    CHECK(text({"decide", "--help"}).find("  " + std::string(algorithm.name) + " ") !=
          std::string::npos);
  }
}

TEST_CASE("the version is one line") {
  CHECK(text({"--version"}) == "flowcon-sim " FLOWCON_VERSION "\n");
}

TEST_CASE("decide takes seconds for CBC, for allocate alone") {
  const auto invocation = parsed({"decide", "allocate", "--cbc", "7"});
  REQUIRE(invocation.has_value());
  CHECK(invocation->cbc_seconds == 7);
  CHECK(parsed({"decide", "allocate"})->cbc_seconds == 0);
  CHECK(problem({"decide", "executor", "--cbc", "7"}) == "--cbc is an option of allocate alone");
  for (const char* seconds : {"0", "86401", "x", "1.5"}) {
    CHECK(problem({"decide", "allocate", "--cbc", seconds}).starts_with("--cbc"));
  }
  CHECK(problem({"decide", "allocate", "--cb", "7"}) == "unknown option --cb; did you mean --cbc?");
}

TEST_CASE("decide takes an algorithm and the lines flag in any order") {
  const auto plain = parsed({"decide", "executor"});
  REQUIRE(plain.has_value());
  CHECK(plain->algorithm == flowcon::sim::find_algorithm("executor"));
  CHECK_FALSE(plain->lines);
  for (const auto& arguments : {std::vector<const char*>{"decide", "listener", "--lines"},
                                std::vector<const char*>{"decide", "--lines", "listener"}}) {
    const auto lines = parsed(arguments);
    REQUIRE(lines.has_value());
    CHECK(lines->algorithm == flowcon::sim::find_algorithm("listener"));
    CHECK(lines->lines);
  }
}

TEST_CASE("wrong usage says what is wrong and what was meant") {
  CHECK(problem({}) == "a command is missing");
  CHECK(problem({"decdie"}) == "unknown command decdie; did you mean decide?");
  CHECK(problem({"simulate"}) == "unknown command simulate.");
  CHECK(problem({"decide"}) == "name an algorithm: " + kKnown);
  CHECK(problem({"decide", "exector"}) ==
        "unknown algorithm exector; did you mean executor? Algorithms: " + kKnown);
  CHECK(problem({"decide", "categorize"}) ==
        "unknown algorithm categorize; did you mean categorise? Algorithms: " + kKnown);
  CHECK(problem({"decide", "magic"}) == "unknown algorithm magic. Algorithms: " + kKnown);
  CHECK(problem({"decide", "executor", "--line"}) ==
        "unknown option --line; did you mean --lines?");
  CHECK(problem({"--verion"}) == "unknown option --verion; did you mean --version?");
  CHECK(problem({"decide", "executor", "listener"}) == "one algorithm only, not also listener");
  CHECK(problem({"decide", "\x1b[31m"}).find('\x1b') == std::string::npos);
}
