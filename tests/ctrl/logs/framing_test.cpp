// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/framing.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace flowcon::ctrl::logs {
namespace {

using Lines = std::vector<std::string>;

Lines split(const std::string& bytes, std::size_t block) {
  Lines lines;
  LineSplitter splitter([&](const Line& line) { lines.emplace_back(line.text); });
  for (std::size_t at = 0; at < bytes.size(); at += block) {
    splitter.feed(std::string_view(bytes).substr(at, block), 1.5, false);
  }
  splitter.finish();
  return lines;
}

struct Decoded {
  std::string text;
  double time;
  bool is_stderr;
};

std::vector<Decoded> decode(const std::string& bytes, std::size_t block = 1 << 20) {
  std::vector<Decoded> lines;
  JsonFileDecoder decoder([&](const Line& line) {
    lines.push_back({std::string(line.text), line.time, line.is_stderr});
  });
  for (std::size_t at = 0; at < bytes.size(); at += block) {
    decoder.feed(std::string_view(bytes).substr(at, block));
  }
  decoder.finish();
  return lines;
}

std::string record(const std::string& log, const std::string& stream = "stdout",
                   const std::string& time = "2023-07-31T03:19:13.5Z") {
  return "{\"log\":\"" + log + "\",\"stream\":\"" + stream + "\",\"time\":\"" + time + "\"}\n";
}

}  // namespace

TEST_CASE("lines end at newline, carriage return and both") {
  struct Row {
    const char* bytes;
    Lines lines;
  };
  const Row rows[] = {
      {"a\nb\n", {"a", "b"}},
      {"a\r\nb\r\n", {"a", "b"}},
      {"a\rb\rc\n", {"a", "b", "c"}},
      {"\r10%\r20%\n", {"10%", "20%"}},
      {"a\n\nb", {"a", "", "b"}},
      {"half", {"half"}},
      {"", {}},
      {"\r", {}},
      {"a\r", {"a"}},
  };
  for (const Row& row : rows) {
    INFO(row.bytes);
    for (std::size_t block : {1, 2, 3, 100}) CHECK(split(row.bytes, block) == row.lines);
  }
}

TEST_CASE("terminal codes are removed") {
  CHECK(split("\x1b[35mloss\x1b[0m 1\n", 100) == Lines{"loss 1"});
  CHECK(split("\x1b]0;title\x07x\n", 100) == Lines{"x"});
  CHECK(split("\x1b]8;;url\x1b\\x\n", 100) == Lines{"x"});
  CHECK(split("\x1b(Bx\x1b[\n", 100) == Lines{"x"});
  CHECK(split("x\x1b", 1) == Lines{"x"});
}

TEST_CASE("a backspace writes over the last character") {
  CHECK(split("ab\bc\n", 100) == Lines{"ac"});
  CHECK(split("loss |\b/\b-\n", 100) == Lines{"loss -"});
  CHECK(split("x\xC3\xA4\bo\n", 100) == Lines{"xo"});
  CHECK(split("\b\b\bx\n", 100) == Lines{"x"});
}

TEST_CASE("a row of backspaces to the beginning draws the bar again") {
  CHECK(split("1/3\b\b\b2/3\b\b\b3/3\n", 100) == Lines{"1/3", "2/3", "3/3"});
  CHECK(split("1/3\b\b\b\r2/3\n", 100) == Lines{"1/3", "2/3"});
  CHECK(split("1/3\x1b[1G2/3\n", 100) == Lines{"1/3", "2/3"});
}

TEST_CASE("a long line keeps its two ends") {
  const std::string bytes = "BEGIN" + std::string(3 * kMaxLineBytes, 'x') + "END\nnext\n";
  for (std::size_t block : {std::size_t{777}, std::size_t{65536}, bytes.size()}) {
    const Lines lines = split(bytes, block);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].size() == kMaxLineBytes);
    CHECK(lines[0].substr(0, 5) == "BEGIN");
    CHECK(lines[0].substr(kMaxLineBytes - 3) == "END");
    CHECK(lines[1] == "next");
  }
}

TEST_CASE("a line of a gibibyte is bounded in memory") {
  std::size_t lines = 0;
  LineSplitter splitter([&](const Line& line) {
    ++lines;
    CHECK(line.text.size() <= kMaxLineBytes);
  });
  const std::string block(1 << 20, 'y');
  for (int i = 0; i < 1024; ++i) splitter.feed(block, 0, false);
  splitter.feed("\n", 0, false);
  CHECK(lines == 1);
  CHECK(splitter.stats().cut_lines == 1);
}

TEST_CASE("bytes that are no UTF-8 pass unchanged") {
  CHECK(split("a\xFF\xFE\x80z\n", 100) == Lines{"a\xFF\xFE\x80z"});
}

TEST_CASE("json-file records become lines with time and stream") {
  const std::string log = record("loss 0.5\\n") + record("oops\\n", "stderr");
  for (std::size_t block : {std::size_t{1}, std::size_t{10}, log.size()}) {
    const auto lines = decode(log, block);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].text == "loss 0.5");
    CHECK(lines[0].time == 1690773553.5);
    CHECK_FALSE(lines[0].is_stderr);
    CHECK(lines[1].text == "oops");
    CHECK(lines[1].is_stderr);
  }
}

TEST_CASE("lines that Docker split are put together, each stream for itself") {
  const auto lines = decode(record("aaa") + record("err\\n", "stderr") + record("bbb\\n"));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].text == "err");
  CHECK(lines[1].text == "aaabbb");
}

TEST_CASE("a return and its newline may come in two records") {
  const auto lines = decode(record("a\\r") + record("\\n") + record("b\\n"));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].text == "a");
  CHECK(lines[1].text == "b");
}

TEST_CASE("records without a needed word are left out, parts of a line never") {
  const std::string log = record("noise\\n") + record("loss 1\\n") + record("noise\\n", "stderr") +
                          record("begin of ") + record("loss 2\\n") + record("lo") +
                          record("ss 3\\n") + record("noise \\\\n\\n") + record("no line \\\\n") +
                          record("loss 4\\n", "stderr") + record("end\\n");
  for (std::size_t block : {std::size_t{1}, std::size_t{50}, log.size()}) {
    std::vector<std::string> lines;
    JsonFileDecoder decoder([&](const Line& line) { lines.emplace_back(line.text); });
    decoder.need_one_of({"loss", "epoch"});
    for (std::size_t at = 0; at < log.size(); at += block)
      decoder.feed(std::string_view(log).substr(at, block));
    decoder.finish();
    std::vector<std::string> needed;
    for (const std::string& line : lines) {
      if (line.find("loss") != std::string::npos) needed.push_back(line);
    }
    CHECK(needed == std::vector<std::string>{"loss 1", "begin of loss 2", "loss 3", "loss 4"});
    if (block == log.size()) CHECK(lines.size() < 9);
  }
}

TEST_CASE("escapes of JSON are decoded") {
  const auto lines =
      decode(record("\\u001b[31m\\\"q\\\" \\u003closs\\u003e \\ud83d\\ude00 \\ud83d \\\\ \\t.\\n"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].text == "\"q\" <loss> \xF0\x9F\x98\x80 \xEF\xBF\xBD \\ \t.");
}

TEST_CASE("records that Docker does not write are counted and skipped") {
  std::vector<std::string> lines;
  JsonFileDecoder decoder([&](const Line& line) { lines.emplace_back(line.text); });
  decoder.feed("garbage\n{\"log\":\"no end\n{\"log\":\"bad \\x\"}\n{\"log\":\"bad \\u12\"}\n\n" +
               record("good\\n"));
  decoder.finish();
  CHECK(lines == std::vector<std::string>{"good"});
  CHECK(decoder.stats().bad_records == 4);
  CHECK(decoder.stats().lines == 1);
}

TEST_CASE("a record without end is bounded in memory and skipped") {
  std::size_t lines = 0;
  JsonFileDecoder decoder([&](const Line&) { ++lines; });
  decoder.feed("{\"log\":\"");
  const std::string block(100000, 'a');
  for (int i = 0; i < 100; ++i) decoder.feed(block);
  CHECK(decoder.pending_bytes() == 8 + 100 * block.size());
  decoder.feed("\\n\"}\n" + record("next\\n"));
  CHECK(lines == 1);
  CHECK(decoder.stats().bad_records == 1);
  CHECK(decoder.pending_bytes() == 0);
}

TEST_CASE("a reset forgets the half record and the half line") {
  std::vector<std::string> lines;
  JsonFileDecoder decoder([&](const Line& line) { lines.emplace_back(line.text); });
  decoder.feed(record("half") + "{\"log\":\"rest");
  decoder.reset();
  CHECK(decoder.pending_bytes() == 0);
  decoder.feed(record("new\\n"));
  CHECK(lines == std::vector<std::string>{"new"});
}

TEST_CASE("times with an offset are the same moment") {
  const auto lines = decode(record("x\\n", "stdout", "2023-07-31T05:19:13.25+02:00"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].time == 1690773553.25);
}

TEST_CASE("json-file logs are recognised by their first bytes") {
  CHECK(looks_like_json_file(record("x\\n")));
  CHECK(looks_like_json_file("{\"log\":\"a long half rec"));
  CHECK_FALSE(looks_like_json_file("{\"loss\": 0.5}\n"));
  CHECK_FALSE(looks_like_json_file("{\"log\":\"of the application\"}\n"));
  CHECK_FALSE(looks_like_json_file(""));
  CHECK_FALSE(looks_like_json_file("Epoch 1\n"));
}

TEST_CASE("lines that a newline ended are counted apart from a bar drawn over itself") {
  LineSplitter splitter([](const Line&) {});
  splitter.feed("1/3\r2/3\r3/3\r", 0, false);
  CHECK(splitter.stats().lines == 3);
  CHECK(splitter.stats().newlines == 0);
  splitter.feed("done\nloss 0.5\r\n", 0, false);
  CHECK(splitter.stats().newlines == 2);
}

}  // namespace flowcon::ctrl::logs
