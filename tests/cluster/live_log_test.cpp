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
  std::string lines() { return ask("?after=" + std::to_string(kBegin)); }
  std::string ask(const std::string& query) {
    const ctrl::api::Routes routes = log.routes();
    ctrl::api::Request request;
    request.method = "GET";
    request.target = "/v1/containers/vae/log" + query;
    auto work = [&]() -> Async<void> {
      out = co_await ctrl::api::answer(&routes, std::move(request));
    };
    ctrl::spawn(io, "test", work);
    io.restart();
    io.run();
    CHECK(out.status == 200);
    return text_in(out.body, "lines");
  }
  // A number of the last answer.
  [[nodiscard]] std::int64_t number(const std::string& name) const {
    const std::size_t at = out.body.find("\"" + name + "\":");
    REQUIRE(at != std::string::npos);
    return std::stoll(out.body.substr(at + name.size() + 3));
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
  ctrl::api::Response out;
};

// So many lines of one moment.
std::string many(int lines, std::int64_t microseconds, const std::string& text) {
  std::string all;
  for (int i = 0; i < lines; ++i) all += line(microseconds, text);
  return all;
}

// Of a line without an end, as an engine gives it.
std::string piece(int number) {
  std::string text = std::to_string(number) + ":" + std::string(16384, 'x');
  text.resize(16384);
  return migration::render_log_time(kBegin * 1000) + " " + text;
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("what follows a moment is asked for from the end of the log, as far as it is needed") {
  Asking asking;
  asking.engine.answer(logs_call(2000), 200, many(2000, 3, "three"));
  asking.engine.answer(logs_call(4000), 200, many(2000, 2, "two") + many(2000, 3, "three"));
  asking.engine.answer(
      logs_call(8000), 200,
      line(0, "zero") + line(1, "one") + many(2000, 2, "two") + many(2000, 3, "three"));
  const std::string lines = asking.lines();
  CHECK(count(lines, "zero") == 0);
  CHECK(count(lines, "one") == 1);
  CHECK(count(lines, "two") == 2000);
  CHECK(count(lines, "three") == 2000);
  CHECK(asking.number("after") == kBegin + 3);
  CHECK(asking.number("skip") == 2000);
  CHECK(asking.calls() ==
        std::vector<std::string>{logs_call(2000), logs_call(4000), logs_call(8000)});
}

TEST_CASE("no more of a log is asked for than has come, where that is all of it") {
  Asking asking;
  asking.engine.answer(logs_call(2000), 200, line(0, "zero") + line(1, "one"));
  CHECK(asking.lines().find("one") != std::string::npos);
  CHECK(asking.calls().size() == 1);
  Asking rotated;
  rotated.engine.answer(logs_call(2000), 200, line(1, "one"));
  rotated.engine.answer(logs_call(4000), 200, line(1, "one"));
  CHECK(rotated.lines().find("one") != std::string::npos);
  CHECK(rotated.calls().size() == 2);
  Asking quiet;
  quiet.engine.answer(logs_call(2000), 200, "");
  CHECK(quiet.lines().empty());
  CHECK(quiet.calls().size() == 1);
}

TEST_CASE("lines that the engine counts and leaves out as older hide none that came later") {
  Asking asking;
  asking.engine.answer(logs_call(2000), 200, many(1990, 3, "three"));
  asking.engine.answer(logs_call(4000), 200,
                       line(0, "zero") + many(1000, 2, "two") + many(1990, 3, "three"));
  const std::string lines = asking.lines();
  CHECK(count(lines, "two") == 1000);
  CHECK(count(lines, "three") == 1990);
  CHECK(asking.calls().size() == 2);
}

TEST_CASE("of lines that do not reach back far enough no more than a page is read") {
  Asking asking;
  std::string much;
  for (int i = 0; i < 2000; ++i) much += line(3 + i, std::string(2000, 'y'));
  asking.engine.answer(logs_call(2000), 200, much);
  asking.engine.answer(logs_call(4000), 200, line(-1, "old") + line(1, "one") + much);
  CHECK(count(asking.lines(), "one") == 1);
  CHECK(asking.number("after") < kBegin + 1000);
  CHECK(asking.calls().size() == 2);
  // Of 8 MB in all: two pages, and what waits in the sockets.
  CHECK(asking.engine.sent() < 3'000'000);
}

TEST_CASE("a page of a log has what was printed after a moment") {
  LogPage page(true, {kBegin + 2 * kSecond}, 1000);
  REQUIRE(page.feed(line(1 * kSecond, "one") + line(2 * kSecond, "two")).has_value());
  CHECK(page.lines().empty());
  CHECK(page.next().after == kBegin + 2 * kSecond);
  REQUIRE(page.feed(line(2 * kSecond + 1, "three")).has_value());
  CHECK(page.lines().find("three") != std::string::npos);
  CHECK(page.next().after == kBegin + 2 * kSecond + 1);
  CHECK(page.next().skip == 1);
  CHECK_FALSE(page.is_full());
}

TEST_CASE("pages follow each other without a gap, and none ends within a moment of few lines") {
  std::string all;
  for (int i = 0; i < 100; ++i) all += line(i / 4 * kSecond, "line " + std::to_string(i));
  std::string seen;
  LogCursor from;
  int pages = 0;
  for (bool has_more = true; has_more; ++pages) {
    LogPage page(true, from, 300);
    REQUIRE(page.feed(all).has_value());
    seen += page.lines();
    has_more = page.is_full();
    from = page.next();
    CHECK(from.skip == 4);
  }
  CHECK(pages > 5);
  for (int i = 0; i < 100; ++i) {
    const std::string wanted = "line " + std::to_string(i) + "\\n";
    CHECK(seen.find(wanted) != std::string::npos);
    CHECK(seen.find(wanted) == seen.rfind(wanted));
  }
}

TEST_CASE("the pages of a line without an end have a bound, and follow each other without a gap") {
  std::string log;
  for (int i = 0; i < 10; ++i) log += piece(i);
  std::string seen;
  LogCursor from{kBegin, 0};
  for (int pages = 0; pages < 5; ++pages) {
    LogPage page(true, from, 32U << 10);
    REQUIRE(page.feed(log).has_value());
    CHECK(page.lines().size() <= 48U << 10);
    CHECK(page.is_full() == (pages < 4));
    seen += page.lines();
    from = page.next();
    CHECK(from.after == kBegin);
    CHECK(from.skip == 2 * (pages + 1));
  }
  // The line goes on.
  LogPage later(true, from, 32U << 10);
  REQUIRE(later.feed(log + piece(10)).has_value());
  seen += later.lines();
  CHECK(later.next().skip == 11);
  for (int i = 0; i <= 10; ++i) CHECK(count(seen, "\"" + std::to_string(i) + ":x") == 1);
}

TEST_CASE("who has the last piece of a line without an end gets the next one, and no earlier one") {
  Asking asking;
  const std::string logs = "GET /containers/vae/logs?stdout=1&stderr=1&timestamps=1";
  asking.engine.answer(logs + "&tail=1", 200, piece(2));
  asking.engine.answer(logs_call(2000), 200, piece(0) + piece(1) + piece(2));
  CHECK(count(asking.ask("?tail=1"), ":x") == 1);
  CHECK(asking.number("after") == kBegin);
  CHECK(asking.number("skip") == 3);
  asking.engine.answer(logs_call(2000), 200, piece(0) + piece(1) + piece(2) + piece(3));
  const std::string next = asking.ask("?after=" + std::to_string(kBegin) + "&skip=3");
  CHECK(count(next, ":x") == 1);
  CHECK(count(next, "3:x") == 1);
  CHECK(asking.number("skip") == 4);
}

TEST_CASE("what was shown is not shown again though its log was gone for a while") {
  Asking asking;
  const std::string next = "?after=" + std::to_string(kBegin) + "&skip=2";
  asking.engine.answer(logs_call(2000), 200, "");
  CHECK(asking.ask(next).empty());
  CHECK(asking.number("skip") == 2);
  asking.engine.answer(logs_call(2000), 200, many(2, 0, "one") + line(2, "two"));
  CHECK(count(asking.ask(next), "one") == 0);
}

TEST_CASE("a piece that comes while the last ones are looked at is not left out") {
  Asking asking;
  const std::string logs = "GET /containers/vae/logs?stdout=1&stderr=1&timestamps=1";
  // It came after the first look at the last one, or after those of the moment were counted.
  asking.engine.answer(logs + "&tail=1", 200, piece(2));
  asking.engine.then(logs + "&tail=1", 200, piece(3));
  asking.engine.answer(logs_call(2000), 200, piece(0) + piece(1) + piece(2) + piece(3));
  CHECK(count(asking.ask("?tail=1"), "3:x") == 1);
  CHECK(asking.number("skip") == 4);
  asking.engine.answer(logs + "&tail=1", 200, piece(2));
  asking.engine.then(logs + "&tail=1", 200, piece(3));
  asking.engine.answer(logs_call(2000), 200, piece(0) + piece(1) + piece(2));
  CHECK(count(asking.ask("?tail=1"), "3:x") == 1);
  CHECK(asking.number("skip") == 3);
}

TEST_CASE("much that follows in one moment is read from its beginning, as far as a page goes") {
  Asking asking;
  asking.engine.answer(logs_call(2000), 200, many(2000, 0, std::string(1000, 'y')));
  std::string all;
  for (int i = 0; i < 100; ++i) all += piece(i);
  asking.engine.answer(
      "GET /containers/vae/logs?stdout=1&stderr=1&timestamps=1&since=1795626242.000000&tail=all",
      200, all);
  const std::string page = asking.ask("?after=" + std::to_string(kBegin) + "&skip=5");
  CHECK(page.size() < 400'000);
  CHECK(count(page, "\"5:x") == 1);
  CHECK(count(page, "\"4:x") == 0);
  CHECK(asking.number("skip") == 5 + static_cast<std::int64_t>(count(page, ":x")));
  CHECK(asking.out.body.find("\"more\":true") != std::string::npos);
}

TEST_CASE("what is no log of an engine is an error") {
  LogPage page(false, {}, 1000);
  CHECK_FALSE(page.feed(std::string(64, 'x')).has_value());
}
