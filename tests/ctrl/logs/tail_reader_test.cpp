// SPDX-License-Identifier: Apache-2.0
// One log read through rotation, truncation and restarts, with the reader at every possible moment.
#include "ctrl/logs/tail_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/ctrl/logs/log_folder.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::logs {

using flowcon::test::LogFolder;
using flowcon::test::record;
using Lines = std::vector<std::string>;

namespace {

Source json_file(const std::string& path) { return {Format::json_file, path, nullptr}; }

/// Where a reader stands that has read the log up to `offset` in its youngest file.
Position position_at(const LogFolder& log, std::uint64_t offset) {
  const auto file = open_log_file(log.path());
  REQUIRE(file.has_value());
  return {file->id(), file->head(), offset, file->before(offset), 0};
}

/// A reader whose lines are kept.
struct Reading {
  explicit Reading(const std::string& path, const Position& from = {})
      : reader(json_file(path), from, [this](const Line& line) {
          (line.is_known ? known : lines).emplace_back(line.text);
        }) {}
  /// Steps until there is nothing to do, as the loop does after a wake about this log.
  void run() {
    reader.suspect_rotation();
    while (reader.step(buffer) != LogReader::Step::idle) {
    }
  }
  Lines lines;
  Lines known;  ///< those that an earlier reader had
  std::vector<char> buffer = std::vector<char>(256);
  LogReader reader;
};

using Operation = std::function<void(LogFolder&)>;

/// What a container and Docker do to a log with max-file=4, in the smallest steps that a reader can
/// come between: two whole rotations, one with a file that was never looked at, half records.
std::vector<Operation> history() {
  const std::string half = record("five");
  return {
      [](LogFolder& log) { log.line("one"); },
      [](LogFolder& log) { log.move(0, 1); },
      [](LogFolder& log) { log.create(); },
      [](LogFolder& log) { log.line("two"); },
      [](LogFolder& log) { log.line("three"); },
      [](LogFolder& log) { log.move(1, 2); },
      [](LogFolder& log) { log.move(0, 1); },
      [](LogFolder& log) { log.create(); },
      [](LogFolder& log) { log.line("four"); },
      [half](LogFolder& log) { log.append(half.substr(0, 20)); },
      [half](LogFolder& log) { log.append(half.substr(20)); },
      [](LogFolder& log) { log.move(2, 3); },
      [](LogFolder& log) { log.move(1, 2); },
      [](LogFolder& log) {
        log.move(0, 1);
        log.create();
      },
      [](LogFolder& log) { log.line("six"); },
  };
}

const Lines kHistoryLines = {"one", "two", "three", "four", "five", "six"};

}  // namespace

TEST_CASE("every line arrives once, in order, whenever the reader comes between rotations") {
  const std::vector<Operation> operations = history();
  for (unsigned mask = 0; mask < 1U << operations.size(); mask += 7) {
    LogFolder log(true);
    log.create();
    Reading reading(log.path());
    reading.run();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      operations[i](log);
      if ((mask >> i & 1) != 0) reading.run();
    }
    reading.run();
    INFO("the reader came in after the steps " << mask);
    REQUIRE(reading.lines == kHistoryLines);
  }
}

TEST_CASE("every line arrives once with restarts and single steps between rotations") {
  const std::vector<Operation> operations = history();
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    LogFolder log(true);
    log.create();
    Lines lines;
    auto reading = std::make_unique<Reading>(log.path());
    const auto restart = [&] {
      lines.insert(lines.end(), reading->lines.begin(), reading->lines.end());
      const Position position = reading->reader.position();
      reading = std::make_unique<Reading>(log.path(), position);
    };
    for (const Operation& operation : operations) {
      operation(log);
      if (random() % 4 == 0) restart();
      for (unsigned steps = random() % 4; steps > 0; --steps) {
        if (random() % 2 == 0) reading->reader.suspect_rotation();
        reading->reader.step(reading->buffer);
      }
    }
    restart();
    reading->run();
    restart();
    INFO("seed " << seed);
    REQUIRE(lines == kHistoryLines);
  }
}

TEST_CASE("every line arrives once while another thread writes and rotates") {
  constexpr int kLines = 4000;
  constexpr int kAhead = 20;  // below max-file, so that Docker's deleting is out of the question
  LogFolder log(true);
  log.create();
  std::atomic<int> seen{0};
  std::vector<int> numbers;
  std::vector<char> buffer(256);
  LogReader reader(json_file(log.path()), {}, [&](const Line& line) {
    numbers.push_back(std::stoi(std::string(line.text)));
    ++seen;
  });
  std::thread writer([&] {
    for (int i = 0; i < kLines; ++i) {
      while (i - seen > kAhead) std::this_thread::yield();
      log.line(std::to_string(i));
      if (i % 3 != 0) log.rotate(kAhead + 4);
    }
  });
  // A writer that waits for a line that was lost would wait for ever, so idling has an end.
  for (int idle = 0; seen < kLines && idle < 10000000;) {
    reader.suspect_rotation();
    idle = reader.step(buffer) == LogReader::Step::idle ? idle + 1 : 0;
  }
  const int arrived = seen;
  seen = kLines;
  writer.join();
  int missing = 0;
  while (missing < arrived && numbers[static_cast<std::size_t>(missing)] == missing) ++missing;
  INFO("the first that is missing: " << missing << ", the last that came: " << numbers.back());
  CHECK(arrived == kLines);
  CHECK(std::is_sorted(numbers.begin(), numbers.end()));
  CHECK(std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end());
}

TEST_CASE("a log that outruns its reader loses what Docker has deleted and nothing else") {
  LogFolder log;
  log.create();
  log.line("read");
  Reading reading(log.path());
  reading.run();
  for (int i = 0; i < 6; ++i) {
    log.rotate(3);
    log.line("line " + std::to_string(i));
  }
  reading.run();
  CHECK(reading.lines == Lines{"read", "line 3", "line 4", "line 5"});
}

TEST_CASE("a file that is removed and made anew is read from its beginning, its elder not again") {
  LogFolder log;
  log.create();
  log.line("old");
  log.rotate(3);
  log.line("one");
  Reading reading(log.path());
  reading.run();
  REQUIRE(reading.lines == Lines{"old", "one"});
  log.remove();
  log.create();
  log.line("two");
  reading.run();
  CHECK(reading.lines == Lines{"old", "one", "two"});
}

TEST_CASE("a log that is moved away and back while the reader looks is not read twice") {
  LogFolder log;
  log.create();
  log.line("one");
  Reading reading(log.path());
  reading.run();
  log.move(0, 1);
  std::ofstream(log.path()) << record("another");
  reading.reader.suspect_rotation();
  REQUIRE(reading.reader.step(reading.buffer) == LogReader::Step::more);
  log.move(1, 0);
  reading.run();
  log.line("two");
  reading.run();
  CHECK(reading.lines == Lines{"one", "two"});
}

TEST_CASE("without a position the rotated predecessors are read first, the oldest first") {
  LogFolder log;
  log.create();
  for (const char* text : {"one", "two", "three"}) {
    log.line(text);
    log.rotate(5);
  }
  log.line("four");
  Reading reading(log.path());
  reading.run();
  CHECK(reading.lines == Lines{"one", "two", "three", "four"});
  CHECK(reading.reader.stats().rotations == 3);
}

TEST_CASE("a position goes on at its record, also when its file has been rotated twice") {
  LogFolder log;
  log.create();
  log.line("zero");
  log.rotate(5);
  log.line("one");
  const Position position = position_at(log, record("one").size());
  log.line("two");
  log.rotate(5);
  log.line("three");
  log.rotate(5);
  log.line("four");
  Reading reading(log.path(), position);
  reading.run();
  CHECK(reading.known == Lines{"zero", "one"});
  CHECK(reading.lines == Lines{"two", "three", "four"});
  CHECK(reading.reader.position().file.inode == log.inode());
  CHECK(reading.reader.position().offset == record("four").size());
}

TEST_CASE("a position whose file is gone reads everything there is") {
  LogFolder log;
  log.create();
  log.line("one");
  log.rotate(3);
  log.line("two");
  Position position = position_at(log, 5);
  position.file.inode += 100000;
  Reading reading(log.path(), position);
  reading.run();
  CHECK(reading.lines == Lines{"one", "two"});
}

TEST_CASE("a position in a file that holds something else by now, or less, is none") {
  LogFolder log;
  log.create();
  log.line("one");
  log.line("two");
  Position other = position_at(log, record("one").size());
  ++other.before.hash;
  Position beyond = position_at(log, record("one").size());
  beyond.offset = 100000;
  Position furthest = beyond;
  furthest.offset = ~std::uint64_t{0};
  for (const Position& position : {other, beyond, furthest}) {
    Reading reading(log.path(), position);
    reading.run();
    INFO(position.offset);
    CHECK(reading.lines == Lines{"one", "two"});
  }
}

TEST_CASE("the position is at the start of a half record") {
  LogFolder log;
  log.create();
  log.line("one");
  log.append(record("two").substr(0, 10));
  Reading reading(log.path());
  reading.run();
  CHECK(reading.lines == Lines{"one"});
  CHECK(reading.reader.position().offset == record("one").size());
}

TEST_CASE("truncation starts over, drops the half record, and is counted") {
  LogFolder log;
  log.create();
  log.line("one");
  log.append(record("half").substr(0, 15));
  Reading reading(log.path());
  reading.run();
  log.truncate();
  reading.run();
  log.line("two");
  reading.run();
  CHECK(reading.lines == Lines{"one", "two"});
  CHECK(reading.reader.stats().truncations == 1);
  CHECK(reading.reader.stats().framing.bad_records == 0);
  CHECK(reading.reader.position().offset == record("two").size());
}

TEST_CASE("a truncated file that has new lines already is read from its start") {
  LogFolder log;
  log.create();
  log.line("one");
  log.line("two");
  Reading reading(log.path());
  reading.run();
  log.truncate();
  log.line("three");
  reading.run();
  CHECK(reading.lines == Lines{"one", "two", "three"});
}

TEST_CASE("a deleted log is told, and read again when it comes back") {
  LogFolder log;
  log.create();
  log.line("one");
  Reading reading(log.path());
  reading.run();
  log.remove();
  reading.run();
  CHECK(reading.reader.stats().problem.find("has been deleted") != std::string::npos);
  log.line("to the deleted file");
  reading.run();
  log.create();
  log.line("two");
  reading.run();
  CHECK(reading.lines == Lines{"one", "to the deleted file", "two"});
  CHECK(reading.reader.stats().problem.empty());
}

TEST_CASE("a missing log keeps the position that was given and says that it is waited for") {
  const LogFolder log;
  Position position;
  position.file.inode = 77;
  position.offset = 5;
  Reading reading(log.path(), position);
  reading.run();
  CHECK(reading.reader.position() == position);
  CHECK(reading.reader.stats().problem.find("does not exist yet") != std::string::npos);
}

TEST_CASE("nothing but a regular file is opened, and no link is followed") {
  LogFolder log;
  std::filesystem::create_directory(log.folder() + "/folder");
  LogFolder other;
  other.create();
  other.line("not yours");

  std::filesystem::create_symlink(other.path(), log.path());
  Reading link(log.path());
  link.run();
  CHECK(link.lines.empty());
  CHECK_FALSE(link.reader.stats().problem.empty());

  log.remove();
  REQUIRE(::mkfifo(log.path().c_str(), 0600) == 0);
  Reading fifo(log.path());
  fifo.run();
  CHECK(fifo.reader.stats().problem.find("not a regular file") != std::string::npos);

  Reading folder(log.folder() + "/folder");
  folder.run();
  CHECK(folder.reader.stats().problem.find("not a regular file") != std::string::npos);
}

TEST_CASE("a log whose name becomes a link is read to its end and no further") {
  LogFolder log;
  log.create();
  log.line("one");
  Reading reading(log.path());
  reading.run();
  LogFolder other;
  other.create();
  other.line("not yours");
  log.line("two");
  log.remove();
  std::filesystem::create_symlink(other.path(), log.path());
  reading.run();
  CHECK(reading.lines == Lines{"one", "two"});
  CHECK_FALSE(reading.reader.stats().problem.empty());
}

TEST_CASE("a muted reader hands on nothing, not even the rest of a chunk") {
  LogFolder log;
  log.create();
  log.line("one");
  log.line("two");
  Lines lines;
  std::unique_ptr<LogReader> reader;
  reader = std::make_unique<LogReader>(json_file(log.path()), Position{}, [&](const Line& line) {
    lines.emplace_back(line.text);
    reader->mute();
  });
  std::vector<char> buffer(64 * 1024);
  while (reader->step(buffer) != LogReader::Step::idle) {
  }
  CHECK(lines == Lines{"one"});
}

TEST_CASE("the position does not count the chunk whose lines are being handed on") {
  LogFolder log;
  log.create();
  log.line("one");
  log.line("two");
  std::unique_ptr<LogReader> reader;
  std::vector<std::uint64_t> offsets;
  reader = std::make_unique<LogReader>(json_file(log.path()), Position{}, [&](const Line&) {
    offsets.push_back(reader->position().offset);
  });
  std::vector<char> buffer(64 * 1024);
  while (reader->step(buffer) != LogReader::Step::idle) {
  }
  CHECK(offsets == std::vector<std::uint64_t>{0, 0});
  CHECK(reader->position().offset == record("one").size() + record("two").size());
}

}  // namespace flowcon::ctrl::logs
