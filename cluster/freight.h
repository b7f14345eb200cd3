// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace flowcon::cluster {

/// What a container would take along to a host that has nothing of it. Units: bytes, before they
/// are packed.
struct Freight {
  std::string image;  ///< its id
  std::uint64_t image_bytes = 0;
  std::uint64_t data_bytes = 0;  ///< of its volumes, and what it has written over its image
  /// Of these the volumes that it only reads, which may be there: by what their copies are called.
  std::map<std::string, std::uint64_t> shared;
  std::string architecture = {};  ///< of the image (migration/plan/architecture.h); "" = not known
  std::string bound = {};         ///< why it cannot leave its host, for people; "" = it can
};

}  // namespace flowcon::cluster
