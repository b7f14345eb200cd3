// SPDX-License-Identifier: Apache-2.0
// flowcon-sim: arguments, the three standard streams, exit codes. 0 done, 1 failed, 125 wrong
// usage.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <vector>

#include "cmd/flowcon-sim/decide.h"
#include "cmd/flowcon-sim/options.h"
#include "cmd/flowcon-sim/published.h"
#include "cmd/flowcon-sim/simulate.h"

namespace {

using flowcon::Result;

Result<std::size_t> read_input(char* buffer, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return flowcon::errno_error(errno, "reading standard input");
  }
}

Result<void> write_output(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (put >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno != EINTR) {
      return flowcon::errno_error(errno, "writing standard output");
    }
  }
  return {};
}

int failed(const flowcon::Error& error, int status) {
  std::fprintf(stderr, "flowcon-sim: %s\n", error.message().c_str());
  return status;
}

int simulate(int argc, char** argv) {
  flowcon::sim::World world;
  world.read = flowcon::sim::read_packed;
  world.write = flowcon::sim::write_file;
  const bool has_watcher = ::isatty(STDERR_FILENO) == 1;
  if (has_watcher) {
    world.progress = [](const std::string& what) {
      std::fprintf(stderr, "\r\033[K%s", what.c_str());
    };
  }
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const flowcon::sim::Answer answer = arguments.front() == "published"
                                          ? flowcon::sim::print_published(arguments, world)
                                          : flowcon::sim::simulate(arguments, world);
  if (has_watcher) std::fprintf(stderr, "\r\033[K");
  if (!answer.problem.empty()) std::fprintf(stderr, "flowcon-sim: %s\n", answer.problem.c_str());
  const Result<void> written = write_output(answer.out);
  return written ? answer.status : failed(written.error(), 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  for (const std::string_view known : {"run", "bound", "jobs", "published"}) {
    if (command == known) return simulate(argc, argv);
  }
  const auto invocation = flowcon::sim::parse_command_line(argc, argv);
  if (!invocation) return failed(invocation.error(), 125);
  if (!invocation->algorithm) {
    const Result<void> shown = write_output(invocation->text);
    return shown ? 0 : failed(shown.error(), 1);
  }
  const flowcon::sim::Decide decide = invocation->cbc_seconds > 0
                                          ? flowcon::sim::with_cbc(invocation->cbc_seconds)
                                          : invocation->algorithm->decide;
  const Result<void> done = invocation->lines
                                ? flowcon::sim::decide_lines(decide, read_input, write_output)
                                : flowcon::sim::decide_one(decide, read_input, write_output);
  return done ? 0 : failed(done.error(), 1);
}
