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
    std::string method = "PUT", target = "/x", peer = "h2";
    answer = co_await send_body(io, std::move(words), std::move(method), std::move(target), body,
                                idle, std::move(peer));
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
