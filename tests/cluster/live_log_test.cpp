// SPDX-License-Identifier: Apache-2.0
#include "cluster/live_log.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/json_reader.h"
#include "ctrl/spawn.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

using namespace flowcon;
using namespace flowcon::cluster;

namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kBegin = 1'795'626'242 * kSecond;  // 2026-11-25T17:04:02Z

// A line of a terminal, at so many microseconds after kBegin.
std::string line(std::int64_t microseconds, const std::string& text) {
  return migration::render_log_time((kBegin + microseconds) * 1000) + " " + text + "\n";
}

std::string logs_call(int lines) {
  return "GET /containers/vae/logs?stdout=1&stderr=1&timestamps=1&since=1795626242.000000&tail=" +
         std::to_string(lines);
}

// An engine with a container, and what a person asks of its log.
struct Asking {
  Asking() {
    engine.answer("GET /containers/vae/json", 200,
                  R"({"Id":"vae-id","Config":{"Tty":true},"State":{"Running":true}})");
  }
  // Of what was printed after kBegin.
  std::string lines() {
    ctrl::api::Response out;
    const ctrl::api::Routes routes = log.routes();
    ctrl::api::Request request;
    request.method = "GET";
    request.target = "/v1/containers/vae/log?after=" + std::to_string(kBegin);
    auto work = [&]() -> Async<void> {
      out = co_await ctrl::api::answer(&routes, std::move(request));
    };
    ctrl::spawn(io, "test", work);
    io.run();
    CHECK(out.status == 200);
    return text_in(out.body, "lines");
  }
  // Calls for the log itself.
  [[nodiscard]] std::vector<std::string> calls() const {
    std::vector<std::string> all;
    for (const auto& request : engine.requests()) {
      if (request.line.find("/logs?") != std::string::npos) all.push_back(request.line);
    }
    return all;
  }

  flowcon::test::TempFolder folder;
  flowcon::test::FakeDaemon engine{folder.path() + "/engine"};
  boost::asio::io_context io{1};
  ctrl::engine::Client client{io, folder.path() + "/engine"};
  LiveLog log{client};
};

}  // namespace

TEST_CASE("what follows a moment is asked for from the end of the log, as far as it is needed") {
  Asking asking;
  asking.engine.answer(logs_call(2000), 200, line(3, "three"));
  asking.engine.answer(logs_call(4000), 200, line(2, "two") + line(3, "three"));
  asking.engine.answer(logs_call(8000), 200,
                       line(0, "zero") + line(1, "one") + line(2, "two") + line(3, "three"));
  const std::string lines = asking.lines();
  CHECK(lines.find("zero") == std::string::npos);
  CHECK(lines.find("one") != std::string::npos);
  CHECK(lines.find("three") == lines.rfind("three"));
  CHECK(asking.calls() ==
        std::vector<std::string>{logs_call(2000), logs_call(4000), logs_call(8000)});
}

TEST_CASE("no more of a log is asked for than has come, where that is all of it") {
  Asking asking;
  asking.engine.answer(logs_call(2000), 200, line(1, "one"));
  asking.engine.answer(logs_call(4000), 200, line(1, "one"));
  CHECK(asking.lines().find("one") != std::string::npos);
  CHECK(asking.calls().size() == 2);
  Asking quiet;
  quiet.engine.answer(logs_call(2000), 200, "");
  CHECK(quiet.lines().empty());
  CHECK(quiet.calls().size() == 1);
}

TEST_CASE("a page of a log has what was printed after a moment") {
  LogPage page(true, kBegin + 2 * kSecond, 1000);
  REQUIRE(page.feed(line(1 * kSecond, "one") + line(2 * kSecond, "two")).has_value());
  CHECK(page.lines().empty());
  CHECK(page.after() == kBegin + 2 * kSecond);
  REQUIRE(page.feed(line(2 * kSecond + 1, "three")).has_value());
  CHECK(page.lines().find("three") != std::string::npos);
  CHECK(page.after() == kBegin + 2 * kSecond + 1);
  CHECK_FALSE(page.is_full());
}

TEST_CASE("pages follow each other without a gap, and none ends within one moment") {
  std::string all;
  for (int i = 0; i < 100; ++i) all += line(i / 4 * kSecond, "line " + std::to_string(i));
  std::string seen;
  std::int64_t after = 0;
  int pages = 0;
  for (bool has_more = true; has_more; ++pages) {
    LogPage page(true, after, 300);
    REQUIRE(page.feed(all).has_value());
    seen += page.lines();
    has_more = page.is_full();
    after = page.after();
  }
  CHECK(pages > 5);
  for (int i = 0; i < 100; ++i) {
    const std::string wanted = "line " + std::to_string(i) + "\\n";
    CHECK(seen.find(wanted) != std::string::npos);
    CHECK(seen.find(wanted) == seen.rfind(wanted));
  }
}

TEST_CASE("what is no log of an engine is an error") {
  LogPage page(false, 0, 1000);
  CHECK_FALSE(page.feed(std::string(64, 'x')).has_value());
}
