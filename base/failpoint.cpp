// SPDX-License-Identifier: Apache-2.0
#include "base/failpoint.h"

#include <unistd.h>

#include <cstdlib>

namespace flowcon {

#if FLOWCON_FAILPOINTS
double failpoint_seconds(const std::string& place) {
  const char* set = std::getenv("FLOWCON_FAILPOINTS");
  const std::string all = "," + std::string(set != nullptr ? set : "");
  const std::string wanted = "," + place + ":";
  const std::size_t at = all.find(wanted);
  return at == std::string::npos ? 0 : std::atof(all.c_str() + at + wanted.size());
}

bool failpoints_are_over() {
  const char* file = std::getenv("FLOWCON_FAILPOINTS_UNTIL");
  return file != nullptr && ::access(file, F_OK) == 0;
}
#else
double failpoint_seconds(const std::string&) { return 0; }

bool failpoints_are_over() { return false; }
#endif

}  // namespace flowcon
