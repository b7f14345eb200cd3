// SPDX-License-Identifier: Apache-2.0
// From what one engine says of a container to what another is asked to create: the same container,
// or reasons why it cannot be the same. Pure. Every member of the engine's answer is known here and
// carried over, or means something on its host alone and is refused or left out with a note; what
// is not known is left out with a note too.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace flowcon::cluster::migration {

/// The greatest answer of an engine on one container that is read, in bytes.
inline constexpr std::size_t kMaxInspectBytes = 4U << 20;

/// A volume of the local driver, which travels.
struct TravellingVolume {
  std::string name;
  std::string destination;
  bool is_anonymous = false;  ///< its engine chose the name: it is made anew, without one
  bool is_read_only = false;  ///< the container may not write to it
  bool is_data = false;       ///< as mark_data() says
};

/// A container as it is to be created elsewhere.
struct Description {
  std::string id;  ///< at its own engine
  std::string name;
  std::string image;       ///< "sha256:…"
  std::string image_name;  ///< as the user wrote it; for people
  /// The body of POST /containers/create, which does not name the container. Without a restart
  /// policy: the copy gets that when the move is through.
  boost::json::object body;
  boost::json::object restart_policy;  ///< as the engine writes it: Name, MaximumRetryCount
  std::vector<TravellingVolume> volumes;
  std::vector<std::string> obstacles;  ///< why it cannot be moved; empty: it can
  std::vector<std::string> notes;      ///< what will be another there
};

/// `inspect` is the engine's answer to GET /containers/ID/json, of 20.10 to 28. The copy's
/// environment gets FLOWCON_RESUME=1 if it `resumes` from a checkpoint. Limits are the user's:
/// flowcond writes its own beside the engine. Linear in its size. Errors: larger than
/// kMaxInspectBytes, or without a valid id, name or image; the sentence names it. That something
/// cannot be moved is no error but an obstacle.
[[nodiscard]] Result<Description> describe(const boost::json::value& inspect, bool resumes = true);

/// Why CRIU cannot migrate a container that would be created with `body`; empty: nothing is known
/// to be in its way.
[[nodiscard]] std::vector<std::string> criu_obstacles(const boost::json::object& body);

}  // namespace flowcon::cluster::migration
