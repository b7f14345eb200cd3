// SPDX-License-Identifier: Apache-2.0
// Docker's driver local: real files of Docker 20.10, and what no engine would write.
#include "ctrl/logs/framing_local.h"

#include <random>
#include <string>
#include <vector>

#include "ctrl/logs/tail_file.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace flowcon::ctrl::logs {

using Lines = std::vector<std::string>;

namespace {

/// What a real file of tests/ctrl/logs/data holds, uncompressed.
std::string data(const std::string& name) {
  auto file = open_log_file(flowcon::test::source_path("tests/ctrl/logs/data/" + name));
  REQUIRE(file.has_value());
  REQUIRE(file->uncompress().has_value());
  std::string bytes(1 << 20, '\0');
  const auto got = file->read(bytes.data(), bytes.size(), 0);
  REQUIRE(got.has_value());
  bytes.resize(*got);
  return bytes;
}

std::string length(std::size_t n) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(n >> shift & 0xFF);
  return bytes;
}

/// A record of one line, as the driver frames it.
std::string record(const std::string& line) {
  std::string entry = "\x0a\x06stdout\x10\x80\x94\xeb\xdc\x03\x1a";  // 1 s after the epoch
  for (std::size_t n = line.size();; n >>= 7) {
    entry += static_cast<char>((n & 0x7F) | (n > 0x7F ? 0x80 : 0));
    if (n <= 0x7F) break;
  }
  entry += line;
  return length(entry.size()) + entry + length(entry.size());
}

struct Decoding {
  Decoding() : decoder([this](const Line& line) { lines.emplace_back(line.text); }) {}
  Lines lines;
  LocalDecoder decoder;
};

}  // namespace

TEST_CASE("a real file of the driver local: every line, its time and its stream") {
  const std::string bytes = data("docker-20.10-local.1.gz");
  std::vector<double> times;
  Lines lines;
  LocalDecoder decoder([&](const Line& line) {
    lines.emplace_back(line.text);
    times.push_back(line.time);
    CHECK_FALSE(line.is_stderr);
  });
  decoder.feed(bytes);
  REQUIRE(lines.size() == 400);
  CHECK(lines.front() == "step 1647 loss: 0.1647");
  CHECK(lines.back() == "step 2046 loss: 0.2046");
  CHECK(std::is_sorted(times.begin(), times.end()));
  CHECK(times.front() > 1.7e9);
  CHECK(decoder.stats().bad_records == 0);
  CHECK(decoder.pending_bytes() == 0);
}

TEST_CASE("lines that the driver local splits at 16 KiB are one line again, each stream its own") {
  const std::string bytes = data("docker-20.10-local-partial.gz");
  for (const std::size_t cut : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, bytes.size()}) {
    Decoding decoding;
    for (std::size_t at = 0; at < bytes.size(); at += cut) {
      decoding.decoder.feed(std::string_view(bytes).substr(at, cut));
    }
    decoding.decoder.finish();
    INFO("fed " << cut << " bytes at a time");
    REQUIRE(decoding.lines.size() == 3);
    CHECK(decoding.lines[0] == "two");
    CHECK(decoding.lines[1] == "one");
    CHECK(decoding.lines[2] == "half" + std::string(40000, 'x') + "end");
  }
}

TEST_CASE("a torn record costs no more than itself") {
  const std::string torn = record("torn in the middle").substr(0, 21);
  Decoding decoding;
  decoding.decoder.feed(record("one") + torn + record("two") + record("three"));
  CHECK(decoding.lines == Lines{"one", "two", "three"});
  CHECK(decoding.decoder.stats().bad_records == 1);
}

TEST_CASE("what follows damage does not wait behind a length that never comes") {
  Decoding decoding;
  decoding.decoder.feed(length(0) + length(10000) + record("one"));
  CHECK(decoding.lines == Lines{"one"});
  decoding.decoder.feed(record("two"));
  CHECK(decoding.lines == Lines{"one", "two"});
}

TEST_CASE(
    "a local log of random bytes, or cut anywhere, is bounded in memory and ends nowhere wrong") {
  std::mt19937 random(7);
  const std::string good = data("docker-20.10-local.1.gz");
  for (int round = 0; round < 200; ++round) {
    Decoding decoding;
    std::string bytes = good;
    for (auto n = random() % 20; n > 0; --n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(random() % bytes.size());
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t cut = 1 + random() % 5000;
      decoding.decoder.feed(std::string_view(bytes).substr(at, cut));
      REQUIRE(decoding.decoder.pending_bytes() <= kMaxLocalRecordBytes + 5000);
      at += cut;
    }
  }
  Decoding noise;
  std::string bytes(4 << 20, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() % 4);
  noise.decoder.feed(bytes);
  CHECK(noise.decoder.pending_bytes() <= kMaxLocalRecordBytes + 8);
}

}  // namespace flowcon::ctrl::logs
