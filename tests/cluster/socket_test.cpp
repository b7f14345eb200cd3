// SPDX-License-Identifier: Apache-2.0
// What a key can and cannot do on the live peer socket: replayed, reordered, forged, huge, slow and
// half messages. The peer's own side is an `ssh` of the test's that gives canned answers.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>

#include "base/caller.h"
#include "cluster/cluster.h"
#include "cluster/peers/message.h"
#include "tests/cluster/stand.h"

namespace flowcon::cluster {
namespace {

using namespace test;

// A host id that is no JSON of the script's own making.
const std::string kPeerId = host_id('2');

std::string state_of(const std::string& id, std::int64_t sequence, std::int64_t incarnation = 5) {
  peers::State state;
  state.id = id;
  state.name = "h2";
  state.incarnation = incarnation;
  state.sequence = sequence;
  return peers::render(state);
}

// Answers every request of flowcond as the host h2 would.
void write_ssh(const std::string& path, peers::Protocol protocol = {}) {
  peers::Hello hello;
  hello.protocol = protocol;
  hello.version = "0.1.0";
  hello.host = "h2";
  hello.id = kPeerId;
  hello.incarnation = 5;
  std::ofstream file(path);
  file
      << "#!/bin/sh\n"
         "cr=$(printf '\\r')\n"
         "while IFS= read -r first; do\n"
         "  length=0\n"
         "  while IFS= read -r line && [ \"$line\" != \"$cr\" ]; do\n"
         "    case $line in [Cc]ontent-[Ll]ength:*) line=${line#*: }; length=${line%$cr};; esac\n"
         "  done\n"
         "  [ \"$length\" = 0 ] || head -c \"$length\" >/dev/null\n"
         "  case $first in\n"
         "    *hello*) body='"
      << peers::render(hello) << "' ;;\n    *) body='" << state_of(kPeerId, 1)
      << "' ;;\n"
         "  esac\n"
         "  printf 'HTTP/1.1 200 OK\\r\\nContent-Length: %s\\r\\n\\r\\n%s' \"${#body}\" \"$body\"\n"
         "done\n";
  file.close();
  ::chmod(path.c_str(), 0755);
}

// Has every ssh ended, and was it waited for?
bool has_no_children() {
  siginfo_t end{};
  return ::waitid(P_ALL, 0, &end, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

class Live {
 public:
  explicit Live(peers::Protocol protocol = {}) {
    const std::string folder = host.folder_.path();
    write_ssh(folder + "/ssh", protocol);
    const char* path = std::getenv("PATH");
    before_ = path != nullptr ? path : "";
    ::setenv("PATH", (folder + ":" + before_).c_str(), 1);
    host.config_.peers.socket = socket_ = folder + "/peer.sock";
    host.config_.peers.group = "";
    host.config_.peers.heartbeat = 0.5;
    host.config_.peers.hosts = {"h2"};
    auto made = make_cluster(host);
    REQUIRE(made.has_value());
    cluster = std::move(*made);
    ctrl::spawn(io, "test", cluster->begin());
    if (protocol.min > 1) return;  // it will never be known
    // Until its own connection has told who h2 is.
    for (int i = 0; i < 2000 && !knows_peer(); ++i) io.run_for(std::chrono::milliseconds(10));
    REQUIRE(knows_peer());
  }
  ~Live() {
    cluster->end();
    // The last thing that a link does is to wait for its ssh.
    for (int i = 0; i < 2000 && !has_no_children() && !io.stopped(); ++i) {
      io.run_for(std::chrono::milliseconds(5));
    }
    CHECK(has_no_children());
    ::setenv("PATH", before_.c_str(), 1);
  }

  bool knows_peer() {
    return exchange(request("GET /v1/peer/jobs")).find(" 200 ") != std::string::npos;
  }

  // A request with the announcement of dial-stdio before it.
  static std::string request(const std::string& verb, const std::string& body = "",
                             const std::string& from = "h2") {
    return announcement(from) + verb + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" +
           (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") +
           "\r\n" + body;
  }

  // All that comes back; `piece` bytes are sent at a time.
  std::string exchange(std::string bytes, std::size_t piece = 65536) {
    auto talking = std::async(std::launch::async, [this, bytes = std::move(bytes), piece] {
      const int file = connect();
      std::string answer;
      char buffer[4096];
      for (std::size_t done = 0; done < bytes.size();) {
        const std::size_t size = std::min(piece, bytes.size() - done);
        const ssize_t sent = ::send(file, bytes.data() + done, size, MSG_NOSIGNAL);
        if (sent <= 0) break;
        done += static_cast<std::size_t>(sent);
      }
      ::shutdown(file, SHUT_WR);
      for (ssize_t got = 0; (got = ::recv(file, buffer, sizeof buffer, 0)) > 0;) {
        answer.append(buffer, static_cast<std::size_t>(got));
      }
      ::close(file);
      return answer;
    });
    while (talking.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      io.run_for(std::chrono::milliseconds(2));
    }
    return talking.get();
  }
  // The answer on a connection that stays open; "" where it has ended.
  std::string ask(int file, const std::string& bytes) {
    (void)!::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    std::string answer;
    char buffer[4096];
    while (!answer.ends_with("}\n")) {
      io.run_for(std::chrono::milliseconds(2));
      const ssize_t got = ::recv(file, buffer, sizeof buffer, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN)) break;
      if (got > 0) answer.append(buffer, static_cast<std::size_t>(got));
    }
    return answer;
  }
  std::string status_of(const std::string& bytes, std::size_t piece = 65536) {
    const std::string answer = exchange(bytes, piece);
    return answer.size() > 12 ? answer.substr(9, 3) : "none";
  }
  std::string push(const std::string& state) {
    return status_of(request("POST /v1/peer/state", state));
  }
  int connect() const {
    const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket_.c_str(), socket_.size() + 1);
    (void)::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    return file;
  }

  boost::asio::io_context io{1};
  FakeHost host{io};
  std::unique_ptr<ctrl::Extension> cluster;

 private:
  std::string socket_;
  std::string before_;
};

// What this host answers to people.
boost::json::value shown(Live& live, const std::string& target) {
  ctrl::api::Request request;
  request.method = "GET";
  request.target = target;
  std::string body;
  const ctrl::api::Routes routes = live.cluster->routes();
  auto ask = [&]() -> Async<void> {
    ctrl::api::Response response = co_await ctrl::api::answer(&routes, std::move(request));
    body = std::move(response.body);
  };
  ctrl::spawn(live.io, "test", ask);
  while (body.empty()) live.io.run_for(std::chrono::milliseconds(2));
  return *parse_json(body);
}

// What it shows of its only peer.
std::string peer_shown(Live& live, const std::string& member) {
  const boost::json::value answer = shown(live, "/v1/peers");
  const auto* peers = answer.get_object().if_contains("peers");
  return peers == nullptr ? "" : render_json(peers->at(0).at(member));  // not begun yet
}

TEST_CASE("hosts that speak no common version say who has to be updated") {
  for (const auto& [protocol, words] :
       {std::pair(peers::Protocol{2, 3}, "update"), std::pair(peers::Protocol{1, 9}, "")}) {
    Live live(protocol);
    std::string error;
    const auto is_over = [&] {
      if (*words == '\0') return peer_shown(live, "state") == "\"reachable\"";
      return error.find(words) != std::string::npos;
    };
    for (int i = 0; i < 2000 && !is_over(); ++i) {
      error = peer_shown(live, "error");
      live.io.run_for(std::chrono::milliseconds(10));
    }
    CAPTURE(error);
    CHECK(error.find(words) != std::string::npos);
    CHECK((peer_shown(live, "state") == "\"reachable\"") == (*words == '\0'));
  }
}

TEST_CASE("the peers of the configuration are followed when it is read again") {
  Live live;
  live.host.config_.peers.hosts = {};
  live.cluster->look(0);
  CHECK(live.status_of(Live::request("GET /v1/peer/hello")) == "403");
  live.host.config_.peers.hosts = {"h2"};
  live.cluster->look(0);
  for (int i = 0; i < 2000 && !live.knows_peer(); ++i)
    live.io.run_for(std::chrono::milliseconds(5));
  CHECK(live.knows_peer());
}

TEST_CASE("a peer that is dropped takes the connections of no other with it") {
  Live live;
  live.host.config_.peers.hosts = {"h2", "h3"};
  live.cluster->look(0);
  const std::string hello = "GET /v1/peer/hello HTTP/1.1\r\nHost: x\r\n\r\n";
  const int kept = live.connect();
  const int dropped = live.connect();
  CHECK(live.ask(kept, announcement("h2") + hello).find(" 200 ") != std::string::npos);
  CHECK(live.ask(dropped, announcement("h3") + hello).find(" 200 ") != std::string::npos);
  live.host.config_.peers.hosts = {"h2"};
  live.cluster->look(0);
  CHECK(live.ask(dropped, hello).empty());
  CHECK(live.ask(kept, hello).find(" 200 ") != std::string::npos);
  ::close(kept);
  ::close(dropped);
}

TEST_CASE("who does not say whose key it is, or is no peer, is told nothing") {
  Live live;
  for (const char* verb : {"GET /v1/peer/hello", "POST /v1/peer/state", "POST /v1/peer/drain",
                           "GET /v1/peer/jobs", "POST /v1/peer/move", "GET /v1/status"}) {
    CAPTURE(verb);
    const std::string bare = Live::request(verb, "", "").substr(announcement("").size());
    CHECK(live.status_of(bare) == "403");
    CHECK(live.status_of(Live::request(verb, "", "")) == "403");
    CHECK(live.status_of(Live::request(verb, "", "h3")) == "403");
  }
  CHECK(live.exchange(Live::request("GET /v1/peer/hello", "", "")).find("peer add once more") !=
        std::string::npos);
  CHECK(live.status_of(Live::request("GET /v1/peer/hello")) == "200");
}

TEST_CASE("an announcement cannot be forged behind the one of dial-stdio") {
  Live live;
  // What ssh brings stands behind the first line, whatever it is.
  CHECK(live.status_of(announcement("") + Live::request("GET /v1/peer/hello")) == "400");
  CHECK(live.status_of(announcement("h3") + Live::request("GET /v1/peer/hello")) == "400");
  for (const char* name : {"-oProxyCommand=id", "$(id)", "h2'", "h2 h2", "h2\r"}) {
    const std::string line = std::string("FLOWCON-PEER ") + name + "\n";
    const std::string rest =
        Live::request("GET /v1/peer/hello", "", "").substr(announcement("").size());
    CHECK(live.status_of(line + rest) == "403");
  }
}

TEST_CASE("a key speaks for its own host alone") {
  Live live;
  CHECK(live.push(state_of(kPeerId, 10)) == "200");
  CHECK(live.push(state_of(host_id('3'), 10)) == "403");
  const std::string own = live.exchange(Live::request("GET /v1/peer/hello"));
  const std::size_t at = own.find("\"id\":\"") + 6;
  CHECK(live.push(state_of(own.substr(at, 32), 10)) == "409");
}

TEST_CASE("a key makes no host coordinate by another name") {
  Live live;
  std::string named = state_of(kPeerId, 60);
  named.replace(named.find("\"h2\""), 4, "\"h0\"");
  CHECK(live.push(named) == "200");
  CHECK(shown(live, "/v1/cluster").at("coordinator") == "h1");
}

TEST_CASE("replayed and reordered states change nothing") {
  Live live;
  CHECK(live.push(state_of(kPeerId, 10)) == "200");
  CHECK(live.push(state_of(kPeerId, 10)) == "409");
  CHECK(live.push(state_of(kPeerId, 9)) == "409");
  CHECK(live.push(state_of(kPeerId, 99, 4)) == "409");
  CHECK(live.push(state_of(kPeerId, 11)) == "200");
  CHECK(live.push(state_of(kPeerId, 1, 6)) == "200");
  CHECK(live.push(state_of(kPeerId, 12)) == "409");
}

TEST_CASE("what makes no sense is refused, and names of hosts are only shown") {
  Live live;
  for (const char* body : {"{", "[]", "{}", "{\"protocol\":2}", "null", "\"x\""}) {
    CAPTURE(body);
    CHECK(live.push(body) == "422");
  }
  std::string odd = state_of(kPeerId, 20);
  odd.replace(odd.find("\"usage\":0"), 9, "\"usage\":7");
  CHECK(live.push(odd) == "422");
  for (const char* name : {"$(reboot)", "-rf", "h2\\nh3", "\\u001b[2J", "'; rm -rf /;'"}) {
    static std::int64_t sequence = 100;
    std::string named = state_of(kPeerId, ++sequence);
    named.replace(named.find("\"h2\""), 4, std::string("\"") + name + "\"");
    const std::string status = live.push(named);
    CHECK((status == "200" || status == "422"));
  }
  REQUIRE(ctrl::api::find_route(live.cluster->routes(), "GET", "/v1/cluster").has_value());
}

TEST_CASE("huge, slow and half messages end one connection and nothing else") {
  Live live;
  CHECK(live.push(std::string(70'000, ' ')) == "413");
  CHECK(live.status_of(announcement("h2") + "GET /" + std::string(200'000, 'a')) == "431");
  CHECK(live.status_of(std::string(1'000'000, 'F')) == "431");
  CHECK(live.status_of("FLOWCON-PEER " + std::string(1'000'000, 'h')) == "431");
  CHECK(live.status_of(announcement("h2").substr(0, 8)) == "none");
  const std::string whole = Live::request("POST /v1/peer/state", state_of(kPeerId, 30));
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    CHECK(live.status_of(whole.substr(0, size)) == "none");
  }
  // None of the halves counted; and byte by byte is a message like others.
  CHECK(live.status_of(whole, 1) == "200");
  CHECK(live.status_of(whole) == "409");
}

TEST_CASE("many connections that say nothing keep nobody else out") {
  Live live;
  std::vector<int> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(live.connect());
  CHECK(live.push(state_of(kPeerId, 40)) == "200");
  for (const int file : silent) ::close(file);
  CHECK(live.push(state_of(kPeerId, 41)) == "200");
}

TEST_CASE("whose key is stolen cannot keep other peers out") {
  Live live;
  live.host.config_.peers.hosts = {"h2", "h3"};
  live.cluster->look(0);
  const std::string from_thief = announcement("h3");
  std::vector<int> held;
  for (int i = 0; i < 300; ++i) {
    held.push_back(live.connect());
    REQUIRE(::send(held.back(), from_thief.data(), from_thief.size(), MSG_NOSIGNAL) > 0);
    live.io.run_for(std::chrono::milliseconds(1));
  }
  CHECK(live.status_of(Live::request("GET /v1/peer/hello", "", "h3")) == "503");
  CHECK(live.push(state_of(kPeerId, 50)) == "200");
  for (const int file : held) ::close(file);
  for (int i = 0; i < 2000; ++i) {
    if (live.status_of(Live::request("GET /v1/peer/hello", "", "h3")) == "200") break;
  }
  CHECK(live.status_of(Live::request("GET /v1/peer/hello", "", "h3")) == "200");
}

TEST_CASE("a peer asks what peers may, and nothing of people's calls") {
  Live live;
  CHECK(live.status_of(Live::request("GET /v1/peer/jobs")) == "200");
  CHECK(live.status_of(Live::request("POST /v1/peer/jobs")) == "404");
  for (const char* verb : {"GET /v1/status", "GET /v1/cluster", "POST /v1/rebalance",
                           "GET /v1/peers", "POST /v1/pause", "GET /v1/peer/../status"}) {
    CHECK(live.status_of(Live::request(verb)) == "404");
  }
  CHECK(live.status_of(Live::request("POST /v1/peer/move", "{\"container\":\"a\"}")) == "422");
  CHECK(live.status_of(Live::request(
            "POST /v1/peer/move",
            "{\"container\":\"a\",\"target\":\"b\",\"cause\":\"rebalance\"}")) == "409");
  CHECK(live.status_of(Live::request(
            "POST /v1/peer/move", "{\"container\":\"a\",\"target\":\"b\",\"cause\":\"person\"}")) ==
        "422");
}

}  // namespace
}  // namespace flowcon::cluster
