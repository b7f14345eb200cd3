// SPDX-License-Identifier: Apache-2.0
// An address that only this host reaches.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace flowcon::ctrl::api {

/// An address of the loopback interface.
struct Loopback {
  std::string address;  ///< "127.0.0.1", "::1"
  std::uint16_t port = 0;
};

/// Takes "127.0.0.1:9469", "[::1]:9469" and "localhost:9469" (the first of the two). Errors:
/// another address, since whoever reaches the port may read; no port.
[[nodiscard]] Result<Loopback> parse_loopback(const std::string& text);

}  // namespace flowcon::ctrl::api
