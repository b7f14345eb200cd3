// SPDX-License-Identifier: Apache-2.0
// A move as docs/api.md shows it, and as the journal keeps it for people. No I/O, no clock.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <vector>

#include "cluster/moves.h"

namespace flowcon::cluster::migration {

[[nodiscard]] boost::json::object to_json(const MoveView& view);
[[nodiscard]] boost::json::array to_json(const std::vector<MoveView>& views);

/// What to_json() wrote; a member that is missing or makes no sense is as in a MoveView that
/// nobody filled.
[[nodiscard]] MoveView parse_view(const boost::json::value& shown);

}  // namespace flowcon::cluster::migration
