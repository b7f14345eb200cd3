// SPDX-License-Identifier: Apache-2.0
// pause, resume, pin, unpin and set against a daemon that knows canned answers.
#include "cmd/docker-flowcon/job/steering.h"

#include "tests/cmd/docker-flowcon/daemon_fixture.h"
#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

using Words = std::vector<std::string>;

class SteeringFixture : public DaemonFixture {
 public:
  void accept(const std::string& target) {
    fake.answer("POST " + target, 200, R"({"id":"x","name":"vae"})");
  }
};

TEST_CASE_METHOD(SteeringFixture,
                 "pause, resume and unpin post without a body and print the name") {
  for (const std::string action : {"pause", "resume", "unpin"}) {
    accept("/v1/containers/vae/" + action);

    const Outcome outcome = run({action, "vae"});

    CHECK(outcome.status == 0);
    CHECK(outcome.out == "vae\n");
    CHECK(outcome.err.empty());
    CHECK(fake.requests().back().line == "POST /v1/containers/vae/" + action);
    CHECK(fake.requests().back().body.empty());
  }
}

TEST_CASE_METHOD(SteeringFixture,
                 "a job that waits, or has several containers, is said to be that") {
  for (const std::string name : {"vae", "net", "old"}) {
    fake.answer("POST /v1/containers/" + name + "/pin", 404,
                R"({"error":"No such container: )" + name + R"("})");
  }
  fake.answer("GET /v1/queue/vae", 200, R"({"name":"vae","state":"waiting","tasks":[]})");
  fake.answer("GET /v1/queue/net", 200,
              R"({"name":"net","state":"running","tasks":[{"name":"net-w0"},{"name":"net-w1"}]})");
  fake.answer("GET /v1/queue/old", 200, R"({"name":"old","state":"done","tasks":[]})");

  const Outcome outcome = run({"pin", "--cpu", "0.5", "vae", "net", "old"});
  CHECK(outcome.status == 1);
  CHECK(outcome.err ==
        "vae waits in the queue: docker flowcon queue show vae\n"
        "net is a job of several containers; name one of them: net-w0, net-w1\n"
        "No such container: old\n");
}

TEST_CASE_METHOD(SteeringFixture, "what is refused or has no time now is no job for that") {
  fake.answer("GET /v1/queue/net", 200,
              R"({"name":"net","state":"running","tasks":[{"name":"net-w0"},{"name":"net-w1"}]})");
  for (const int status : {409, 422, 503}) {
    CAPTURE(status);
    fake.answer("POST /v1/containers/net/pin", status, R"({"error":"not now"})");
    CHECK(run({"pin", "--cpu", "0.5", "net"}).err == "not now\n");
  }
}

TEST_CASE_METHOD(SteeringFixture, "--all is one call for all containers") {
  fake.answer("POST /v1/pause", 200, R"({"paused":true})");
  fake.answer("POST /v1/resume", 200, R"({"paused":false})");

  const Outcome pause = run({"pause", "--all"});
  const Outcome resume = run({"resume", "-a"});

  CHECK(pause.status == 0);
  CHECK((pause.out + pause.err).empty());
  CHECK(resume.status == 0);
  REQUIRE(fake.requests().size() == 2);
  CHECK(fake.requests()[0].line == "POST /v1/pause");
  CHECK(fake.requests()[1].line == "POST /v1/resume");
}

TEST_CASE_METHOD(SteeringFixture, "pin sends the share as a number and the time in seconds") {
  accept("/v1/containers/vae/pin");
  const std::vector<std::pair<Words, std::string>> rows{
      {{"--cpu", "0.5"}, R"({"cpu":"0.5"})"},
      {{"--cpu", "50%"}, R"({"cpu":"0.5"})"},
      {{"--cpu=12.5%", "--for=90s"}, R"({"cpu":"0.125","for":"90"})"},
      {{"--cpu", "1", "--for", "1h30m"}, R"({"cpu":"1","for":"5400"})"},
      {{"--cpu", "100%", "--for", "1.5s"}, R"({"cpu":"1","for":"1.5"})"},
  };
  for (const auto& [options, body] : rows) {
    Words words{"pin", "vae"};
    words.insert(words.end(), options.begin(), options.end());

    CHECK(run(words).out == "vae\n");
    CHECK(fake.requests().back().body == body);
  }
}

TEST_CASE_METHOD(SteeringFixture, "set sends what was said and nothing else") {
  accept("/v1/containers/vae/set");
  const std::vector<std::pair<Words, std::string>> rows{
      {{"--weight", "2"}, R"({"weight":"2"})"},
      {{"--weight", "none", "--floor", "10%"}, R"({"weight":"none","floor":"0.1"})"},
      {{"--ceiling", "0.5", "--floor=none"}, R"({"floor":"none","ceiling":"0.5"})"},
      {{"--only-grow"}, R"({"only-grow":"true"})"},
      {{"--only-grow=false"}, R"({"only-grow":"false"})"},
      {{"--only-grow=false", "--only-grow"}, R"({"only-grow":"true"})"},
  };
  for (const auto& [options, body] : rows) {
    Words words{"set", "vae"};
    words.insert(words.end(), options.begin(), options.end());

    const Outcome outcome = run(words);

    INFO(outcome.err);
    CHECK(outcome.out == "vae\n");
    CHECK(fake.requests().back().body == body);
  }
}

TEST_CASE_METHOD(SteeringFixture, "each command goes on after a container that is not there") {
  fake.answer("GET /v1/status", 200, R"({"paused":false,"containers":[]})");
  const std::vector<Words> commands{
      {"pause"}, {"resume"}, {"pin", "--cpu", "0.5"}, {"unpin"}, {"set", "--weight", "2"}};
  for (const Words& command : commands) {
    for (const std::string name : {"a", "c"}) accept("/v1/containers/" + name + "/" + command[0]);
    fake.answer("POST /v1/containers/b/" + command[0], 404,
                "{\"error\":\"container b is not under control\\u001b[2J\"}");
    Words words = command;
    words.insert(words.end(), {"a", "b", "c", "d/e"});

    const Outcome outcome = run(words);

    CHECK(outcome.status == 1);
    CHECK(outcome.out == "a\nc\n");
    CHECK(outcome.err ==
          "container b is not under control\xEF\xBF\xBD[2J\n"
          "No such container: \"d/e\" cannot be a name\n");
  }
}

TEST_CASE_METHOD(SteeringFixture, "a value that flowcond refuses is its sentence") {
  fake.answer("POST /v1/containers/vae/set", 422, R"({"error":"that job has no weight"})");

  const Outcome outcome = run({"set", "vae", "--weight", "2"});

  CHECK(outcome.status == 1);
  CHECK(outcome.err == "that job has no weight\n");
}

TEST_CASE_METHOD(SteeringFixture,
                 "a flowcond that watches another engine than docker's is named, unless chosen") {
  const test::FakeDaemon engine(folder.path() + "/engine"), other(folder.path() + "/other");
  fake.answer("GET /v1/status", 200, R"({"engine":{"socket":")" + folder.path() + R"(/engine"}})");
  accept("/v1/containers/vae/pin");
  const Environment environment{{"DOCKER_HOST", "unix://" + folder.path() + "/other"}};
  const auto said = [&](bool chose_socket) {
    std::ostringstream out, err;
    Terminal terminal{out, err};
    const Invocation invocation;
    const Session session{invocation, environment, terminal, folder.path() + "/s", chose_socket};
    CHECK(run_on_each(session, {"vae"}, "pin", "") == 0);
    return err.str();
  };
  CHECK(said(false).find(", so it does not look for containers at unix://" + folder.path() +
                         "/other. ") != std::string::npos);
  CHECK(said(true).empty());
  CHECK(fake.requests().size() == 3);
}

TEST_CASE_METHOD(SteeringFixture, "adopt and set say ceilings, growth and the log alike") {
  accept("/v1/containers/vae/adopt");

  CHECK(run({"adopt", "vae", "--floor", "10%", "--ceiling", "50%", "--only-grow", "--log",
             "tfevents:/runs"})
            .status == 0);
  CHECK(fake.requests().back().body ==
        R"({"floor":"0.1","ceiling":"0.5","only-grow":"true","log":"tfevents:/runs"})");
}

}  // namespace
}  // namespace flowcon::plugin
