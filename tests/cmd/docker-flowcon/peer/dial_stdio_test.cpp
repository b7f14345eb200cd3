// SPDX-License-Identifier: Apache-2.0
// The bridge between stdin, stdout and a socket, with pipes of the test's own.
#include "cmd/docker-flowcon/peer/dial_stdio.h"

#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>

#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

struct Ends {
  Ends() {
    ::signal(SIGPIPE, SIG_IGN);
    REQUIRE(::pipe(in) == 0);
    REQUIRE(::pipe(out) == 0);
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, daemon) == 0);
  }
  ~Ends() {
    for (int* file : {in, in + 1, out, out + 1, daemon, daemon + 1}) close_one(*file);
  }
  static void close_one(int& file) {
    if (file >= 0) ::close(file);
    file = -1;
  }
  int in[2];      ///< we write [1], the bridge reads [0]
  int out[2];     ///< the bridge writes [1], we read [0]
  int daemon[2];  ///< the bridge has [0], the daemon [1]
};

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t sent = ::write(file, text.data() + done, text.size() - done);
    if (sent <= 0) return;
    done += static_cast<std::size_t>(sent);
  }
}

std::string read_all(int file) {
  std::string text;
  char piece[4096];
  for (ssize_t got = 0; (got = ::read(file, piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(got));
  }
  return text;
}

TEST_CASE("megabytes pass in both directions at once, and the end of stdin is handed on") {
  Ends ends;
  const std::string up(3'000'000, 'u'), down(5'000'000, 'd');
  bool is_done = false;
  std::thread bridging([&] {
    is_done = bridge(ends.in[0], ends.out[1], ends.daemon[0]).has_value();
    Ends::close_one(ends.out[1]);
  });
  std::thread writing([&] {
    write_all(ends.in[1], up);
    Ends::close_one(ends.in[1]);
  });
  std::string seen;
  std::thread serving([&] {
    std::thread answering([&] { write_all(ends.daemon[1], down); });
    seen = read_all(ends.daemon[1]);  // ends with stdin
    answering.join();
    Ends::close_one(ends.daemon[1]);
  });
  const std::string got = read_all(ends.out[0]);
  for (std::thread* thread : {&bridging, &writing, &serving}) thread->join();
  CHECK(is_done);
  CHECK(seen == up);
  CHECK(got == down);
}

TEST_CASE("the end of the daemon is the end, though stdin stays open") {
  Ends ends;
  write_all(ends.daemon[1], "last words");
  Ends::close_one(ends.daemon[1]);
  CHECK(bridge(ends.in[0], ends.out[1], ends.daemon[0]).has_value());
  Ends::close_one(ends.out[1]);
  CHECK(read_all(ends.out[0]) == "last words");
}

TEST_CASE("the daemon's answer is brought, though it takes no more of what is sent") {
  Ends ends;
  write_all(ends.in[1], std::string(60000, 'x'));
  write_all(ends.daemon[1], "no room");
  Ends::close_one(ends.daemon[1]);
  CHECK(bridge(ends.in[0], ends.out[1], ends.daemon[0]).has_value());
  Ends::close_one(ends.out[1]);
  CHECK(read_all(ends.out[0]) == "no room");
}

TEST_CASE("it ends when nobody reads its stdout") {
  Ends ends;
  Ends::close_one(ends.out[0]);
  write_all(ends.daemon[1], "for nobody");
  CHECK(bridge(ends.in[0], ends.out[1], ends.daemon[0]).has_value());
}

TEST_CASE("dial-stdio without a daemon says so, and no list shows the command") {
  const Outcome outcome = run_words({"flowcon", "dial-stdio", "--socket", "/nowhere/s"});
  CHECK(outcome.status == 1);
  CHECK(outcome.err.find("Cannot connect to flowcond at unix:///nowhere/s") == 0);
  CHECK(run_words({"flowcon", "--help"}).out.find("dial-stdio") == std::string::npos);
  CHECK(run_words({"flowcon", "peer", "--help"}).out.find("accept") == std::string::npos);
}

}  // namespace
}  // namespace flowcon::plugin
