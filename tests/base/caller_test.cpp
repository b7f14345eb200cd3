// SPDX-License-Identifier: Apache-2.0
// The line that says whose bytes a connection carries.
#include "base/caller.h"

#include "base/ssh_address.h"
#include "tests/support/catch.h"

namespace flowcon {
namespace {

using Kind = Announced::Kind;

TEST_CASE("an announcement is read back, and nothing behind it") {
  const std::string text = announcement("h2:2222") + "GET / HTTP/1.1\r\n";
  const Announced read = read_announcement(text);
  CHECK(read.kind == Kind::whole);
  CHECK(read.name == "h2:2222");
  CHECK(text.substr(read.bytes) == "GET / HTTP/1.1\r\n");
}

TEST_CASE("without a name it is said that there is none, so that what follows cannot say one") {
  const Announced read = read_announcement(announcement("") + announcement("h2"));
  CHECK(read.kind == Kind::whole);
  CHECK(read.name.empty());
  CHECK(read.bytes == announcement("").size());
}

TEST_CASE("it may come in pieces") {
  const std::string text = announcement("gpu-1.example");
  for (std::size_t size = 0; size < text.size(); ++size) {
    CHECK(read_announcement(text.substr(0, size)).kind == Kind::half);
  }
  CHECK(read_announcement(text).kind == Kind::whole);
}

TEST_CASE("what begins otherwise, or does not end, is none") {
  CHECK(read_announcement("GET /v1/peer/hello HTTP/1.1\r\n").kind == Kind::none);
  CHECK(read_announcement("FLOWCON-PEEX h2\n").kind == Kind::none);
  CHECK(read_announcement("FLOWCON-PEER " + std::string(400, 'x')).kind == Kind::none);
}

TEST_CASE("every name of an address may be a caller's, and nothing else") {
  for (const char* text : {"h2", "h2:2222", "[fe80::1%eth0]:22", "[fe80::1]:2222", "a_b.c-d"}) {
    const Result<SshAddress> address = parse_ssh_address(text);
    REQUIRE(address.has_value());
    CHECK(is_caller_name(host_and_port(*address)));
  }
  for (const char* text : {"", "-oProxyCommand=x", "--from", "a b", "a'b", "a\nb", "$(id)", "`id`",
                           "a\"b", "a;b", "a/b", "\xc3\xa4", "a\\b"}) {
    CHECK_FALSE(is_caller_name(text));
    CHECK(read_announcement(announcement(text)).name.empty());
  }
  CHECK_FALSE(is_caller_name(std::string(291, 'a')));
}

}  // namespace
}  // namespace flowcon
