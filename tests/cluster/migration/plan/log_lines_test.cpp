// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/log_lines.h"

#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
const std::string kTime = "2026-11-21T12:13:44.535332288Z";
constexpr std::int64_t kTimeNs = 1795263224 * kSecond + 535332288;

std::string frame(char kind, const std::string& text) {
  const std::size_t size = text.size();
  std::string header{kind, 0, 0, 0};
  for (const int shift : {24, 16, 8, 0}) header += static_cast<char>(size >> shift & 0xff);
  return header + text;
}

Result<std::vector<LogRecord>> take(const std::string& bytes, bool has_terminal,
                                    std::size_t piece) {
  std::vector<LogRecord> records;
  const LogSink sink = [&records](LogRecord record) { records.push_back(std::move(record)); };
  LogFrames frames(has_terminal);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    auto taken = frames.feed(std::string_view(bytes).substr(at, piece), sink);
    if (!taken) return taken.error();
  }
  if (auto whole = frames.finish(sink); !whole) return whole.error();
  return records;
}

Result<std::vector<LogRecord>> arrive(const std::string& bytes, double now, std::size_t piece) {
  std::vector<LogRecord> records;
  const LogSink sink = [&records](LogRecord record) { records.push_back(std::move(record)); };
  LogLines lines([now] { return now; });
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    auto taken = lines.feed(std::string_view(bytes).substr(at, piece), sink);
    if (!taken) return taken.error();
  }
  if (auto whole = lines.finish(); !whole) return whole.error();
  return records;
}

TEST_CASE("times are read in every zone and with any count of decimals") {
  CHECK(*parse_log_time(kTime) == kTimeNs);
  CHECK(*parse_log_time("2026-11-21T14:13:44.535332288+02:00") == kTimeNs);
  CHECK(*parse_log_time("2026-11-21T08:43:44.535332288-03:30") == kTimeNs);
  CHECK(*parse_log_time("2026-11-21T12:13:44Z") == kTimeNs - 535332288);
  CHECK(*parse_log_time("2026-11-21T12:13:44.5Z") == kTimeNs - 35332288);
  CHECK(*parse_log_time("1970-01-01T00:00:00Z") == 0);
  CHECK(render_log_time(kTimeNs) == kTime);
  CHECK(render_log_time(0) == "1970-01-01T00:00:00.000000000Z");
}

TEST_CASE("what is no time is an error") {
  for (const char* text :
       {"", "now", "2026-11-21", "2026-13-21T12:13:44Z", "2026-02-30T12:13:44Z",
        "2026-11-21T24:13:44Z", "2026-11-21T12:13:44", "2026-11-21T12:13:44.Z",
        "2026-11-21T12:13:44+2:00", "9999-11-21T12:13:44Z", "0001-01-01T00:00:00Z",
        "-026-11-21T12:13:44Z", "2026-11-21T12:13:44Zz"}) {
    INFO(text);
    CHECK_FALSE(parse_log_time(text).has_value());
  }
}

TEST_CASE("the engine's frames become records, whatever the pieces") {
  const std::string bytes = frame(1, kTime + " loss: 0.5\n") + frame(2, kTime + " half") +
                            frame(2, kTime + " line\n") + frame(1, kTime + " \n");
  for (const std::size_t piece : {1U, 7U, 1000U}) {
    const auto records = take(bytes, false, piece);
    REQUIRE(records.has_value());
    CHECK((*records == std::vector<LogRecord>{{kTimeNs, false, "loss: 0.5\n"},
                                              {kTimeNs, true, "half"},
                                              {kTimeNs, true, "line\n"},
                                              {kTimeNs, false, "\n"}}));
  }
}

TEST_CASE("a terminal's log has no frames, and its last line may have no end") {
  const auto records = take(kTime + " a\r\n" + kTime + " b", true, 3);
  REQUIRE(records.has_value());
  CHECK((*records == std::vector<LogRecord>{{kTimeNs, false, "a\r\n"}, {kTimeNs, false, "b"}}));
}

TEST_CASE("a terminal's line without an end comes in the pieces that the engine split it into") {
  const std::string piece(16384, 'x');
  const std::string later = "2026-11-21T12:13:45.535332288Z";
  // Not all drivers split lines: the second piece has no time of its own then.
  const std::string bytes = kTime + " " + piece + kTime + " " + piece + kTime + " y\n" + later +
                            " " + piece + "yyy\n" + std::string(2 * kMaxLogText, 'z');
  for (const std::size_t size : {1000U, 65536U, 4'000'000U}) {
    const auto records = take(bytes, true, size);
    REQUIRE((records.has_value() && records->size() == 5 + 2 * kMaxLogText / piece.size()));
    const LogRecord whole{kTimeNs, false, piece};
    CHECK((*records)[0] == whole);
    CHECK((*records)[1] == whole);
    CHECK((*records)[2].text == "y\n");
    CHECK((*records)[3].time_ns == kTimeNs + kSecond);
    CHECK((*records)[4].text == "yyy\n");
    CHECK((*records)[4].time_ns == kTimeNs + kSecond);
    CHECK((*records)[5].text == std::string(piece.size(), 'z'));
  }
}

TEST_CASE("what the engine says of a log that it cannot read is no part of the log") {
  const std::string said = "Error grabbing logs: damaged\n";
  for (const bool has_terminal : {false, true}) {
    const std::string bytes =
        has_terminal ? kTime + " a\r\n" + said + kTime + " b\r\n"
                     : frame(1, kTime + " a\r\n") + frame(3, said) + frame(1, kTime + " b\n");
    for (const std::size_t piece : {1U, 7U, 1000U}) {
      std::vector<LogRecord> records;
      const LogSink sink = [&records](LogRecord record) { records.push_back(std::move(record)); };
      LogFrames frames(has_terminal);
      for (std::size_t at = 0; at < bytes.size(); at += piece) {
        REQUIRE(frames.feed(std::string_view(bytes).substr(at, piece), sink).has_value());
      }
      CHECK(frames.why_broken().find("damaged") != std::string::npos);
      CHECK(frames.last_ns() == kTimeNs);
      CHECK((records == std::vector<LogRecord>{{kTimeNs, false, "a\r\n"}}));
    }
  }
}

TEST_CASE("of a file with torn records all that is whole and newer is read") {
  const auto at = [](std::int64_t seconds, const char* text) {
    return LogRecord{kTimeNs + seconds * kSecond, false, text};
  };
  const std::string torn = render_record(at(2, "torn\n")).substr(0, 30);
  const std::string bytes = render_record(at(0, "old\n")) + render_record(at(1, "known\n")) + torn +
                            render_record(at(3, "say {\"log\":\"no\"}\n")) + "\n\xff\n" +
                            std::string(7 * kMaxLogText, 'x') + "\n" +
                            render_record(at(4, "last\n")) + torn;
  for (const std::size_t piece : {7U, 65536U}) {
    std::vector<LogRecord> records;
    TornRecords file(at(1, "").time_ns);
    for (std::size_t begin = 0; begin < bytes.size(); begin += piece) {
      file.feed(std::string_view(bytes).substr(begin, piece),
                [&records](LogRecord record) { records.push_back(std::move(record)); });
    }
    CHECK((records == std::vector<LogRecord>{at(3, "say {\"log\":\"no\"}\n"), at(4, "last\n")}));
  }
}

TEST_CASE("cut frames and endless ones are errors") {
  CHECK_FALSE(take("plain text, and no frames", false, 100).has_value());
  CHECK_FALSE(take(frame(1, kTime + " x\n").substr(0, 20), false, 100).has_value());
  CHECK_FALSE(take(std::string("\1\0\0\0\xff\xff\xff\xff", 8), false, 100).has_value());
}

TEST_CASE("a record as a line is the one that the driver json-file writes, and is read back") {
  const LogRecord record{kTimeNs, true, "say \"hi\"\tto\u00e4\n"};
  const std::string line = render_record(record);
  CHECK(line == R"({"log":"say \"hi\"\tto)"
                "\u00e4"
                R"(\n","stream":"stderr","time":")" +
                    kTime + "\"}\n");
  CHECK((*parse_record(std::string_view(line).substr(0, line.size() - 1)) == record));
  const LogRecord wrong{kTimeNs, false, "\xff\n"};
  CHECK(parse_record(render_record(wrong))->text == "\xef\xbf\xbd\n");
}

TEST_CASE("lines that are no records are errors") {
  for (const char* line :
       {"", "{}", "[1]", R"({"log":"x","stream":"stdout"})",
        R"({"log":"x","stream":"stdin","time":"2026-11-21T12:13:44Z"})",
        R"({"log":7,"stream":"stdout","time":"2026-11-21T12:13:44Z"})",
        R"({"log":"x","stream":"stdout","time":"yesterday"})", "{\"log\":\"x\""}) {
    INFO(line);
    CHECK_FALSE(parse_record(line).has_value());
  }
}

TEST_CASE("times are shifted by what the clocks differ, if that is more than two seconds") {
  const LogRecord record{kTimeNs, false, "x\n"};
  const std::string bytes = render_log_head(5000) + render_record(record);
  for (const std::size_t piece : {1U, 50U, 1000U}) {
    CHECK(arrive(bytes, 5001.5, piece)->front().time_ns == kTimeNs);
    CHECK(arrive(bytes, 4998.5, piece)->front().time_ns == kTimeNs);
    CHECK(arrive(bytes, 5600, piece)->front().time_ns == kTimeNs + 600 * kSecond);
    CHECK(arrive(bytes, 4400, piece)->front().time_ns == kTimeNs - 600 * kSecond);
  }
  const std::string old = render_log_head(5000) + render_record({kSecond, false, "x\n"});
  CHECK(arrive(old, 100, 1000)->front().time_ns == 0);
}

TEST_CASE("a log that is cut, has no head or an absurd one, or a line without end is an error") {
  const std::string record = render_record({kTimeNs, false, "x\n"});
  const std::string head = render_log_head(5000);
  CHECK(arrive(head, 5000, 100)->empty());
  CHECK_FALSE(arrive("", 5000, 100).has_value());
  CHECK_FALSE(arrive(record, 5000, 100).has_value());
  CHECK_FALSE(arrive(head + record.substr(0, record.size() - 1), 5000, 100).has_value());
  CHECK_FALSE(arrive("{\"flowcon_log\":2,\"now\":1}\n", 5000, 100).has_value());
  CHECK_FALSE(arrive("{\"flowcon_log\":1,\"now\":\"nan\"}\n", 5000, 100).has_value());
  CHECK_FALSE(arrive("{\"flowcon_log\":1,\"now\":-1}\n", 5000, 100).has_value());
  CHECK_FALSE(arrive("{\"flowcon_log\":1,\"now\":1e300}\n", 5000, 100).has_value());
  CHECK_FALSE(arrive(head + std::string(8U << 20, 'x'), 5000, 65536).has_value());
}

}  // namespace
}  // namespace flowcon::cluster::migration
