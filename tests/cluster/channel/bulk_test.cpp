// SPDX-License-Identifier: Apache-2.0
// Bodies to children that are shells with canned answers.
#include "cluster/peers/bulk.h"

#include <boost/asio/io_context.hpp>
#include <optional>

#include "ctrl/spawn.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::peers {
namespace {

// The pieces one after the other, then the last one again and again.
ctrl::Pull pieces_of(std::vector<Result<std::string>> pieces) {
  auto all = std::make_shared<std::vector<Result<std::string>>>(std::move(pieces));
  auto next = std::make_shared<std::size_t>(0);
  const auto pull = [](auto list, auto i) -> Async<Result<std::string>> {
    co_return (*list)[std::min((*i)++, list->size() - 1)];
  };
  return [all, next, pull] { return pull(all, next); };
}

Result<Answer> send_to_shell(const std::string& script, ctrl::Pull body, double idle = 20) {
  boost::asio::io_context io(1);
  std::optional<Result<Answer>> answer;
  const auto life = [&]() -> Async<void> {
    std::vector<std::string> words;
    for (const char* word : {"sh", "-c"}) words.emplace_back(word);
    words.push_back(script);
    std::string target = "/x", peer = "h2";
    const auto connection = connect_for_payload(io, std::move(words), std::move(peer));
    answer = co_await connection->put(std::move(target), body, idle);
  };
  ctrl::spawn(io, "test", life);
  io.run();
  REQUIRE(answer.has_value());
  return std::move(*answer);
}

// Reads the headers, which say that the body is chunked, or ends.
const std::string kHead =
    "chunked=; while read -r l && [ \"$l\" != \"$(printf '\\r')\" ]; do "
    "case $l in *chunked*) chunked=1 ;; esac; done; [ \"$chunked\" ] || exit 9; ";

TEST_CASE("a body goes over in chunks and the answer comes back") {
  // "3", "abc", "2", "de" and "0", each with the end of a line, and an empty line.
  const auto answer = send_to_shell(
      kHead +
          "b=$(head -c 20 | tr -d '\\r\\n'); "
          "printf 'HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%s' ${#b} \"$b\"",
      pieces_of({"abc", "de", ""}));
  REQUIRE(answer.has_value());
  CHECK(answer->status == 200);
  CHECK(answer->body == "3abc2de0");
}

// Answers each body with the number of bodies that this shell has read.
const std::string kCounts =
    "n=0; while read -r l; do case $l in 0?|0) n=$((n + 1)); read -r l; "
    "printf 'HTTP/1.1 200 OK\\r\\nContent-Length: 1\\r\\n\\r\\n%d' $n ;; esac; done; exit 0; ";

// The answers to bodies one after the other, each as "status body" or an error.
std::vector<std::string> answers_to(const std::string& script, int bodies) {
  boost::asio::io_context io(1);
  std::vector<std::string> answers;
  const auto life = [&]() -> Async<void> {
    std::vector<std::string> words;
    for (const char* word : {"sh", "-c"}) words.emplace_back(word);
    words.push_back(script);
    std::string peer = "h2";
    const auto connection = connect_for_payload(io, std::move(words), std::move(peer));
    for (int i = 0; i < bodies; ++i) {
      std::string target = "/x";
      std::vector<Result<std::string>> pieces{std::string("abc"), std::string()};
      ctrl::Pull body = pieces_of(std::move(pieces));
      const Result<Answer> answer =
          co_await connection->put(std::move(target), std::move(body), 20);
      answers.push_back(answer ? std::to_string(answer->status) + " " + answer->body : "error");
    }
    co_await connection->close();
  };
  ctrl::spawn(io, "test", life);
  io.run();
  return answers;
}

TEST_CASE("bodies go over one connection, one after the other") {
  CHECK(answers_to(kCounts, 3) == std::vector<std::string>{"200 1", "200 2", "200 3"});
}

TEST_CASE("after a refusal or an end the next body has a connection of its own") {
  const std::string refuses =
      kHead +
      "head -c 13 >/dev/null; "
      "printf 'HTTP/1.1 507 No\\r\\nContent-Length: 1\\r\\n\\r\\n%s' $$; exec cat >/dev/null";
  const std::vector<std::string> two = answers_to(refuses, 2);
  REQUIRE(two.size() == 2);
  CHECK(two.front().starts_with("507 "));
  CHECK(two.back().starts_with("507 "));
  CHECK(answers_to(kHead + "head -c 13 >/dev/null; "
                           "printf 'HTTP/1.1 200 OK\\r\\nContent-Length: 1\\r\\n\\r\\n1'; exit 0",
                   3) == std::vector<std::string>{"200 1", "error", "200 1"});
}

TEST_CASE("a peer that refuses in the middle is sent no more, and its answer is the answer") {
  const auto answer =
      send_to_shell(kHead +
                        "printf 'HTTP/1.1 507 No\\r\\nContent-Length: 7\\r\\n\\r\\nno room'; "
                        "exec cat >/dev/null",
                    pieces_of({std::string(65536, 'x')}));
  REQUIRE(answer.has_value());
  CHECK(answer->status == 507);
  CHECK(answer->body == "no room");
}

TEST_CASE("a connection that ends is explained by the last words of ssh") {
  const auto answer = send_to_shell("echo 'peer@h2: Permission denied (publickey).' >&2; exit 255",
                                    pieces_of({std::string(65536, 'x')}));
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().what.find("h2") != std::string::npos);
  CHECK(answer.error().what.find("key") != std::string::npos);
}

TEST_CASE("what comes back and is no HTTP is an error that names the peer") {
  const auto answer =
      send_to_shell("printf 'Welcome to this machine\\r\\n\\r\\n'; exec cat >/dev/null",
                    pieces_of({std::string(65536, 'x')}));
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().what.find("h2") != std::string::npos);
}

TEST_CASE("a body that fails is its own error") {
  const auto answer =
      send_to_shell("exec cat >/dev/null", pieces_of({"abc", bad_input("the disk is broken")}));
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().message() == "the disk is broken");
}

TEST_CASE("a peer that says nothing to a whole body is not waited for longer than told") {
  const auto answer = send_to_shell("exec cat >/dev/null", pieces_of({"abc", ""}), 0.05);
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().code == boost::system::errc::timed_out);
}

TEST_CASE("a peer that takes nothing is not waited for longer than told") {
  const auto answer = send_to_shell("exec sleep 30", pieces_of({std::string(65536, 'x')}), 0.05);
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().code == boost::system::errc::timed_out);
}

}  // namespace
}  // namespace flowcon::cluster::peers
