// SPDX-License-Identifier: Apache-2.0
// Profiles as the store keeps them, and as estimates know them: reads the rows of text, and writes
// them.
#pragma once

#include "base/result.h"
#include "ctrl/estimate/estimate.h"
#include "ctrl/store/profiles.h"

namespace flowcon::ctrl {

/// A profile as it was kept. Errors: it is damaged.
[[nodiscard]] Result<estimate::EndedProfile> read_profile(const store::ProfileRow& row);
/// The row that keeps it.
[[nodiscard]] store::ProfileRow row_of(const estimate::EndedProfile& run);

}  // namespace flowcon::ctrl
