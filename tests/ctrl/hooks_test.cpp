// SPDX-License-Identifier: Apache-2.0
// What hooks are told, how often, and how a program is run for it.
#include "ctrl/hooks.h"

#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/json.h"
#include "ctrl/spawn.h"
#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

Event event_of(EventKind kind, const std::string& id) {
  Event event;
  event.kind = kind;
  event.id = id;
  event.container = "name-" + id;
  event.sentence = "it happened";
  return event;
}

std::string read_all(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A program that keeps what it is told, behind what it was told before.
std::string keeper(const test::TempFolder& folder) {
  const std::string path = folder.path() + "/keeper";
  std::ofstream(path) << "#!/bin/sh\nprintf '%s|' \"$@\" >>" << folder.path() << "/told\ncat >>"
                      << folder.path() << "/told\n";
  ::chmod(path.c_str(), 0755);
  return path;
}

}  // namespace

TEST_CASE("the same about the same container is told once in the interval") {
  HookGate gate;

  CHECK(gate.admit(event_of(EventKind::revert, "a"), 60, 100));
  CHECK_FALSE(gate.admit(event_of(EventKind::revert, "a"), 60, 159.9));
  CHECK(gate.admit(event_of(EventKind::revert, "b"), 60, 160));
  CHECK(gate.admit(event_of(EventKind::converged, "a"), 60, 160));
  CHECK(gate.admit(event_of(EventKind::revert, "a"), 60, 160));
  CHECK(gate.take_held_back() == 1);
  CHECK(gate.take_held_back() == 0);
}

TEST_CASE("many containers at once are told of in a burst of sixty, then one a second") {
  HookGate gate;
  int admitted = 0;
  for (int i = 0; i < 1000; ++i) {
    admitted += gate.admit(event_of(EventKind::revert, std::to_string(i)), 60, 5) ? 1 : 0;
  }

  CHECK(admitted == 60);
  CHECK(gate.take_held_back() == 940);
  CHECK_FALSE(gate.admit(event_of(EventKind::revert, "x"), 60, 5.5));
  CHECK(gate.admit(event_of(EventKind::revert, "x"), 60, 6.1));
}

TEST_CASE("a hook is told one object that says what, where, when and how many were left out") {
  Event event = event_of(EventKind::nan, "cafe");
  event.metric = "loss";
  event.value = NAN;
  event.time = 1790000000.5;
  event.sentence = "its value\x1bis \"not\" a number";

  const std::string text = render_event(event, "gpu1", 3);

  CHECK(text ==
        R"({"event":"nan","time":1790000000.5,"host":"gpu1","container":"name-cafe","id":"cafe",)"
        R"("metric":"loss","value":"nan","sentence":"its value)"
        "\xEF\xBF\xBD"
        R"(is \"not\" a number",)"
        R"("held_back":3})"
        "\n");
  const auto read = parse_json(render_event({}, "", 0));
  REQUIRE(read.has_value());
  CHECK(read->at("container").is_null());
  CHECK(read->at("value").is_null());
}

TEST_CASE("a hook is a program by its path and its words, not a line for a shell") {
  const auto words = parse_hook("  /bin/echo  a;b $(c)\t|d ");

  REQUIRE(words.has_value());
  CHECK(*words == std::vector<std::string>{"/bin/echo", "a;b", "$(c)", "|d"});
  CHECK(parse_hook("")->empty());
  CHECK_FALSE(parse_hook("echo a").has_value());
  CHECK_FALSE(parse_hook("/x " + std::string(4000, 'a')).has_value());
}

TEST_CASE("a webhook is an address of http or https") {
  for (const char* good :
       {"http://127.0.0.1:8080/x", "https://chat.example/hook?key=1", "http://h"}) {
    INFO(good);
    CHECK(check_webhook(good).has_value());
  }
  for (const char* bad : {"", "ftp://h/", "file:///etc/passwd", "http://", "http:///x", "-K/etc/x",
                          "http://h/a b", "http://h/\"", "http://h/\n", "https://h/\x01"}) {
    INFO(bad);
    CHECK_FALSE(check_webhook(bad).has_value());
  }
}

TEST_CASE("events go to the hook in order, those that it is not to be told of do not") {
  const test::TempFolder folder;
  boost::asio::io_context io{1};
  Config config;
  config.hooks.program = keeper(folder) + " word";
  config.hooks.events = {EventKind::converged, EventKind::failure};
  Hooks hooks(io, config, "gpu1");

  hooks.tell(event_of(EventKind::converged, "a"), 1);
  hooks.tell(event_of(EventKind::diverging, "a"), 2);
  hooks.tell(event_of(EventKind::converged, "a"), 3);
  hooks.tell(event_of(EventKind::failure, "b"), 4);
  CHECK(hooks.counts().calls == 0);  // nothing has been waited for
  io.run();

  CHECK(hooks.counts().calls == 2);
  CHECK(hooks.counts().failures == 0);
  CHECK(hooks.counts().held_back == 1);
  std::istringstream told(read_all(folder.path() + "/told"));
  std::string first, second, more;
  std::getline(told, first);
  std::getline(told, second);
  CHECK(first.find(R"(word|{"event":"converged")") == 0);
  CHECK(first.find(R"("held_back":0)") != std::string::npos);
  CHECK(second.find(R"(word|{"event":"failure")") == 0);
  CHECK(second.find(R"("held_back":1)") != std::string::npos);
  CHECK_FALSE(std::getline(told, more));
}

TEST_CASE("curl reads the address and the event on its stdin, and its words have neither") {
  CHECK(webhook_input("https://h/?key=1", "{\"a\":\"b\\\"\"}\n") ==
        "url = \"https://h/?key=1\"\ndata-binary = \"{\\\"a\\\":\\\"b\\\\\\\"\\\"}\\n\"\n");
  const test::TempFolder folder;
  std::filesystem::rename(keeper(folder), folder.path() + "/curl");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
  boost::asio::io_context io{1};
  Config config;
  config.hooks.url = "https://chat.example/hooks/secret";
  Hooks hooks(io, config, "gpu1");

  hooks.tell(event_of(EventKind::converged, "a"), 1);
  io.run();
  ::setenv("PATH", path.c_str(), 1);

  CHECK(hooks.counts().failures == 0);
  const std::string told = read_all(folder.path() + "/told");
  const std::size_t input = told.find("|url = \"https://chat.example/hooks/secret\"\n");
  REQUIRE(input != std::string::npos);
  CHECK(told.find("secret") > input);
  CHECK(told.find("data-binary = \"{\\\"event\\\":\\\"converged\\\"") > input);
}

TEST_CASE("why a call failed is told in the program's own words, if it was not too slow") {
  CHECK(render_failure(7, false, "") == "its status is 7");
  CHECK(render_failure(22, false, "curl: (22) 404\n") == "its status is 22: curl: (22) 404");
  CHECK(render_failure(1, false, std::string(1000, 'x')).size() < 350);
  CHECK(render_failure(137, true, "slow") == "it did not end within 30 s");
}

TEST_CASE("what a hook that failed wrote on stderr is logged") {
  const test::TempFolder folder;
  boost::asio::io_context io{1};
  Config config;
  config.hooks.program = "/bin/ls " + folder.path() + "/nothing-is-here";
  Hooks hooks(io, config, "");
  const test::StandardError error;

  hooks.tell(event_of(EventKind::converged, "a"), 1);
  io.run();

  const std::string text = error.text();
  CHECK(text.find("the hook /bin/ls failed, for the 1. time: its status is 2: ") !=
        std::string::npos);
  CHECK(text.find("nothing-is-here") != std::string::npos);
}

TEST_CASE("a hook that fails is counted, and the next event is told all the same") {
  boost::asio::io_context io{1};
  Config config;
  config.hooks.program = "/bin/false";
  Hooks hooks(io, config, "");

  hooks.tell(event_of(EventKind::converged, "a"), 1);
  hooks.tell(event_of(EventKind::converged, "b"), 1);
  io.run();

  CHECK(hooks.counts().calls == 2);
  CHECK(hooks.counts().failures == 2);
}

TEST_CASE("one that cannot be started keeps no later event from being told") {
  const test::TempFolder folder;
  boost::asio::io_context io{1};
  Config config;
  config.hooks.program = "/nonexistent/hook";
  Hooks hooks(io, config, "");
  const auto tell = [&](const std::string& id) {
    boost::asio::post(io, [&hooks, id] { hooks.tell(event_of(EventKind::converged, id), 1); });
    io.restart();
    io.run();
  };

  tell("a");
  CHECK(hooks.counts().failures == 1);
  config.hooks.program = keeper(folder);
  tell("b");
  CHECK(hooks.counts().calls == 2);
  CHECK_FALSE(read_all(folder.path() + "/told").empty());
}

TEST_CASE("without a hook nothing is called, and nothing is held back") {
  boost::asio::io_context io{1};
  const Config config;
  Hooks hooks(io, config, "");

  for (int i = 0; i < 100; ++i) hooks.tell(event_of(EventKind::revert, "a"), 1);
  io.run();

  CHECK(hooks.counts().calls + hooks.counts().held_back == 0);
}

TEST_CASE("no more than a hundred calls wait") {
  boost::asio::io_context io{1};
  Config config;
  config.hooks.program = "/bin/true";
  Hooks hooks(io, config, "");
  // Slow enough for the gate, and faster than anything is called, since the loop does not run.
  for (int i = 0; i < 300; ++i) hooks.tell(event_of(EventKind::revert, std::to_string(i)), 2.0 * i);
  CHECK(hooks.counts().held_back == 200);

  hooks.end();
  io.run();

  CHECK(hooks.counts().calls == 0);
}
