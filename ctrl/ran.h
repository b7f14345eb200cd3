// SPDX-License-Identifier: Apache-2.0
// What a program came to.
#pragma once

#include <string>

namespace flowcon::ctrl {

struct Ran {
  int status = 0;       ///< as a shell has it: 128 + n where signal n ended it
  std::string out;      ///< stdout, where it was joined
  std::string err;      ///< the last of stderr, where it was kept
  bool is_cut = false;  ///< it wrote more to stdout
};

}  // namespace flowcon::ctrl
