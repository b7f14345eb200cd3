// SPDX-License-Identifier: Apache-2.0
// `docker flowcon logs` of jobs of the queue: where they run, and what is said where nothing is to
// be shown.
#include "base/json.h"
#include "cluster/migration/plan/log_lines.h"
#include "tests/cmd/docker-flowcon/docker_fixture.h"
#include "tests/cmd/docker-flowcon/plugin_socket.h"

namespace flowcon::plugin {
namespace {

class JobLogsFixture {
 public:
  void job(const std::string& members) {
    const std::string answer =
        R"({"id":")" + std::string(64, 'a') + R"(","name":"vae","ended":null,)" + members + "}";
    for (const std::string& name : {std::string("vae"), std::string(12, 'a')}) {
      daemon.answer("GET /v1/queue/" + name, 200, answer);
    }
  }
  Outcome run(const std::string& name, const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> words{"flowcon", "logs"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.push_back(name);
    return run_in_child(words, {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker.path()},
                                {"FLOWCON_SOCKET", docker.folder() + "/s"},
                                {"PATH", "/usr/bin:/bin"}});
  }

  FakeDocker docker{0, "here\n"};
  test::FakeDaemon daemon{docker.folder() + "/s"};
};

TEST_CASE_METHOD(JobLogsFixture, "logs: a job that runs elsewhere is asked for by its name there") {
  job(R"("state":"running","host":"h1")");
  const std::string line = cluster::migration::render_record({1'000'000'000, false, "loss 1\n"});
  for (const char* query : {"?tail=0", ""}) {
    const bool is_probe = *query != '\0';
    daemon.answer(std::string("GET /v1/containers/vae/log") + query, 200,
                  render_json({{"lines", is_probe ? "" : line}, {"forwarded_to", "h1"}}));
  }
  for (const std::string& name : {std::string("vae"), std::string(12, 'a')}) {
    INFO(name);
    const Outcome outcome = run(name);
    CHECK(outcome.out == "loss 1\n");
    CHECK(outcome.status == 0);
  }
  CHECK(docker.words().empty());
}

TEST_CASE_METHOD(JobLogsFixture,
                 "logs: each part of a log elsewhere begins where the last one ended") {
  job(R"("state":"running","host":"h1")");
  const std::string log = "GET /v1/containers/vae/log";
  const auto part = [](const std::string& text, bool has_more) {
    const std::string line = cluster::migration::render_record({1'000'000'000, false, text});
    return render_json({{"lines", line},
                        {"after", 1'000'000},
                        {"skip", 2},
                        {"more", has_more},
                        {"forwarded_to", "h1"}});
  };
  daemon.answer(log + "?tail=0", 200, R"({"lines":"","forwarded_to":"h1"})");
  daemon.answer(log, 200, part("loss", true));
  daemon.answer(log + "?after=1000000&skip=2", 200, part(" 1\n", false));
  CHECK(run("vae").out == "loss 1\n");
}

TEST_CASE_METHOD(JobLogsFixture, "logs: of one that is followed from now on, what comes is shown") {
  job(R"("state":"running","host":"h1")");
  const std::string log = "GET /v1/containers/vae/log";
  const auto part = [](const std::string& text, std::int64_t second, bool is_running) {
    const std::string line =
        cluster::migration::render_record({second * 1'000'000'000, false, text});
    return render_json({{"lines", line},
                        {"after", second * 1'000'000},
                        {"skip", 1},
                        {"running", is_running},
                        {"forwarded_to", "h1"}});
  };
  daemon.answer(log + "?tail=0", 200, R"({"lines":"","forwarded_to":"h1"})");
  const std::vector<std::string> from_now{"--tail", "0", "-f"};
  SECTION("behind the last line") {
    daemon.answer(log + "?tail=1", 200, part("loss 2\n", 1, true));
    daemon.answer(log + "?after=1000000&skip=1", 200, part("loss 1\n", 2, false));
    // Its end: the queue has no such job any more.
    daemon.answer("GET /v1/queue/vae", 404, "{}");
    CHECK(run("vae", from_now).out == "loss 1\n");
  }
  SECTION("all, where nothing was printed yet") {
    daemon.answer("GET /v1/queue/vae", 404, "{}");
    daemon.answer(log + "?tail=1", 200,
                  R"({"lines":"","after":0,"skip":0,"running":true,"forwarded_to":"h1"})");
    daemon.answer(log, 200, part("loss 1\n", 2, false));
    CHECK(run("vae", from_now).out == "loss 1\n");
  }
}

TEST_CASE_METHOD(JobLogsFixture, "logs: an older flowcond elsewhere is not asked to skip records") {
  job(R"("state":"running","host":"h1")");
  const std::string log = "GET /v1/containers/vae/log";
  const auto part = [](const std::string& text, bool has_more) {
    const std::string line = cluster::migration::render_record({1'000'000'000, false, text});
    return render_json(
        {{"lines", line}, {"after", 1'000'000}, {"more", has_more}, {"forwarded_to", "h1"}});
  };
  daemon.answer(log + "?tail=0", 200, R"({"lines":"","forwarded_to":"h1"})");
  daemon.answer(log, 200, part("loss", true));
  daemon.answer(log + "?after=1000000", 200, part(" 1\n", false));
  CHECK(run("vae").out == "loss 1\n");
}

TEST_CASE_METHOD(JobLogsFixture,
                 "logs: a host that does not answer, and a job that waits, are said") {
  daemon.answer("GET /v1/containers/vae/log?tail=0", 200, R"({"lines":""})");
  daemon.answer("GET /v1/containers/vae/past-log?from=0", 200, R"({"lines":""})");
  job(R"("state":"running","host":"h1")");
  const Outcome silent = run("vae");
  CHECK(silent.status == 1);
  CHECK(silent.err == "vae runs on h1, which does not answer\n");
  CHECK(docker.words().empty());
  job(R"("state":"waiting","host":null,"note":"waits for 1 core")");
  const Outcome waits = run("vae");
  CHECK(waits.err == "vae does not run: waits for 1 core\n");
  CHECK(waits.out == "here\n");
  job(R"("state":"running","host":null,"tasks":[{"name":"vae-w0"},{"name":"vae-w1"}])");
  CHECK(run("vae").err == "vae is a job of several containers, each with a log: vae-w0, vae-w1\n");
}

TEST_CASE("logs: the last lines of a container that came here begin on its earlier host") {
  test::TempFolder folder;
  test::FakeDaemon daemon(folder.path() + "/s");
  std::string past;
  for (const char* text : {"a\n", "b\n", "c\n"}) {
    past += cluster::migration::render_record({1'000'000'000, false, text});
  }
  daemon.answer("GET /v1/containers/vae/past-log?from=0", 200, render_json({{"lines", past}}));
  const auto shown = [&](const std::string& script, const std::string& tail) {
    const std::string docker = folder.path() + "/docker";
    std::ofstream(docker) << "#!/bin/sh\n" << script << "\n";
    chmod(docker.c_str(), 0755);
    return run_in_child({"flowcon", "logs", "--since=", "--tail", tail, "vae"},
                        {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker},
                         {"FLOWCON_SOCKET", folder.path() + "/s"},
                         {"PATH", "/usr/bin:/bin"}})
        .out;
  };
  // 3 MB, all of it on stderr.
  CHECK(shown("yes \"$(printf %099d 0)\" | head -n 30000 >&2", "30001") == "c\n");
  CHECK(shown("echo here; echo there >&2", "4") == "b\nc\nhere\n");
  CHECK(shown("echo what >&2; echo is wrong >&2; exit 1", "2") == "b\nc\n");
}

TEST_CASE("logs: a docker that is told to end without a terminal ends what follows, too") {
  const std::vector<std::string> follow{"flowcon", "--socket", "/nowhere/s", "logs", "-f", "vae"};
  CHECK(run_until_stopped(follow).status == 9);
}

}  // namespace
}  // namespace flowcon::plugin
