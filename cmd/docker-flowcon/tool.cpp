// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/tool.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace flowcon::plugin {
namespace {

constexpr std::size_t kMostOutput = 1U << 20;

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    int files[2];
    if (::pipe2(files, O_CLOEXEC) != 0) return;
    read = files[0];
    write = files[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_read();
    close_write();
  }
  void close_read() { close_one(read); }
  void close_write() { close_one(write); }
  static void close_one(int& file) {
    if (file >= 0) ::close(file);
    file = -1;
  }
};

// False at the end of the file.
bool take_some(int file, std::string& text) {
  std::array<char, 16384> piece;
  const ssize_t got = ::read(file, piece.data(), piece.size());
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  const auto room = kMostOutput - text.size();
  text.append(piece.data(), std::min(static_cast<std::size_t>(got), room));
  return true;
}

}  // namespace

Result<ToolResult> run_tool(const std::vector<std::string>& words, const std::string& input,
                            ToolErrors errors) {
  Pipe in, out, err;
  if (in.read < 0 || out.read < 0 || err.read < 0) return errno_error(errno, "making pipes");
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write, 1);
  if (errors == ToolErrors::keep) posix_spawn_file_actions_adddup2(&actions, err.write, 2);
  pid_t pid = -1;
  const int code = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) {
    return errno_error(code, "starting " + words.front() + " (apt install openssh-client)");
  }
  in.close_read();
  out.close_write();
  err.close_write();
  // It fits into the pipe; a program that does not read it must not end us.
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const bool is_written =
      ::write(in.write, input.data(), input.size()) == static_cast<ssize_t>(input.size());
  ::signal(SIGPIPE, before);
  in.close_write();
  ToolResult result;
  for (bool is_out = true, is_err = true; is_out || is_err;) {
    std::array<pollfd, 2> files{
        {{is_out ? out.read : -1, POLLIN, 0}, {is_err ? err.read : -1, POLLIN, 0}}};
    if (::poll(files.data(), files.size(), -1) < 0 && errno != EINTR) break;
    if (files[0].revents != 0) is_out = take_some(out.read, result.out);
    if (files[1].revents != 0) is_err = take_some(err.read, result.err);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (!is_written && result.status == 0) result.status = 1;
  return result;
}

}  // namespace flowcon::plugin
