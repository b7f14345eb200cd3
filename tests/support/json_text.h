// SPDX-License-Identifier: Apache-2.0
// JSON texts in tests: read, and changed in one place.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/json.h"
#include "tests/support/catch.h"

namespace flowcon::test {

/// The text must be JSON.
inline boost::json::value parsed(std::string_view text) {
  auto value = parse_json(text);
  REQUIRE(value);
  return *value;
}

/// The text with `from`, which must be in it, replaced by `to`.
inline std::string changed(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace flowcon::test
