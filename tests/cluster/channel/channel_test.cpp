// SPDX-License-Identifier: Apache-2.0
// A channel to children that are shells with canned answers.
#include "cluster/peers/channel.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>

#include "ctrl/spawn.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::peers {
namespace {

struct Outcome {
  std::vector<Result<Reply>> replies;
  std::string said;
};

// Asks a shell that runs `script` `times` times, then ends it.
Outcome ask_shell(const std::string& script, int times, double seconds) {
  boost::asio::io_context io(1);
  const auto opened = Channel::open(io, {"sh", "-c", script});
  REQUIRE(opened.has_value());
  Outcome outcome;
  const std::shared_ptr<Channel> channel = *opened;
  const auto life = [&]() -> Async<void> {
    for (int i = 0; i < times; ++i) {
      std::string method = "POST", target = "/v1/x", body = "{}";
      Result<Reply> reply =
          co_await channel->ask(std::move(method), std::move(target), std::move(body), seconds);
      outcome.replies.push_back(std::move(reply));
    }
    outcome.said = co_await channel->close();
  };
  ctrl::spawn(io, "test", life);
  io.run();
  return outcome;
}

// Reads a request up to its body of two bytes.
const std::string kTake =
    "while read -r l && [ \"$l\" != \"$(printf '\\r')\" ]; do :; done; head -c 2 >/dev/null; ";

TEST_CASE("requests and answers pass one after the other") {
  const std::string answer = "printf 'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok'; ";
  const Outcome outcome = ask_shell(kTake + answer + kTake + answer, 2, 20);
  REQUIRE(outcome.replies.size() == 2);
  for (const auto& reply : outcome.replies) {
    REQUIRE(reply.has_value());
    CHECK(reply->status == 200);
    CHECK(reply->body == "ok");
  }
}

TEST_CASE("a child that ends without an answer is the end, with its last words") {
  const Outcome outcome = ask_shell("echo no way >&2; exit 255", 2, 20);
  REQUIRE(outcome.replies.size() == 2);
  for (const auto& reply : outcome.replies) {
    REQUIRE_FALSE(reply.has_value());
    CHECK(reply.error().code == boost::asio::error::eof);
  }
  CHECK(outcome.said == "no way\n");
}

TEST_CASE("of many words the last are kept") {
  const Outcome outcome =
      ask_shell("head -c 100000 /dev/zero | tr '\\0' x >&2; echo end >&2", 1, 20);
  CHECK(outcome.said.size() == 4096);
  CHECK(outcome.said.substr(4091) == "xend\n");
}

TEST_CASE("a child that says nothing is not waited for longer than told, and is ended") {
  const Outcome outcome = ask_shell("exec cat >/dev/null", 1, 0.05);
  REQUIRE_FALSE(outcome.replies.front().has_value());
  CHECK(outcome.replies.front().error().code == boost::system::errc::timed_out);
}

TEST_CASE("an answer without end is refused") {
  const Outcome outcome = ask_shell(
      "printf 'HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n'; "
      "c=$(head -c 65536 /dev/zero | tr '\\0' x); while printf '10000\\r\\n%s\\r\\n' \"$c\"; do :; "
      "done",
      2, 20);
  // The rest of it is no answer to the next request.
  for (const auto& reply : outcome.replies) {
    REQUIRE_FALSE(reply.has_value());
    CHECK(reply.error().code == boost::beast::http::error::body_limit);
  }
}

TEST_CASE("what is not HTTP is refused") {
  const Outcome outcome = ask_shell("echo Welcome to this host", 1, 20);
  CHECK_FALSE(outcome.replies.front().has_value());
}

TEST_CASE("a program that is not there is an error of the world") {
  boost::asio::io_context io(1);
  const auto opened = Channel::open(io, {"/nowhere/ssh"});
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == boost::system::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace flowcon::cluster::peers
