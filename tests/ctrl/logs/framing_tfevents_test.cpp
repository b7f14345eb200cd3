// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files; the one in data/ was written by tests/support/tfevents.py.
#include "ctrl/logs/framing_tfevents.h"

#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace flowcon::ctrl::logs {

using Lines = std::vector<std::string>;

namespace {

std::string event_file() {
  std::ifstream file(
      flowcon::test::source_path("tests/ctrl/logs/data/events.out.tfevents.1763700000.host"));
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string number(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}

std::string header(std::uint64_t length) {
  const std::string bytes = number(length, 8);
  return bytes + number(masked_crc32c(bytes), 4);
}

std::string record(const std::string& data) {
  return header(data.size()) + data + number(masked_crc32c(data), 4);
}

struct Decoding {
  Decoding() : decoder([this](const Line& line) { lines.emplace_back(line.text); }) {}
  Lines lines;
  TfeventsDecoder decoder;
};

const Lines kLines = {"step 1 train/loss: 2.5", "step 1 val/accuracy: 0.1",
                      "step 2 train/loss: 2",   "step 2 val/accuracy: 0.2",
                      "step 3 train/loss: 1.5", "step 3 val/accuracy: 0.3"};

}  // namespace

TEST_CASE("CRC-32C has the value that its definition gives for the nine digits") {
  CHECK(crc32c("123456789") == 0xE3069283U);
  CHECK(crc32c("") == 0);
}

TEST_CASE("scalars of an event file are lines, cut as one likes, simple values and tensors alike") {
  const std::string bytes = event_file();
  for (const std::size_t cut : {std::size_t{1}, std::size_t{13}, bytes.size()}) {
    Decoding decoding;
    for (std::size_t at = 0; at < bytes.size(); at += cut) {
      decoding.decoder.feed(std::string_view(bytes).substr(at, cut));
    }
    CHECK(decoding.lines == kLines);
    CHECK(decoding.decoder.pending_bytes() == 0);
    CHECK_FALSE(decoding.decoder.is_stuck());
    CHECK(decoding.decoder.stats().bad_records == 0);
  }
}

TEST_CASE("a scalar's time is the record's own") {
  std::vector<double> times;
  TfeventsDecoder decoder([&](const Line& line) { times.push_back(line.time); });
  decoder.feed(event_file());
  REQUIRE(times.size() == 6);
  CHECK(times[0] == 1763700001.25);
  CHECK(times[1] == 1763700001.5);
}

TEST_CASE("half a record waits for its rest") {
  const std::string bytes = event_file();
  Decoding decoding;
  decoding.decoder.feed(std::string_view(bytes).substr(0, bytes.size() - 5));
  CHECK(decoding.lines.size() == 5);
  CHECK(decoding.decoder.pending_bytes() > 5);
  CHECK_FALSE(decoding.decoder.is_stuck());
  decoding.decoder.feed(std::string_view(bytes).substr(bytes.size() - 5));
  CHECK(decoding.lines == kLines);
}

TEST_CASE("any wrong byte stops the reading at its record, and what stood before is kept") {
  const std::string good = event_file();
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    Decoding decoding;
    decoding.decoder.feed(bytes);
    INFO("byte " << at);
    REQUIRE(decoding.decoder.is_stuck());
    REQUIRE(decoding.decoder.stats().bad_records == 1);
    REQUIRE(decoding.lines.size() < kLines.size());
    const std::size_t start = good.size() - decoding.decoder.pending_bytes();
    REQUIRE(start <= at);
    // Read again from there, now that it is whole.
    decoding.decoder.reset();
    decoding.decoder.feed(std::string_view(good).substr(start));
    REQUIRE(decoding.lines == kLines);
  }
}

TEST_CASE("a record too long to keep is passed over, and one that never ends keeps no memory") {
  Decoding decoding;
  const std::string bytes = event_file();
  decoding.decoder.feed(record(std::string(kMaxEventBytes + 1, 'x')) + bytes);
  CHECK(decoding.lines == kLines);
  CHECK(decoding.decoder.stats().cut_lines == 1);
  for (const std::uint64_t length :
       {~std::uint64_t{0}, ~std::uint64_t{0} - 3, std::uint64_t{1} << 63}) {
    Decoding endless;
    endless.decoder.feed(header(length));
    endless.decoder.feed(std::string(100000, 'x'));
    CHECK(endless.lines.empty());
    CHECK(endless.decoder.pending_bytes() == 100012);
  }
}

TEST_CASE("records with good checksums and no sense are counted and passed over") {
  Decoding decoding;
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string data(random() % 60, '\0');
    for (char& byte : data) byte = static_cast<char>(random());
    decoding.decoder.feed(record(data));
  }
  decoding.lines.clear();
  decoding.decoder.feed(event_file());
  CHECK(decoding.lines == kLines);
  CHECK(decoding.decoder.stats().bad_records > 1000);
}

TEST_CASE("a tag cannot end its line, nor hold another value") {
  const std::string tag = "loss: 7\nacc=1 \x1b[1G";
  std::string value = "\x0a";
  value += static_cast<char>(tag.size());
  value += tag + "\x15" + number(0x40000000, 4);  // 2.0f
  std::string summary = "\x0a";
  summary += static_cast<char>(value.size());
  summary += value;
  std::string event = "\x2a";
  event += static_cast<char>(summary.size());
  event += summary;
  Decoding decoding;
  decoding.decoder.feed(record(event));
  CHECK(decoding.lines == Lines{"step 0 loss__7_acc_1___1G: 2"});
}

}  // namespace flowcon::ctrl::logs
