// SPDX-License-Identifier: Apache-2.0
// Many logs on one inotify descriptor. The loop is polled: an event is there as soon as the write
// that causes it has returned, so no test waits.
#include "ctrl/logs/tail.h"

#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/ctrl/logs/log_folder.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::logs {

using flowcon::test::LogFolder;
using flowcon::test::record;
using Lines = std::vector<std::string>;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;

namespace {

Source json_file(const std::string& path) { return {Format::json_file, path, nullptr}; }

/// A loop and a set on it that looks at once after every wake.
struct Host {
  explicit Host(std::chrono::milliseconds batch = 0ms) : set(io, batch) {}
  LineSink keep(const std::string& id) {
    return [this, id](const Line& line) {
      if (!line.is_known) lines[id].emplace_back(line.text);
    };
  }
  void follow(const std::string& id, const LogFolder& log, const Position& from = {}) {
    const auto started = set.start(id, json_file(log.path()), from, keep(id));
    INFO((started ? std::string() : started.error().message()));
    REQUIRE(started.has_value());
  }
  void poll() { io.poll(); }
  boost::asio::io_context io{1};
  TailSet set;
  std::map<std::string, Lines> lines;
};

long peak_memory_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("lines that are there and lines that come are handed on, never within start") {
  LogFolder log;
  log.create();
  log.line("one");
  Host host;
  host.follow("a", log);
  CHECK(host.lines["a"].empty());
  host.poll();
  CHECK(host.lines["a"] == Lines{"one"});
  log.line("two");
  log.line("three");
  host.poll();
  CHECK(host.lines["a"] == Lines{"one", "two", "three"});
  CHECK(host.set.stats("a").bytes ==
        record("one").size() + record("two").size() + record("three").size());
  CHECK(host.set.stats("a").problem.empty());
}

TEST_CASE("half a record waits for its other half") {
  LogFolder log;
  log.create();
  Host host;
  host.follow("a", log);
  const std::string whole = record("one");
  for (const char byte : whole) {
    CHECK(host.lines["a"].empty());
    log.append(std::string(1, byte));
    host.poll();
  }
  CHECK(host.lines["a"] == Lines{"one"});
}

TEST_CASE("a log that does not exist yet is followed from its first line") {
  LogFolder log;
  Host host;
  host.follow("a", log);
  host.poll();
  CHECK_FALSE(host.set.stats("a").problem.empty());
  log.create();
  host.poll();
  log.line("one");
  host.poll();
  CHECK(host.lines["a"] == Lines{"one"});
  CHECK(host.set.stats("a").problem.empty());
}

TEST_CASE("a log that is moved into place is followed") {
  LogFolder log;
  Host host;
  host.follow("a", log);
  host.poll();
  std::ofstream(log.folder() + "/other") << record("one");
  std::filesystem::rename(log.folder() + "/other", log.path());
  host.poll();
  CHECK(host.lines["a"] == Lines{"one"});
}

TEST_CASE("rotation loses and repeats nothing, whenever the loop runs in between") {
  Host host;  // one for all: closing an inotify descriptor takes the kernel some 8 ms
  for (unsigned mask = 0; mask < 1U << 9; ++mask) {
    LogFolder log(true);
    const std::string id = std::to_string(mask);
    log.create();
    host.follow(id, log);
    unsigned step = 0;
    const auto perhaps_poll = [&] {
      if ((mask >> step++ & 1) != 0) host.poll();
    };
    perhaps_poll();
    log.line("one");
    perhaps_poll();
    log.move(0, 1);
    perhaps_poll();
    log.create();
    perhaps_poll();
    log.line("two");
    perhaps_poll();
    log.move(1, 2);
    perhaps_poll();
    log.move(0, 1);
    perhaps_poll();
    log.create();
    perhaps_poll();
    log.line("three");
    perhaps_poll();
    host.poll();
    INFO("mask " << mask);
    REQUIRE(host.lines[id] == Lines{"one", "two", "three"});
    log.line("four");
    host.poll();
    REQUIRE(host.lines[id].back() == "four");
    host.set.stop(id, false);
  }
}

TEST_CASE("a deleted log is told without a line having to come") {
  LogFolder log;
  log.create();
  log.line("one");
  Host host;
  host.follow("a", log);
  host.poll();
  log.remove();
  host.poll();
  CHECK(host.set.stats("a").problem.find("has been deleted") != std::string::npos);
  log.create();
  log.line("two");
  host.poll();
  CHECK(host.lines["a"] == Lines{"one", "two"});
  CHECK(host.set.stats("a").problem.empty());
}

TEST_CASE("a log whose whole folder goes away is told") {
  auto log = std::make_unique<LogFolder>();
  log->create();
  log->line("one");
  Host host;
  host.follow("a", *log);
  host.poll();
  log.reset();
  host.poll();
  CHECK(host.set.stats("a").problem.find("has been deleted") != std::string::npos);
  host.set.stop("a", true);
  CHECK(host.lines["a"] == Lines{"one"});
}

TEST_CASE("a slow look finds what no event announces: a folder replaced by another of its name") {
  LogFolder log;
  const std::string folder = log.folder() + "/logs";
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/x") << record("one");
  boost::asio::io_context io{1};
  TailSet set(io, 0ms, 5ms);
  Lines lines;
  const auto sink = [&lines](const Line& line) { lines.emplace_back(line.text); };
  REQUIRE(set.start("a", json_file(folder + "/x"), {}, sink).has_value());
  while (lines.empty()) io.run_one();
  std::filesystem::rename(folder, folder + ".old");
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/x") << record("two");
  while (lines.size() < 2) io.run_one();
  CHECK(lines == Lines{"one", "two"});
  // The new folder is watched from now on.
  std::ofstream(folder + "/y") << record("three");
  std::filesystem::rename(folder + "/y", folder + "/x");
  while (lines.size() < 3) io.run_one();
  CHECK(lines.back() == "three");
}

TEST_CASE("many rotations between two looks are caught up") {
  LogFolder log;
  log.create();
  Host host;
  host.follow("a", log);
  host.poll();
  Lines expected;
  for (int i = 0; i < 9; ++i) {
    expected.push_back("line " + std::to_string(i));
    log.line(expected.back());
    log.rotate(20);
  }
  host.poll();
  CHECK(host.lines["a"] == expected);
  CHECK(host.set.stats("a").rotations == 9);
}

TEST_CASE("truncation as with max-file=1 goes on at the start") {
  LogFolder log;
  log.create();
  log.line("one");
  log.line("two");
  Host host;
  host.follow("a", log);
  host.poll();
  log.truncate();
  log.line("three");
  host.poll();
  CHECK(host.lines["a"] == Lines{"one", "two", "three"});
  CHECK(host.set.stats("a").truncations == 1);
}

TEST_CASE("a restart goes on where the last one stopped, a rotation in between or not") {
  for (const bool rotates : {false, true}) {
    LogFolder log;
    log.create();
    log.line("one");
    Position position;
    {
      Host host;
      host.follow("a", log);
      host.poll();
      position = host.set.position("a");
    }
    log.line("two");
    if (rotates) log.rotate(3);
    log.line("three");
    Host host;
    host.follow("a", log, position);
    CHECK(host.set.position("a").offset == position.offset);
    host.poll();
    CHECK(host.lines["a"] == Lines{"two", "three"});
  }
}

TEST_CASE("a noisy log does not delay another one's line beyond its turn") {
  const std::string chunk = record(std::string(1000, 'x'));
  std::string much;
  while (much.size() < 10 * 1024 * 1024) much += chunk;
  for (const bool is_quiet_first : {false, true}) {
    LogFolder noisy;
    LogFolder quiet;
    noisy.create();
    quiet.create();
    Host host;
    host.follow("noisy", noisy);
    host.follow("quiet", quiet);
    host.poll();
    if (is_quiet_first) quiet.line("here");
    noisy.append(much);
    if (!is_quiet_first) quiet.line("here");
    while (host.lines["quiet"].empty()) REQUIRE(host.io.poll_one() == 1);
    // At most the one chunk whose turn came before.
    CHECK(host.set.stats("noisy").bytes <= 64 * 1024);
    host.poll();
    CHECK(host.set.stats("noisy").bytes == much.size());
  }
}

TEST_CASE("a drained log is read to its end, a last line without an end too") {
  LogFolder log;
  log.create();
  Host host;
  host.follow("a", log);
  host.poll();
  log.line("one");
  log.rotate(3);
  log.append("{\"log\":\"last\",\"stream\":\"stdout\",\"time\":\"2025-01-02T03:04:05Z\"}\n");
  host.set.stop("a", true);
  CHECK(host.lines["a"] == Lines{"one", "last"});
  log.line("late");
  host.poll();
  CHECK(host.lines["a"].size() == 2);
}

TEST_CASE("draining ends after 16 MiB") {
  LogFolder log;
  log.create();
  const std::string chunk = record(std::string(1000, 'x'));
  std::string much;
  while (much.size() < 1024 * 1024) much += chunk;
  for (int i = 0; i < 18; ++i) log.append(much);
  Host host;
  std::uint64_t count = 0;
  REQUIRE(host.set.start("a", json_file(log.path()), {}, [&count](const Line&) { ++count; })
              .has_value());
  host.set.stop("a", true);
  CHECK(count == 16 * 1024 * 1024 / chunk.size());
}

TEST_CASE("a stopped log is silent, and its id can be used again") {
  LogFolder log;
  log.create();
  Host host;
  host.follow("a", log);
  host.poll();
  log.line("one");
  host.set.stop("a", false);
  host.poll();
  CHECK(host.lines["a"].empty());
  host.follow("a", log);
  host.poll();
  CHECK(host.lines["a"] == Lines{"one"});
}

TEST_CASE("a sink may stop its own log") {
  for (const bool drains : {false, true}) {
    LogFolder log;
    log.create();
    for (const char* text : {"one", "two", "three"}) log.line(text);
    Host host;
    Lines lines;
    const auto sink = [&](const Line& line) {
      lines.emplace_back(line.text);
      if (lines.size() == 1) log.rotate(3);
      if (lines.size() == 1) log.line("four");
      if (lines.size() == 1) host.set.stop("a", drains);
    };
    REQUIRE(host.set.start("a", json_file(log.path()), {}, sink).has_value());
    host.poll();
    CHECK(lines == (drains ? Lines{"one", "two", "three", "four"} : Lines{"one"}));
    CHECK(host.set.position("a") == Position{});
  }
}

TEST_CASE("a sink may stop another log, drain it, and start one") {
  LogFolder first;
  LogFolder second;
  first.create();
  second.create();
  first.line("one");
  first.line("two");
  second.line("other");
  Host host;
  const auto sink = [&](const Line& line) {
    host.lines["first"].emplace_back(line.text);
    if (line.text != "one") return;
    host.set.stop("second", true);
    REQUIRE(host.set.start("third", json_file(second.path()), {}, host.keep("third")).has_value());
  };
  REQUIRE(host.set.start("first", json_file(first.path()), {}, sink).has_value());
  host.follow("second", second);
  host.poll();
  CHECK(host.lines["first"] == Lines{"one", "two"});
  CHECK(host.lines["second"] == Lines{"other"});
  CHECK(host.lines["third"] == Lines{"other"});
}

TEST_CASE("a sink may destroy the set, in a turn and in a drain") {
  for (const bool drains : {false, true}) {
    LogFolder log;
    log.create();
    log.line("one");
    log.line("two");
    boost::asio::io_context io{1};
    auto set = std::make_unique<TailSet>(io, 0ms);
    int count = 0;
    const auto sink = [&](const Line&) {
      ++count;
      set.reset();
    };
    REQUIRE(set->start("a", json_file(log.path()), {}, sink).has_value());
    if (drains) {
      set->stop("a", true);
    } else {
      io.poll();
    }
    CHECK(count >= 1);
    CHECK_FALSE(set);
  }
}

TEST_CASE("two ids may follow one log, each at its own place") {
  LogFolder log;
  log.create();
  log.line("one");
  Host host;
  host.follow("a", log);
  host.poll();
  host.follow("b", log);
  host.poll();
  log.line("two");
  host.poll();
  CHECK(host.lines["a"] == Lines{"one", "two"});
  CHECK(host.lines["b"] == Lines{"one", "two"});
  host.set.stop("a", false);
  log.line("three");
  log.rotate(3);
  log.line("four");
  host.poll();
  CHECK(host.lines["a"] == Lines{"one", "two"});
  CHECK(host.lines["b"] == Lines{"one", "two", "three", "four"});
}

TEST_CASE("an id that is followed and a folder that is missing are refused") {
  LogFolder log;
  log.create();
  Host host;
  host.follow("a", log);
  CHECK(host.set.start("a", json_file(log.path()), {}, host.keep("a")).error().code.value() ==
        EEXIST);
  CHECK(host.set.start("b", json_file(log.folder() + "/none/x"), {}, host.keep("b"))
            .error()
            .code.value() == ENOENT);
  host.set.stop("unknown", true);
  CHECK(host.set.stats("unknown").bytes == 0);
}

TEST_CASE("when inotify drops events every log is looked at") {
  int capacity = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> capacity;
  REQUIRE(capacity > 0);
  LogFolder log;
  LogFolder other;
  log.create();
  other.create();
  Host host;
  host.follow("a", log);
  host.follow("b", other);
  host.poll();
  // Events that are the same as the one before are merged, so the two take turns.
  for (int i = 0; i <= capacity / 2; ++i) {
    log.append("\n");
    other.append("\n");
  }
  log.rotate(3);
  log.line("after the overflow");
  host.poll();
  CHECK(host.lines["a"] == Lines{"after the overflow"});
}

TEST_CASE("after a wake the set sleeps for its batch, and a drain does not wait for that") {
  LogFolder log;
  log.create();
  Host host(1h);
  host.follow("a", log);
  host.poll();
  log.line("one");
  host.poll();
  CHECK(host.lines["a"] == Lines{"one"});
  log.line("two");
  host.poll();
  CHECK(host.lines["a"] == Lines{"one"});
  host.set.stop("a", true);
  CHECK(host.lines["a"] == Lines{"one", "two"});
}

TEST_CASE("a thousand logs are followed on one descriptor") {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit raised{std::min<rlim_t>(limit.rlim_max, 4096), limit.rlim_max};
  REQUIRE(raised.rlim_cur >= 2100);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &raised) == 0);
  std::vector<std::unique_ptr<LogFolder>> logs;
  Host host;
  for (int i = 0; i < 1000; ++i) {
    logs.push_back(std::make_unique<LogFolder>(true));
    logs.back()->create();
    host.follow(std::to_string(i), *logs.back());
  }
  host.poll();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1000; ++i) logs[i]->line(std::to_string(i * 10 + round));
    if (round == 1) {
      for (int i = 0; i < 1000; ++i) logs[i]->rotate(3);
    }
    host.poll();
  }
  for (int i = 0; i < 1000; ++i) {
    INFO(i);
    REQUIRE(host.lines[std::to_string(i)] ==
            Lines{std::to_string(i * 10), std::to_string(i * 10 + 1), std::to_string(i * 10 + 2)});
  }
  for (int i = 0; i < 1000; ++i) host.set.stop(std::to_string(i), false);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

TEST_CASE("a log without a descriptor left is read when one becomes free") {
  LogFolder log;
  LogFolder other;
  Host host;
  other.create();
  host.follow("other", other);
  host.follow("a", log);
  host.poll();
  log.create();
  log.line("one");
  log.close();
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit none{3, limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  host.poll();
  const std::string problem = host.set.stats("a").problem;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(problem.find("LimitNOFILE") != std::string::npos);
  CHECK(host.lines["a"].empty());
  host.set.stop("other", false);
  host.poll();
  CHECK(host.lines["a"] == Lines{"one"});
}

TEST_CASE("a line of any length costs a bounded amount of memory") {
  constexpr std::size_t kLine = 64 * 1024 * 1024;
  for (const bool is_split : {false, true}) {
    LogFolder log;
    log.create();
    // As Docker writes it, in records of 16 KiB without a line end; and as no Docker does, in one.
    const std::string piece(16 * 1024, 'x');
    const std::string head = "{\"log\":\"";
    const std::string tail = "\",\"stream\":\"stdout\",\"time\":\"2025-01-02T03:04:05Z\"}\n";
    if (!is_split) log.append(head);
    for (std::size_t written = 0; written < kLine; written += piece.size()) {
      log.append(is_split ? head + piece + tail : piece);
    }
    if (!is_split) log.append(tail);
    log.line("");
    log.line("short");
    Host host;
    std::vector<std::size_t> lengths;
    std::string last;
    const auto sink = [&](const Line& line) {
      lengths.push_back(line.text.size());
      last = line.text;
    };
    const long before = peak_memory_kib();
    REQUIRE(host.set.start("a", json_file(log.path()), {}, sink).has_value());
    host.poll();
    // Buffers of 64 KiB (chunk), 256 KiB (record) and 64 KiB (line), doubled as strings grow; a
    // reader that kept the line would take 64 MiB.
    CHECK(peak_memory_kib() - before < 8 * 1024);
    CHECK(last == "short");
    for (const std::size_t length : lengths) CHECK(length <= kMaxLineBytes);
  }
}

}  // namespace flowcon::ctrl::logs
