// SPDX-License-Identifier: Apache-2.0
// Requests to the daemon's socket: a real server on a socket pair's worth of bytes. What is not
// HTTP ends the connection, what is gets one answer each.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ctrl/api/server.h"
#include "ctrl/async.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace flowcon::ctrl;

Async<api::Response> answer(api::Request request) {
  if (request.body.size() > 64U << 10) std::abort();
  co_return api::failure(404, request.method + " " + request.target);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = "/tmp/flowcon-fuzz-" + std::to_string(::getpid()) + ".sock";
  boost::asio::io_context io(1);
  std::string notice;
  auto server = api::Server::listen(io, path, "", &notice);
  if (!server) std::abort();
  (*server)->serve(answer);
  io.poll();
  const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::abort();
  }
  // The socket's buffer holds what a fuzzer makes; more would wait for a reader.
  const ssize_t sent = ::send(client, data, std::min<std::size_t>(size, 100'000), MSG_DONTWAIT);
  (void)sent;
  ::shutdown(client, SHUT_WR);
  for (int i = 0; i < 50 && io.poll() > 0; ++i) io.restart();
  ::close(client);
  (*server)->close();
  io.restart();
  io.poll();
  return 0;
}
