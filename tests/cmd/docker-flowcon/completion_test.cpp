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
  CompletionNames names;
  names.containers = [] { return Words{"vae", "gru"}; };
  names.others = [] { return Words{"web"}; };
  names.metrics = [] { return Words{"loss", "val_acc"}; };
  names.peers = [] { return Words{"gpu2", "gpu3:2222"}; };
  names.members = [] { return Words{"gpu3:2222"}; };
  names.hosts = [] { return Words{"gpu1", "gpu2", "gpu3:2222"}; };
  names.jobs = [] { return Words{"net", "old"}; };
  names.open_jobs = [] { return Words{"net"}; };
  const Completion completion = complete(make_root(session), make_commands(session), words, names);
  std::string text;
  for (const std::string& candidate : completion.candidates) {
    text += (text.empty() ? "" : " ") + candidate.substr(0, candidate.find('\t'));
  }
  if (completion.offers_files) text += "+files";
  if (completion.of_docker) {
    text += "docker";
    for (const std::string& word : *completion.of_docker) text += " <" + word + ">";
  }
  return text;
}

TEST_CASE("the last word is completed by what may stand there") {
  const std::vector<std::pair<Words, std::string>> rows{
      {{""},
       "adopt cluster doctor estimate explain extract fetch history logs migrate pause peer pin "
       "plot queue rebalance release report resume run set status submit top tune unpin version "
       "wait "
       "help"},
      {{"re"}, "rebalance release report resume"},
      {{"-"}, "--socket --help"},
      {{"top", "--sort", "m"}, "memory"},
      {{"report", "--output", ""}, "+files"},
      {{"report", "--o"}, "--output"},
      {{"tune", "--from", ""}, "+files"},
      {{"tune", "--objective", ""}, "mean t90 makespan"},
      {{"--socket", ""}, "+files"},
      {{"--socket", "x", "st"}, "status"},
      {{"help", "v"}, "version"},
      {{"help", "run", ""}, ""},
      {{"nope", ""}, ""},
      {{"status", ""}, "vae gru"},
      {{"status", "g"}, "gru"},
      {{"status", "vae", ""}, "vae gru"},
      {{"status", "--"},
       "--all --filter --format --interval --no-trunc --quiet --socket --watch --help"},
      {{"status", "--q"}, "--quiet"},
      {{"status", "--format", ""}, "json table {{"},
      {{"status", "--format", "j"}, "json"},
      {{"status", "--format=t"}, "table"},
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
      {{"plot", "--what=l"}, "limit loss"},
      {{"plot", "--what="}, "cpu limit loss memory"},
      {{"plot", "vae", ""}, ""},
      {{"migrate", ""}, "vae gru"},
      {{"migrate", "vae", ""}, "gpu2 gpu3:2222"},
      {{"migrate", "--method", "app", "vae", "gpu3"}, "gpu3:2222"},
      {{"migrate", "vae", "gpu2", ""}, ""},
      {{"migrate", "--method", ""}, "app criu"},
      {{"peer", ""}, "add drain ls rm undrain help"},
      {{"peer", "drain", ""}, "gpu1 gpu2 gpu3:2222"},
      {{"peer", "drain", "gpu2", ""}, ""},
      {{"peer", "rm", ""}, "gpu3:2222"},
      {{"peer", "undrain", "gpu1"}, "gpu1"},
      {{"peer", "add", ""}, ""},
      {{"peer", "ls", "--q"}, "--quiet"},
      {{"queue", ""}, "cancel hold park release restart scale set show help"},
      {{"queue", "--"}, "--all --format --hosts --socket --help"},
      {{"queue", "--format", ""}, "json table {{"},
      {{"fetch", ""}, "net old"},
      {{"fetch", "net", "-o", ""}, "+files"},
      {{"queue", "show", ""}, "net old"},
      {{"queue", "show", "net", ""}, ""},
      {{"queue", "show", "--format", ""}, "json text"},
      {{"queue", "release", ""}, "net"},
      {{"queue", "cancel", "net", ""}, "net"},
      {{"queue", "restart", "--without", "gpu2"}, "gpu2"},
      {{"queue", "restart", "--without=gpu3"}, "gpu3:2222"},
      {{"queue", "scale", ""}, "net"},
      {{"queue", "scale", "net", ""}, "none"},
      {{"queue", "set", "n"}, "net"},
      {{"queue", "set", "--p"}, "--priority"},
      {{"queue", "set", "--retries", ""}, "none"},
      {{"wait", "old", ""}, "net old"},
      {{"estimate", "--"}, "--check --env --format --socket --help"},
      {{"estimate", "--format", ""}, "json table"},
      {{"estimate", "image", ""}, ""},
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
      {{"adopt", "--metric", ""}, "loss val_acc"},
      {{"adopt", "--metric=v"}, "val_acc"},
      {{"adopt", ""}, "web"},
      {{"adopt", "web", ""}, ""},
      {{"extract", ""}, "+files"},
      {{"extract", "--e"}, "--explain"},
      {{"extract", "--input", ""}, "json-file raw"},
      {{"run", "--m"}, "--metric"},
      {{"run", "--goal", "m"}, "min max"},
      {{"run", "--metric", "l"}, "loss"},
      {{"run", "--rest"}, "docker <run> <--rest>"},
      {{"run", ""}, "docker <run> <>"},
      {{"run", "--metric", "loss", ""}, "docker <run> <>"},
      {{"run", "--metric", "loss", "-v", ""}, "docker <run> <-v> <>"},
      {{"run", "--rm", "--m"}, "docker <run> <--rm> <--m>"},
      {{"submit", "--ho"}, "--hold"},
      {{"submit", "--goal", "m"}, "min max"},
      {{"submit", "--elastic", "r"}, "restart"},
      {{"submit", "--elastic="}, "no join restart torchrun"},
      {{"submit", "--request", ""}, ""},
      {{"submit", ""}, "docker <create> <>"},
      {{"submit", "--hold", "--name", ""}, "docker <create> <--name> <>"},
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

TEST_CASE("docker's script for bash takes an option and its value apart") {
  const Environment environment{{"FLOWCON_SOCKET", "/nowhere"}};

  CHECK(join_at_equals({"adopt", "--goal", "=", "m"}) == Words{"adopt", "--goal=m"});
  CHECK(join_at_equals({"adopt", "--goal", "="}) == Words{"adopt", "--goal="});
  CHECK(join_at_equals({"=", "a", "=", "b"}) == Words{"=", "a", "=", "b"});
  CHECK(run_words({"__completeNoDesc", "adopt", "--goal", "=", "ma"}, environment).out ==
        "max\n:4\n");
}

TEST_CASE("hosts are offered by what may be done with them") {
  const test::TempFolder folder;
  const Environment environment{{"FLOWCON_SOCKET", folder.path() + "/s"}};
  test::FakeDaemon fake(folder.path() + "/s");
  fake.answer("GET /v1/peers", 200,
              R"json({"here":{"name":"gpu1"},"peers":[{"name":"gpu2","source":"command"},
                      {"name":"gpu3:22","source":"config"},{"name":"$(reboot)"}]})json");
  const auto offered = [&](const Words& words) {
    Words all{"__complete", "flowcon"};
    all.insert(all.end(), words.begin(), words.end());
    return run_words(all, environment).out;
  };

  CHECK(offered({"peer", "drain", ""}) == "gpu1\ngpu2\ngpu3:22\n:4\n");
  CHECK(offered({"peer", "rm", ""}) == "gpu2\n:4\n");
  CHECK(offered({"migrate", "vae", ""}) == "gpu2\ngpu3:22\n:4\n");
}

TEST_CASE("jobs are offered by what may be done with them") {
  const test::TempFolder folder;
  const Environment environment{{"FLOWCON_SOCKET", folder.path() + "/s"}};
  test::FakeDaemon fake(folder.path() + "/s");
  fake.answer("GET /v1/queue", 200,
              R"json({"jobs":[{"name":"net","state":"running"},{"name":"vae","state":"waiting"},
                      {"name":"$(reboot)","state":"waiting"},{"name":"old","state":"done"}]})json");

  CHECK(run_words({"__complete", "flowcon", "wait", ""}, environment).out == "net\nvae\nold\n:4\n");
  CHECK(run_words({"__complete", "flowcon", "queue", "hold", ""}, environment).out ==
        "net\nvae\n:4\n");
}

TEST_CASE("a metric whose name means something to a shell is not offered") {
  const test::TempFolder folder;
  const Environment environment{{"FLOWCON_SOCKET", folder.path() + "/s"}};
  test::FakeDaemon fake(folder.path() + "/s");
  fake.answer("GET /v1/status", 200,
              R"json({"containers":[{"name":"a","metric":"val_loss"},{"name":"b","metric":"`x`"},
                      {"name":"c","metric":"--rm"},{"name":"d","metric":"val_loss"},
                      {"name":"e","metric":null}]})json");

  CHECK(run_words({"__complete", "flowcon", "adopt", "--metric", ""}, environment).out ==
        "val_loss\n:4\n");
}

TEST_CASE("a call for completion without a word is answered with nothing to offer") {
  CHECK(run_words({"__complete"}).out == ":4\n");
}

}  // namespace
}  // namespace flowcon::plugin
