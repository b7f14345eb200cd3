// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace flowcon::cluster {

/// What a container would take along to a host that has nothing of it. Units: bytes, before they
/// are packed.
struct Freight {
  std::string image;  ///< its id
  std::uint64_t image_bytes = 0;
  std::uint64_t data_bytes = 0;  ///< of its volumes, and what it has written over its image
};

}  // namespace flowcon::cluster
