// SPDX-License-Identifier: Apache-2.0
// Characters as in a UTF-8 locale, whose widths wcwidth() knows.
#pragma once

#include <clocale>

namespace flowcon::plugin {

class Utf8Fixture {
 public:
  Utf8Fixture() { std::setlocale(LC_CTYPE, "C.UTF-8"); }
  Utf8Fixture(const Utf8Fixture&) = delete;
  Utf8Fixture& operator=(const Utf8Fixture&) = delete;
  ~Utf8Fixture() { std::setlocale(LC_CTYPE, "C"); }
};

}  // namespace flowcon::plugin
