// SPDX-License-Identifier: Apache-2.0
// Output compared with files in tests/golden/. FLOWCON_UPDATE_GOLDEN=1 rewrites them; the diff is
// reviewed.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace flowcon::test {

/// Checks that `actual` is what tests/golden/`name` holds.
inline void check_golden(const std::string& name, const std::string& actual) {
  const std::string path = source_path("tests/golden/" + name);
  const char* update = std::getenv("FLOWCON_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << actual;
  }
  std::ifstream file(path, std::ios::binary);
  INFO("golden file tests/golden/" << name << "; scripts/golden --update rewrites it");
  REQUIRE(file.good());
  const std::string expected{std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>()};
  CHECK(actual == expected);
}

}  // namespace flowcon::test
