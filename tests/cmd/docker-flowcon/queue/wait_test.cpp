// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/wait.h"

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "tests/cmd/docker-flowcon/daemon_fixture.h"
#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

std::string job(const std::string& name, const std::string& state, const std::string& exit,
                const std::string& note = "") {
  return R"({"id":"id-)" + name + R"(","name":")" + name + R"(","state":")" + state +
         R"(","exit":)" + exit + R"(,"note":")" + note + "\"}";
}

class WaitFixture : public DaemonFixture {
 public:
  void answer_with(const std::string& name, const std::string& body) {
    fake.answer("GET /v1/queue/" + name, 200, body);
    fake.answer("GET /v1/queue/id-" + name, 200, body);
  }
  Outcome run(std::vector<std::string> words) {
    words.insert(words.begin(), "wait");
    return DaemonFixture::run(std::move(words));
  }
};

TEST_CASE_METHOD(WaitFixture, "wait prints each status and ends with the last one's") {
  answer_with("a", job("a", "failed", "3"));
  answer_with("b", job("b", "done", "0"));

  const Outcome both = run({"a", "b"});
  CHECK(both.status == 0);
  CHECK(both.out == "3\n0\n");
  CHECK(both.err.empty());
  CHECK(run({"b", "a"}).status == 3);
}

TEST_CASE_METHOD(WaitFixture, "the end of a job that flowcond forgets before the others' is kept") {
  answer_with("a", job("a", "running", "null"));
  fake.answer("GET /v1/queue/b", 200, job("b", "running", "null"));
  fake.answer("GET /v1/queue/id-b", 200, job("b", "failed", "3"));
  std::thread later([this] {
    while (fake.requests().size() < 5) std::this_thread::yield();
    fake.answer("GET /v1/queue/id-b", 404, R"({"error":"No such job: id-b"})");
    fake.answer("GET /v1/queue/id-a", 200, job("a", "done", "0"));
  });

  const Outcome outcome = run({"a", "b"});
  later.join();
  CHECK(outcome.out == "0\n3\n");
  CHECK(outcome.err.empty());
  CHECK(outcome.status == 3);
}

TEST_CASE_METHOD(WaitFixture, "a job without a status of its own is a sentence and 1") {
  answer_with("a", job("a", "cancelled", "null", "by user 1000\\u001b"));
  answer_with("b", job("b", "refused", "null", "no room, ever"));
  answer_with("c", job("c", "failed", "null"));
  answer_with("d", job("d", "cancelled", "0"));
  answer_with("e", job("e", "failed", "256.5"));

  CHECK(run({"a"}).err == "a was cancelled: by user 1000\xEF\xBF\xBD\n");
  CHECK(run({"b"}).err == "b was refused: no room, ever\n");
  for (const std::string name : {"a", "b", "c", "d", "e"}) {
    const Outcome outcome = run({name});
    CHECK(outcome.status == 1);
    CHECK(outcome.out.empty());
  }
}

TEST_CASE_METHOD(WaitFixture, "a name that is no job fails before anything is waited for") {
  answer_with("a", job("a", "running", "null"));
  fake.answer("GET /v1/queue/nope", 404, R"({"error":"No such job: nope"})");

  const Outcome outcome = run({"a", "nope"});
  CHECK(outcome.status == 1);
  CHECK(outcome.err == "No such job: nope\n");
  CHECK(run({"--", "a/b"}).err.find("No such job: ") == 0);
}

TEST_CASE_METHOD(WaitFixture,
                 "wait goes on until the job has ended, by its id, and says it is held") {
  fake.answer("GET /v1/queue/a", 200, job("a", "running", "null"));
  fake.answer("GET /v1/queue/id-a", 200,
              R"({"id":"id-a","name":"a","state":"waiting","held":true})");
  std::thread later([this] {
    while (fake.requests().size() < 3) std::this_thread::yield();
    fake.answer("GET /v1/queue/id-a", 200, job("a", "done", "0"));
  });

  const Outcome outcome = run({"a"});
  later.join();
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "0\n");
  CHECK(outcome.err == "a is held; release it with: docker flowcon queue release a\n");
}

// Runs `wait a` against a socket in `folder`, asking at once again.
Outcome wait_at(const std::string& socket, std::chrono::milliseconds patience) {
  std::ostringstream out, err;
  Terminal terminal{out, err};
  const Invocation invocation;
  const Environment environment;
  const Session session{invocation, environment, terminal, socket, true};
  WaitOptions options;
  options.jobs = {"a"};
  options.look = std::chrono::milliseconds(1);
  options.patience = patience;
  const int status = run_wait(session, options);
  return {status, out.str(), err.str()};
}

TEST_CASE("wait survives a restart of flowcond") {
  const test::TempFolder folder;
  const std::string socket = folder.path() + "/s";
  auto daemon = std::make_unique<test::FakeDaemon>(socket);
  daemon->answer("GET /v1/queue/a", 200, job("a", "running", "null"));
  daemon->answer("GET /v1/queue/id-a", 200, job("a", "running", "null"));
  Outcome outcome;
  std::thread waiting([&] { outcome = wait_at(socket, std::chrono::seconds(60)); });
  while (daemon->requests().size() < 3) std::this_thread::yield();
  daemon.reset();
  std::map<std::string, std::string> early{
      {"GET /v1/queue/id-a",
       test::FakeDaemon::canned(503, R"({"error":"the journal was not read yet"})")}};
  daemon = std::make_unique<test::FakeDaemon>(socket, std::move(early));
  while (daemon->requests().empty()) std::this_thread::yield();
  daemon->answer("GET /v1/queue/id-a", 200, job("a", "failed", "4"));
  waiting.join();

  CHECK(outcome.status == 4);
  CHECK(outcome.out == "4\n");
  CHECK(outcome.err.find("Waiting up to 60 s for flowcond: ") == 0);
}

TEST_CASE_METHOD(WaitFixture, "a task is no job") {
  answer_with("a", R"({"id":"id-a","name":"net-w0","state":"running","group":"net"})");
  const Outcome outcome = run({"a"});
  CHECK(outcome.status == 1);
  CHECK(outcome.err == "net-w0 is a task of job net: name that job\n");
}

TEST_CASE("a wait that comes first survives a restart of flowcond, too") {
  const test::TempFolder folder;
  test::FakeDaemon daemon(folder.path() + "/s");
  daemon.answer("GET /v1/queue/a", 503, R"({"error":"it has just started"})");
  daemon.answer("GET /v1/queue/id-a", 200, job("a", "done", "0"));
  Outcome outcome;
  std::thread waiting([&] { outcome = wait_at(folder.path() + "/s", std::chrono::seconds(60)); });
  while (daemon.requests().size() < 2) std::this_thread::yield();
  daemon.answer("GET /v1/queue/a", 200, job("a", "running", "null"));
  waiting.join();
  CHECK(outcome.out == "0\n");
}

TEST_CASE("a job that is removed is not waited for") {
  const test::TempFolder folder;
  test::FakeDaemon daemon(folder.path() + "/s");
  daemon.answer("GET /v1/queue/a", 200, job("a", "running", "null"));
  daemon.answer("GET /v1/queue/id-a", 404, R"({"error":"No such job: id-a"})");

  const Outcome outcome = wait_at(folder.path() + "/s", std::chrono::hours(1));
  CHECK(outcome.status == 1);
  CHECK(outcome.err == "No such job any more: id-a\n");
}

TEST_CASE("a flowcond that stays silent ends the waiting with its error") {
  const test::TempFolder folder;
  test::FakeDaemon daemon(folder.path() + "/s");
  daemon.answer("GET /v1/queue/a", 200, job("a", "running", "null"));
  daemon.answer("GET /v1/queue/id-a", 503, R"({"error":"the journal was not read yet"})");

  const Outcome outcome = wait_at(folder.path() + "/s", std::chrono::milliseconds(20));
  CHECK(outcome.status == 1);
  CHECK(outcome.err == "the journal was not read yet\n");
  CHECK(daemon.requests().size() > 2);
}

}  // namespace
}  // namespace flowcon::plugin
