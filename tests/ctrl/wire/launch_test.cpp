// SPDX-License-Identifier: Apache-2.0
#include "ctrl/wire/launch.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

// What `script` writes, run by a shell that was started so.
std::string said_by(const std::string& script, Rights rights,
                    std::vector<std::string> environment = {}) {
  int pipe[2];
  REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
  const Result<pid_t> pid =
      launch({"sh", "-c", script}, {-1, pipe[1], -1}, std::move(environment), rights);
  ::close(pipe[1]);
  REQUIRE(pid.has_value());
  std::string said;
  char piece[4096];
  for (ssize_t got = 0; (got = ::read(pipe[0], piece, sizeof piece)) > 0;) {
    said.append(piece, static_cast<std::size_t>(got));
  }
  ::close(pipe[0]);
  int status = -1;
  CHECK(::waitpid(*pid, &status, 0) == *pid);
  CHECK(status == 0);
  return said;
}

}  // namespace

TEST_CASE("a child without rights has no capability, nor has what it runs") {
  const std::string none = "0000000000000000\n";
  const std::string look = "grep -E '^Cap(Inh|Prm|Eff|Amb):' /proc/self/status | cut -f 2";
  CHECK(said_by(look, Rights::none) == none + none + none + none);
  CHECK(said_by("sh -c \"" + look + "\"", Rights::none) == none + none + none + none);
  CHECK(said_by("grep '^NoNewPrivs:' /proc/self/status | cut -f 2", Rights::none) == "1\n");
}

TEST_CASE("a child without rights is else as any other") {
  // An open file that is not close-on-exec, as Asio's are.
  const int open_file = ::open("/dev/null", O_RDONLY);
  REQUIRE(open_file >= 0);
  for (const Rights rights : {Rights::ours, Rights::none}) {
    CHECK(said_by("cat; echo $HOME", rights, {"PATH=/usr/bin:/bin", "HOME=/x"}) == "/x\n");
    const std::string files = said_by("ls /proc/$$/fd", rights);
    CHECK(files.find(std::to_string(open_file) + "\n") == std::string::npos);
    const char* group = "test \"$(cut -d ' ' -f 5 /proc/$$/stat)\" = $$ && echo its own";
    CHECK(said_by(group, rights) == "its own\n");
    const Result<pid_t> missing = launch({"flowcon-no-such-program"}, {-1, -1, -1}, {}, rights);
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().code == std::errc::no_such_file_or_directory);
  }
  ::close(open_file);
}
