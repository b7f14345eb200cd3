// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdio>
#include <string>

#include "cluster/migration/plan/archive.h"

namespace flowcon::cluster::migration {

// Wherever a block has a magic, its sum is made right.
inline void set_sums(std::string& archive) {
  for (std::size_t at = 0; at + kTarBlock <= archive.size(); at += kTarBlock) {
    if (archive.compare(at + 257, 5, "ustar") != 0) continue;
    archive.replace(at + 148, 8, "        ");
    unsigned sum = 0;
    for (std::size_t i = 0; i < kTarBlock; ++i) {
      sum += static_cast<unsigned char>(archive[at + i]);
    }
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%06o", sum);
    archive.replace(at + 148, 7, text.data(), 7);
  }
}

}  // namespace flowcon::cluster::migration
