// SPDX-License-Identifier: Apache-2.0
// The Docker CLI plugin `docker flowcon`. docker asks for the metadata on each of its own starts,
// so that answer comes first.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "cmd/docker-flowcon/endings.h"
#include "cmd/docker-flowcon/metadata.h"
#include "cmd/docker-flowcon/plugin.h"
#include "cmd/docker-flowcon/text/cells.h"

namespace {

using flowcon::plugin::Environment;
using flowcon::plugin::Terminal;

Environment read_environment(char** entries) {
  Environment environment;
  for (; *entries != nullptr; ++entries) {
    const char* equals = std::strchr(*entries, '=');
    if (equals != nullptr)
      environment.emplace(std::string(*entries, static_cast<std::size_t>(equals - *entries)),
                          equals + 1);
  }
  return environment;
}

void measure(Terminal& terminal) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return;
  terminal.width = size.ws_col;
  terminal.height = size.ws_row;
}

// docker's help is as wide as the terminal that docker's own stdout is, and 80 without one.
Terminal read_terminal() {
  Terminal terminal{std::cout, std::cerr};
  terminal.owns_process = true;
  terminal.is_interactive = isatty(STDOUT_FILENO) == 1;
  terminal.is_err_interactive = isatty(STDERR_FILENO) == 1;
  terminal.measure = measure;
  measure(terminal);
  return terminal;
}

}  // namespace

int main(int count, char** arguments) {
  if (count >= 2 && std::strcmp(arguments[1], "docker-cli-plugin-metadata") == 0) {
    return flowcon::plugin::write_metadata(STDOUT_FILENO);
  }
  std::vector<std::string> words;
  if (count > 1) words.assign(arguments + 1, arguments + count);
  // Without its locale the C library knows no character of two columns.
  (void)flowcon::plugin::take_locale();
  Terminal terminal = read_terminal();
  const int status = flowcon::plugin::run_plugin(words, read_environment(environ), terminal);
  return flowcon::plugin::finish_output(terminal, status);
}
