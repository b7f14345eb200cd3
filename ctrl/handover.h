// SPDX-License-Identifier: Apache-2.0
// What a flowcond leaves to the one that takes its place, so that limits stay while the package is
// upgraded: it was asked to by a file in the state folder. The limits' originals are in the store;
// who finds no hand-over, or an old one, restores them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ctrl/job.h"

namespace flowcon::ctrl {

struct HandedJob : PerResource<Place> {
  std::string reason;
};

struct Handover {
  double interval = 0;                    ///< seconds, of the executor after its back-off
  std::map<std::string, HandedJob> jobs;  ///< by the container's id
};

[[nodiscard]] std::string render_handover(const Handover& handover);
/// Errors: not JSON; a member is missing or out of range.
[[nodiscard]] Result<Handover> parse_handover(std::string_view text);

/// True if the flowcond of this state folder was asked, not more than a minute ago, to leave its
/// limits to the next one. Asks once.
[[nodiscard]] bool take_handover_request(const std::string& state_dir);

/// Errors: the file cannot be written.
[[nodiscard]] Result<void> write_handover(const std::string& state_dir, const Handover& handover);
/// What was left not more than a minute ago, else nothing; it is gone afterwards.
[[nodiscard]] Handover take_handover(const std::string& state_dir);

}  // namespace flowcon::ctrl
