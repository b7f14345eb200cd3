// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/peer/files.h"

#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

const std::string kKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3+/8a=";
const SshAddress kH2{"", "h2", 22};
const SshAddress kPort{"", "h2", 2222};

TEST_CASE("a public key is its type and its body, whatever stands behind") {
  CHECK(*parse_public_key(kKey + " ada@x\n") == kKey);
  CHECK(*parse_public_key("  " + kKey) == kKey);
}

TEST_CASE("a line with options, a command or another line in it is no public key") {
  for (const std::string& line :
       {std::string(), std::string("ssh-ed25519"), std::string("ssh-ed25519 AAA\"x"),
        "command=\"id\" " + kKey, "from=\"*\"," + kKey, std::string("ssh-dss AAAA"),
        std::string("ssh-ed25519 AA\nssh-rsa AA").insert(14, "!"),
        "ssh-rsa " + std::string(8193, 'A')}) {
    CAPTURE(line);
    CHECK_FALSE(parse_public_key(line).has_value());
  }
  CHECK(*parse_public_key("ssh-ed25519 AA\ncommand=\"id\" ssh-rsa AA") == "ssh-ed25519 AA");
}

TEST_CASE("the keys of ssh-keyscan are found between its remarks") {
  const auto keys = parse_keyscan("# h2:22 SSH-2.0-OpenSSH_10.0\nh2 " + kKey +
                                  "\n\n[h2]:2222 ssh-rsa AAAA\nh2 ssh-ed25519 ;rm\n");
  CHECK(keys == std::vector<std::string>{kKey, "ssh-rsa AAAA"});
}

TEST_CASE("a peer's key can do one thing alone") {
  CHECK(
      *authorized_line("/usr/libexec/docker/cli-plugins/docker-flowcon", "/run/flowcon/peer.sock",
                       kKey, kH2) ==
      "restrict,command=\"/usr/libexec/docker/cli-plugins/docker-flowcon flowcon dial-stdio --from "
      "h2\" " +
          kKey + " flowcon-peer h2");
  const auto other = authorized_line("/opt/docker-flowcon", "/tmp/p.sock", kKey, kPort);
  CHECK(other->find("dial-stdio --from 'h2:2222' --socket /tmp/p.sock\"") != std::string::npos);
  // A host's name goes to a shell.
  for (const std::string host : {"", "-x", "h2'", "$(id)", "h2\nh3", "h2 h3", "h2\"", "h2;id"}) {
    CAPTURE(host);
    CHECK_FALSE(authorized_line("/opt/x", "/tmp/p.sock", kKey, {"", host, 22}).has_value());
  }
  for (const std::string path : {"/tmp/a b", "/tmp/\"", "/tmp/$(id)", "/tmp/a;b", "x", ""}) {
    CAPTURE(path);
    CHECK_FALSE(authorized_line(path, "/tmp/p.sock", kKey, kH2).has_value());
    CHECK_FALSE(authorized_line("/opt/x", path, kKey, kH2).has_value());
  }
}

TEST_CASE("a peer's line is replaced, and nobody else's touched") {
  const std::string others = "ssh-rsa AAAA ada\nrestrict " + kKey + " flowcon-peer h22\n";
  const std::string once = with_authorized(others, kH2, "L " + kKey + " flowcon-peer h2");
  CHECK(once == others + "L " + kKey + " flowcon-peer h2\n");
  CHECK(with_authorized(once, kH2, "L " + kKey + " flowcon-peer h2") == once);
  CHECK(with_authorized(once, kH2, "") == others);
  CHECK(with_authorized(once, kPort, "") == once);
  CHECK(with_authorized("ssh-rsa AAAA ada", kH2, "") == "ssh-rsa AAAA ada\n");
}

TEST_CASE("a host's keys are found under its name and port") {
  std::string text = with_known("", kH2, {kKey, "ssh-rsa AAAA"});
  text = with_known(text, kPort, {"ssh-rsa BBBB"});
  CHECK(known_keys(text, kH2) == std::vector<std::string>{kKey, "ssh-rsa AAAA"});
  CHECK(known_keys(text, kPort) == std::vector<std::string>{"ssh-rsa BBBB"});
  text = with_known(text, kH2, {"ssh-rsa CCCC"});
  CHECK(known_keys(text, kH2) == std::vector<std::string>{"ssh-rsa CCCC"});
  CHECK(with_known(text, kH2, {}) == "[h2]:2222 ssh-rsa BBBB\n");
}

}  // namespace
}  // namespace flowcon::plugin
