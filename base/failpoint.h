// SPDX-License-Identifier: Apache-2.0
// Where a test holds a program up to break something there. Only builds with FLOWCON_FAILPOINTS
// have them; what is installed has none (docs/testing.md).
#pragma once

#include <string>

namespace flowcon {

/// How long to wait at `place`: what the environment's FLOWCON_FAILPOINTS, "PLACE:SECONDS,...", has
/// of it. Unit: seconds. 0 where it has nothing, and in a build without.
[[nodiscard]] double failpoint_seconds(const std::string& place);

/// Whether nothing waits any longer: the file that the environment's FLOWCON_FAILPOINTS_UNTIL names
/// is there. False in a build without failpoints.
[[nodiscard]] bool failpoints_are_over();

}  // namespace flowcon
