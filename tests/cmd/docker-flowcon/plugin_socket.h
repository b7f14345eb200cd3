// SPDX-License-Identifier: Apache-2.0
// docker's side of the socket for its plugins, and a docker below the plugin that has to be told to
// end.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/cmd/docker-flowcon/docker_fixture.h"
#include "tests/support/catch.h"

namespace flowcon::plugin {

inline constexpr int kDeadlineSeconds = 60;  // of what would wait for ever otherwise

/// As docker does it: an abstract socket, whose connections it closes to say "stop".
class PluginSocket {
 public:
  PluginSocket() {
    static int made = 0;
    name_ = "docker_cli_flowcon_test_" + std::to_string(getpid()) + "_" + std::to_string(++made);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name_.data(), name_.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(bind(listener_, reinterpret_cast<const sockaddr*>(&address), length) == 0);
    REQUIRE(listen(listener_, 4) == 0);
  }
  PluginSocket(const PluginSocket&) = delete;
  PluginSocket& operator=(const PluginSocket&) = delete;
  ~PluginSocket() { close(listener_); }

  /// What a plugin has in its environment.
  [[nodiscard]] Environment environment() const {
    return {{"DOCKER_CLI_PLUGIN_SOCKET", "@" + name_}};
  }
  /// The connection of the next plugin; -1 if none comes.
  [[nodiscard]] int take_plugin() const {
    pollfd waiting{listener_, POLLIN, 0};
    if (poll(&waiting, 1, kDeadlineSeconds * 1000) != 1) return -1;
    return accept(listener_, nullptr, nullptr);
  }
  /// Takes no more of them, nor does the listener of another process.
  void refuse_plugins() const { shutdown(listener_, SHUT_RDWR); }

 private:
  std::string name_;
  int listener_ = -1;
};

/// Runs the plugin above a docker that ends with 9 at a SIGTERM, else with 3 after ten seconds. The
/// docker above the plugin, which takes one connection alone, stops it as soon as the one below
/// runs.
inline Outcome run_until_stopped(const std::vector<std::string>& words) {
  const test::TempFolder folder;
  const std::string docker = folder.path() + "/docker", began = folder.path() + "/began";
  std::ofstream(docker) << "#!/bin/sh\ntrap 'exit 9' TERM\n: >'" << began
                        << "'\nfor i in $(seq 100); do sleep 0.1; done\nexit 3\n";
  chmod(docker.c_str(), 0755);
  const PluginSocket plugins;
  Environment environment = plugins.environment();
  environment["DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND"] = docker;
  environment["PATH"] = "/usr/bin:/bin";
  // No thread, since the plugin is a child of this process and begins one itself.
  const pid_t stopping = fork();
  if (stopping == 0) {
    const int plugin = plugins.take_plugin();
    plugins.refuse_plugins();
    while (access(began.c_str(), F_OK) != 0) std::this_thread::yield();
    close(plugin);
    _exit(0);
  }
  REQUIRE(stopping > 0);
  Outcome outcome = run_in_child(words, environment);
  kill(stopping, SIGKILL);
  waitpid(stopping, nullptr, 0);
  return outcome;
}

}  // namespace flowcon::plugin
