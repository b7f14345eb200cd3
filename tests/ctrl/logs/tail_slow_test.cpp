// SPDX-License-Identifier: Apache-2.0
// Logs that a helper reads, here of a file system that answers. One that does not is in
// tail_container_test.cpp.
#include "ctrl/logs/tail_slow.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/ctrl/logs/log_folder.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::logs {

using flowcon::test::LogFolder;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
using Lines = std::vector<std::string>;

namespace {

struct Host {
  void follow(const std::string& id, const LogFolder& log, const Position& from = {}) {
    auto spout = std::make_shared<Spout>();
    spout->sink = [this](const Line& line) {
      (line.is_known ? known : lines).emplace_back(line.text);
    };
    const Source source{Format::json_file, log.path(), nullptr};
    auto reader =
        std::make_unique<LogReader>(source, from, [spout](const Line& line) { spout->take(line); });
    logs.start(id, {"0:1", "nfs4 at /datasets"}, std::move(reader), spout, from);
  }
  // Looks as flowcond does, again and again: one is left out while the helper is still asked.
  void run_until(std::size_t count) {
    while (lines.size() < count) {
      io.run_one_for(10ms);
      logs.look();
    }
  }
  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  SlowLogs logs{io, 1h};
  Lines lines;
  Lines known;
};

}  // namespace

TEST_CASE("a slow log's lines come once and in order, those of its rotated files too") {
  LogFolder log;
  log.create();
  log.line("one");
  log.rotate(3);
  log.line("two");
  Host host;
  host.follow("a", log);
  CHECK(host.lines.empty());
  host.run_until(2);
  log.line("three");
  log.rotate(3);
  log.line("four");
  host.run_until(4);
  CHECK(host.lines == Lines{"one", "two", "three", "four"});
  CHECK(host.logs.stats("a").problem.empty());
}

TEST_CASE(
    "what a slow log's reader was given but did not hand on is read again, and nothing twice") {
  LogFolder log;
  log.create();
  log.line("one");
  Host host;
  host.follow("a", log);
  host.run_until(1);
  const Position first = host.logs.position("a");
  CHECK_FALSE(first.is_empty());
  log.line("two");
  host.logs.look();  // the helper reads it, and the log is stopped before the loop hears of it
  CHECK(host.logs.stop("a") == first);
  while (host.io.poll() > 0) continue;
  CHECK(host.lines == Lines{"one"});
  host.follow("a", log, first);
  host.run_until(2);
  CHECK(host.lines == Lines{"one", "two"});
  CHECK(host.known == Lines{"one"});
}

TEST_CASE("a slow log is drained to its last line, without its end too") {
  LogFolder log;
  log.create();
  Host host;
  host.follow("a", log);
  log.line("one");
  log.append(R"({"log":"two","stream":"stdout","time":"2025-01-02T03:04:05.5Z"})"
             "\n");
  Position end;
  CHECK(host.logs.drain("a", [&end](const Position& position) { end = position; }));
  CHECK_FALSE(host.logs.drain("b", [](const Position&) {}));
  while (end.is_empty()) host.io.run_one();
  CHECK(host.lines == Lines{"one", "two"});
  CHECK_FALSE(host.logs.has("a"));
}

TEST_CASE("between two looks a slow log's file is not open, and found again under any name") {
  LogFolder log;
  log.create();
  log.line("one");
  auto file = open_log_file(log.path());
  REQUIRE(file.has_value());
  char byte = 0;
  file->rest();
  CHECK(file->is_resting());
  CHECK_FALSE(file->read(&byte, 1, 0).has_value());
  log.move(0, 1);
  REQUIRE(file->wake().has_value());
  CHECK(file->read(&byte, 1, 0).has_value());
  CHECK(byte == '{');
}

}  // namespace flowcon::ctrl::logs
