// SPDX-License-Identifier: Apache-2.0
// Profiles as the store keeps them, for estimates.
#pragma once

#include "base/result.h"
#include "ctrl/estimate/estimate.h"
#include "ctrl/store/profiles.h"

namespace flowcon::ctrl {

/// A profile as it was kept, at `now` (seconds since the epoch). Errors: it is damaged.
[[nodiscard]] Result<estimate::Profile> read_profile(const store::ProfileRow& row, double now);

}  // namespace flowcon::ctrl
