// SPDX-License-Identifier: Apache-2.0
// adopt, release and version against a daemon that knows canned answers.
#include "tests/cmd/docker-flowcon/daemon_fixture.h"
#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

TEST_CASE_METHOD(DaemonFixture, "adopt sends what was said and prints the container") {
  fake.answer("POST /v1/containers/vae/adopt", 200, R"({"id":"x","name":"vae"})");

  const Outcome plain = run({"adopt", "vae"});
  const Outcome full = run({"adopt", "--metric", "loss", "vae", "--goal", "min", "--pattern",
                            "loss=(\\S+)", "--weight", "2", "--floor", "0.1"});

  CHECK(plain.status == 0);
  CHECK(plain.out == "vae\n");
  CHECK(full.status == 0);
  REQUIRE(fake.requests().size() == 2);
  CHECK(fake.requests()[0].body == "{}");
  CHECK(
      fake.requests()[1].body ==
      R"json({"metric":"loss","goal":"min","pattern":"loss=(\\S+)","weight":"2","floor":"0.1"})json");
}

TEST_CASE_METHOD(DaemonFixture, "adopt fails with the daemon's sentence") {
  fake.answer("POST /v1/containers/vae/adopt", 409, R"({"error":"vae does not run"})");

  const Outcome outcome = run({"adopt", "vae"});

  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == "vae does not run\n");
}

TEST_CASE_METHOD(DaemonFixture, "release goes on after a container it cannot release") {
  fake.answer("POST /v1/containers/a/release", 200, R"({"id":"x","name":"a"})");
  fake.answer("POST /v1/containers/b/release", 404, R"({"error":"b is not under control"})");
  fake.answer("POST /v1/containers/c/release", 200, R"({"id":"x","name":"c"})");

  const Outcome outcome = run({"release", "a", "b", "c"});

  CHECK(outcome.status == 1);
  CHECK(outcome.out == "a\nc\n");
  CHECK(outcome.err == "b is not under control\n");
}

TEST_CASE_METHOD(DaemonFixture, "a container may be called as a command is") {
  fake.answer("POST /v1/containers/status/release", 200, R"({"id":"x","name":"status"})");

  CHECK(run({"release", "status"}).out == "status\n");
}

TEST_CASE_METHOD(DaemonFixture, "what cannot be a name never gets into a request") {
  for (const std::string name : {"..", "a/b", "[a,b]", "", "a b", "a\r\nX: y", "-a", "a%2f"}) {
    const Outcome outcome = run({"release", "--", name});

    CHECK(outcome.status == 1);
    CHECK(outcome.err.compare(0, 17, "No such container") == 0);
  }
  CHECK(fake.requests().empty());
}

TEST_CASE_METHOD(DaemonFixture, "version shows both sides") {
  fake.answer("GET /v1/version", 200, R"({"version":"0.2.0","api":1})");

  CHECK(run({"version"}).out == "Client: docker-flowcon\n Version:      " FLOWCON_VERSION
                                "\n API version:  1\n\nServer: flowcond\n Version:      0.2.0\n"
                                " API version:  1\n");
  CHECK(run({"version", "--format", "json"}).out ==
        "{\"Client\":{\"Version\":\"" FLOWCON_VERSION
        "\",\"ApiVersion\":1},\"Server\":{\"Version\":\"0.2.0\",\"ApiVersion\":1}}\n");
  CHECK(run({"version", "--format", "{{.Server.Version}}"}).out == "0.2.0\n");
}

TEST_CASE("version without a daemon shows the plugin's, fails and says how to start one") {
  const test::TempFolder folder;
  const std::string socket = folder.path() + "/s";

  const Outcome plain = run_words({"flowcon", "version", "--socket", socket});
  const Outcome json = run_words({"flowcon", "version", "--socket=" + socket, "--format", "json"});

  CHECK(plain.status == 1);
  CHECK(json.status == 1);
  CHECK(plain.out == "Client: docker-flowcon\n Version:      " FLOWCON_VERSION
                     "\n API version:  1\n");
  CHECK(plain.err.find("systemctl start flowcond") != std::string::npos);
  CHECK(json.out == "{\"Client\":{\"Version\":\"" FLOWCON_VERSION
                    "\",\"ApiVersion\":1},\"Server\":null}\n");
}

TEST_CASE("every command without a daemon fails with the way to start one") {
  const test::TempFolder folder;
  const std::vector<std::vector<std::string>> commands{
      {"status"},     {"status", "--watch"},       {"adopt", "x"},   {"release", "x"},
      {"pause", "x"}, {"pause", "--all"},          {"resume", "x"},  {"pin", "x", "--cpu", "1"},
      {"unpin", "x"}, {"set", "x", "--only-grow"}, {"explain", "x"}, {"history", "x"},
      {"plot", "x"}};
  for (const std::vector<std::string>& command : commands) {
    std::vector<std::string> words{"flowcon", "--socket", folder.path() + "/s"};
    words.insert(words.end(), command.begin(), command.end());

    const Outcome outcome = run_words(words);

    CHECK(outcome.status == 1);
    CHECK(outcome.err == "Cannot connect to flowcond at unix://" + folder.path() +
                             "/s: No such file or directory. Is it running? Start it with: "
                             "systemctl start flowcond (or run: sudo flowcond)\n");
  }
}

TEST_CASE("--socket wins over FLOWCON_SOCKET, and the last one over the first") {
  const test::TempFolder folder;
  test::FakeDaemon fake(folder.path() + "/right");
  fake.answer("GET /v1/status", 200, R"({"containers":[]})");
  const Environment environment{{"FLOWCON_SOCKET", folder.path() + "/wrong"}};

  CHECK(
      run_words({"flowcon", "--socket", folder.path() + "/right", "status"}, environment).status ==
      0);
  CHECK(run_words({"flowcon", "--socket", "/wrong", "status", "--socket", folder.path() + "/right"},
                  environment)
            .status == 0);
}

TEST_CASE("a variable that is nearly FLOWCON_SOCKET is told of, unless a socket is named") {
  const test::TempFolder folder;
  test::FakeDaemon fake(folder.path() + "/s");
  fake.answer("GET /v1/status", 200, R"({"containers":[]})");
  using Words = std::vector<std::string>;
  const Words bare{"flowcon", "status"};
  const Words named{"flowcon", "--socket", folder.path() + "/s", "status"};
  const auto err = [](const std::string& name, const Words& words) {
    return run_words(words, {{name, ""}, {"FLOWCON_OF_MY_SITE", "x"}}).err;
  };

  for (const char* name : {"FLOWCON_SOKET", "FLOWCON_Socket", "flowcon_socket"}) {
    CHECK(err(name, bare)
              .find("environment " + std::string(name) +
                    " is not used; did you mean FLOWCON_SOCKET?\n") == 0);
    CHECK(err(name, named).find("environment") == std::string::npos);
  }
  CHECK(err("FLOWCON_SOCKET", bare).find("environment") == std::string::npos);
}

}  // namespace
}  // namespace flowcon::plugin
