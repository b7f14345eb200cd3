// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/job/run.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/json.h"
#include "cmd/docker-flowcon/job/follow.h"
#include "tests/cmd/docker-flowcon/docker_fixture.h"
#include "tests/cmd/docker-flowcon/plugin_socket.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::plugin {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("ours stand anywhere before the image, docker's are left alone") {
  struct Row {
    Words line;
    std::string docker;  // what docker gets behind `run --label flowcon.enable=true`
  };
  const std::vector<Row> rows{
      {{"image"}, "<image>"},
      {{"-it", "--rm", "image", "cmd"}, "<-it><--rm><image><cmd>"},
      {{"--metric", "loss", "image"}, "<--label><flowcon.metric=loss><image>"},
      {{"--metric=loss", "--goal=min", "-d", "image"},
       "<--label><flowcon.metric=loss><--label><flowcon.goal=min><-d><image>"},
      {{"--floor", "0.1", "--weight", "2", "image"},
       "<--label><flowcon.weight=2><--label><flowcon.floor=0.1><image>"},
      {{"-d", "--metric", "loss", "image"}, "<--label><flowcon.metric=loss><-d><image>"},
      {{"-dv", "/a:/b", "--cpus", "2", "--metric=loss", "image", "--goal", "min"},
       "<--label><flowcon.metric=loss><-dv></a:/b><--cpus><2><image><--goal><min>"},
      {{"--name=x", "--rm", "--floor", "0.1", "-h", "--metric", "--", "image"},
       "<--label><flowcon.floor=0.1><--name=x><--rm><-h><--metric><image>"},
      {{"-dit", "-eA=1", "--weight", "2", "-w/w", "image"},
       "<--label><flowcon.weight=2><-dit><-eA=1><-w/w><image>"},
      {{"--name"}, "<--name>"},
      {{"--new-in-docker", "value", "--metric", "loss"},
       "<--new-in-docker><value><--metric><loss>"},
      {{"image", "--metric", "loss"}, "<image><--metric><loss>"},
      {{"--", "--metric", "x"}, "<--metric><x>"},
      {{"--metric", "loss", "--", "image"}, "<--label><flowcon.metric=loss><image>"},
      {{"-h", "hostname", "image"}, "<-h><hostname><image>"},
      {{"--metric", "--goal", "image"}, "<--label><flowcon.metric=--goal><image>"},
      {{"--metric", "a", "--metric", "b", "image"}, "<--label><flowcon.metric=b><image>"},
      {{"--pattern", "loss=(?P<value>\\S+) '\"$x", "image"},
       "<--label><flowcon.pattern=loss=(?P<value>\\S+) '\"$x><image>"},
      {{"--label", "a=b", "image"}, "<--label><a=b><image>"},
      {{"--ceiling", "50%", "--only-grow", "image"},
       "<--label><flowcon.ceiling=0.5><--label><flowcon.only-grow=true><image>"},
      {{"--only-grow=false", "--log", "/var/log/train.log", "--log-driver", "json-file", "image"},
       "<--label><flowcon.only-grow=false><--label><flowcon.log=/var/log/train.log>"
       "<--log-driver><json-file><image>"},
  };
  const FakeDocker docker;
  const Environment environment{{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker.path()},
                                {"FLOWCON_SOCKET", docker.folder() + "/no.sock"},
                                {"PATH", "/usr/bin:/bin"}};
  for (const Row& row : rows) {
    Words words{"flowcon", "run"};
    words.insert(words.end(), row.line.begin(), row.line.end());
    std::string expected = "<run><--label><flowcon.enable=true>" + row.docker;
    const std::size_t last = std::min(expected.rfind("<flowcon."), expected.size());
    expected.insert(expected.find("><", last) + 1, "<--env=PYTHONUNBUFFERED=1>");

    const Outcome outcome = run_in_child(words, environment);

    CHECK(outcome.status == 7);
    std::string got = docker.words();
    got.erase(std::remove(got.begin(), got.end(), '\n'), got.end());
    CHECK(got == expected);
  }
}

TEST_CASE("a label says which labels are the container's own, in other words each time") {
  const auto said = [] {
    const FakeDocker docker;
    run_in_child(
        {"flowcon", "run", "--weight", "2", "image"},
        {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker.path()}, {"PATH", "/usr/bin:/bin"}});
    const std::string words = docker.all_words();
    const std::size_t at = words.find("<org.flowcon.own=");
    REQUIRE(at != std::string::npos);
    return words.substr(at, words.find('\n', at) - at);
  };
  const std::string first = said();
  CHECK(first.size() == std::string("<org.flowcon.own=").size() + 32 + 15);
  CHECK(first.ends_with(" enable weight>"));
  CHECK(said() != first);
}

TEST_CASE("docker's global options come before run, in the order they were given") {
  const FakeDocker docker;

  const Outcome outcome = run_in_child(
      {"--config", "/c", "-D", "-H", "tcp://h:1", "flowcon", "run", "image"},
      {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker.path()}, {"PATH", "/usr/bin:/bin"}});

  CHECK(outcome.status == 7);
  CHECK(docker.words() ==
        "<--config>\n</c>\n<-D>\n<-H>\n<tcp://h:1>\n<run>\n<--label>\n<flowcon.enable=true>\n"
        "<--env=PYTHONUNBUFFERED=1>\n<image>\n");
}

TEST_CASE("Python writes its output at once, unless the arguments say something about it") {
  test::TempFolder folder;
  const std::string sets = folder.path() + "/sets";
  const std::string other = folder.path() + "/other";
  std::ofstream(sets) << "A=1\nPYTHONUNBUFFERED=0\n";
  std::ofstream(other) << "A=PYTHONUNBUFFERED=0\n";
  const auto adds = [](const Words& words) {
    const Words all = plan_run({}, {}, {}, words).arguments;
    return std::count(all.begin(), all.end(), "--env=PYTHONUNBUFFERED=1") == 1;
  };
  CHECK(adds({"image"}));
  CHECK(adds({"-e", "PYTHONUNBUFFERED2=1", "--env-file", other, "image"}));
  CHECK(adds({"--env-file", folder.path(), "--env-file", "/nowhere/env", "image"}));
  CHECK(adds({"image", "-e", "PYTHONUNBUFFERED=0"}));
  CHECK_FALSE(adds({"-ite", "PYTHONUNBUFFERED=", "image"}));
  CHECK_FALSE(adds({"-d", "--env=PYTHONUNBUFFERED", "image"}));
  CHECK_FALSE(adds({"--env-file", other, "--env-file=" + sets, "image"}));
  for (const char* line : {"\xEF\xBB\xBFPYTHONUNBUFFERED=0\n", "A=1\n \tPYTHONUNBUFFERED=0\n"}) {
    std::ofstream(sets) << line;
    CHECK_FALSE(adds({"--env-file", sets, "image"}));
  }
}

TEST_CASE("docker gets the environment without what docker tells its plugins") {
  const FakeDocker docker;

  const Outcome outcome = run_in_child({"flowcon", "run", "image"},
                                       {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker.path()},
                                        {"DOCKER_CLI_PLUGIN_SOCKET", "@docker_cli_x"},
                                        {"FLOWCON_TEST_KEPT", "a b"},
                                        {"PATH", "/usr/bin:/bin"}});

  CHECK(outcome.status == 7);
  CHECK(docker.environment().find("DOCKER_CLI_PLUGIN_") == std::string::npos);
  CHECK(docker.environment().find("FLOWCON_TEST_KEPT=a b\n") != std::string::npos);
}

TEST_CASE("a docker that is told to end without a terminal ends the container, too") {
  CHECK(run_until_stopped({"flowcon", "--socket", "/nowhere/s", "run", "image"}).status == 9);
  CHECK(run_until_stopped({"-H", "ssh://gpu2", "flowcon", "run", "image"}).status == 9);
}

TEST_CASE("a signal that comes while no child runs ends each one that follows") {
  const pid_t process = fork();
  if (process == 0) {
    std::ostringstream out, err;
    Terminal terminal{out, err};
    const Invocation invocation;
    const Environment environment;
    const Session session{invocation, environment, terminal};
    const ExecPlan plan{"/bin/sleep", {"sleep", "60"}, {}};
    const HandOn signals;
    raise(SIGTERM);
    for (int child = 0; child < 2; ++child) {
      if (run_child(session, plan) != 128 + SIGTERM) _exit(1);
    }
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(process, &status, 0) == process);
  CHECK(status == 0);
}

TEST_CASE("without docker's own name docker is looked for, and its absence is status 127") {
  const ExecPlan plan = plan_run({}, {}, {}, {"image"});
  const Outcome outcome =
      run_in_child({"-H", "ssh://gpu2", "flowcon", "run", "image"},
                   {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", "/nowhere/docker"}});

  CHECK(plan.program == "docker");
  CHECK(outcome.status == 127);
  CHECK(outcome.err == "cannot start /nowhere/docker: No such file or directory\n");
}

TEST_CASE("one line says that flowcond is not running, and the container runs all the same") {
  const FakeDocker docker;
  const std::string socket = docker.folder() + "/no.sock";
  const Environment environment{{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker.path()},
                                {"PATH", "/usr/bin:/bin"}};

  const Outcome outcome =
      run_in_child({"flowcon", "--socket", socket, "run", "image"}, environment);

  CHECK(outcome.status == 7);
  CHECK(outcome.err ==
        "flowcond is not running (nothing listens at unix://" + socket +
            "), so the container keeps its fair share. Start it with: systemctl start flowcond (or "
            "run: sudo flowcond)\n");
}

const std::string kJob(64, 'a');

// As GET /v1/moves has it; `rest` begins with a comma.
std::string moves_of(const std::string& rest, const std::string& more = "") {
  return R"({"moves":[)" + more + R"({"container":")" + kJob +
         R"(","name":"vae","target_name":"gpu2","side":"source")" + rest + "}]}";
}

TEST_CASE("a container that ran here is where its last move that stopped it says") {
  using State = Whereabouts::State;
  const auto state_of = [](const std::string& text) {
    return whereabouts(*parse_json(text), kJob).state;
  };
  const std::string done = R"(,"ended":true,"step":"done","steps":{"save":1})";
  const std::string undone = R"(,"ended":true,"step":"undone","steps":{"reserve":0)";
  CHECK(state_of(moves_of(done)) == State::moved);
  CHECK(state_of(moves_of(R"(,"ended":false,"step":"transfer")")) == State::moving);
  CHECK(state_of(moves_of(undone + R"(,"save":1})")) == State::back);
  CHECK(state_of(moves_of(undone + "}")) == State::here);
  CHECK(state_of(R"({"moves":[]})") == State::here);
  CHECK(state_of("{}") == State::here);
  CHECK(state_of(R"({"moves":[],"whole":true})") == State::here);
  CHECK(state_of(R"({"moves":[],"whole":false})") == State::unknown);
  CHECK(whereabouts(*parse_json(moves_of(done)), std::string(64, 'b')).state == State::here);
  // One that came here with this id is another matter, and the newest counts.
  CHECK(state_of(R"({"moves":[{"container":")" + kJob + R"(","side":"target"}]})") == State::here);
  const std::string newer =
      R"({"container":")" + kJob + R"(","side":"source","ended":true,"step":"done","name":"v"},)";
  CHECK(state_of(moves_of(undone + R"(,"save":1})", newer)) == State::moved);
}

TEST_CASE("what waits for a job that was moved away does not end with its status") {
  test::TempFolder folder;
  const std::string docker = folder.path() + "/docker";
  std::ofstream(docker) << "#!/bin/sh\ncase $2 in --cidfile=*) echo " << kJob
                        << " >\"${2#--cidfile=}\" ;; esac\nexit ${STATUS:-0}\n";
  chmod(docker.c_str(), 0755);
  test::FakeDaemon daemon(folder.path() + "/s");
  Environment environment{{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker},
                          {"FLOWCON_SOCKET", folder.path() + "/s"},
                          {"TMPDIR", folder.path()},
                          {"PATH", "/usr/bin:/bin"}};
  const auto left_over = [&] {
    std::size_t found = 0;
    for (const auto& one : std::filesystem::directory_iterator(folder.path())) {
      if (one.is_directory()) ++found;
    }
    return found;
  };

  daemon.answer("GET /v1/moves", 200, R"({"moves":[]})");
  environment["STATUS"] = "3";
  Outcome outcome = run_in_child({"flowcon", "run", "image"}, environment);
  CHECK(outcome.status == 3);
  CHECK(outcome.err.empty());

  daemon.answer("GET /v1/moves", 200, moves_of(R"(,"ended":true,"step":"done")"));
  environment["STATUS"] = "0";
  outcome = run_in_child({"flowcon", "run", "image"}, environment);
  CHECK(outcome.status == 125);
  CHECK(outcome.err.find("vae migrated to gpu2") != std::string::npos);
  CHECK(left_over() == 0);
}

TEST_CASE("the id that an earlier run left in its --cidfile is not that of this one") {
  test::TempFolder folder;
  const std::string docker = folder.path() + "/docker", file = folder.path() + "/job.cid";
  std::ofstream(docker) << "#!/bin/sh\n[ $1 = container ] || exit 125\n"
                        << "echo false 0 2026-11-23T10:00:00.5Z\n";
  chmod(docker.c_str(), 0755);
  std::ofstream(file) << kJob;
  test::FakeDaemon daemon(folder.path() + "/s");
  daemon.answer("GET /v1/moves", 200,
                moves_of(R"(,"ended":true,"step":"undone","steps":{"save":1})"));
  CHECK(run_in_child({"flowcon", "run", "--cidfile", file, "image"},
                     {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker},
                      {"FLOWCON_SOCKET", folder.path() + "/s"},
                      {"TMPDIR", folder.path()},
                      {"PATH", "/usr/bin:/bin"}})
            .status == 125);
}

TEST_CASE("run says that flowcond watches another engine than docker's") {
  const FakeDocker docker;
  const std::string& folder = docker.folder();
  std::filesystem::create_directory_symlink(folder, folder + "/link");
  const test::FakeDaemon engine(folder + "/engine"), other(folder + "/other");
  test::FakeDaemon daemon(folder + "/s");
  const auto said = [&](const std::string& socket) {
    const Outcome outcome = run_in_child({"flowcon", "run", "image"},
                                         {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker.path()},
                                          {"DOCKER_HOST", "unix://" + folder + socket},
                                          {"FLOWCON_SOCKET", folder + "/s"},
                                          {"PATH", "/usr/bin:/bin"}});
    CHECK(outcome.status == 7);
    return outcome.err;
  };
  const std::string asked = "GET /v1/status";
  daemon.answer(asked, 200, R"({"engine":{"socket":")" + folder + R"(/engine"}})");
  CHECK(said("/other").starts_with(
      "flowcond at unix://" + folder + "/s watches the engine at unix://" + folder +
      "/engine, so it may not control this container at unix://" + folder + "/other. "));
  // The same one, also by another path; no socket; no answer.
  for (const char* socket : {"/engine", "/link/engine", "/nowhere"}) CHECK(said(socket).empty());
  daemon.answer(asked, 503, R"({"error":"flowcond has just started"})");
  CHECK(said("/other").empty());
  daemon.answer_raw(asked, "");
  CHECK(said("/other").empty());
}

// Who waits for a container that docker inspects as `seen` says; flowcond listens where a test
// says.
class Waiting {
 public:
  explicit Waiting(const std::string& seen) {
    std::ofstream(docker()) << "#!/bin/sh\necho " << seen << "\n";
    chmod(docker().c_str(), 0755);
  }
  // `status` is that of docker's client.
  int end_of(int status, const FollowOptions& options = {true, std::chrono::milliseconds(0)}) {
    const Environment environment{{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker()}};
    std::ostringstream out, err;
    Terminal terminal{out, err};
    const Invocation invocation;
    const Session session{invocation, environment, terminal, socket(), true};
    const int end = follow_job(session, DaemonClient(socket()), kJob, status, options);
    said = err.str();
    return end;
  }
  [[nodiscard]] std::string socket() const { return folder_.path() + "/s"; }

  std::string said;

 private:
  [[nodiscard]] std::string docker() const { return folder_.path() + "/docker"; }

  test::TempFolder folder_;
};

const std::string kSaved = "false 0 2026-11-23T10:00:00.5Z";
const FollowOptions kNotFollowed{false, std::chrono::milliseconds(0)};

TEST_CASE("a job whose flowcond fell silent may have saved itself: its status 0 is none") {
  Waiting waiting(kSaved);
  CHECK(waiting.end_of(0) == 125);
  CHECK(waiting.said.find(
            "It is unknown whether the job ended by itself or saved itself for a migration, "
            "because flowcond does not answer: see docker flowcon status, or docker "
            "ps -a. Cannot connect to flowcond") == 0);
  CHECK(waiting.end_of(3) == 3);
  CHECK(waiting.said.find("It is unknown") == 0);
}

TEST_CASE("a flowcond that comes back in time says whether a move ended the job") {
  Waiting waiting(kSaved);
  test::FakeDaemon daemon(waiting.socket());
  daemon.answer("GET /v1/moves", 503, R"({"error":"the journal was not read yet"})");
  std::thread later([&] {
    while (daemon.requests().empty()) std::this_thread::yield();
    daemon.answer("GET /v1/moves", 200, R"({"moves":[]})");
  });
  CHECK(waiting.end_of(0, {}) == 0);
  CHECK(waiting.said ==
        "Waiting up to 60 s for flowcond, which knows whether a migration ended the job\n");
  later.join();
}

TEST_CASE("no move has stopped a container that never ended, whether flowcond answers or not") {
  for (const char* seen : {"true 0 0001-01-01T00:00:00Z", "false 127 0001-01-01T00:00:00Z"}) {
    Waiting waiting(seen);
    CHECK(waiting.end_of(0, {}) == 0);
    CHECK(waiting.end_of(127, {}) == 127);
    CHECK(waiting.said.empty());
  }
}

TEST_CASE("that a journal with lost entries has no move of a job says nothing") {
  Waiting waiting(kSaved);
  test::FakeDaemon daemon(waiting.socket());
  daemon.answer("GET /v1/moves", 200, R"({"moves":[],"whole":false})");
  CHECK(waiting.end_of(0, {}) == 125);
  CHECK(waiting.said ==
        "It is unknown whether the job ended by itself or saved itself for a migration, because "
        "flowcond "
        "has lost entries of its journal: see docker flowcon status, or docker ps -a\n");
  CHECK(waiting.end_of(3, {}) == 3);
  CHECK(waiting.end_of(0, kNotFollowed) == 0);
  CHECK(waiting.said.empty());
}

TEST_CASE("who was told to end waits neither for a silent flowcond nor for a migration") {
  Waiting waiting(kSaved);
  const HandOn signals;
  raise(SIGTERM);
  CHECK(waiting.end_of(0, {}) == 125);
  CHECK(waiting.said.find("It is unknown") == 0);
  test::FakeDaemon daemon(waiting.socket());
  daemon.answer("GET /v1/moves", 200, moves_of(R"(,"ended":false,"step":"transfer")"));
  CHECK(waiting.end_of(0) == 128 + SIGTERM);
  CHECK(waiting.said == "No longer following; still running: vae\n");
  daemon.answer("GET /v1/moves", 200, moves_of(R"(,"ended":true,"step":"done")"));
  CHECK(waiting.end_of(0) == 125);
  CHECK(waiting.said.find("vae migrated to gpu2") == 0);
}

TEST_CASE("a flowcond that was not there at the beginning is asked once at the end") {
  Waiting waiting(kSaved);
  CHECK(waiting.end_of(0, kNotFollowed) == 0);
  CHECK(waiting.said.empty());
  test::FakeDaemon daemon(waiting.socket());
  daemon.answer("GET /v1/moves", 503, R"({"error":"the journal was not read yet"})");
  CHECK(waiting.end_of(0, kNotFollowed) == 0);
  CHECK(daemon.requests().size() == 1);
  daemon.answer("GET /v1/moves", 200, R"({"moves":[]})");
  CHECK(waiting.end_of(0, kNotFollowed) == 0);
  daemon.answer("GET /v1/moves", 200, moves_of(R"(,"ended":true,"step":"done")"));
  CHECK(waiting.end_of(0, kNotFollowed) == 125);
  CHECK(waiting.said.find("vae migrated to gpu2") == 0);
}

TEST_CASE("a job that a move brought back and that docker no longer knows has no status 0") {
  Waiting waiting("");
  test::FakeDaemon daemon(waiting.socket());
  daemon.answer("GET /v1/moves", 200,
                moves_of(R"(,"ended":true,"step":"undone","steps":{"save":1})"));
  CHECK(waiting.end_of(0) == 125);
  CHECK(waiting.said == "docker does not report the exit status of vae\n");
  CHECK(waiting.end_of(3) == 3);
}

TEST_CASE("nothing is said while flowcond listens, nor about a flowcond on another host") {
  const FakeDocker docker;
  const test::FakeDaemon daemon(docker.folder() + "/flowcon.sock");
  const Environment environment{{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker.path()},
                                {"PATH", "/usr/bin:/bin"}};

  const Outcome here = run_in_child(
      {"flowcon", "run", "--socket", docker.folder() + "/flowcon.sock", "image"}, environment);
  const Outcome there = run_in_child({"-H", "ssh://gpu2", "flowcon", "run", "image"}, environment);

  CHECK(here.status == 7);
  CHECK(here.err.empty());
  CHECK(there.err.empty());
}

TEST_CASE("a misspelt option of ours is docker's to judge, with a word from us") {
  const FakeDocker docker;

  const Outcome outcome = run_in_child(
      {"-H", "ssh://gpu2", "flowcon", "run", "--metrik", "loss", "image"},
      {{"DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND", docker.path()}, {"PATH", "/usr/bin:/bin"}});

  CHECK(outcome.status == 7);
  CHECK(outcome.err == "--metrik is not an option of docker flowcon run; did you mean --metric?\n");
}

}  // namespace
}  // namespace flowcon::plugin
