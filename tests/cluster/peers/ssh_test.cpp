// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/ssh.h"

#include <algorithm>

#include "tests/support/catch.h"

namespace flowcon::cluster::peers {
namespace {

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST_CASE("ssh asks nobody and takes no host key by itself") {
  const auto words = ssh_command(*parse_ssh_address("h2:2222"), "/state/ssh", 15);
  CHECK(has(words, "BatchMode=yes"));
  CHECK(has(words, "StrictHostKeyChecking=yes"));
  CHECK(has(words, "UserKnownHostsFile=/state/ssh/known_hosts"));
  CHECK(has(words, "GlobalKnownHostsFile=/dev/null"));
  CHECK(has(words, "UpdateHostKeys=no"));
  CHECK(has(words, "ServerAliveInterval=5"));
  CHECK(has(words, "ClearAllForwardings=yes"));
}

TEST_CASE("the host stands behind --, the user is flowcon-peer unless said") {
  const auto words = ssh_command(*parse_ssh_address("h2:2222"), "/state/ssh", 15);
  CHECK(std::vector<std::string>(words.end() - 7, words.end()) ==
        std::vector<std::string>{"-p", "2222", "-l", "flowcon-peer", "--", "h2", kRemoteCommand});
  CHECK(has(ssh_command(*parse_ssh_address("ada@h2"), "/s", 15), "ada"));
  CHECK(has(ssh_command(*parse_ssh_address("h2"), "/s", 0.5), "ServerAliveInterval=1"));
}

TEST_CASE("what ssh says becomes what is wrong and what to do") {
  // As OpenSSH 9.2 and 10.0 print them.
  const std::vector<std::pair<std::string, std::string>> cases{
      {"ssh: connect to host h2 port 22: Connection refused\r\n", "is sshd running there"},
      {"ssh: connect to host h2 port 22: No route to host\r\n", "switched on"},
      {"ssh: connect to host h2 port 22: Connection timed out\r\n", "h2 does not answer"},
      {"ssh: Could not resolve hostname h2: Name or service not known\r\n", "no address is known"},
      {"flowcon-peer@h2: Permission denied (publickey).\r\n", "does not accept this host's key"},
      {"No ED25519 host key is known for h2 and you have requested strict checking.\r\n"
       "Host key verification failed.\r\n",
       "host key of h2 is not known"},
      {"@@@@@@\r\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n@@@@@@\r\n"
       "Host key for h2 has changed and you have requested strict checking.\r\n"
       "Host key verification failed.\r\n",
       "host key of h2 has changed"},
      {"This account is currently not available.\n", "usermod -s /bin/sh"},
      {"Timeout, server h2 not responding.\r\n", "fell silent"},
      {"Cannot connect to flowcond at unix:///run/flowcon/peer.sock: Connection refused. …",
       "flowcond does not run on h2"},
      {"sh: 1: /usr/libexec/docker/cli-plugins/docker-flowcon: not found\n", "is not installed"},
      {"", "without a word"}};
  for (const auto& [said, wanted] : cases) {
    CAPTURE(said);
    CHECK(explain_ssh(said, "h2").find(wanted) != std::string::npos);
  }
}

TEST_CASE("words that nobody knows are shown, harmless and short") {
  CHECK(explain_ssh("first\nsomething else\x1b[2J\r\n\n", "h2") ==
        "ssh to h2 says: something else\xef\xbf\xbd[2J");
  CHECK(explain_ssh(std::string(5000, 'x'), "h2").size() < 250);
}

}  // namespace
}  // namespace flowcon::cluster::peers
