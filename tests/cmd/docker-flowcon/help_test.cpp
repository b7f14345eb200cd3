// SPDX-License-Identifier: Apache-2.0
// Help and usage errors, as a user reads them. The texts are in tests/golden/plugin/.
#include <string>
#include <vector>

#include "cmd/docker-flowcon/usage.h"
#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("every way to ask for the plugin's help prints the same text to stdout") {
  const std::vector<Words> ways{{"flowcon", "--help"},       {"help", "flowcon"},
                                {"--help", "flowcon"},       {"flowcon", "help"},
                                {"flowcon", "help", "help"}, {"-D", "flowcon", "--help"},
                                {"flowcon", "--help=true"}};
  for (const Words& words : ways) {
    const Outcome outcome = run_words(words);

    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    test::check_golden("plugin/help.txt", outcome.out);
  }
}

TEST_CASE("the bare command prints its help to stderr and is no failure") {
  const Outcome outcome = run_words({"flowcon"});

  CHECK(outcome.status == 0);
  CHECK(outcome.out.empty());
  test::check_golden("plugin/help.txt", outcome.err);
}

TEST_CASE("-h works and is called deprecated, as docker does") {
  const Outcome outcome = run_words({"flowcon", "-h"});

  CHECK(outcome.status == 0);
  CHECK(outcome.err == "Flag shorthand -h has been deprecated, use --help\n");
  test::check_golden("plugin/help.txt", outcome.out);
}

TEST_CASE("every way to ask for a command's help prints that command's help") {
  for (const std::string name :
       {"adopt",     "cluster", "doctor",  "estimate", "explain", "extract", "fetch",
        "history",   "logs",    "migrate", "pause",    "pin",     "plot",    "queue",
        "rebalance", "release", "report",  "resume",   "run",     "set",     "status",
        "submit",    "top",     "tune",    "unpin",    "version", "wait"}) {
    const std::vector<Words> ways{{"flowcon", name, "--help"},
                                  {"help", "flowcon", name},
                                  {"--help", "flowcon", name},
                                  {"flowcon", "help", name},
                                  {"flowcon", "--help", name}};
    for (const Words& words : ways) {
      const Outcome outcome = run_words(words);

      CHECK(outcome.status == 0);
      CHECK(outcome.err.empty());
      test::check_golden("plugin/help_" + name + ".txt", outcome.out);
    }
  }
}

TEST_CASE("help is as wide as the terminal") {
  std::ostringstream out;
  std::ostringstream err;
  Terminal terminal{out, err};
  terminal.width = 120;

  CHECK(run_plugin({"flowcon", "status", "--help"}, {}, terminal) == 0);

  test::check_golden("plugin/help_status_120.txt", out.str());
}

TEST_CASE("no line of the help is wider than the terminal") {
  for (const unsigned width : {40U, 80U, 200U}) {
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{out, err};
    terminal.width = width;

    CHECK(run_plugin({"flowcon", "run", "--help"}, {}, terminal) == 0);

    // The names take 27, and the column of text keeps 24, however narrow the terminal is.
    const std::size_t limit = width == 40 ? 27 + 24 : width;
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK((line.size() <= limit || line.compare(0, 6, "Usage:") == 0));
    }
  }
}

TEST_CASE("--help=false is no question for help") {
  CHECK(run_words({"flowcon", "--help=false", "version", "--socket", "/nowhere/s"})
            .out.starts_with("Client: "));
  CHECK(run_words({"flowcon", "version", "--help", "--help=0", "--socket", "/nowhere/s"})
            .out.starts_with("Client: "));
}

TEST_CASE("a usage error is 125 and says the problem, the usage and where help is") {
  const std::vector<Words> lines{
      {"flowcon", "stauts"},
      {"flowcon", "nothing-like-it"},
      {"flowcon", "--sokcet", "x", "status"},
      {"flowcon", "--socket"},
      {"flowcon", "help", "stauts"},
      {"flowcon", "status", "--fromat", "json"},
      {"flowcon", "status", "-x"},
      {"flowcon", "status", "--help=maybe"},
      {"flowcon", "status", "--format"},
      {"flowcon", "status", "--interval", "0"},
      {"flowcon", "status", "--interval", "soon"},
      {"flowcon", "version", "extra"},
      {"flowcon", "version", "--format", "table"},
      {"flowcon", "adopt"},
      {"flowcon", "adopt", "a", "b"},
      {"flowcon", "adopt", "a", "--goal", "up"},
      {"flowcon", "adopt", "a", "--weight", "0"},
      {"flowcon", "adopt", "a", "--weight", "nan"},
      {"flowcon", "adopt", "a", "--floor", "1.5"},
      {"flowcon", "adopt", "a", "--metric", ""},
      {"flowcon", "adopt", "a", "--ceiling", "101%"},
      {"flowcon", "adopt", "a", "--floor", "0.5", "--ceiling", "0.25"},
      {"flowcon", "adopt", "a", "--log", "train.log"},
      {"flowcon", "doctor", "a"},
      {"flowcon", "doctor", "--format", "{{.}}"},
      {"flowcon", "explain"},
      {"flowcon", "explain", "a", "--last", "0"},
      {"flowcon", "explain", "a", "--last", "1001"},
      {"flowcon", "explain", "a", "--last", "-1"},
      {"flowcon", "explain", "a", "--state", "--last", "2"},
      {"flowcon", "explain", "a", "--format", "csv"},
      {"flowcon", "history"},
      {"flowcon", "migrate"},
      {"flowcon", "migrate", "a", "h2", "b"},
      {"flowcon", "migrate", "a", "--method", "tar"},
      {"flowcon", "migrate", "a", "--cancel", "--take-back"},
      {"flowcon", "migrate", "a", "h2", "--cancel"},
      {"flowcon", "history", "a", "b"},
      {"flowcon", "history", "a", "--format", "xml"},
      {"flowcon", "history", "a", "--since", "yesterday"},
      {"flowcon", "history", "a", "--samples", "--usage"},
      {"flowcon", "plot"},
      {"flowcon", "plot", "a", "--what", "gpu"},
      {"flowcon", "plot", "a", "--width", "19"},
      {"flowcon", "plot", "a", "--height", "1000000"},
      {"flowcon", "pause"},
      {"flowcon", "pause", "--all", "a"},
      {"flowcon", "resume"},
      {"flowcon", "pin", "a"},
      {"flowcon", "pin", "--cpu", "0.5"},
      {"flowcon", "pin", "a", "--cpu", "0"},
      {"flowcon", "pin", "a", "--cpu", "50 %"},
      {"flowcon", "pin", "a", "--cpu", "0.5", "--for", "90"},
      {"flowcon", "unpin"},
      {"flowcon", "top", "vae"},
      {"flowcon", "top", "--interval", "0.1"},
      {"flowcon", "top", "--sort", "size"},
      {"flowcon", "set", "a"},
      {"flowcon", "set", "a", "--only-grow=maybe"},
      {"flowcon", "set", "a", "--weight", "heavy"},
      {"flowcon", "set", "a", "--floor", "2"},
      {"flowcon", "set", "a", "--floor", "60%", "--ceiling", "50%"},
      {"flowcon", "release"},
      {"flowcon", "report", "--since", "yesterday"},
      {"flowcon", "report", "--output"},
      {"flowcon", "extract"},
      {"flowcon", "extract", "--goal", "up", "file"},
      {"flowcon", "run"},
      {"flowcon", "run", "--metric"},
      {"flowcon", "run", "--goal=sideways", "image"},
      {"flowcon", "run", "--metric", "loss"},
      {"flowcon", "submit"},
      {"flowcon", "submit", "--request", "2,3G", "image"},
      {"flowcon", "submit", "--priority", "11", "image"},
      {"flowcon", "submit", "--retries", "-1", "image"},
      {"flowcon", "submit", "--rm", "image"},
      {"flowcon", "submit", "-it", "image"},
      {"flowcon", "submit", "-d", "image"},
      {"flowcon", "submit", "-p", "8080:80", "image"},
      {"flowcon", "submit", "--cpuset-cpus", "0-3", "image"},
      {"flowcon", "submit", "--restart=always", "image"},
      {"flowcon", "queue", "vae"},
      {"flowcon", "queue", "shwo", "vae"},
      {"flowcon", "queue", "--all", "show", "vae"},
      {"flowcon", "queue", "show"},
      {"flowcon", "queue", "show", "vae", "net"},
      {"flowcon", "queue", "hold"},
      {"flowcon", "queue", "set", "vae"},
      {"flowcon", "queue", "set", "vae", "--priority", "high"},
      {"flowcon", "queue", "set", "vae", "--request", "cpu=0"},
      {"flowcon", "queue", "set", "vae", "--retries", "101"},
      {"flowcon", "queue", "--hosts", "show", "vae"},
      {"flowcon", "fetch"},
      {"flowcon", "fetch", "vae", "net"},
      {"flowcon", "wait"},
      {"flowcon", "estimate"},
      {"flowcon", "estimate", "--check", "image"},
      {"flowcon", "estimate", "--format", "csv", "image"},
  };
  std::string report;
  for (const Words& words : lines) {
    const Outcome outcome = run_words(words);

    CHECK(outcome.status == 125);
    CHECK(outcome.out.empty());
    report += "$ docker";
    for (const std::string& word : words) report += " " + (word.empty() ? "''" : word);
    report += "\n" + outcome.err + "\n";
  }
  test::check_golden("plugin/usage_errors.txt", report);
}

TEST_CASE("a pattern that RE2 refuses or that has no group is a usage error") {
  for (const std::string pattern : {"loss (", "loss [0-9]+", "(a)(b)"}) {
    const Outcome outcome = run_words({"flowcon", "run", "--pattern", pattern, "image"});

    CHECK(outcome.status == 125);
    CHECK(outcome.err.compare(0, 10, "--pattern:") == 0);
  }
}

TEST_CASE("what a user typed is made safe before it is shown") {
  const Outcome outcome = run_words({"flowcon", "\033[2Jx"});

  CHECK(outcome.status == 125);
  CHECK(outcome.err.find('\033') == std::string::npos);
}

TEST_CASE("docker -v flowcon prints the version") {
  CHECK(run_words({"-v", "flowcon"}).out == "docker flowcon version " FLOWCON_VERSION "\n");
}

TEST_CASE("the hooks call is answered with nothing") {
  const Outcome outcome = run_words({"flowcon", "docker-cli-plugin-hooks", "{}"});

  CHECK(outcome.status == 0);
  CHECK((outcome.out + outcome.err).empty());
}

TEST_CASE("text is wrapped at spaces and keeps its own line ends") {
  CHECK(wrapped("aaa bbb ccc", 7, 2) == "aaa bbb\n  ccc");
  CHECK(wrapped("aaa bbb ccc", 8, 0) == "aaa bbb\nccc");
  CHECK(wrapped("one\ntwo", 80, 1) == "one\n two");
  CHECK(wrapped("a-long-word b", 4, 0) == "a-long-word\nb");
  CHECK(wrapped("'a':   b", 80, 0) == "'a':   b");
  CHECK(wrapped("", 10, 0).empty());
}

}  // namespace
}  // namespace flowcon::plugin
