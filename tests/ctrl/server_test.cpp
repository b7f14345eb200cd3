// SPDX-License-Identifier: Apache-2.0
// The server's requests with short bodies and with bodies in pieces, from a caller that is a raw
// socket in a thread of its own.
#include "ctrl/api/server.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "ctrl/api/routes.h"
#include "ctrl/spawn.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

using namespace flowcon;
using namespace flowcon::ctrl;
using api::Request;
using api::Response;

namespace {

// A server whose bodies' handler is `handler`; a caller talks to it in a thread.
struct Fixture {
  test::TempFolder folder;
  std::string path = folder.path() + "/api.sock";
  boost::asio::io_context io{1};
  std::unique_ptr<api::Server> server;
  std::vector<std::string> asked;  ///< of the handler of short bodies
  api::Routes routes;              ///< what it looks at; none = it answers all

  explicit Fixture(api::BodyHandler handler) {
    std::string notice;
    auto made = api::Server::listen(io, path, "", &notice);
    REQUIRE(made.has_value());
    server = std::move(*made);
    const auto wants = [](const Request& request) { return request.target == "/bytes"; };
    server->serve_bodies(wants, std::move(handler));
    server->serve([this](Request request) { return answer(std::move(request)); });
  }

  Async<Response> answer(Request request) {
    asked.push_back(request.method + " " + request.target + " " + request.body);
    if (!routes.empty()) co_return co_await api::answer(&routes, std::move(request));
    co_return Response{200, "{}"};
  }

  // Sends `bytes`, returns all that comes back until the server or the caller ends it. The caller
  // closes its side first unless it `waits`.
  std::string talk(const std::string& bytes, bool waits = false) {
    std::string heard;
    std::thread caller([&] {
      const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
      if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        for (std::size_t done = 0; done < bytes.size();) {
          const ssize_t sent = send(file, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
          if (sent <= 0) break;
          done += static_cast<std::size_t>(sent);
        }
        if (!waits) shutdown(file, SHUT_WR);
        char buffer[4096];
        for (ssize_t got = 0; (got = recv(file, buffer, sizeof buffer, 0)) > 0;) {
          heard.append(buffer, static_cast<std::size_t>(got));
        }
      }
      close(file);
      boost::asio::post(io, [this] { server->close(); });
    });
    io.run();
    caller.join();
    return heard;
  }
};

// What came of a body, for the handlers below.
struct Taken {
  std::size_t pieces = 0, bytes = 0, longest = 0;
  std::optional<Error> error;
};

Async<Response> take_all(std::shared_ptr<Taken> taken, Pull body) {
  for (;;) {
    Result<std::string> piece = co_await body();
    if (!piece) {
      taken->error = piece.error();
      co_return api::failure(400, "cut");
    }
    if (piece->empty()) co_return Response{200, R"({"all":true})"};
    ++taken->pieces;
    taken->bytes += piece->size();
    taken->longest = std::max(taken->longest, piece->size());
  }
}

api::BodyHandler taker(std::shared_ptr<Taken> taken) {
  return [taken](Request, Pull body) { return take_all(taken, std::move(body)); };
}

std::string chunked(const std::string& bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return "PUT /bytes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
         std::string(size) + bytes + "\r\n0\r\n\r\n";
}

const std::string kGet = "GET /other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("a body of any length comes in pieces, and the next request on the connection after it") {
  const auto taken = std::make_shared<Taken>();
  Fixture fixture(taker(taken));
  const std::string heard = fixture.talk(chunked(std::string(1 << 20, 'x')) + kGet);
  CHECK(taken->bytes == 1 << 20);
  CHECK(taken->longest <= 64 << 10);
  CHECK_FALSE(taken->error.has_value());
  CHECK(heard.find(R"({"all":true})") != std::string::npos);
  CHECK(count(heard, "HTTP/1.1 200") == 2);
  CHECK(fixture.asked == std::vector<std::string>{"GET /other "});
}

TEST_CASE("a body may have a length, and may be empty") {
  const auto taken = std::make_shared<Taken>();
  Fixture fixture(taker(taken));
  const std::string heard = fixture.talk("PUT /bytes HTTP/1.1\r\nContent-Length: 100000\r\n\r\n" +
                                         std::string(100000, 'x') +
                                         "PUT /bytes HTTP/1.1\r\nContent-Length: 0\r\n\r\n" + kGet);
  CHECK(taken->bytes == 100000);
  CHECK(count(heard, "HTTP/1.1 200") == 3);
}

TEST_CASE("what HTTP does not bound is bounded: names of chunks, and fields behind a body") {
  const std::string head = "PUT /bytes HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string field = "1\r\nx\r\n0\r\nname: ";
  for (const std::string& begins : {std::string("1;"), field}) {
    const auto taken = std::make_shared<Taken>();
    Fixture fixture(taker(taken));
    (void)fixture.talk(head + begins + std::string(8 << 20, 'a'));
    REQUIRE(taken->error.has_value());
    CHECK(taken->error->code == boost::beast::http::error::buffer_overflow);
  }
}

TEST_CASE("a body that is cut is an error for who takes it") {
  const auto taken = std::make_shared<Taken>();
  Fixture fixture(taker(taken));
  fixture.talk("PUT /bytes HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc");
  CHECK(taken->bytes == 3);
  CHECK(taken->error.has_value());
}

TEST_CASE("who is answered in the middle of a body sees the answer, and that the connection ends") {
  const auto early = [](Request, Pull) -> Async<Response> {
    co_return api::failure(409, "no room");
  };
  Fixture fixture(early);
  const std::string heard = fixture.talk(chunked(std::string(4 << 20, 'x')) + kGet, true);
  CHECK(heard.find("no room") != std::string::npos);
  CHECK(heard.find("Connection: close") != std::string::npos);
  CHECK(fixture.asked.empty());
}

TEST_CASE("a body that is kept longer than its request gives nothing") {
  Pull kept;
  const auto keep = [&kept](Request, Pull body) -> Async<Response> {
    kept = std::move(body);
    co_return api::failure(409, "no");
  };
  Fixture fixture(keep);
  fixture.talk(chunked("abc"));
  std::optional<Result<std::string>> piece;
  const auto ask = [&]() -> Async<void> { piece = co_await kept(); };
  spawn(fixture.io, "test", ask());
  fixture.io.restart();
  fixture.io.run();
  REQUIRE(piece.has_value());
  CHECK_FALSE(piece->has_value());
}

TEST_CASE("all other bodies are short, with and without a length") {
  Fixture fixture(taker(std::make_shared<Taken>()));
  const std::string heard = fixture.talk(
      "POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
      "POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
      "POST /c HTTP/1.1\r\nContent-Length: 65537\r\n\r\n" +
      std::string(65537, 'x') + kGet);
  CHECK(fixture.asked == std::vector<std::string>{"POST /a {}", "POST /b {}"});
  CHECK(count(heard, "HTTP/1.1 413") == 1);
  Fixture other(taker(std::make_shared<Taken>()));
  const std::string long_chunk = "10001\r\n" + std::string(65537, 'x') + "\r\n0\r\n\r\n";
  CHECK(count(other.talk("POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + long_chunk),
              "HTTP/1.1 413") == 1);
  CHECK(other.asked.empty());
}

TEST_CASE(
    "what is no request, and a head that is too large, is answered, and the connection ends") {
  const std::string large = "GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n";
  const std::string cut = "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\x16\x03\x01 hello\r\n", "400"}, {"hello\r\n\r\n", "400"}, {cut, "400"}, {large, "431"}};
  for (const auto& [sent, status] : cases) {
    Fixture fixture(taker(std::make_shared<Taken>()));
    const std::string heard = fixture.talk(sent + kGet);
    CHECK(heard.find("HTTP/1.1 " + status) == 0);
    CHECK(heard.find("Connection: close") != std::string::npos);
    CHECK(heard.find(R"({"error":")") != std::string::npos);
    CHECK(fixture.asked.empty());
  }
  Fixture fixture(taker(std::make_shared<Taken>()));
  CHECK(fixture.talk("GET / HTT").empty());
}

TEST_CASE("who asks whether to send a body is told to before it is read, and not where it is not") {
  const std::string expects = " HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: ";
  const auto taken = std::make_shared<Taken>();
  Fixture fixture(taker(taken));
  const std::string heard = fixture.talk("POST /a" + expects + "2\r\n\r\n{}PUT /bytes" + expects +
                                         "3\r\n\r\nabc" + "POST /c" + expects + "70000\r\n\r\n");
  CHECK(fixture.asked == std::vector<std::string>{"POST /a {}"});
  CHECK(taken->bytes == 3);
  CHECK(count(heard, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200") == 2);
  CHECK(count(heard, "HTTP/1.1 100") == 2);
  CHECK(count(heard, "HTTP/1.1 413") == 1);
}

TEST_CASE("HEAD is answered by what answers GET, without the body") {
  Fixture fixture(taker(std::make_shared<Taken>()));
  const auto answer = [](const api::Call&) { return api::at_once(Response{200, "{}"}); };
  fixture.routes.push_back(api::get("/other", "What there is.", answer));
  const std::string heard = fixture.talk("HEAD /other HTTP/1.1\r\nHost: x\r\n\r\n" + kGet);
  CHECK(count(heard, "Content-Length: 3\r\n") == 2);
  CHECK(count(heard, "\r\n\r\nHTTP/1.1 200 OK\r\n") == 1);
  CHECK(count(heard, "{}") == 1);
}

namespace {

// Connections to the server's socket, from a thread of their own.
class Crowd {
 public:
  explicit Crowd(const std::string& path) {
    address_.sun_family = AF_UNIX;
    std::memcpy(address_.sun_path, path.c_str(), path.size() + 1);
  }
  ~Crowd() {
    for (const int file : files_) close(file);
  }
  int connect_as(const std::string& announced) {
    const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    files_.push_back(file);
    const timeval patience{30, 0};
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const bool is_there =
        connect(file, reinterpret_cast<const sockaddr*>(&address_), sizeof address_) == 0;
    if (is_there) (void)!send(file, announced.data(), announced.size(), MSG_NOSIGNAL);
    return file;
  }
  // All that comes up to `end`.
  static std::string up_to(int file, const std::string& end) {
    std::string heard;
    char byte = 0;
    while (!heard.ends_with(end) && recv(file, &byte, 1, 0) == 1) heard += byte;
    return heard;
  }
  // Does the server end it, long before it would for silence?
  static bool is_ended(int file) {
    pollfd waiting{file, POLLIN, 0};
    char byte = 0;
    return ::poll(&waiting, 1, 20'000) == 1 && recv(file, &byte, 1, MSG_DONTWAIT) == 0;
  }
  // All that comes until the server ends it.
  static std::string rest_of(int file) {
    std::string heard;
    char buffer[4096];
    for (ssize_t got = 0; (got = recv(file, buffer, sizeof buffer, 0)) > 0;) {
      heard.append(buffer, static_cast<std::size_t>(got));
    }
    return heard;
  }

 private:
  sockaddr_un address_{};
  std::vector<int> files_;
};

// Answers whoever asks with that one's name.
struct PeerServer {
  PeerServer() {
    std::string notice;
    auto listening = api::Server::listen(io, path, "", &notice);
    REQUIRE(listening.has_value());
    server = std::move(*listening);
    server->expect_callers();
    const auto answer = [](Request request) -> Async<Response> {
      co_return Response{200, request.from};
    };
    server->serve(answer);
  }
  const test::TempFolder folder;
  const std::string path = folder.path() + "/peer.sock";
  boost::asio::io_context io{1};
  std::unique_ptr<api::Server> server;
};

}  // namespace

TEST_CASE("of 600 silent connections of one peer 16 stay, and another peer is answered") {
  PeerServer there;
  std::size_t turned_away = 0;
  std::string good;
  std::thread caller([&] {
    Crowd crowd(there.path);
    std::vector<int> silent;
    for (int i = 0; i < 16; ++i) {
      silent.push_back(crowd.connect_as("FLOWCON-PEER evil\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"));
      // It has its place now, and says nothing more.
      (void)Crowd::up_to(silent.back(), "evil\n");
    }
    for (int i = 16; i < 600; ++i) {
      // Nothing was asked, and the answer is there.
      const std::string heard = Crowd::rest_of(crowd.connect_as("FLOWCON-PEER evil\n"));
      if (heard.find("HTTP/1.1 503 ") != 0) break;
      ++turned_away;
    }
    const std::string get = "GET /seen HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    good = Crowd::rest_of(crowd.connect_as("FLOWCON-PEER good\n" + get));
    // A place that is given up is free again.
    shutdown(silent.front(), SHUT_RDWR);
    while (Crowd::rest_of(crowd.connect_as("FLOWCON-PEER evil\n" + get)).find("200 OK") ==
           std::string::npos) {
    }
    boost::asio::post(there.io, [&] { there.server->close(); });
  });
  there.io.run();
  caller.join();
  CHECK(turned_away == 600 - 16);
  CHECK(good.find("HTTP/1.1 200 OK") == 0);
  CHECK(good.find("good") != std::string::npos);
}

TEST_CASE("the connections of one caller end, and others go on") {
  PeerServer there;
  bool is_bad_ended = false;
  std::string of_good;
  std::thread caller([&] {
    Crowd crowd(there.path);
    const std::string get = "GET /seen HTTP/1.1\r\nHost: x\r\n\r\n";
    const int bad = crowd.connect_as("FLOWCON-PEER bad\n" + get);
    const int good = crowd.connect_as("FLOWCON-PEER good\n" + get);
    (void)Crowd::up_to(bad, "bad\n");
    (void)Crowd::up_to(good, "good\n");
    boost::asio::post(there.io, [&] { there.server->drop_connections("bad"); });
    is_bad_ended = Crowd::is_ended(bad);
    (void)!send(good, get.data(), get.size(), MSG_NOSIGNAL);
    of_good = Crowd::up_to(good, "good\n");
    boost::asio::post(there.io, [&] { there.server->close(); });
  });
  there.io.run();
  caller.join();
  CHECK(is_bad_ended);
  CHECK(count(of_good, "HTTP/1.1 200 OK") == 1);
}

TEST_CASE("a socket that systemd has passed on answers, and is there when the server has closed") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/api.sock";
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  REQUIRE(bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(listen(file, 8) == 0);
  boost::asio::io_context io(1);
  std::string notice;
  auto server = api::Server::take_over(io, path, file, "", &notice);
  REQUIRE(server.has_value());
  const auto answer = [](Request request) -> Async<Response> {
    co_return Response{200, request.target};
  };
  (*server)->serve(answer);
  std::string heard;
  std::thread caller([&] {
    const int mine = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const std::string_view bytes = "GET /seen HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    if (connect(mine, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        send(mine, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) {
      char buffer[4096];
      for (ssize_t got = 0; (got = recv(mine, buffer, sizeof buffer, 0)) > 0;) {
        heard.append(buffer, static_cast<std::size_t>(got));
      }
    }
    close(mine);
    boost::asio::post(io, [&] { (*server)->close(); });
  });
  io.run();
  caller.join();
  CHECK(heard.find("/seen") != std::string::npos);
  CHECK(access(path.c_str(), F_OK) == 0);
}
