// SPDX-License-Identifier: Apache-2.0
#include "ctrl/api/routes.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;
using namespace flowcon::ctrl::api;

namespace {

Async<Response> nothing(Call) { return at_once({}); }

Route row(const char* method, const char* path, std::vector<Parameter> parameters = {}) {
  return {method, path, "", std::move(parameters), nothing};
}

Routes table() {
  return {row("GET", "/v1/status", {Parameter{"recent", true, 0, 200}}),
          row("GET", "/v1/peers"),
          row("POST", "/v1/peers"),
          row("POST", "/v1/peers/NAME/drain"),
          row("POST", "/v1/peers/NAME/undrain"),
          row("POST", "/v1/containers/NAME/pause"),
          row("GET", "/v1/containers/NAME/history", {since()}),
          row("GET", "/v1/containers/NAME/explain", {Parameter{"last", true, 1, 1000}}),
          row("GET", "/v1/changes", {since(), Parameter{"after"}})};
}

// What the row of the request reads; "" where there is none.
struct Asked {
  std::string path;
  Call call;
  Error error;
};
Asked ask(const std::string& method, const std::string& target) {
  static const Routes routes = table();
  const auto found = find_route(routes, method, target);
  if (!found) return {"", {}, found.error()};
  return {found->first->path, found->second, {}};
}

unsigned status_of(const std::string& method, const std::string& target) {
  boost::asio::io_context io;
  const Routes routes = table();
  Request request;
  request.method = method;
  request.target = target;
  unsigned status = 0;
  const auto life = [&]() -> Async<void> {
    const Response response = co_await answer(&routes, request);
    status = response.status;
  };
  boost::asio::co_spawn(io, life, boost::asio::detached);
  io.run();
  return status;
}

}  // namespace

TEST_CASE("a request has the row with its method and path") {
  CHECK(ask("GET", "/v1/status").path == "/v1/status");
  CHECK(ask("GET", "/v1/peers").path == "/v1/peers");
  CHECK(ask("POST", "/v1/peers/h2/undrain").path == "/v1/peers/NAME/undrain");
  CHECK(status_of("POST", "/v1/peers") == 200);
}

TEST_CASE("a name is decoded, and is the handler's to look up") {
  CHECK(ask("POST", "/v1/containers/vae/pause").call.name == "vae");
  CHECK(ask("GET", "/v1/containers/%2e%2E%2fx/history").call.name == "../x");
  CHECK(ask("GET", "/v1/containers/a/b/history").call.name == "a/b");
  CHECK(ask("GET", "/v1/containers/%00/history").call.name == std::string(1, '\0'));
  CHECK(ask("POST", "/v1/peers/h2%3A2222/drain").call.name == "h2:2222");
  CHECK(ask("GET", "/v1/peers").call.name.empty());
}

TEST_CASE("half a byte in an address is a mistake") {
  for (const std::string wrong : {"%", "%2", "%2g", "%0x", "%-1", "%+1", "a% 1"}) {
    CAPTURE(wrong);
    CHECK(status_of("GET", "/v1/containers/" + wrong + "/history") == 422);
  }
}

TEST_CASE("a parameter is a number within its bounds") {
  const std::string explain = "/v1/containers/a/explain";
  CHECK(ask("GET", explain).call.number("last", 1) == 1);
  CHECK(ask("GET", explain + "?last=1000").call.number("last", 1) == 1000);
  for (const std::string wrong :
       {"", "last=", "last=0", "last=1001", "last=-1", "last=1x", "n=1", "last=1.5",
        "last=99999999999999999999", "last=nan", "last=1&last=2", "last=1&", "last", "pretty"}) {
    CAPTURE(wrong);
    CHECK(status_of("GET", explain + "?" + wrong) == 422);
  }
  CHECK(ask("GET", explain + "?last=0").error.what ==
        "/v1/containers/NAME/explain takes last=N, N from 1 to 1000");
  CHECK(ask("GET", "/v1/peers?x=1").error.what == "/v1/peers takes no query");
  CHECK(ask("GET", "/v1/status?recent=200").call.number("recent", 0) == 200);
  CHECK(status_of("GET", "/v1/status?recent=201") == 422);
}

TEST_CASE("a time is any number of seconds, and parameters come in any order") {
  CHECK(ask("GET", "/v1/containers/a/history?since=12.5").call.number("since", 0.0) == 12.5);
  CHECK(ask("GET", "/v1/containers/a/history").call.query.empty());
  for (const char* query : {"since=1e9&after=7", "after=7&since=1e9"}) {
    const Asked asked = ask("GET", std::string("/v1/changes?") + query);
    CHECK(asked.call.number("since", 0.0) == 1e9);
    CHECK(asked.call.number<std::int64_t>("after", 0) == 7);
  }
  for (const std::string wrong : {"history?since=", "history?since=x", "history?since=nan",
                                  "history?since=inf", "history?since=1&after=2"}) {
    CAPTURE(wrong);
    CHECK(status_of("GET", "/v1/containers/a/" + wrong) == 422);
  }
  CHECK(status_of("GET", "/v1/changes?since=1&after=-1") == 422);
}

TEST_CASE("an address that no row has is not found") {
  for (const std::string wrong : {"", "/", "v1/status", "/v2/status", "/v1/a/b", "/v1",
                                  "/v1/containers/a", "/v1/containers//history", "*"}) {
    CAPTURE(wrong);
    CHECK(status_of("GET", wrong) == 404);
  }
}

TEST_CASE("a body comes in pieces where its row takes it so, and only to the method of the row") {
  const auto takes = [](Call call, Pull body) { return at_once({body ? 200U : 500U, call.peer}); };
  const Routes routes{with_long_body("POST", "/v1/peer/moves/check", "", takes),
                      {"POST", "/v1/peer/moves/NAME", "", {}, nothing},
                      with_long_body("PUT", "/v1/peer/moves/NAME", "", takes)};
  const auto is_long = [&](const char* method, const char* target) {
    Request head;
    head.method = method;
    head.target = target;
    return has_long_body(routes, head);
  };
  CHECK(is_long("POST", "/v1/peer/moves/check"));
  CHECK(is_long("PUT", "/v1/peer/moves/a/volume-0"));
  CHECK_FALSE(is_long("POST", "/v1/peer/moves/a"));
  CHECK_FALSE(is_long("GET", "/v1/peer/moves/check"));
  CHECK_FALSE(is_long("POST", "/v1/peer/moves/check?x=1"));
  CHECK_FALSE(is_long("PUT", "/v1/peer/queue/task"));
  boost::asio::io_context io;
  std::vector<std::string> said;
  const auto life = [&]() -> Async<void> {
    for (const char* target : {"/v1/peer/moves/a/image", "/v1/peer/image"}) {
      Request head;
      head.method = "PUT";
      head.target = target;
      Pull body = []() -> Async<Result<std::string>> { co_return std::string(); };
      const Response one = co_await answer_peer(&routes, head, "h2", std::move(body));
      said.push_back(std::to_string(one.status) + " " + one.body);
    }
  };
  boost::asio::co_spawn(io, life, boost::asio::detached);
  io.run();
  CHECK(said == std::vector<std::string>{
                    "200 h2", "404 " + failure(404,
                                               "there is no PUT /v1/peer/image for peers; "
                                               "docs/peers.md lists all calls")
                                           .body});
}

TEST_CASE("another method of an address says which it has") {
  CHECK(status_of("POST", "/v1/status") == 405);
  CHECK(ask("POST", "/v1/status").error.what == "/v1/status takes GET, not POST");
  CHECK(ask("PUT", "/v1/peers").error.what == "/v1/peers takes GET or POST, not PUT");
}
