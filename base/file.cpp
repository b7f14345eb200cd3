// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fstream>
#include <iterator>

namespace flowcon {

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace flowcon
