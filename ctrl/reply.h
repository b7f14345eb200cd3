// SPDX-License-Identifier: Apache-2.0
// An answer over HTTP: of the engine, of flowcond, of a peer.
#pragma once

#include <string>

namespace flowcon::ctrl {

struct Reply {
  unsigned status = 0;
  std::string body;
};

}  // namespace flowcon::ctrl
