// SPDX-License-Identifier: Apache-2.0
#include "base/ssh_address.h"

#include "tests/support/catch.h"

using namespace flowcon;

TEST_CASE("an address of ssh has a host, and a user and a port where they are said") {
  CHECK(*parse_ssh_address("h2") == SshAddress{"", "h2", 22});
  CHECK(*parse_ssh_address("ada@gpu-1.example.org:2222") ==
        SshAddress{"ada", "gpu-1.example.org", 2222});
  CHECK(*parse_ssh_address("[fe80::1%eth0]:23") == SshAddress{"", "fe80::1%eth0", 23});
  CHECK(*parse_ssh_address("root@[::1]") == SshAddress{"root", "::1", 22});
}

TEST_CASE("what ssh could take for an option, or a shell for a word of its own, is no address") {
  for (const std::string text : {"",          "-oProxyCommand=x",
                                 "a b",       "h2\n",
                                 "h2;id",     "$(id)",
                                 "`id`",      "h2/..",
                                 "../h2",     "@h2",
                                 "-l@h2",     "a b@h2",
                                 "a@b@c",     "h2:",
                                 "h2:0",      "h2:65536",
                                 "h2:2x",     "h2:-1",
                                 "::1",       "[::1",
                                 "[::1]22",   "[]",
                                 "%eth0",     ".h2",
                                 "h\xc3\xa4", "h2'",
                                 "h2\"",      "u\nx@h2"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_ssh_address(text).has_value());
  }
  CHECK_FALSE(parse_ssh_address(std::string("h2\0x", 4)).has_value());
  CHECK_FALSE(parse_ssh_address(std::string(254, 'a')).has_value());
  CHECK(parse_ssh_address(std::string(253, 'a')).has_value());
}

TEST_CASE("an address is rendered as it is read") {
  for (const std::string text : {"h2", "h2:2222", "ada@h2", "ada@[::1]:23", "[::1]"}) {
    CHECK(render_ssh_address(*parse_ssh_address(text)) == text);
  }
  CHECK(host_and_port(*parse_ssh_address("ada@h2:2222")) == "h2:2222");
  CHECK(host_and_port(*parse_ssh_address("ada@h2")) == "h2");
}
