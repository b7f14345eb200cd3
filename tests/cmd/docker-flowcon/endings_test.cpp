// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/endings.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/cmd/docker-flowcon/plugin_socket.h"
#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Ends at a deadline, as SIGALRM, what nothing else ends.
pid_t fork_for_a_while() {
  const pid_t child = fork();
  if (child == 0) alarm(kDeadlineSeconds);
  return child;
}

TEST_CASE("the end of docker's socket ends the process with 130") {
  const PluginSocket plugins;
  const pid_t child = fork_for_a_while();
  if (child == 0) {
    {
      const DockerWatch over([] { _exit(1); });
    }
    end_with_docker(plugins.environment());
    while (true) pause();
  }
  const int plugin = plugins.take_plugin();
  REQUIRE(plugin >= 0);

  close(plugin);

  CHECK(status_of(child) == 130);
}

TEST_CASE("who watches docker hears of its end once, and the process goes on") {
  const PluginSocket plugins;
  int heard[2];
  REQUIRE(pipe(heard) == 0);
  const pid_t child = fork_for_a_while();
  if (child == 0) {
    {
      const DockerWatch watch([&heard] {
        if (write(heard[1], "x", 1) != 1) _exit(1);
      });
      end_with_docker(plugins.environment());
      char byte = 0;
      if (read(heard[0], &byte, 1) != 1) _exit(1);
    }
    close(heard[1]);
    char more = 0;
    _exit(read(heard[0], &more, 1) == 0 ? 0 : 2);
  }
  for (const int end : heard) close(end);
  const int plugin = plugins.take_plugin();
  REQUIRE(plugin >= 0);

  close(plugin);

  CHECK(status_of(child) == 0);
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

TEST_CASE("SIGQUIT is passed on, too, as long as endings are") {
  int file[2];
  REQUIRE(pipe(file) == 0);
  const pid_t child = fork();
  if (child == 0) {
    pass_endings_to(file[1]);
    raise(SIGQUIT);
    char number = 0;
    if (read(file[0], &number, 1) != 1 || number != SIGQUIT) _exit(1);
    pass_endings_to(-1);
    struct sigaction after {};
    sigaction(SIGQUIT, nullptr, &after);
    _exit(after.sa_handler == SIG_DFL ? 0 : 2);
  }
  for (const int end : file) close(end);

  CHECK(status_of(child) == 0);
}

TEST_CASE("output that a full disk does not take is told, and no success") {
  std::ofstream full("/dev/full");
  std::ostringstream err;
  Terminal terminal{full, err};
  full << "table";
  CHECK(finish_output(terminal, kDone) == kFailed);
  CHECK(err.str() == "writing to stdout: No space left on device\n");

  std::ostringstream lost, why;
  Terminal late{lost, why};
  CHECK(finish_output(late, kDone) == kDone);
  lost.setstate(std::ios::badbit);
  CHECK(finish_output(late, kWrongUsage) == kWrongUsage);
  CHECK(why.str() == "cannot write all of the output\n");
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
