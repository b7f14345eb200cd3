// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <random>
#include <vector>

#include "tests/support/catch.h"

using flowcon::edit_distance;
using flowcon::nearest_word;
using flowcon::printable;
using flowcon::valid_utf8;

namespace {
const std::string kBad = "\xEF\xBF\xBD";
const std::string kDots = "\xE2\x80\xA6";
}  // namespace

TEST_CASE("printable keeps ordinary text of any language") {
  CHECK(printable("loss=0.25 Größe 損失 😀") == "loss=0.25 Größe 損失 😀");
  CHECK(printable("").empty());
}

TEST_CASE("printable replaces what drives a terminal or turns the text around") {
  CHECK(printable("a\x1b[31mb") == "a" + kBad + "[31mb");
  CHECK(printable("a\r\n\tb\x7f") == "a" + kBad + kBad + kBad + "b" + kBad);
  CHECK(printable("a\xc2\x9b"
                  "2J") == "a" + kBad + "2J");
  CHECK(printable("a\xE2\x80\xAE"
                  "b\xE2\x81\xA6") == "a" + kBad + "b" + kBad);
  CHECK(printable(std::string_view("a\0b", 3)) == "a" + kBad + "b");
}

TEST_CASE("printable cuts at a character and counts the ellipsis in") {
  CHECK(printable("abcdefgh", 8) == "abcdefgh");
  CHECK(printable("abcdefghi", 8) == "abcde" + kDots);
  CHECK(printable("éééé", 8) == "éééé");
  CHECK(printable("ééééé", 8) == "éé" + kDots);
  CHECK(printable("abcd", 3) == kDots);
  CHECK(printable("abcd", 2).empty());
  CHECK(printable(std::string(1 << 20, '\x1b'), 200).size() <= 200);
}

TEST_CASE("valid_utf8 replaces each invalid sequence as Unicode recommends") {
  // Unicode 15, table 3-8.
  CHECK(valid_utf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82"
                   "A") == kBad + kBad + kBad + kBad + kBad + kBad + kBad + kBad + "A");
  CHECK(valid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
                   "A") == kBad + kBad + kBad + kBad + "A");
  CHECK(valid_utf8("\xED\xA0\x80") == kBad + kBad + kBad);
  CHECK(valid_utf8("\xF4\x90\x80\x80") == kBad + kBad + kBad + kBad);
  CHECK(valid_utf8("\x1b[0m\n") == "\x1b[0m\n");
  CHECK(valid_utf8("\xF4\x8F\xBF\xBF\xED\x9F\xBF") == "\xF4\x8F\xBF\xBF\xED\x9F\xBF");
}

TEST_CASE("valid_utf8 of random bytes is stable and safe") {
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    for (auto n = random() % 12; n > 0; --n) bytes += static_cast<char>(random() | 0x80);
    const std::string once = valid_utf8(bytes);
    CHECK(valid_utf8(once) == once);
    CHECK(printable(bytes, 10).size() <= 10);
  }
}

TEST_CASE("edit distance counts insertions, deletions and replacements") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("sitting", "kitten") == 3);
  CHECK(edit_distance("executor", "exector") == 1);
  CHECK(edit_distance("flaw", "lawn") == 2);
}

TEST_CASE("words above 256 bytes are wholly different") {
  const std::string exact(256, 'a');
  const std::string longer(1 << 24, 'a');
  CHECK(edit_distance(exact, exact.substr(1)) == 1);
  CHECK(edit_distance(longer, "a") == longer.size());
  CHECK(edit_distance(longer, longer) == 0);
}

TEST_CASE("a suggestion is near or there is none") {
  const std::vector<std::string_view> words{"executor", "listener", "run"};
  CHECK(nearest_word("exector", words) == "executor");
  CHECK(nearest_word("listenre", words) == "listener");
  CHECK(nearest_word("rum", words) == "run");
  CHECK(nearest_word("abc", words).empty());
  CHECK(nearest_word("speculate", words).empty());
  CHECK(nearest_word("", words).empty());
}
