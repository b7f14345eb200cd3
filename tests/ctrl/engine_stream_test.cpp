// SPDX-License-Identifier: Apache-2.0
// Calls and byte streams of the engine's client, against an engine with canned answers.
#include <boost/asio/io_context.hpp>
#include <optional>

#include "base/text.h"
#include "ctrl/engine/client.h"
#include "ctrl/spawn.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

using namespace flowcon;
using namespace flowcon::ctrl;
using engine::Client;
using engine::engine_error;
using engine::Reply;

namespace {

constexpr double kLong = 20;

struct Engine {
  test::TempFolder folder;
  std::string path = folder.path() + "/docker.sock";
  test::FakeDaemon daemon{path};
  boost::asio::io_context io{1};
  Client client{io, path};
};

// Runs one coroutine to its end.
template <class T>
T wait(Engine& engine, Async<T> coroutine) {
  std::optional<T> value;
  const auto keep = [&](Async<T> inner) -> Async<void> { value = co_await std::move(inner); };
  spawn(engine.io, "test", keep(std::move(coroutine)));
  engine.io.run();
  engine.io.restart();
  REQUIRE(value.has_value());
  return std::move(*value);
}

// All pieces of a download, joined.
Async<Result<std::string>> whole(Pull pull) {
  std::string all;
  for (;;) {
    Result<std::string> piece = co_await pull();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return all;
    all += *piece;
  }
}

Pull pieces_of(std::vector<Result<std::string>> pieces) {
  auto left = std::make_shared<std::vector<Result<std::string>>>(std::move(pieces));
  auto next = std::make_shared<std::size_t>(0);
  const auto pull = [](auto all, auto i) -> Async<Result<std::string>> {
    co_return (*all)[(*i)++];
  };
  return [left, next, pull] { return pull(left, next); };
}

std::string chunked(const std::string& chunks) {
  return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + chunks;
}

}  // namespace

TEST_CASE("a call has the method, the path, the body and the answer, whatever its status") {
  Engine engine;
  engine.daemon.answer("POST /containers/x/rename", 409, R"({"message":"taken"})");
  const auto reply = wait(engine, engine.client.call("POST", "/containers/x/rename", "{}", kLong));
  REQUIRE(reply.has_value());
  CHECK(reply->status == 409);
  CHECK(engine_error(*reply, "renaming x").message() == "renaming x: taken");
  CHECK(engine.daemon.requests().front().body == "{}");
}

TEST_CASE("a call that is not answered in time ends as such") {
  Engine engine;
  engine.daemon.answer_raw("GET /info", "");
  const auto reply = wait(engine, engine.client.call("GET", "/info", "", 0.05));
  REQUIRE_FALSE(reply.has_value());
  CHECK(reply.error().code == boost::system::errc::timed_out);
}

TEST_CASE("the engine's error has its own sentence, or its status") {
  CHECK(engine::engine_error({404, R"({"message":"No such image"})"}, "d").code ==
        boost::system::errc::no_such_file_or_directory);
  CHECK(engine::engine_error({500, "<html>"}, "d").message() == "d: status 500");
}

TEST_CASE("a name in a path or a query has no other meaning than itself") {
  CHECK(percent_encoded("a/../b?c=%&\xff") == "a%2F..%2Fb%3Fc%3D%25%26%FF");
}

TEST_CASE("a download comes in pieces and ends") {
  Engine engine;
  const std::string large(150000, 'x');
  char size[16];
  std::snprintf(size, sizeof size, "%zx", large.size());
  engine.daemon.answer_raw("GET /images/x/get", chunked("3\r\nabc\r\n" + std::string(size) +
                                                        "\r\n" + large + "\r\n0\r\n\r\n"));
  auto pull = wait(engine, engine.client.download("/images/x/get", kLong));
  REQUIRE(pull.has_value());
  const auto all = wait(engine, whole(*pull));
  REQUIRE(all.has_value());
  CHECK(*all == "abc" + large);
}

TEST_CASE("an event that is too long is left out, and the next one is told") {
  Engine engine;
  const auto chunk = [](const std::string& text) {
    char size[16];
    std::snprintf(size, sizeof size, "%zx", text.size());
    return std::string(size) + "\r\n" + text + "\r\n";
  };
  const auto event = [](const std::string& action, const std::string& label) {
    return R"({"Type":"container","Action":")" + action + R"(","Actor":{"ID":")" +
           std::string(64, 'a') + R"(","Attributes":{"x":")" + label + R"("}},"timeNano":5})" +
           "\n";
  };
  const std::string large = event("create", std::string(2U << 20, 'x'));
  engine.daemon.answer_raw(
      "GET /events?filters=" + percent_encoded(R"({"type":["container"],"event":["start"]})"),
      chunked(chunk(event("start", "")) + chunk(large.substr(0, 1U << 20)) +
              chunk(large.substr(1U << 20)) + chunk(event("die", "")) + "0\r\n\r\n"));
  std::vector<std::string> told;
  const Error ended =
      wait(engine, engine.client.events(
                       0, [](const std::function<void()>&) {},
                       [&](const engine::EngineEvent& one) { told.push_back(one.action); },
                       R"(["start"])"));
  CHECK(told == std::vector<std::string>{"start", "die"});
  CHECK_FALSE(ended.message().empty());
}

TEST_CASE("a download that is refused is the engine's sentence") {
  Engine engine;
  engine.daemon.answer("GET /images/x/get", 404, R"({"message":"No such image: x"})");
  const auto pull = wait(engine, engine.client.download("/images/x/get", kLong));
  REQUIRE_FALSE(pull.has_value());
  CHECK(pull.error().code == boost::system::errc::no_such_file_or_directory);
  CHECK(pull.error().what.find("No such image: x") != std::string::npos);
}

TEST_CASE("a download that is cut is an error, not an end") {
  Engine engine;
  engine.daemon.answer_raw("GET /images/x/get", chunked("3\r\nabc\r\n5\r\nab"));
  auto pull = wait(engine, engine.client.download("/images/x/get", kLong));
  REQUIRE(pull.has_value());
  CHECK_FALSE(wait(engine, whole(*pull)).has_value());
}

TEST_CASE("an upload has its type and its chunks, and the answer") {
  Engine engine;
  engine.daemon.answer("PUT /containers/x/archive?path=%2F", 200, "");
  const auto reply =
      wait(engine, engine.client.upload("PUT", "/containers/x/archive?path=%2F",
                                        "application/x-tar", pieces_of({"abc", "de", ""}), kLong));
  REQUIRE(reply.has_value());
  CHECK(reply->status == 200);
  CHECK(engine.daemon.requests().front().body == "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
}

TEST_CASE("who is refused in the middle of an upload sees the answer and pulls no more") {
  Engine engine;
  engine.daemon.answer_early("POST /images/load", 400, R"({"message":"no room"})");
  const auto endless = []() -> Async<Result<std::string>> { co_return std::string(65536, 'x'); };
  const auto reply = wait(engine, engine.client.upload("POST", "/images/load", "application/x-tar",
                                                       Pull(endless), kLong));
  REQUIRE(reply.has_value());
  CHECK(engine_error(*reply, "loading").message() == "loading: no room");
}

TEST_CASE("an upload whose source fails is cut, not ended") {
  Engine engine;
  engine.daemon.answer("POST /images/load", 200, "{}");
  const auto reply =
      wait(engine, engine.client.upload("POST", "/images/load", "application/x-tar",
                                        pieces_of({"abc", bad_input("the peer is gone")}), kLong));
  REQUIRE_FALSE(reply.has_value());
  CHECK(reply.error().message() == "the peer is gone");
  // The daemon's thread has read the whole request once the next one is answered.
  (void)wait(engine, engine.client.call("GET", "/x", "", kLong));
  CHECK(engine.daemon.requests().front().body == "3\r\nabc\r\n");
}

TEST_CASE("an engine that takes an upload and says nothing is not waited for longer than told") {
  Engine engine;
  engine.daemon.answer_raw("POST /images/load", "");
  const auto reply = wait(engine, engine.client.upload("POST", "/images/load", "application/x-tar",
                                                       pieces_of({"abc", ""}), 0.05));
  REQUIRE_FALSE(reply.has_value());
  CHECK(reply.error().code == boost::system::errc::timed_out);
}

TEST_CASE("without an engine every call says what to do") {
  boost::asio::io_context io(1);
  test::TempFolder folder;
  Client client(io, folder.path() + "/none.sock");
  std::optional<Result<Pull>> pull;
  const auto ask = [&]() -> Async<void> { pull = co_await client.download("/x", kLong); };
  spawn(io, "test", ask());
  io.run();
  REQUIRE_FALSE(pull->has_value());
  CHECK(pull->error().what.find("is it running?") != std::string::npos);
}
