// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/engine.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/migration/plan/refusals.h"
#include "ctrl/engine/client.h"
#include "ctrl/spawn.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

using namespace flowcon;
using namespace flowcon::cluster::migration;

namespace {

Copy copy_of(const std::string& state) {
  const Result<Seen> seen = parse_seen(R"({"Id":"1","Name":"/vae","State":)" + state + "}");
  REQUIRE(seen.has_value());
  CHECK(seen->name == "vae");
  return seen->copy;
}

}  // namespace

TEST_CASE("how a container stands decides what a move does with it") {
  const std::string times =
      R"(,"StartedAt":"2026-11-21T10:00:00.5Z","FinishedAt":"2026-11-21T10:00:01.5Z")";
  const std::string later =
      R"(,"StartedAt":"2026-11-20T10:00:00.5Z","FinishedAt":"2026-11-21T10:00:01.5Z")";
  CHECK(copy_of(R"({"Status":"created"})") == Copy::created);
  CHECK(copy_of(R"({"Status":"running","Running":true})") == Copy::running);
  CHECK(copy_of(R"({"Status":"paused","Running":true,"Paused":true})") == Copy::running);
  CHECK(copy_of(R"({"Status":"restarting","Running":false,"ExitCode":1})") == Copy::running);
  CHECK(copy_of(R"({"Status":"exited","ExitCode":0})") == Copy::finished);
  CHECK(copy_of(R"({"Status":"exited","ExitCode":1)" + times + "}") == Copy::failed);
  CHECK(copy_of(R"({"Status":"exited","ExitCode":1)" + later + "}") == Copy::finished);
  CHECK(copy_of(R"({"Status":"exited","ExitCode":137)" + times + "}") == Copy::stopped);
  CHECK(copy_of(R"({"Status":"exited","ExitCode":255)" + later + "}") == Copy::stopped);
  CHECK(copy_of(R"({"Status":"exited","ExitCode":137,"OOMKilled":true)" + times + "}") ==
        Copy::failed);
}

TEST_CASE("when a container was started, and how long it lived") {
  const auto seen = [](const std::string& started) {
    return *parse_seen(R"({"State":{"Status":"exited","StartedAt":")" + started +
                       R"(","FinishedAt":"2026-11-21T10:00:05.5Z"}})");
  };
  CHECK(seen("2026-11-21T10:00:00.25Z").lived == 5);
  CHECK(seen("2026-11-21T10:00:00.25Z").started == "1795255200.25");
  CHECK(seen("2026-11-21T10:00:00Z").started == "1795255200");
  CHECK(seen("2026-11-21T10:00:00.123456789Z").started == "1795255200.123456789");
  for (const char* none : {"", "0001-01-01T00:00:00Z", "soon"}) CHECK(seen(none).started.empty());
}

TEST_CASE("what is no container is an error") {
  for (const char* text : {"", "[]", "{}", R"({"State":1})"}) {
    CHECK_FALSE(parse_seen(text).has_value());
  }
  CHECK(parse_seen("no JSON").error().message().starts_with(
      "the engine's answer on a container: not JSON"));
}

TEST_CASE(
    "the last words of a container are also what it printed while the engine noted its start") {
  const flowcon::test::TempFolder folder;
  flowcon::test::FakeDaemon daemon(folder.path() + "/engine");
  const std::string line = "2026-11-21T10:00:00.2Z importing\n";
  const std::string frame{1, 0, 0, 0, 0, 0, 0, static_cast<char>(line.size())};
  const std::string logs = "GET /containers/1/logs?stdout=1&stderr=1&timestamps=1&tail=3&since=";
  daemon.answer(logs + "1795255200.25", 200, "");
  daemon.answer(logs + "1795255199", 200, frame + line);
  boost::asio::io_context io{1};
  ctrl::engine::Client client(io, folder.path() + "/engine");
  DockerEngine engine(client);
  std::string words;
  const auto life = [&]() -> Async<void> {
    Seen seen = *parse_seen(R"({"Id":"1","State":{"Status":"exited",)"
                            R"("StartedAt":"2026-11-21T10:00:00.25Z"}})");
    words = co_await engine.last_words(std::move(seen));
  };
  ctrl::spawn(io, "test", life);
  io.run();
  CHECK(words == "importing");
}

TEST_CASE("files come only to an engine that maps users as theirs does") {
  const flowcon::test::TempFolder folder;
  flowcon::test::FakeDaemon daemon(folder.path() + "/engine");
  daemon.answer("GET /containers/vae/json", 404, R"({"message":"No such container: vae"})");
  boost::asio::io_context io{1};
  ctrl::engine::Client client(io, folder.path() + "/engine");
  DockerEngine engine(client);
  const auto reasons = [&](const std::string& options, const std::string& theirs) {
    daemon.answer("GET /info", 200,
                  R"({"Architecture":"x86_64","DockerRootDir":"/var/lib/docker/1000.1000",)"
                  R"("SecurityOptions":)" +
                      options + "}");
    std::optional<Result<Conflicts>> found;
    const auto work = [&]() -> Async<void> {
      Plan plan;
      plan.image.architecture = "amd64";
      plan.user_mapping = theirs;
      found = co_await engine.conflicts("vae", std::move(plan));
    };
    ctrl::spawn(io, "test", work);
    io.restart();
    io.run();
    REQUIRE(found);
    REQUIRE(found->has_value());
    return (*found)->reasons;
  };
  const std::string mapped = R"(["name=userns"])";
  CHECK(reasons(mapped, "") == std::vector<std::string>{kOtherUsers});
  CHECK(reasons(mapped, "2000.2000") == std::vector<std::string>{kOtherUsers});
  CHECK(reasons(mapped, "1000.1000").empty());
  CHECK(reasons("[]", "1000.1000") == std::vector<std::string>{kOtherUsers});
  CHECK(reasons("[]", "").empty());
  CHECK(reasons(R"(["name=rootless"])", "rootless") == std::vector<std::string>{kOtherUsers});
  CHECK(is_passing_refusal("h2 refuses: " + std::string(kOtherUsers)));  // it holds no job
}

TEST_CASE("restart policies are compared by what they do") {
  using boost::json::object;
  const object none, no{{"Name", "no"}}, always{{"Name", "always"}},
      thrice{{"Name", "on-failure"}, {"MaximumRetryCount", 3}},
      twice{{"Name", "on-failure"}, {"MaximumRetryCount", 2}};
  CHECK(is_same_policy(none, no));
  CHECK_FALSE(restarts(none));
  CHECK_FALSE(restarts(no));
  CHECK(restarts(always));
  CHECK_FALSE(is_same_policy(always, no));
  CHECK_FALSE(is_same_policy(thrice, twice));
  CHECK(is_same_policy(thrice, thrice));
  CHECK(restarts_after(always, 0));
  CHECK(restarts_after(thrice, 1));
  CHECK_FALSE(restarts_after(thrice, 0));
  CHECK_FALSE(restarts_after(no, 1));
}

TEST_CASE("a checkpoint command that the engine has forgotten is not waited for") {
  const test::TempFolder folder;
  const std::string socket_path = folder.path() + "/docker.sock";
  test::FakeDaemon fake(socket_path);
  fake.answer("POST /containers/vae/exec", 201, R"({"Id":"e1"})");
  fake.answer("POST /exec/e1/start", 200, "{}");
  boost::asio::io_context io{1};
  ctrl::engine::Client client(io, socket_path);
  DockerEngine engine(client);
  std::optional<Result<std::int64_t>> status;
  auto life = [&]() -> Async<void> {
    std::string container = "vae";
    std::vector<std::string> words{"save"};
    status = co_await engine.execute(std::move(container), std::move(words), 2);
  };
  ctrl::spawn(io, "test", life);
  io.run();
  REQUIRE(status.has_value());
  CHECK(is_absent(*status));
  const std::vector<test::FakeDaemon::Request> requests = fake.requests();
  CHECK(std::count_if(requests.begin(), requests.end(),
                      [](const auto& one) { return one.line == "GET /exec/e1/json"; }) == 1);
}

TEST_CASE("what has ended is removed without force, and stays where a person has started it") {
  const flowcon::test::TempFolder folder;
  flowcon::test::FakeDaemon daemon(folder.path() + "/engine");
  boost::asio::io_context io{1};
  ctrl::engine::Client client(io, folder.path() + "/engine");
  DockerEngine engine(client);
  daemon.answer("GET /containers/net-w0/json", 200,
                R"({"Id":"net-w0","Name":"/net-w0","State":{"Status":"exited","ExitCode":0},)"
                R"("HostConfig":{"NetworkMode":"bridge"}})");
  const std::string removal = "DELETE /containers/net-w0?v=1";
  for (const int status : {204, 409, 404, 500}) {
    CAPTURE(status);
    daemon.answer(removal, status, status == 204 ? "" : R"({"message":"as it is"})");
    std::optional<Result<void>> removed;
    const auto work = [&]() -> Async<void> { removed = co_await engine.remove_ended("net-w0"); };
    ctrl::spawn(io, "test", work);
    io.restart();
    io.run();
    REQUIRE(removed);
    CHECK(removed->has_value() == (status != 500));
    CHECK(daemon.requests().back().line == removal);
  }
}

TEST_CASE("an engine tells which containers of moves are gone, and how soon after SIGKILL") {
  const flowcon::test::TempFolder folder;
  flowcon::test::FakeDaemon daemon(folder.path() + "/engine");
  const auto event = [](const std::string& action, const std::string& id, const std::string& time,
                        const std::string& signal) {
    return R"({"Action":")" + action + R"(","Actor":{"ID":")" + id +
           R"(","Attributes":{"org.flowcon.move":"move )" + id + "\"" +
           (signal.empty() ? "" : R"(,"signal":")" + signal + "\"") + R"(}},"timeNano":)" + time +
           "}\n";
  };
  const std::string wanted =
      R"({"type":["container"],"event":["start","kill","destroy"],"label":["org.flowcon.move"]})";
  daemon.answer(
      "GET /events?since=0&until=100.500000&filters=" + percent_encoded(wanted), 200,
      event("kill", "forced", "10000000000", "9") + event("destroy", "forced", "10500000000", "") +
          "{\n" + event("kill", "stopped", "11000000000", "15") +
          event("destroy", "stopped", "12000000000", "") +
          event("kill", "labelled", "13000000000", "9") +
          event("destroy", "labelled", "14000000000", "9") +
          event("kill", "again", "15000000000", "9") + event("start", "again", "15500000000", "") +
          event("destroy", "again", "16000000000", "") +
          event("kill", "later", "18000000000", "9") +
          event("destroy", "later", "17000000000", "") +
          event("kill", "there", "19000000000", "9"));
  boost::asio::io_context io{1};
  ctrl::engine::Client client(io, folder.path() + "/engine");
  DockerEngine engine(client);
  std::optional<Result<std::vector<Removal>>> told;
  const auto work = [&]() -> Async<void> { told = co_await engine.removals(100.5); };
  ctrl::spawn(io, "test", work);
  io.run();
  REQUIRE(told);
  REQUIRE(told->has_value());
  const std::vector<Removal>& removals = **told;
  REQUIRE(removals.size() == 5);
  CHECK((removals[0].container == "forced" && removals[0].killed == 0.5));
  CHECK(removals[0].move == "move forced");
  CHECK((removals[1].container == "stopped" && !removals[1].killed));
  CHECK((removals[2].container == "labelled" && !removals[2].killed));
  CHECK((removals[3].container == "again" && !removals[3].killed));
  CHECK((removals[4].container == "later" && !removals[4].killed));
}

namespace {

// A task `net-w0`, the image `dbg` that was committed from it, and a container `other` of that.
struct Committed {
  Committed() {
    look_like("net-w0", "plain", R"("Env":["RANK=0"])");
    look_like("other", "dbg", R"("Env":["RANK=0","MASTER_ADDR=mine"])");
    daemon.answer("GET /images/plain/json", 200, R"({"Config":{}})");
    daemon.answer("GET /images/dbg/json", 200,
                  R"({"Config":{"Env":["RANK=0","MASTER_ADDR=net-w0"],"Labels":)" + labels + "}}");
    daemon.answer("GET /containers/json?all=1&" + filter_of("label", "org.flowcon.move=m1"), 200,
                  R"([{"Id":"other"},{"Id":"net-w0"}])");
  }
  void look_like(const std::string& name, const std::string& image, const std::string& config) {
    daemon.answer("GET /containers/" + name + "/json", 200,
                  R"({"Id":")" + name + R"(","Name":"/)" + name + R"(","Image":")" + image +
                      R"(","State":{"Status":"created"},"Config":{)" + config + R"(,"Labels":)" +
                      labels + "}}");
  }
  Result<Seen> result(Async<Result<Seen>> asked) {
    std::optional<Result<Seen>> seen;
    const auto work = [&]() -> Async<void> { seen = co_await std::move(asked); };
    ctrl::spawn(io, "test", work);
    io.restart();
    io.run();
    REQUIRE(seen);
    return *seen;
  }

  const std::string labels =
      R"({"flowcon.queue":"true","org.flowcon.own":"5f queue","org.flowcon.move":"m1",)"
      R"("org.flowcon.group":"g","org.flowcon.leader":"g"})";
  test::TempFolder folder;
  test::FakeDaemon daemon{folder.path() + "/engine"};
  boost::asio::io_context io{1};
  ctrl::engine::Client client{io, folder.path() + "/engine"};
  DockerEngine engine{client};
};

}  // namespace

TEST_CASE("a container of an image that was committed from a task is not what that was made for") {
  Committed bench;
  const Result<Seen> task = bench.result(bench.engine.look("net-w0"));
  const Result<Seen> other = bench.result(bench.engine.look("other"));
  REQUIRE(task.has_value());
  REQUIRE(other.has_value());
  for (const char* label : {kMoveLabel, kGroupLabel, kLeaderLabel}) {
    CHECK(task->labels.contains(label));
    CHECK_FALSE(other->labels.contains(label));
  }
  CHECK(other->labels.contains("flowcon.queue"));
  CHECK(bench.result(bench.engine.look_made("m1"))->id == "net-w0");
  bench.daemon.answer("GET /containers/net-w0/json", 404, "{}");
  CHECK(bench.result(bench.engine.look_made("m1"))->copy == Copy::absent);
}

TEST_CASE("nor has a job of that image the environment of that task, but what was said anew") {
  Committed bench;
  const auto environment = [&](const std::string& name) {
    Seen seen = *bench.result(bench.engine.look(name));
    const Result<Seen> own = bench.result(bench.engine.with_own_labels(true, std::move(seen)));
    REQUIRE(own.has_value());
    return render_json(member(member(own->inspect, "Config"), "Env"));
  };
  CHECK(environment("other") == R"(["MASTER_ADDR=mine"])");
  CHECK(environment("net-w0") == R"(["RANK=0"])");
}
