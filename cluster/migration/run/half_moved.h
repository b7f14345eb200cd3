// SPDX-License-Identifier: Apache-2.0
// Which containers look as if a move left them in the middle, where no journal tells it any more.
// No I/O, no clock.
#pragma once

#include <string>

#include "cluster/migration/run/engine.h"

namespace flowcon::cluster::migration {

/// What makes a container look half moved, in words; "" = nothing does. `is_known`: the journal has
/// the move that its label names.
[[nodiscard]] std::string why_half_moved(const Seen& seen, bool is_known);

/// Of a move that had not ended when its journal was lost; "" where `entry` makes no sense.
[[nodiscard]] std::string describe_lost(const std::string& entry);

}  // namespace flowcon::cluster::migration
