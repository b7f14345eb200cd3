// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/globals.h"

#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("docker's global options before the word flowcon are kept as they were written") {
  struct Row {
    Words line;
    Words globals;
    Words rest;
  };
  const std::vector<Row> rows{
      {{"flowcon"}, {}, {}},
      {{"flowcon", "status", "-c", "x"}, {}, {"status", "-c", "x"}},
      {{"-D", "flowcon", "run"}, {"-D"}, {"run"}},
      {{"--debug", "flowcon", "run"}, {"--debug"}, {"run"}},
      {{"--debug=true", "flowcon"}, {"--debug=true"}, {}},
      {{"-H", "unix:///x", "flowcon", "run"}, {"-H", "unix:///x"}, {"run"}},
      {{"-Hunix:///x", "flowcon"}, {"-Hunix:///x"}, {}},
      {{"-H=unix:///x", "flowcon"}, {"-H=unix:///x"}, {}},
      {{"-DH", "unix:///x", "flowcon"}, {"-DH", "unix:///x"}, {}},
      {{"--host=tcp://h:1", "flowcon"}, {"--host=tcp://h:1"}, {}},
      {{"-c", "flowcon", "flowcon", "x"}, {"-c", "flowcon"}, {"x"}},
      {{"--context", "a", "--config", "/c", "-l", "debug", "flowcon", "x"},
       {"--context", "a", "--config", "/c", "-l", "debug"},
       {"x"}},
      {{"--tls", "--tlsverify", "--tlscacert", "a", "--tlscert=b", "--tlskey", "c", "flowcon"},
       {"--tls", "--tlsverify", "--tlscacert", "a", "--tlscert=b", "--tlskey", "c"},
       {}},
      {{"--", "flowcon", "x"}, {}, {"x"}},
      {{"status", "-q"}, {}, {"status", "-q"}},
      {{"flowcon", "flowcon"}, {}, {"flowcon"}},
  };
  for (const Row& row : rows) {
    const Result<Invocation> parsed = parse_globals(row.line);

    REQUIRE(parsed.has_value());
    CHECK(parsed->globals == row.globals);
    CHECK(parsed->words == row.rest);
  }
}

TEST_CASE("every way to ask docker for a plugin's help is noticed") {
  const std::vector<std::pair<Words, Words>> rows{
      {{"help", "flowcon"}, {}},
      {{"help", "flowcon", "run"}, {"run"}},
      {{"--help", "flowcon"}, {}},
      {{"-h", "flowcon", "run"}, {"run"}},
      {{"-D", "help", "flowcon", "run"}, {"run"}},
  };
  for (const auto& [line, rest] : rows) {
    const Result<Invocation> parsed = parse_globals(line);

    REQUIRE(parsed.has_value());
    CHECK(parsed->wants_help);
    CHECK(parsed->words == rest);
  }
  CHECK_FALSE(parse_globals({"flowcon", "--help"})->wants_help);
}

TEST_CASE("host, context and configuration folder are read from every spelling") {
  const Result<Invocation> parsed = parse_globals(
      {"-H", "a", "--host=b", "-Hc", "--context=k", "--config", "/folder", "flowcon"});

  REQUIRE(parsed.has_value());
  CHECK(parsed->hosts == Words{"a", "b", "c"});
  CHECK(parsed->context == "k");
  CHECK(parsed->config_folder == "/folder");
}

TEST_CASE("an unknown global option is refused in docker's words") {
  const std::vector<std::pair<Words, std::string>> rows{
      {{"--nope", "flowcon"}, "unknown flag: --nope"},
      {{"-x", "flowcon"}, "unknown shorthand flag: 'x' in -x"},
      {{"-H"}, "flag needs an argument: 'H' in -H"},
      {{"--context"}, "flag needs an argument: --context"},
  };
  for (const auto& [line, message] : rows) {
    const Result<Invocation> parsed = parse_globals(line);

    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().message() == message);
  }
}

}  // namespace
}  // namespace flowcon::plugin
