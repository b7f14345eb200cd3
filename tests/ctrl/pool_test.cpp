// SPDX-License-Identifier: Apache-2.0
// The container pool against an engine in the same process that fails and hangs as it is told.
#include "ctrl/pool.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <set>

#include "ctrl/await.h"
#include "ctrl/settings.h"
#include "ctrl/spawn.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

namespace asio = boost::asio;
using Protocol = asio::local::stream_protocol;
constexpr std::chrono::seconds kPatience(60);

std::string id_of(char letter) { return std::string(64, letter); }

/// Answers what is in `answers`, by the end of the path, with 200 and what is not with 404.
class FakeEngine {
 public:
  explicit FakeEngine(asio::io_context& io)
      : io_(io), acceptor_(io, Protocol::endpoint(folder_.path() + "/docker.sock")) {
    spawn(io_, "engine", accept());
  }
  [[nodiscard]] std::string path() const { return folder_.path() + "/docker.sock"; }

  /// It runs, as far as inspects know.
  void put(char letter, const std::string& labels = "{}", bool is_frozen = false) {
    answers["/containers/" + id_of(letter) + "/json"] =
        R"({"Id":")" + id_of(letter) + R"(","Name":"/)" + letter +
        R"(","Image":"sha256:1","State":{"Running":true,"Pid":1,"Paused":)" +
        (is_frozen ? "true" : "false") + R"(},"Config":{"Labels":)" + labels + "}}";
  }
  /// It is in the list, too.
  void list(const std::string& letters, const std::string& frozen = "") {
    std::string all;
    for (const char letter : letters) {
      const bool is_frozen = frozen.find(letter) != std::string::npos;
      all = R"({"Id":")" + id_of(letter) + R"(","State":")" + (is_frozen ? "paused" : "running") +
            "\"}" + (all.empty() ? "" : "," + all);
    }
    answers["/containers/json"] = "[" + all + "]";
  }
  void tell(const std::string& action, char letter) {
    event_ = R"({"Action":")" + action + R"(","Actor":{"ID":")" + id_of(letter) +
             R"("},"timeNano":5000000000})" + "\n";
    if (stream_) spawn(io_, "event", send(stream_, event_));
  }

  std::map<std::string, std::string> answers;
  std::set<std::string> hanging;  ///< ends of paths that are not answered
  std::set<std::string> failing;  ///< that are answered with 500
  std::map<std::string, int> asked;

 private:
  using Socket = std::shared_ptr<Protocol::socket>;

  Async<void> accept() {
    for (;;) {
      auto socket = std::make_shared<Protocol::socket>(io_);
      const auto [code] = co_await acceptor_.async_accept(*socket, kAwait);
      if (code) co_return;
      spawn(io_, "connection", serve(socket));
    }
  }
  Async<void> serve(Socket socket) {
    std::string head;
    const auto [code, size] =
        co_await asio::async_read_until(*socket, asio::dynamic_buffer(head), "\r\n\r\n", kAwait);
    if (code) co_return;
    std::string target = head.substr(4, head.find(' ', 4) - 4);
    target = target.substr(0, target.find('?'));
    if (target.starts_with("/v1.")) target = target.substr(target.find('/', 1));
    ++asked[target];
    if (hanging.contains(target)) {
      held_.push_back(socket);
      co_return;
    }
    if (target == "/events") {
      stream_ = socket;
      std::string begin = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
      co_return co_await send(socket, std::move(begin));
    }
    std::string status = failing.contains(target) ? "500 Busy" : "404 Nothing", body = "{}";
    if (target == "/_ping") answers[target] = "OK";
    if (const auto found = answers.find(target); found != answers.end() && status[0] != '5') {
      status = "200 OK";
      body = found->second;
    }
    std::string answer = "HTTP/1.1 " + status +
                         "\r\nApi-Version: 1.41\r\nContent-Length: " + std::to_string(body.size()) +
                         "\r\nConnection: close\r\n\r\n" + body;
    co_await send(socket, std::move(answer));
  }
  Async<void> send(Socket socket, std::string text) {
    (void)co_await asio::async_write(*socket, asio::buffer(text), kAwait);
  }

  asio::io_context& io_;
  test::TempFolder folder_;
  Protocol::acceptor acceptor_;
  Socket stream_;
  std::string event_;
  std::vector<Socket> held_;
};

struct Watched {
  explicit Watched(PoolTimes times = {}, bool image_labels = false)
      : pool(
            io, client, image_labels, [] {}, times) {
    engine.list("");
    pool.start();
  }
  /// Goes on until the pool has told so much more.
  void await(std::size_t changes) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (told.size() < changes && std::chrono::steady_clock::now() < deadline) step();
    REQUIRE(told.size() >= changes);
  }
  template <class Condition>
  void until(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!condition() && std::chrono::steady_clock::now() < deadline) step();
    REQUIRE(condition());
  }
  void step() {
    io.run_one_for(std::chrono::milliseconds(50));
    for (Change& change : pool.take()) told.push_back(std::move(change));
  }
  [[nodiscard]] std::string names() const {
    std::string all;
    for (const Change& change : told) {
      all += change.kind == Change::Kind::started    ? "+"
             : change.kind == Change::Kind::finished ? "-"
                                                     : "~";
      all += change.container.id.substr(0, 1);
    }
    return all;
  }

  asio::io_context io{1};
  FakeEngine engine{io};
  engine::Client client{io, engine.path()};
  Pool pool;
  std::vector<Change> told;
};

const std::string kInspectA = "/containers/" + id_of('a') + "/json";

}  // namespace

TEST_CASE("a container whose inspect fails is told once the engine says what it is") {
  Watched watched;
  watched.engine.put('a');
  watched.engine.failing.insert(kInspectA);
  watched.until([&] { return watched.engine.asked["/containers/json"] == 1; });
  watched.engine.tell("start", 'a');
  watched.until([&] { return watched.engine.asked[kInspectA] >= 3; });
  CHECK(watched.told.empty());
  watched.until([&] { return !watched.pool.problem().empty(); });
  watched.engine.failing.clear();
  watched.await(1);
  CHECK(watched.names() == "+a");
  CHECK(watched.told.front().time == 5);
  CHECK(watched.pool.problem().empty());
}

TEST_CASE("inspects that hang do not keep another container waiting") {
  Watched watched;
  for (const char letter : {'1', '2', '3'}) {
    watched.engine.put(letter);
    watched.engine.hanging.insert("/containers/" + id_of(letter) + "/json");
  }
  watched.engine.put('a');
  watched.until([&] { return watched.engine.asked["/containers/json"] == 1; });
  for (const char letter : {'1', '2', '3', 'a'}) {
    watched.engine.tell("start", letter);
    watched.step();
  }
  watched.await(1);
  CHECK(watched.names() == "+a");
}

TEST_CASE("the end of a container that was never inspected is told") {
  Watched watched;
  watched.engine.put('a');
  watched.engine.hanging.insert(kInspectA);
  watched.until([&] { return watched.engine.asked["/containers/json"] == 1; });
  watched.engine.tell("start", 'a');
  watched.until([&] { return watched.engine.asked[kInspectA] == 1; });
  watched.engine.tell("die", 'a');
  watched.await(1);
  CHECK(watched.names() == "-a");
}

TEST_CASE("what a stream of events does not tell the list does") {
  PoolTimes often;
  often.ping_every = often.compare_every = 0.01;
  Watched watched(often);
  watched.until([&] { return watched.engine.asked["/containers/json"] >= 1; });
  watched.engine.put('a');
  watched.engine.list("a");
  watched.await(1);
  watched.engine.put('a', "{}", true);
  watched.engine.list("a", "a");
  watched.await(2);
  watched.engine.list("");
  watched.await(3);
  CHECK(watched.names() == "+a~a-a");
  CHECK(watched.told[1].container.is_frozen);
  CHECK(watched.engine.asked["/events"] == 1);
}

TEST_CASE("an engine that does not answer pings is not reachable, though its stream is open") {
  PoolTimes often;
  often.ping_every = 0.01;
  Watched watched(often);
  watched.until([&] { return watched.pool.engine().is_reachable; });
  watched.engine.failing.insert("/_ping");
  watched.until([&] { return !watched.pool.engine().is_reachable; });
  CHECK(watched.pool.engine().error.find("not well") != std::string::npos);
  watched.engine.failing.clear();
  watched.until([&] { return watched.pool.engine().is_reachable; });
  watched.until([&] { return watched.engine.asked["/events"] == 2; });
}

TEST_CASE("labels of an image do not count, and none does before the image is known") {
  Watched watched;
  watched.engine.put('a', R"({"flowcon.weight":"9","flowcon.enable":"true","x":"y"})");
  watched.until([&] { return watched.engine.asked["/containers/json"] == 1; });
  watched.engine.tell("start", 'a');
  watched.await(1);
  CHECK(watched.told[0].container.labels == Labels{{"x", "y"}});
  CHECK_FALSE(watched.told[0].container.label_problem.empty());
  watched.engine.answers["/images/sha256%3A1/json"] =
      R"({"Config":{"Labels":{"flowcon.weight":"9"}}})";
  watched.await(2);
  CHECK(watched.names() == "+a+a");
  CHECK(watched.told[1].container.label_problem.empty());
  CHECK(watched.told[1].container.labels == Labels{{"flowcon.enable", "true"}, {"x", "y"}});
  CHECK(watched.told[1].container.image_labels == Labels{{"flowcon.weight", "9"}});
}

TEST_CASE("where image labels count nobody asks for the image") {
  Watched watched({}, true);
  watched.engine.put('a', R"({"flowcon.weight":"9"})");
  watched.until([&] { return watched.engine.asked["/containers/json"] == 1; });
  watched.engine.tell("start", 'a');
  watched.await(1);
  CHECK(watched.told[0].container.labels == Labels{{"flowcon.weight", "9"}});
  CHECK(watched.engine.asked["/images/sha256%3A1/json"] == 0);
}
