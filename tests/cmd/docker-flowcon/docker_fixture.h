// SPDX-License-Identifier: Apache-2.0
// A program in docker's place, and the plugin in a process of its own, since it becomes docker.
#pragma once

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::plugin {

/// Writes down how it was called, one word a line, prints `output` and ends with `status`.
class FakeDocker {
 public:
  explicit FakeDocker(int status = 7, const std::string& output = "") {
    std::ofstream(path()) << "#!/bin/sh\n"
                          << "for word in \"$@\"; do echo \"<$word>\"; done > '" << folder_.path()
                          << "/words'\n"
                          << "env > '" << folder_.path() << "/env'\n"
                          << "printf '%s' '" << output << "'\n"
                          << "exit " << status << "\n";
    chmod(path().c_str(), 0755);
  }
  [[nodiscard]] std::string path() const { return folder_.path() + "/docker-28"; }
  /// Without the file for the container's id and the label that says which labels are the
  /// container's own, whose values are random. "" = it was not called.
  [[nodiscard]] std::string words() const {
    std::string text = all_words();
    const std::size_t file = text.find("<--cidfile=");
    if (file != std::string::npos) text.erase(file, text.find('\n', file) + 1 - file);
    const std::string before = "<--label>\n<org.flowcon.own=";
    const std::size_t at = text.find(before);
    if (at == std::string::npos) return text;
    return text.erase(at, text.find('\n', at + before.size()) + 1 - at);
  }
  [[nodiscard]] std::string all_words() const { return read_file("words"); }
  [[nodiscard]] std::string environment() const { return read_file("env"); }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }

 private:
  [[nodiscard]] std::string read_file(const std::string& name) const {
    std::ifstream file(folder_.path() + "/" + name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  test::TempFolder folder_;
};

/// Becoming docker discards what the streams hold, so their text is handed on before that.
class FileBuffer : public std::stringbuf {
 public:
  explicit FileBuffer(int file) : file_(file) {}
  int sync() override {
    const std::string text = str();
    str("");
    return write(file_, text.data(), text.size()) < 0 ? -1 : 0;
  }

 private:
  int file_;
};

/// Runs the plugin, or what it becomes, in a child. Each stream may hold what a pipe does.
inline Outcome run_in_child(const std::vector<std::string>& words, const Environment& environment) {
  int out[2];
  int err[2];
  REQUIRE((pipe(out) == 0 && pipe(err) == 0));
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (const int file : {out[0], out[1], err[0], err[1]}) close(file);
    FileBuffer to_out(STDOUT_FILENO);
    FileBuffer to_err(STDERR_FILENO);
    std::ostream direct_out(&to_out);
    std::ostream direct_err(&to_err);
    Terminal terminal{direct_out, direct_err};
    terminal.owns_process = true;
    const int status = run_plugin(words, environment, terminal);
    direct_out.flush();
    direct_err.flush();
    _exit(status);
  }
  close(out[1]);
  close(err[1]);
  Outcome outcome;
  char buffer[4096];
  for (auto& [file, text] : {std::pair(err[0], &outcome.err), {out[0], &outcome.out}}) {
    for (ssize_t got = 0; (got = read(file, buffer, sizeof buffer)) > 0;) {
      text->append(buffer, static_cast<std::size_t>(got));
    }
    close(file);
  }
  int status = 0;
  waitpid(child, &status, 0);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return outcome;
}

}  // namespace flowcon::plugin
