// SPDX-License-Identifier: Apache-2.0
#include "ctrl/launch.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>

namespace flowcon::ctrl {

Result<pid_t> launch(const std::vector<std::string>& words, const std::array<int, 3>& files,
                     std::vector<std::string> environment) {
  std::vector<char*> argv, envp;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  for (std::string& variable : environment) envp.push_back(variable.data());
  envp.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int file = 0; file < 3; ++file) {
    const int from = files[static_cast<std::size_t>(file)];
    if (from >= 0) {
      posix_spawn_file_actions_adddup2(&actions, from, file);
    } else {
      posix_spawn_file_actions_addopen(&actions, file, "/dev/null", O_RDWR, 0);
    }
  }
  // Asio's sockets are inherited: a child that outlives us would hold the API's.
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int code = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(),
                                  environment.empty() ? environ : envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return errno_error(code, "starting " + words.front());
  return pid;
}

}  // namespace flowcon::ctrl
