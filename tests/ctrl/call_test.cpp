// SPDX-License-Identifier: Apache-2.0
#include "ctrl/api/call.h"

#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl::api;

TEST_CASE("a call about all is its method and its last word") {
  const Result<Call> call = parse_call("GET", "/v1/status");
  REQUIRE(call.has_value());
  CHECK(call->verb == "GET status");
  CHECK_FALSE(call->container);
}

TEST_CASE("a container's name is decoded, and is the caller's to look up") {
  CHECK(parse_call("POST", "/v1/containers/vae/pause")->container == "vae");
  CHECK(parse_call("POST", "/v1/containers/vae/pause")->verb == "POST pause");
  CHECK(parse_call("GET", "/v1/containers/%2e%2E%2fx/history")->container == "../x");
  CHECK(parse_call("GET", "/v1/containers/a/b/history")->container == "a/b");
  CHECK(parse_call("GET", "/v1/containers/%00/history")->container == std::string(1, '\0'));
}

TEST_CASE("a call about a peer has its name") {
  const auto call = parse_call("POST", "/v1/peers/h2%3A2222/drain");
  REQUIRE(call.has_value());
  CHECK(call->verb == "POST drain");
  CHECK(call->peer == "h2:2222");
  CHECK_FALSE(call->container.has_value());
  CHECK_FALSE(parse_call("GET", "/v1/peers")->peer.has_value());
  CHECK(parse_call("GET", "/v1/peers")->verb == "GET peers");
}

TEST_CASE("half a byte in an address is a mistake") {
  for (const std::string wrong : {"%", "%2", "%2g", "%0x", "%-1", "%+1", "a% 1"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_call("GET", "/v1/containers/" + wrong + "/history").has_value());
  }
}

TEST_CASE("how many are wanted") {
  CHECK(parse_call("GET", "/v1/containers/a/explain")->last == 1);
  CHECK(parse_call("GET", "/v1/containers/a/explain?last=1000")->last == 1000);
  for (const std::string wrong : {"", "last=", "last=0", "last=1001", "last=-1", "last=1x", "n=1",
                                  "last=99999999999999999999", "last=1&last=2"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_call("GET", "/v1/containers/a/explain?" + wrong).has_value());
  }
}

TEST_CASE("since when, and behind which one") {
  CHECK(parse_call("GET", "/v1/containers/a/history?since=12.5")->since == 12.5);
  CHECK_FALSE(parse_call("GET", "/v1/containers/a/history")->since);
  CHECK(parse_call("GET", "/v1/runs?since=0")->since == 0);
  CHECK(parse_call("GET", "/v1/changes?since=1e9&after=7")->after == 7);
  for (const std::string wrong :
       {"history?since=", "history?since=x", "history?since=nan", "history?since=inf",
        "history?until=1", "history?since=1&after=2", "changes?since=1&after=-1",
        "changes?since=1&after=x", "changes?after=1", "changes?since=1&", "runs?since=1&x=2"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_call("GET", "/v1/containers/a/" + wrong).has_value());
  }
  CHECK(parse_call("GET", "/v1/status?recent=32")->recent == 32);
  CHECK(parse_call("GET", "/v1/status")->recent == 0);
  for (const std::string wrong : {"recent=", "recent=-1", "recent=201", "recent=1x"}) {
    CHECK_FALSE(parse_call("GET", "/v1/status?" + wrong).has_value());
  }
}

TEST_CASE("a question that a call does not have is not looked at") {
  const Result<Call> call = parse_call("GET", "/v1/status?pretty");
  REQUIRE(call.has_value());
  CHECK(call->verb == "GET status");
}

TEST_CASE("any other address says so with the code for it") {
  for (const std::string wrong : {"", "/", "v1/status", "/v2/status", "/v1/a/b", "/v1",
                                  "/v1/containers/a", "/v1/containers//history", "*"}) {
    CAPTURE(wrong);
    const Result<Call> call = parse_call("GET", wrong);
    REQUIRE_FALSE(call.has_value());
    CHECK(call.error().code == boost::system::errc::no_such_file_or_directory);
  }
}
