// SPDX-License-Identifier: Apache-2.0
// What an image gives to a container that would be made of it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ctrl/async.h"

namespace flowcon::ctrl::engine {
class Client;
}  // namespace flowcon::ctrl::engine

namespace flowcon::cluster::queue {

struct ImageFacts {
  std::string digest;      ///< "sha256:…", its id
  std::string entrypoint;  ///< arguments with blanks between; "" = none
  std::string command;     ///< that runs where none is named; as above
  std::vector<std::pair<std::string, std::string>> environment;
};

/// Pure: the engine's description of an image. At most 4,096 bytes of each member. Errors: not
/// JSON, no id.
[[nodiscard]] Result<ImageFacts> parse_image_facts(std::string_view json);

/// Asks the engine. Errors: ENOENT it has no such image; else the client's.
Async<Result<ImageFacts>> image_facts(ctrl::engine::Client& engine, std::string image);

}  // namespace flowcon::cluster::queue
