// SPDX-License-Identifier: Apache-2.0
// What a host accepts from its peers. Pure. The body comes from another machine: what is not known
// here is refused, so that a member that some engine will understand one day opens no door.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ctrl/accept.h"

namespace flowcon::cluster::migration {

struct AcceptPolicy : ctrl::Accept {
  std::vector<std::string> log_drivers{"json-file", "local", "journald", "none"};
};

/// What the engine gets must be `body` rendered again, never the peer's own text: engines read
/// members without regard to case and may take the first of two that we take the last of. Paths are
/// judged as they are written: where links lead is asked by unfit_paths (run/host_files.h).
///
/// Every reason why `body`, of a POST /containers/create, is not accepted, in words for people;
/// empty: it is. Linear in its size; at most kMaxRefusals reasons.
[[nodiscard]] std::vector<std::string> refusals(const boost::json::object& body,
                                                const AcceptPolicy& policy);

/// Why an engine whose default runtime is `runtime` must not make a container of `body`; empty: it
/// may, or the body names its runtime itself.
[[nodiscard]] std::string refused_default(const boost::json::object& body, std::string_view runtime,
                                          const AcceptPolicy& policy);

inline constexpr std::size_t kMaxRefusals = 64;

}  // namespace flowcon::cluster::migration
