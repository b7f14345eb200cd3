// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/peer/dial_stdio.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ostream>

#include "base/caller.h"
#include "base/text.h"

namespace flowcon::plugin {
namespace {

// A pipe that can be written takes this much without waiting.
constexpr std::size_t kPipeful = 4096;

// One direction: at most one buffer of bytes is under way.
class Lane {
 public:
  Lane(int from, int to) : from_(from), to_(to) {}

  [[nodiscard]] bool is_empty() const { return begin_ == end_; }
  [[nodiscard]] bool has_ended() const { return has_ended_; }

  // What it waits for; poll() skips -1.
  void await(pollfd& reading, pollfd& writing) const {
    reading = {is_empty() && !has_ended_ ? from_ : -1, POLLIN, 0};
    writing = {is_empty() ? -1 : to_, POLLOUT, 0};
  }

  Result<void> read_some() {
    const ssize_t got = ::read(from_, buffer_.data(), buffer_.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    if (got < 0 && errno != ECONNRESET) return errno_error(errno, "reading");
    begin_ = 0;
    end_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    has_ended_ = got <= 0;
    return {};
  }

  // Whoever would get it takes no more.
  void abandon() {
    begin_ = end_ = 0;
    has_ended_ = true;
  }

  // False where the other side takes no more.
  Result<bool> write_some() {
    ssize_t sent = ::send(to_, buffer_.data() + begin_, end_ - begin_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == ENOTSOCK) {
      sent = ::write(to_, buffer_.data() + begin_, std::min(end_ - begin_, kPipeful));
    }
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return false;
    if (sent < 0) return errno_error(errno, "writing");
    begin_ += static_cast<std::size_t>(sent);
    return true;
  }

 private:
  int from_;
  int to_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool has_ended_ = false;
  std::array<char, 65536> buffer_;
};

}  // namespace

Result<void> bridge(int in, int out, int socket) {
  Lane up(in, socket), down(socket, out);
  bool is_up_closed = false;
  for (;;) {
    if (down.has_ended() && down.is_empty()) return {};
    if (up.has_ended() && up.is_empty() && !is_up_closed) {
      is_up_closed = true;
      ::shutdown(socket, SHUT_WR);
    }
    std::array<pollfd, 4> files{};
    up.await(files[0], files[1]);
    down.await(files[2], files[3]);
    if (::poll(files.data(), files.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return errno_error(errno, "waiting");
    }
    for (Lane* lane : {&up, &down}) {
      const std::size_t at = lane == &up ? 0 : 2;
      if (files[at].revents != 0) {
        if (auto read = lane->read_some(); !read) return read;
      }
      if (files[at + 1].revents == 0) continue;
      const Result<bool> wrote = lane->write_some();
      if (!wrote) return wrote.error();
      if (*wrote) continue;
      if (lane == &down) return {};
      // The daemon has answered without hearing the end; its answer is still to be brought.
      up.abandon();
    }
  }
}

void declare_dial_stdio(CLI::App& app, DialOptions& options) {
  app.add_option("--socket", options.socket, "Socket of flowcond for peers")->type_name("path");
  app.add_option("--from", options.from, "The peer that calls, as this host names it")
      ->type_name("host");
}

std::string check_dial_stdio(const DialOptions& options) {
  const bool is_good = options.from.empty() || is_caller_name(options.from);
  return is_good ? "" : "--from: \"" + printable(options.from, 60) + "\" cannot be a host";
}

int run_dial_stdio(const Session& session, const DialOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (options.socket.empty() || options.socket.size() >= sizeof address.sun_path) {
    return report(session.terminal, bad_input("--socket: its path has to have 1 to 107 bytes"));
  }
  std::memcpy(address.sun_path, options.socket.c_str(), options.socket.size() + 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_connected =
      socket >= 0 &&
      ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (!is_connected) {
    const Error why = errno_error(
        errno, "Cannot connect to flowcond at unix://" + printable(options.socket, 200));
    if (socket >= 0) ::close(socket);
    return report(session.terminal, why);
  }
  const std::string line = announcement(options.from);
  if (::send(socket, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) {
    const Error why = errno_error(errno, "announcing the caller to flowcond");
    ::close(socket);
    return report(session.terminal, why);
  }
  const Result<void> done = bridge(STDIN_FILENO, STDOUT_FILENO, socket);
  ::close(socket);
  return done ? kDone : report(session.terminal, done.error());
}

}  // namespace flowcon::plugin
