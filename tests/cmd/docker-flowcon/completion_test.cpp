// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/completion.h"

#include <sstream>

#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::plugin {
namespace {

using Words = std::vector<std::string>;

// The candidates without descriptions, then "+files" where the shell may add files, then what
// docker is to complete.
std::string complete_words(const Words& words) {
  std::ostringstream out;
  Terminal terminal{out, out};
  const Invocation invocation;
  const Environment environment;
  Session session{invocation, environment, terminal};
  const Completion completion = complete(make_root(session), make_commands(session), words, [] {
    return Words{"vae", "gru"};
  });
  std::string text;
  for (const std::string& candidate : completion.candidates) {
    text += (text.empty() ? "" : " ") + candidate.substr(0, candidate.find('\t'));
  }
  if (completion.offers_files) text += "+files";
  if (completion.of_docker_run) {
    text += "docker run";
    for (const std::string& word : *completion.of_docker_run) text += " <" + word + ">";
  }
  return text;
}

TEST_CASE("the last word is completed by what may stand there") {
  const std::vector<std::pair<Words, std::string>> rows{
      {{""},
       "adopt doctor explain extract history pause pin plot release resume run set status unpin "
       "version help"},
      {{"re"}, "release resume"},
      {{"-"}, "--socket --help"},
      {{"--socket", ""}, "+files"},
      {{"--socket", "x", "st"}, "status"},
      {{"help", "v"}, "version"},
      {{"help", "run", ""}, ""},
      {{"nope", ""}, ""},
      {{"status", ""}, "vae gru"},
      {{"status", "g"}, "gru"},
      {{"status", "vae", ""}, "vae gru"},
      {{"status", "--"}, "--format --interval --no-trunc --quiet --socket --watch --help"},
      {{"status", "--q"}, "--quiet"},
      {{"status", "--format", ""}, "json table {{"},
      {{"status", "--format", "j"}, "json"},
      {{"status", "--format=t"}, "--format=table"},
      {{"status", "--format", "json", ""}, "vae gru"},
      {{"status", "--", "-"}, ""},
      {{"release", "v"}, "vae"},
      {{"doctor", ""}, ""},
      {{"doctor", "--format", ""}, "json table"},
      {{"explain", ""}, "vae gru"},
      {{"explain", "vae", "--"}, "--format --last --socket --state --help"},
      {{"explain", "--format", ""}, "json text"},
      {{"history", "g"}, "gru"},
      {{"history", "--format", ""}, "csv json table"},
      {{"history", "--since", ""}, ""},
      {{"plot", "v"}, "vae"},
      {{"plot", "--what", ""}, "cpu limit loss memory"},
      {{"plot", "--what=l"}, "--what=limit --what=loss"},
      {{"pause", ""}, "vae gru"},
      {{"pause", "--a"}, "--all"},
      {{"resume", "v"}, "vae"},
      {{"pin", ""}, "vae gru"},
      {{"pin", "--cpu", ""}, ""},
      {{"unpin", "g"}, "gru"},
      {{"set", "vae", "--"}, "--ceiling --floor --only-grow --socket --weight --help"},
      {{"set", "vae", "--ceiling", ""}, "none"},
      {{"adopt", "--weight", ""}, ""},
      {{"adopt", "--goal", ""}, "min max"},
      {{"adopt", "--metric", ""}, ""},
      {{"adopt", ""}, ""},
      {{"extract", ""}, "+files"},
      {{"extract", "--e"}, "--explain"},
      {{"extract", "--input", ""}, "json-file raw"},
      {{"run", "--m"}, "--metric"},
      {{"run", "--goal", "m"}, "min max"},
      {{"run", "--rest"}, "docker run <--rest>"},
      {{"run", ""}, "docker run <>"},
      {{"run", "--metric", "loss", ""}, "docker run <>"},
      {{"run", "--metric", "loss", "-v", ""}, "docker run <-v> <>"},
      {{"run", "--rm", "--m"}, "docker run <--rm> <--m>"},
  };
  for (const auto& [words, expected] : rows) {
    INFO(words.front() << " ... " << words.back());
    CHECK(complete_words(words) == expected);
  }
}

TEST_CASE("docker's and the bash script's way of asking get the same answer") {
  const Environment environment{{"FLOWCON_SOCKET", "/nowhere"}};

  const Outcome by_docker = run_words({"__complete", "flowcon", "sta"}, environment);
  const Outcome by_script = run_words({"__completeNoDesc", "sta"}, environment);

  CHECK(by_docker.status == 0);
  CHECK(by_docker.out ==
        "status\tShow the containers under control, their progress and limits\n:4\n");
  CHECK(by_script.out == "status\n:4\n");
  CHECK((by_docker.err + by_script.err).empty());
}

TEST_CASE("descriptions are left out where the user wants none") {
  const Environment environment{{"DOCKER_CLI_DISABLE_COMPLETION_DESCRIPTION", "true"}};

  CHECK(run_words({"__complete", "flowcon", "ver"}, environment).out == "version\n:4\n");
}

TEST_CASE("containers are offered as the daemon knows them, and none without a daemon") {
  const test::TempFolder folder;
  const Environment environment{{"FLOWCON_SOCKET", folder.path() + "/s"}};
  const Outcome without = run_words({"__complete", "flowcon", "release", ""}, environment);
  test::FakeDaemon fake(folder.path() + "/s");
  fake.answer("GET /v1/status", 200,
              R"json({"containers":[{"name":"vae"},{"name":"$(reboot)"},{"name":"a b"}]})json");

  const Outcome with = run_words({"__complete", "flowcon", "release", ""}, environment);

  CHECK(without.out == ":4\n");
  CHECK((without.err + with.err).empty());
  CHECK(with.out == "vae\n:4\n");
}

TEST_CASE("a call for completion without a word is answered with nothing to offer") {
  CHECK(run_words({"__complete"}).out == ":4\n");
}

}  // namespace
}  // namespace flowcon::plugin
