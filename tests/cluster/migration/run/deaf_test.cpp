// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/deaf.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "cluster/migration/run/processes.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {

TEST_CASE("of a process that hands signals on, its child has to hear them") {
  const auto deaf = [](const char* name, const char* script) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t init = ::fork();
    if (init == 0) {
      ::prctl(PR_SET_NAME, name);
      const pid_t child = ::fork();
      if (child == 0) {
        ::dup2(ready[1], 1);
        ::execl("/bin/sh", "sh", "-c", script, nullptr);
        ::_exit(127);
      }
      ::waitpid(child, nullptr, 0);
      ::_exit(0);
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    const std::string why = why_deaf(init, SIGUSR1);
    for (const pid_t child : children_of(init)) ::kill(child, SIGKILL);
    ::waitpid(init, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    return why;
  };
  CHECK(deaf("docker-init", "trap 'exit 0' USR1; echo ready; while :; do :; done").empty());
  CHECK(deaf("docker-init", "echo ready; while :; do :; done").find("start the job by exec") !=
        std::string::npos);
}

TEST_CASE("a shell forwards no signal, unless it has a trap for it") {
  const auto deaf = [](const char* script) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(ready[1], 1);
      ::execl("/bin/sh", "sh", "-c", script, nullptr);
      ::_exit(127);
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    const std::string why = why_deaf(child, SIGUSR1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    return why;
  };
  CHECK(deaf("echo ready; while :; do :; done").find("does not forward signals") !=
        std::string::npos);
  CHECK(deaf("trap 'exit 0' USR1; echo ready; while :; do :; done").empty());
}

}  // namespace flowcon::cluster::migration
