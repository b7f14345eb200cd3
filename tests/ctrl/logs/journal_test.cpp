// SPDX-License-Identifier: Apache-2.0
// The driver journald, on journals that systemd-journal-remote writes (Debian's package of that
// name); without it these tests say so and pass.
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ctrl/logs/journal_reader.h"
#include "ctrl/logs/log_set.h"
#include "tests/ctrl/logs/log_folder.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::logs {

using flowcon::test::LogFolder;
using std::chrono_literals::operator""ms;
using Lines = std::vector<std::string>;

namespace {

constexpr const char* kWriter = "/lib/systemd/systemd-journal-remote";
const std::string kId(64, 'a');

bool has_writer() {
  if (::access(kWriter, X_OK) == 0) return true;
  WARN("systemd-journal-remote is not installed (scripts/setup test)");
  return false;
}

struct Entry {
  std::string message;
  std::string id = kId;
  const char* priority = "6";
  const char* uid = "0";
  bool is_partial = false;
};

/// Appends entries to a journal in the folder; a second apart, from `second` on.
void write(const LogFolder& folder, int second, const std::vector<Entry>& entries) {
  const std::string command =
      std::string(kWriter) + " -o " + folder.folder() + "/remote.journal - >/dev/null 2>&1";
  FILE* pipe = ::popen(command.c_str(), "w");
  REQUIRE(pipe != nullptr);
  for (const Entry& entry : entries) {
    const std::string text = "__REALTIME_TIMESTAMP=" + std::to_string(1763700000 + second++) +
                             "000000\nMESSAGE=" + entry.message +
                             "\nCONTAINER_ID_FULL=" + entry.id + "\nPRIORITY=" + entry.priority +
                             "\n_UID=" + entry.uid +
                             (entry.is_partial ? "\nCONTAINER_PARTIAL_MESSAGE=true" : "") + "\n\n";
    REQUIRE(std::fwrite(text.data(), 1, text.size(), pipe) == text.size());
  }
  REQUIRE(::pclose(pipe) == 0);
}

struct Reading {
  Reading(const LogFolder& folder, const std::string& from) {
    auto opened = JournalReader::open(folder.folder(), kId, from, [this](const Line& line) {
      (line.is_known ? known : lines).emplace_back(line.text);
      times.push_back(line.time);
      if (line.is_stderr) ++errors;
    });
    REQUIRE(opened.has_value());
    reader = std::move(*opened);
    while (reader->step()) {
    }
  }
  Lines lines;
  Lines known;
  std::vector<double> times;
  int errors = 0;
  std::unique_ptr<JournalReader> reader;
};

/// What does not come fails, rather than hangs.
void run_until(boost::asio::io_context& io, const std::function<bool()>& is_done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!is_done()) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    io.run_one_for(std::chrono::seconds(1));
    if (io.stopped()) io.restart();
  }
}

}  // namespace

TEST_CASE("a container's lines are read in the journal, and nobody else's") {
  if (!has_writer()) return;
  const LogFolder folder;
  write(folder, 0,
        {{"loss: 3"},
         {"of another", std::string(64, 'b')},
         {"forged by a user", kId, "6", "1000"},
         {"loss: 2", kId, "3"},
         {"lo", kId, "6", "0", true},
         {"ss: 1"}});
  const Reading reading(folder, "");
  CHECK(reading.lines == Lines{"loss: 3", "loss: 2", "loss: 1"});
  CHECK(reading.errors == 1);
  REQUIRE(reading.times.size() == 3);
  CHECK(reading.times[0] == 1763700000);
  CHECK(reading.times[1] == 1763700003);
}

TEST_CASE("a later reader of the journal knows what was read before") {
  if (!has_writer()) return;
  const LogFolder folder;
  write(folder, 0, {{"one"}, {"two"}});
  const std::string position = Reading(folder, "").reader->position();
  CHECK(position.starts_with("journal 1763700001000000 s="));
  write(folder, 2, {{"three"}});
  const Reading reading(folder, position);
  CHECK(reading.known == Lines{"one", "two"});
  CHECK(reading.lines == Lines{"three"});
  // The entry is gone: by the time.
  const Reading by_time(folder, "journal 1763700000000000 s=00000000000000000000000000000000;i=1");
  CHECK(by_time.known == Lines{"one"});
  CHECK(by_time.lines == Lines{"two", "three"});
  for (const char* wrong :
       {"file 1 2", "journal", "journal x", "journal 99999999999999999999999 s"}) {
    CHECK(Reading(folder, wrong).lines == Lines{"one", "two", "three"});
  }
}

TEST_CASE("entries that come are handed on, and a stop gives where to go on") {
  if (!has_writer()) return;
  const LogFolder folder;
  write(folder, 0, {{"one"}});
  boost::asio::io_context io{1};
  LogSet set(io, 1ms, 20ms, folder.folder());
  Lines lines;
  const auto sink = [&lines](const Line& line) {
    if (!line.is_known) lines.emplace_back(line.text);
  };
  REQUIRE(set.start_journal(kId, "", sink).has_value());
  CHECK(set.start_journal(kId, "", sink).error().code.value() == EEXIST);
  run_until(io, [&] { return !lines.empty(); });
  write(folder, 1, {{"two"}, {"three"}});
  run_until(io, [&] { return lines.size() >= 3; });
  CHECK(set.stats(kId).framing.lines == 3);
  CHECK(set.stats(kId).problem.empty());
  write(folder, 3, {{"four"}});
  const std::string position = set.stop(kId, true);
  CHECK(lines == Lines{"one", "two", "three", "four"});
  CHECK(set.position(kId).empty());
  REQUIRE(set.start_journal(kId, position, sink).has_value());
  write(folder, 4, {{"five"}});
  run_until(io, [&] { return lines.size() >= 5; });
  CHECK(lines.back() == "five");
}

TEST_CASE(
    "what is read at once of a log that has ended is bounded, and its next life goes on there") {
  if (!has_writer()) return;
  const LogFolder folder;
  const std::size_t size = 40000, count = 1000;
  write(folder, 0, std::vector<Entry>(count, Entry{std::string(size, 'x')}));
  boost::asio::io_context io{1};
  LogSet set(io, 1ms, 20ms, folder.folder());
  std::size_t lines = 0;
  const auto sink = [&lines](const Line& line) {
    if (!line.is_known) ++lines;
  };
  REQUIRE(set.start_journal(kId, "", sink).has_value());
  const std::string position = set.stop(kId, true);
  CHECK(lines * size >= (16U << 20));
  CHECK(lines * size <= (16U << 20) + JournalReader::kStepBytes + size);
  REQUIRE(set.start_journal(kId, position, sink).has_value());
  run_until(io, [&] { return lines >= count; });
  CHECK(lines == count);
}

TEST_CASE("a journal that is not there is an error") {
  const LogFolder folder;
  const auto opened = JournalReader::open(folder.folder() + "/none", kId, "", [](const Line&) {});
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code.value() == ENOENT);
}

}  // namespace flowcon::ctrl::logs
