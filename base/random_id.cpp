// SPDX-License-Identifier: Apache-2.0
#include "base/random_id.h"

#include <sys/random.h>

#include "base/hex.h"

namespace flowcon {

std::string random_id() {
  unsigned char bytes[16];
  for (std::size_t got = 0; got < sizeof bytes;) {
    const ssize_t more = ::getrandom(bytes + got, sizeof bytes - got, 0);
    if (more > 0) got += static_cast<std::size_t>(more);
  }
  return to_hex(bytes);
}

}  // namespace flowcon
