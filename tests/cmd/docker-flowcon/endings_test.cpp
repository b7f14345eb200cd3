// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/endings.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_CASE("the end of docker's socket ends the process with 130") {
  // As docker does it: an abstract socket, one connection, closed to say "stop".
  const std::string name = "docker_cli_flowcon_test_" + std::to_string(getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(bind(listener, reinterpret_cast<const sockaddr*>(&address), length) == 0);
  REQUIRE(listen(listener, 1) == 0);
  const pid_t child = fork();
  if (child == 0) {
    end_with_docker({{"DOCKER_CLI_PLUGIN_SOCKET", "@" + name}});
    while (true) pause();
  }

  const int connection = accept(listener, nullptr, nullptr);
  close(connection);

  CHECK(status_of(child) == 130);
  close(listener);
}

TEST_CASE("a docker without the socket, or with one that is gone, changes nothing") {
  const pid_t child = fork();
  if (child == 0) {
    end_with_docker({});
    end_with_docker({{"DOCKER_CLI_PLUGIN_SOCKET", "@docker_cli_gone"}});
    end_with_docker({{"DOCKER_CLI_PLUGIN_SOCKET", std::string(500, 'x')}});
    _exit(0);
  }

  CHECK(status_of(child) == 0);
}

TEST_CASE("a signal ends the process with 128 and its number") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    const pid_t child = fork();
    if (child == 0) {
      // The test program has handlers of its own for some of them.
      signal(number, SIG_DFL);
      end_on_signals(false);
      raise(number);
      _exit(0);
    }

    CHECK(status_of(child) == 128 + number);
  }
}

TEST_CASE("a signal that is ignored stays ignored") {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGHUP, SIG_IGN);
    end_on_signals(false);
    raise(SIGHUP);
    _exit(0);
  }

  CHECK(status_of(child) == 0);
}

}  // namespace
}  // namespace flowcon::plugin
