// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/cells.h"

#include <cmath>

#include "tests/cmd/docker-flowcon/utf8_fixture.h"
#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

TEST_CASE_METHOD(Utf8Fixture, "wide characters take two columns, also where a text is cut") {
  CHECK(columns_of("vae") == 3);
  CHECK(columns_of("日本") == 4);
  CHECK(fitted("日本", 4) == "日本");
  CHECK(fitted("日本語", 5) == "日本…");
  CHECK(fitted("日本語", 4) == "日… ");
  CHECK(fitted("vae", 5) == "vae  ");
  CHECK(fitted("vae", 5, Align::right) == "  vae");
  CHECK(fitted("training", 5) == "trai…");
  CHECK(fitted("vae", 0).empty());
}

TEST_CASE_METHOD(Utf8Fixture, "a wide character does not fit where the last column alone is left") {
  CHECK(rows_of("", 5) == 1);
  CHECK(rows_of("train", 5) == 1);
  CHECK(rows_of("trains", 5) == 2);
  CHECK(rows_of("日本語訓練", 10) == 1);
  CHECK(rows_of("日本語訓練", 5) == 3);
  CHECK(rows_of("日本語訓練日本語訓", 9) == 3);
}

TEST_CASE_METHOD(Utf8Fixture, "characters without a width of their own are not drawn") {
  CHECK(drawable("a\u0301b") == "a?b");   // a combining accent
  CHECK(drawable("a\u200Db") == "a?b");   // a joiner
  CHECK(drawable("a\xFF\xE2") == "a??");  // no UTF-8
  CHECK(drawable("loss ↓ 日") == "loss ↓ 日");
}

TEST_CASE_METHOD(Utf8Fixture, "text is folded at blanks, and within a word that is too long") {
  CHECK(folded("aaa bbb ccc", 7) == std::vector<std::string>{"aaa bbb", "ccc"});
  CHECK(folded("aaaaaa", 4) == std::vector<std::string>{"aaaa", "aa"});
  CHECK(folded("", 4) == std::vector<std::string>{""});
  CHECK(folded("日本", 1) == std::vector<std::string>{"日", "本"});
}

TEST_CASE("in ASCII our own signs have others, and what is foreign is as wide as it was") {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  CHECK(ascii_cells("loss 0.1 ↓ … →") == "loss 0.1 v ~ >");
  CHECK(ascii_cells("日ä") == "???");
  std::setlocale(LC_CTYPE, "C");
}

TEST_CASE("a sparkline goes from the least to the greatest of the last values") {
  CHECK(sparkline({1, 2, 3}, 3, true) == "▁▅█");
  CHECK(sparkline({9, 1, 2, 3}, 3, true) == "▁▅█");
  CHECK(sparkline({5, 5}, 8, true) == "▁▁");
  CHECK(sparkline({1, std::nan(""), 2}, 8, true) == "▁ █");
  CHECK(sparkline({-1e308, 1e308}, 2, false) == "_^");
  CHECK(sparkline({}, 8, true).empty());
}

}  // namespace
}  // namespace flowcon::plugin
