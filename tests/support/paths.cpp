// SPDX-License-Identifier: Apache-2.0
#include "tests/support/paths.h"

#include <cstdlib>

namespace flowcon::test {

std::string source_path(const std::string& file) { return FLOWCON_SOURCE_DIR "/" + file; }

std::string shared_path(const std::string& file) {
  const char* given = std::getenv("FLOWCON_SHARED");
  return (given != nullptr ? std::string(given) : source_path("../shared")) + "/" + file;
}

}  // namespace flowcon::test
