// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/daemon_client.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/json.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::plugin {
namespace {

using std::chrono::milliseconds;

TEST_CASE("an answer comes back as JSON and the request is what the daemon's API says") {
  const test::TempFolder folder;
  test::FakeDaemon fake(folder.path() + "/s");
  fake.answer("GET /v1/version", 200, R"({"version":"0.1.0","api":1})");
  fake.answer("POST /v1/containers/vae/adopt", 200, R"({"id":"x","name":"vae"})");
  const DaemonClient client(folder.path() + "/s");

  const auto version = client.get("/v1/version");
  const auto adopted = client.post("/v1/containers/vae/adopt", R"({"metric":"loss"})");

  REQUIRE(version.has_value());
  CHECK(render_json(*version) == R"({"version":"0.1.0","api":1})");
  REQUIRE(adopted.has_value());
  REQUIRE(fake.requests().size() == 2);
  CHECK(fake.requests()[1].line == "POST /v1/containers/vae/adopt");
  CHECK(fake.requests()[1].body == R"({"metric":"loss"})");
}

TEST_CASE("a list that comes in parts is read to its end, or as far as there are new parts") {
  const test::TempFolder folder;
  test::FakeDaemon fake(folder.path() + "/s");
  fake.answer("GET /v1/runs", 200, R"({"runs":[1,2],"next":"after=2"})");
  fake.answer("GET /v1/runs?after=2", 200, R"({"runs":[],"next":"after=3"})");
  fake.answer("GET /v1/runs?after=3", 200, R"({"runs":[3],"next":null})");
  const DaemonClient client(folder.path() + "/s");
  const auto all = client.get_parts("/v1/runs", "", "runs");
  REQUIRE(all.has_value());
  CHECK(render_json(*all) == "[1,2,3]");
  fake.answer("GET /v1/runs?after=3", 200, R"({"runs":[3],"next":"after=3"})");
  CHECK(client.get_parts("/v1/runs", "after=2", "runs")->size() == 1);
  fake.answer("GET /v1/runs?after=2", 503, R"({"error":"not now"})");
  CHECK(client.get_parts("/v1/runs", "", "runs").error().message() == "not now");
}

TEST_CASE("an answer larger than a pipe comes whole") {
  const test::TempFolder folder;
  test::FakeDaemon fake(folder.path() + "/s");
  const std::string text(4 << 20, 'x');
  fake.answer("GET /", 200, "{\"text\":\"" + text + "\"}");

  const auto answer = DaemonClient(folder.path() + "/s").get("/");

  REQUIRE(answer.has_value());
  CHECK(answer->get_object().at("text").get_string() == text);
}

TEST_CASE("the daemon's own sentence is the error, safe for a terminal") {
  const test::TempFolder folder;
  test::FakeDaemon fake(folder.path() + "/s");
  fake.answer("GET /", 409, "{\"error\":\"vae is \\u001b[31m under control\"}");

  const auto answer = DaemonClient(folder.path() + "/s").get("/");

  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().message() == "vae is \xEF\xBF\xBD[31m under control");
}

TEST_CASE("without a daemon the error says how to start it") {
  const test::TempFolder folder;
  const std::string missing = folder.path() + "/missing";
  const std::string refusing = folder.path() + "/refusing";
  {
    // A socket file that nobody listens on any more.
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    refusing.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    close(file);
  }

  CHECK(DaemonClient(missing).get("/").error().message() ==
        "Cannot connect to flowcond at unix://" + missing +
            ": No such file or directory. Is it running? Start it with: systemctl start flowcond "
            "(or run: sudo flowcond)");
  CHECK(DaemonClient(refusing).get("/").error().message() ==
        "Cannot connect to flowcond at unix://" + refusing +
            ": Connection refused. Is it running? Start it with: systemctl start flowcond (or run: "
            "sudo flowcond)");
  CHECK(probe_socket(missing) == SocketState::absent);
  CHECK(probe_socket(refusing) == SocketState::absent);
}

TEST_CASE("the group that may use a socket is the socket's own") {
  if (::geteuid() != 0) {
    WARN("not tested: root alone gives files away");
    return;
  }
  const test::TempFolder folder;
  const std::string path = folder.path() + "/s";
  const test::FakeDaemon fake(path);
  const group* members = getgrnam("mail");
  REQUIRE(members != nullptr);
  const auto group_at = [&](gid_t owner, mode_t mode) {
    REQUIRE(chown(path.c_str(), 0, owner) == 0);
    REQUIRE(chmod(path.c_str(), mode) == 0);
    return socket_group(path);
  };

  CHECK(group_at(members->gr_gid, 0660) == "mail");
  CHECK(group_at(members->gr_gid, 0640).empty());
  CHECK(group_at(0, 0660).empty());
  CHECK(group_at(987654, 0660).empty());
  CHECK(socket_group(folder.path() + "/none") == "docker");
  CHECK(join_advice("mail") == "sudo usermod -aG mail $USER, then log in again");
}

TEST_CASE("a path that cannot be a socket is named as such") {
  const std::string path(108, 'x');

  CHECK(DaemonClient(path).get("/").error().message() ==
        "\"" + path + "\" cannot be a socket: its path has to have 1 to 107 bytes");
  CHECK(probe_socket(path) == SocketState::unknown);
}

TEST_CASE("a listening socket answers a probe") {
  const test::TempFolder folder;
  const test::FakeDaemon fake(folder.path() + "/s");

  CHECK(probe_socket(folder.path() + "/s") == SocketState::answers);
}

TEST_CASE("a daemon that says nothing costs the timeout and no more") {
  const test::TempFolder folder;
  test::FakeDaemon fake(folder.path() + "/s");
  fake.answer_raw("GET /", "");
  const auto before = std::chrono::steady_clock::now();

  const auto answer = DaemonClient(folder.path() + "/s", milliseconds(50)).get("/");

  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().what == "flowcond at unix://" + folder.path() +
                                   "/s did not answer within 0.05 s; its log may say why: "
                                   "journalctl -u flowcond");
  // Far above the timeout, so that a busy machine passes, and far below "for ever".
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(5));
}

TEST_CASE("a program that is not flowcond is taken for none") {
  const test::TempFolder folder;
  test::FakeDaemon fake(folder.path() + "/s");
  fake.answer("GET /v1/doctor", 404, R"({"message":"page not found"})");

  const auto answer = DaemonClient(folder.path() + "/s").get("/v1/doctor");

  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().what.find("is another program listening there?") != std::string::npos);
}

TEST_CASE("a body comes back byte for byte where it is wanted so") {
  const test::TempFolder folder;
  test::FakeDaemon fake(folder.path() + "/s");
  const std::string body = "{ \"a\" : 1.50,\n\"a\":1E2 }\n";
  fake.answer("GET /v1/x", 200, body);

  const auto answer = DaemonClient(folder.path() + "/s").get_text("/v1/x");

  REQUIRE(answer.has_value());
  CHECK(*answer == body);
}

TEST_CASE("what is no answer of flowcond is an error, never a crash") {
  const std::vector<std::string> answers{
      "nonsense\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n[1,2]",
      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{{{",
      "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\n{}",
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{}",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
      "\r\n",
  };
  const test::TempFolder folder;
  test::FakeDaemon fake(folder.path() + "/s");
  for (const std::string& bytes : answers) {
    fake.answer_raw("GET /", bytes);
    INFO(bytes);
    CHECK_FALSE(DaemonClient(folder.path() + "/s").get("/").has_value());
  }
}

}  // namespace
}  // namespace flowcon::plugin
