// SPDX-License-Identifier: Apache-2.0
// Logs whose files are compressed, written by the job itself, or TensorBoard's, through rotation,
// truncation and restarts.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ctrl/logs/tail_reader.h"
#include "tests/ctrl/logs/log_folder.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace flowcon::ctrl::logs {

using flowcon::test::LogFolder;
using flowcon::test::record;
using Lines = std::vector<std::string>;

namespace {

/// A reader whose lines are kept, with those that an earlier one had apart.
struct Reading {
  Reading(Format format, const std::string& path, const Position& from = {})
      : reader({format, path, nullptr}, from, [this](const Line& line) {
          (line.is_known ? known : lines).emplace_back(line.text);
          times.push_back(line.time);
        }) {}
  void run() {
    reader.suspect_rotation();
    while (reader.step(buffer) != LogReader::Step::idle) {
    }
  }
  Lines lines;
  Lines known;
  std::vector<double> times;
  std::vector<char> buffer = std::vector<char>(512);
  LogReader reader;
};

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::app | std::ios::binary) << bytes;
}

std::string event_file() {
  std::ifstream file(
      flowcon::test::source_path("tests/ctrl/logs/data/events.out.tfevents.1763700000.host"));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("compressed predecessors are read first, the oldest first") {
  LogFolder log;
  log.create();
  for (const char* text : {"one", "two", "three"}) {
    log.line(text);
    log.rotate_compressed(5);
    log.compress();
  }
  log.line("four");
  Reading reading(Format::json_file, log.path());
  reading.run();
  CHECK(reading.lines == Lines{"one", "two", "three", "four"});
}

TEST_CASE("a file that is being compressed is read as it was, not as far as it has come") {
  LogFolder log;
  log.create();
  log.line("one");
  log.rotate_compressed(5);
  log.compress(true);
  log.line("two");
  Reading reading(Format::json_file, log.path());
  reading.run();
  CHECK(reading.lines == Lines{"one", "two"});
}

TEST_CASE("a damaged compressed file is counted, and what is younger is read") {
  LogFolder log;
  log.create();
  log.line("one");
  log.rotate_compressed(5);
  log.compress(true);
  log.remove(1);
  log.line("two");
  Reading reading(Format::json_file, log.path());
  reading.run();
  CHECK(reading.lines == Lines{"two"});
  CHECK(reading.reader.stats().framing.bad_records == 1);
}

TEST_CASE("a compressed file that is empty or cut in its header ends, and the next one is read") {
  for (const std::uintmax_t bytes : {std::uintmax_t{0}, std::uintmax_t{10}}) {
    for (const int number : {1, 2}) {
      LogFolder log;
      log.create();
      for (const char* text : {"one", "two"}) {
        log.line(text);
        log.rotate_compressed(5);
        log.compress();
      }
      log.line("three");
      std::filesystem::resize_file(log.path(number) + ".gz", bytes);
      Reading reading(Format::json_file, log.path());
      int steps = 0;
      while (steps < 100 && reading.reader.step(reading.buffer) != LogReader::Step::idle) ++steps;
      INFO(bytes << " bytes of file " << number);
      CHECK(steps < 100);
      CHECK(reading.lines == (number == 1 ? Lines{"one", "three"} : Lines{"two", "three"}));
      CHECK(reading.reader.stats().framing.bad_records == (bytes == 0 ? 0 : 1));
    }
  }
}

TEST_CASE("every line arrives once with compression and restarts wherever they come") {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    LogFolder log(true);
    log.create();
    Lines written;
    Lines lines;
    auto reading = std::make_unique<Reading>(Format::json_file, log.path());
    const auto restart = [&] {
      lines.insert(lines.end(), reading->lines.begin(), reading->lines.end());
      const Position position = reading->reader.position();
      reading = std::make_unique<Reading>(Format::json_file, log.path(), position);
    };
    for (int i = 0; i < 12; ++i) {
      written.push_back("line " + std::to_string(seed) + " " + std::to_string(i));
      log.line(written.back());
      if (random() % 3 == 0) restart();
      for (auto steps = random() % 4; steps > 0; --steps) {
        if (random() % 2 == 0) reading->reader.suspect_rotation();
        reading->reader.step(reading->buffer);
      }
      if (random() % 2 == 0) {
        log.rotate_compressed(20);
        if (random() % 4 == 0) reading->run();
        log.compress();
      }
    }
    reading->run();
    restart();
    reading->run();
    restart();
    INFO("seed " << seed);
    REQUIRE(lines == written);
  }
}

TEST_CASE("where the position's file is gone, lines up to its time are known and others new") {
  LogFolder log;
  log.create();
  const auto line = [](int second) {
    return "{\"log\":\"s" + std::to_string(second) +
           "\\n\",\"stream\":\"stdout\",\"time\":\"2025-01-02T03:04:0" + std::to_string(second) +
           "Z\"}\n";
  };
  log.append(line(1) + line(2));
  Reading first(Format::json_file, log.path());
  first.run();
  log.remove();
  log.create();
  log.append(line(1) + line(2) + line(3));
  Reading reading(Format::json_file, log.path(), first.reader.position());
  reading.run();
  CHECK(reading.known == Lines{"s1", "s2"});
  CHECK(reading.lines == Lines{"s3"});
}

TEST_CASE("a text file is lines whatever they look like, and its predecessor is not its own") {
  LogFolder log;
  write(log.path(1), "of another run\n");
  write(log.path(), "{\"log\":\"x\"}\nloss 1\n");
  Reading reading(Format::text, log.path());
  reading.run();
  CHECK(reading.lines == Lines{"{\"log\":\"x\"}", "loss 1"});
  log.move(0, 2);
  write(log.path(), "loss 2\n");
  reading.run();
  CHECK(reading.lines.back() == "loss 2");
  CHECK(reading.lines.size() == 3);
}

TEST_CASE("a text file is read on after a restart, rotated meanwhile or not") {
  for (const bool rotates : {false, true}) {
    LogFolder log;
    write(log.path(), "loss 1\nloss 2\nlo");
    Reading first(Format::text, log.path());
    first.run();
    CHECK(first.lines == Lines{"loss 1", "loss 2"});
    write(log.path(), "ss 3\nloss 4\n");
    if (rotates) log.move(0, 1);
    write(log.path(), "loss 5\n");
    Reading reading(Format::text, log.path(), first.reader.position());
    reading.run();
    INFO(rotates);
    CHECK(reading.known == Lines{"loss 1", "loss 2"});
    CHECK(reading.lines == Lines{"loss 3", "loss 4", "loss 5"});
  }
}

TEST_CASE("a text file that was truncated and is longer again already is read from its start") {
  LogFolder log;
  write(log.path(), "loss 1\nloss 2\n");
  Reading reading(Format::text, log.path());
  reading.run();
  std::filesystem::resize_file(log.path(), 0);
  write(log.path(), "new 1\nnew 2\nnew 3\nnew 4\n");
  reading.run();
  CHECK(reading.lines == Lines{"loss 1", "loss 2", "new 1", "new 2", "new 3", "new 4"});
  CHECK(reading.reader.stats().truncations == 1);
}

TEST_CASE("the hole of a truncated file that is written on at its old end costs no time") {
  LogFolder log;
  write(log.path(), "");
  std::filesystem::resize_file(log.path(), std::uintmax_t{1} << 40);
  write(log.path(), "\nloss 1\n");
  Reading reading(Format::text, log.path());
  reading.run();
  REQUIRE_FALSE(reading.lines.empty());
  CHECK(reading.lines.back() == "loss 1");
  CHECK(reading.reader.stats().bytes < 100000);
}

TEST_CASE("lines that a text file held already get times between its birth and its last change") {
  LogFolder log;
  write(log.path(), "loss 1\nloss 2\nloss 3\nloss 4\n");
  const double now = open_log_file(log.path())->changed();
  Reading reading(Format::text, log.path());
  reading.reader.step(reading.buffer);  // opens
  write(log.path(), "just now\n");
  reading.run();
  REQUIRE(reading.times.size() == 5);
  CHECK(reading.times.back() >= now);
  reading.times.pop_back();
  CHECK(std::is_sorted(reading.times.begin(), reading.times.end()));
  CHECK(reading.times.back() == Approx(now).margin(1e-6));
  CHECK(reading.times.front() > now - 60);
  write(log.path(), "loss 5\nloss 6\nloss 7\n");
  reading.run();
  REQUIRE(reading.times.size() == 7);
  CHECK(std::is_sorted(reading.times.begin(), reading.times.end()));
  // A later reader spreads what came meanwhile behind what was read before.
  const Position position = reading.reader.position();
  CHECK(position.time == reading.times.back());
  write(log.path(), "loss 8\n");
  Reading again(Format::text, log.path(), position);
  again.run();
  REQUIRE(again.times.size() == 9);
  CHECK(again.times.back() >= position.time);
}

TEST_CASE("the newest event file of a folder is read, then those that come") {
  LogFolder log;
  const std::string folder = log.folder() + "/run";
  std::filesystem::create_directory(folder);
  const std::string bytes = event_file();
  write(folder + "/events.out.tfevents.100.a", bytes);
  write(folder + "/events.out.tfevents.200.a", bytes.substr(0, 200));
  write(folder + "/checkpoint", "not this one");
  Reading reading(Format::tfevents, folder);
  reading.run();
  const std::size_t some = reading.lines.size();
  CHECK(some > 0);
  CHECK(some < 6);
  write(folder + "/events.out.tfevents.200.a", bytes.substr(200));
  reading.run();
  CHECK(reading.lines.size() == 6);
  write(folder + "/events.out.tfevents.300.a", bytes);
  reading.run();
  CHECK(reading.lines.size() == 12);
  Reading again(Format::tfevents, folder, reading.reader.position());
  again.run();
  CHECK(again.known.size() == 6);
  CHECK(again.lines.empty());
}

TEST_CASE("a position in an event file leads on to the files that came after it") {
  LogFolder log;
  const std::string bytes = event_file();
  write(log.folder() + "/events.out.tfevents.100.a", bytes.substr(0, 200));
  Reading first(Format::tfevents, log.folder());
  first.run();
  write(log.folder() + "/events.out.tfevents.100.a", bytes.substr(200));
  write(log.folder() + "/events.out.tfevents.200.a", bytes);
  Reading reading(Format::tfevents, log.folder(), first.reader.position());
  reading.run();
  CHECK(reading.known == first.lines);
  CHECK(first.lines.size() + reading.lines.size() == 12);
}

TEST_CASE("a later event file is gone on with once it has scalars, and the earlier one is left") {
  LogFolder log;
  const std::string bytes = event_file();
  const std::string earlier = log.folder() + "/events.out.tfevents.100.a";
  const std::string later = log.folder() + "/events.out.tfevents.200.a";
  write(earlier, bytes.substr(0, 200));
  Reading reading(Format::tfevents, log.folder());
  reading.run();
  CHECK_FALSE(reading.reader.is_waiting());
  write(later, bytes.substr(0, 40));  // the version record
  reading.run();
  CHECK(reading.reader.is_waiting());
  write(earlier, bytes.substr(200));
  reading.run();
  CHECK(reading.lines.size() == 6);
  Reading again(Format::tfevents, log.folder(), reading.reader.position());
  again.run();
  CHECK(again.known.size() == 6);
  CHECK(again.lines.empty());

  write(later, bytes.substr(40));
  reading.run();
  again.run();
  CHECK(reading.lines.size() == 12);
  CHECK(again.lines.size() == 6);
  CHECK_FALSE(reading.reader.is_waiting());
  write(earlier, bytes);
  reading.run();
  CHECK(reading.lines.size() == 12);
  CHECK(reading.reader.stats().rotations == 1);
}

TEST_CASE("while the newest event file has no scalars, the one older file that grows is read") {
  for (const bool is_alone : {true, false}) {
    LogFolder log;
    const std::string bytes = event_file();
    const std::string first = log.folder() + "/events.out.tfevents.100.a";
    const std::string second = log.folder() + "/events.out.tfevents.200.a";
    const std::string newest = log.folder() + "/events.out.tfevents.300.a";
    write(first, bytes);
    write(second, bytes.substr(0, 200));
    write(newest, bytes.substr(0, 40));
    const auto made = std::filesystem::last_write_time(newest);
    std::filesystem::last_write_time(first, made - std::chrono::seconds(1));
    std::filesystem::last_write_time(second, made - std::chrono::seconds(1));
    Reading reading(Format::tfevents, log.folder());
    reading.run();
    CHECK(reading.lines.empty());  // those of earlier runs
    const Position silent = reading.reader.position();

    write(second, bytes.substr(200));
    std::filesystem::last_write_time(second, made + std::chrono::seconds(1));
    if (!is_alone) std::filesystem::last_write_time(first, made + std::chrono::seconds(1));
    reading.run();
    const std::size_t count = is_alone ? 6 : 0;
    INFO(is_alone);
    CHECK(reading.lines.size() == count);
    Reading from_silent(Format::tfevents, log.folder(), silent);
    from_silent.run();
    CHECK(from_silent.lines.size() == count);
    Reading again(Format::tfevents, log.folder(), reading.reader.position());
    again.run();
    CHECK(again.known.size() == count);
    CHECK(again.lines.empty());

    write(newest, bytes.substr(40));
    reading.run();
    write(second, bytes);
    reading.run();
    CHECK(reading.lines.size() == count + 6);
  }
}

TEST_CASE("the empty event file of TensorFlow's profiler is not the newest") {
  LogFolder log;
  write(log.folder() + "/events.out.tfevents.100.a", event_file());
  write(log.folder() + "/events.out.tfevents.200.a.profile-empty", "");
  Reading reading(Format::tfevents, log.folder());
  reading.run();
  CHECK(reading.lines.size() == 6);
  CHECK(reading.reader.stats().rotations == 0);
}

TEST_CASE("an event file may be named itself, and may come later") {
  LogFolder log;
  const std::string path = log.folder() + "/my.events";
  Reading reading(Format::tfevents, path);
  reading.run();
  CHECK(reading.reader.stats().problem.find("does not exist yet") != std::string::npos);
  write(path, event_file());
  reading.run();
  CHECK(reading.lines.size() == 6);
}

TEST_CASE("a damaged record is not read at each of many changes of its file") {
  LogFolder log;
  const std::string path = log.folder() + "/events.out.tfevents.100.a";
  std::string damaged = event_file();
  damaged[300] = static_cast<char>(damaged[300] ^ 1);
  write(path, damaged);
  Reading reading(Format::tfevents, log.folder());
  reading.run();
  const auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    write(path, "x");
    reading.run();
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - before;
  // Three at once, then one each two seconds.
  const double most = 3 + passed.count() / 2 + 1;
  CHECK(static_cast<double>(reading.reader.stats().framing.bad_records) <= most);
  CHECK(reading.reader.stats().problem.find("is damaged") != std::string::npos);
}

TEST_CASE("a damaged event record is told, and read again when its file grows") {
  LogFolder log;
  const std::string path = log.folder() + "/events.out.tfevents.100.a";
  const std::string bytes = event_file();
  std::string damaged = bytes;
  damaged[300] = static_cast<char>(damaged[300] ^ 1);
  write(path, damaged);
  Reading reading(Format::tfevents, log.folder());
  reading.run();
  const Lines before = reading.lines;
  CHECK(before.size() < 6);
  CHECK(reading.reader.stats().problem.find("is damaged") != std::string::npos);
  CHECK(reading.reader.stats().framing.bad_records == 1);
  reading.run();
  CHECK(reading.lines == before);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(300);
    file.put(bytes[300]);
  }
  write(path, bytes.substr(0, 45));  // the version record once more
  reading.run();
  CHECK(reading.lines.size() == 6);
  CHECK(reading.reader.stats().problem.empty());
}

}  // namespace flowcon::ctrl::logs
