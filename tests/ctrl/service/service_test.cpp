// SPDX-License-Identifier: Apache-2.0
// Sockets that systemd passes on: a child has them at descriptor 3 and above, as systemd would give
// them, since they are read once in a process.
#include "ctrl/service.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>

#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

int listening(const std::string& path) {
  const int file = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return -1;
  return ::listen(file, 1) == 0 ? file : -1;
}

// True if `holds` does in a child that was given sockets at these paths.
bool holds_with(const std::vector<std::string>& paths, const std::function<bool()>& holds) {
  std::vector<int> files;
  for (const std::string& path : paths) files.push_back(listening(path));
  const pid_t child = ::fork();
  if (child == 0) {
    // Past all numbers that are in use, then down to where systemd puts them.
    int high = 200;
    for (const int file : files) ::dup2(file, high++);
    for (int i = 0; i < static_cast<int>(files.size()); ++i) ::dup2(200 + i, 3 + i);
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    ::setenv("LISTEN_FDS", std::to_string(files.size()).c_str(), 1);
    ::_exit(holds() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  for (const int file : files) ::close(file);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("a socket that systemd has passed on is found by its path, once") {
  const test::TempFolder folder;
  const std::string one = folder.path() + "/one.sock", two = folder.path() + "/two.sock";
  CHECK(holds_with({one, two}, [&] {
    return service::take_socket(two) == 4 && service::take_socket(two) == -1 &&
           service::take_socket(one) == 3;
  }));
}

TEST_CASE("without systemd there is no socket") {
  const test::TempFolder folder;
  CHECK(holds_with({}, [&] { return service::take_socket(folder.path() + "/one.sock") == -1; }));
}

TEST_CASE("our children are not told of sockets") {
  const test::TempFolder folder;
  const std::string one = folder.path() + "/one.sock";
  CHECK(holds_with({one}, [&] {
    (void)service::take_socket(one);
    return std::getenv("LISTEN_FDS") == nullptr;
  }));
}

TEST_CASE("sockets that nobody takes are named and closed") {
  const test::TempFolder folder;
  const std::string one = folder.path() + "/one.sock", two = folder.path() + "/two.sock";
  CHECK(holds_with({one, two}, [&] {
    (void)service::take_socket(one);
    return service::drop_other_sockets() == std::vector<std::string>{two} &&
           ::fcntl(4, F_GETFD) == -1 && ::fcntl(3, F_GETFD) != -1;
  }));
}

TEST_CASE("while a start takes long, systemd is asked to wait, again and again") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/notify";
  const int file = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  REQUIRE(::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  {
    const service::Patience patience(std::chrono::milliseconds(10));
    for (int i = 0; i < 2; ++i) {
      char word[200] = {};
      REQUIRE(::recv(file, word, sizeof word - 1, 0) > 0);
      CHECK(std::string(word).rfind("EXTEND_TIMEOUT_USEC=60000\n", 0) == 0);
    }
  }
  ::unsetenv("NOTIFY_SOCKET");
  ::close(file);
}
