// SPDX-License-Identifier: Apache-2.0
// The port that Prometheus reads, from a caller that is a raw socket in a thread of its own.
#include "ctrl/api/scrape.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <string>
#include <thread>
#include <vector>

#include "ctrl/api/loopback.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

// What comes back for `bytes`, until the server ends the connection or we have sent and heard all.
std::string talk(const std::string& bytes) {
  boost::asio::io_context io{1};
  int rendered = 0;
  auto made = api::Scrape::listen(
      io, "127.0.0.1:0", [&rendered] { return "flowcon_engine_up " + std::to_string(++rendered); });
  REQUIRE(made.has_value());
  api::Scrape& scrape = **made;
  std::string heard;
  std::thread caller([&, port = scrape.port()] {
    const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      (void)!::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ::shutdown(file, SHUT_WR);
      char piece[4096];
      for (ssize_t got = 1; (got = ::recv(file, piece, sizeof piece, 0)) > 0;) {
        heard.append(piece, static_cast<std::size_t>(got));
      }
    }
    ::close(file);
    boost::asio::post(io, [&] { scrape.close(); });
  });
  io.run();
  caller.join();
  return heard;
}

TEST_CASE("the metrics are answered, several times on a connection") {
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

  const std::string heard = talk(request + request);

  CHECK(heard.find("HTTP/1.1 200 OK") == 0);
  CHECK(heard.find("Content-Type: text/plain; version=0.0.4; charset=utf-8") != std::string::npos);
  CHECK(heard.find("\r\n\r\nflowcon_engine_up 1\n") != std::string::npos);
  CHECK(heard.find("\r\n\r\nflowcon_engine_up 2\n") != std::string::npos);
}

TEST_CASE("nothing else is") {
  CHECK(talk("GET /v1/status HTTP/1.1\r\n\r\n").find("HTTP/1.1 404") == 0);
  CHECK(talk("POST /metrics HTTP/1.1\r\nContent-Length: 0\r\n\r\n").find("HTTP/1.1 404") == 0);
  CHECK(talk("GET /metricsx HTTP/1.1\r\n\r\n").find("HTTP/1.1 404") == 0);
  const std::string head = talk("HEAD /metrics HTTP/1.1\r\n\r\n");
  CHECK(head.find("HTTP/1.1 200") == 0);
  CHECK(head.find("flowcon_engine_up") == std::string::npos);
}

TEST_CASE("what is no request ends the connection without an answer") {
  CHECK(talk("\x16\x03\x01 hello\r\n\r\n").empty());
  CHECK(talk("GET /metrics HTTP/1.1\r\nX: " + std::string(100000, 'x') + "\r\n\r\n").empty());
}

TEST_CASE("who says nothing takes no place from who asks") {
  boost::asio::io_context io{1};
  auto made = api::Scrape::listen(io, "127.0.0.1:0", [] { return std::string("up 1"); });
  REQUIRE(made.has_value());
  std::string heard;
  std::thread caller([&, port = (*made)->port()] {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string request = "GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n";
    std::vector<int> files;
    for (int i = 0; i <= 40; ++i) {
      files.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      (void)::connect(files.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
    (void)!::send(files.back(), request.data(), request.size(), MSG_NOSIGNAL);
    char piece[4096];
    for (ssize_t got = 1; (got = ::recv(files.back(), piece, sizeof piece, 0)) > 0;) {
      heard.append(piece, static_cast<std::size_t>(got));
    }
    for (const int file : files) ::close(file);
    boost::asio::post(io, [&] { (*made)->close(); });
  });
  io.run();
  caller.join();
  CHECK(heard.find("up 1") != std::string::npos);
}

TEST_CASE("a port that is taken is an error that names it") {
  boost::asio::io_context io{1};
  auto first = api::Scrape::listen(io, "127.0.0.1:0", [] { return std::string(); });
  REQUIRE(first.has_value());
  const std::string where = "127.0.0.1:" + std::to_string((*first)->port());

  auto second = api::Scrape::listen(io, where, [] { return std::string(); });

  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().message().find(where) != std::string::npos);
  (*first)->close();
  io.run();
}

}  // namespace
