// SPDX-License-Identifier: Apache-2.0
// The profile of a job's run: what it needed, measured while it runs, and kept where it ended well.
// Reads and writes nothing; the store's part is handed in.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ctrl/daemon/roster.h"
#include "ctrl/estimate/estimate.h"
#include "ctrl/job.h"
#include "ctrl/model.h"
#include "ctrl/store/profiles.h"

namespace flowcon::ctrl {

/// Takes what was read of the job at this look, if anything was. `is_contended`: jobs have used up
/// the host's CPU together. Costs the same each time, and allocates nothing.
void follow_run(Job& job, const Host& host, const Moment& now, bool is_contended);

/// A run that has ended, until its labels are known.
struct EndedRun {
  std::string id;
  double started = 0;
  double admitted = 0;
  double ended = 0;
  bool is_seen_whole = false;  ///< by this flowcond
  estimate::RunMeter meter;
  estimate::EndedProfile profile;  ///< all but the labels
};

/// None where it did not end well, or nothing was measured. `gpu_model` "" = there is none.
[[nodiscard]] std::optional<EndedRun> ended_run(const Ending& ending, const Host& host,
                                                const std::string& gpu_model);

/// Its profile; none without a label. `before`: what the store has of it, which counts where this
/// flowcond has not seen all of it.
[[nodiscard]] std::optional<estimate::EndedProfile> profile_of(EndedRun run,
                                                               const store::SeenBefore& before);

}  // namespace flowcon::ctrl
