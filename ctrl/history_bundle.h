// SPDX-License-Identifier: Apache-2.0
// What is known of a container as it goes to another host with it: what was recorded, what people
// decided, how far its log was read. Pure. Times travel as ages, so that no two hosts' clocks are
// compared. What arrives comes from another machine: every member is held to what it may be.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ctrl/codec/past_json.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl {

/// Times are those of the clock of whoever holds it. Units: seconds since the epoch.
struct HistoryBundle {
  /// run.id is the one here, run.image is not sent. Its last stay is the one on the sending host.
  store::History history;
  bool has_history = false;  ///< something was recorded
  store::Choice choice;      ///< as people decided; its id is the one here
  /// Of a log that is a file of the job's own.
  std::optional<store::LogPosition> position;
  std::optional<Past> past;
  std::string past_problem;  ///< why the past that came is left out; "" = it is not
  /// All that stands in the log was recorded.
  bool is_whole = false;
};

/// The most that a bundle takes on its way, in bytes; the rest of 16 MiB is for what else is told.
inline constexpr std::size_t kMaxBundle = 15U << 20;

/// Where it would be longer than `most`, evenly fewer rows of each kind are told, the last one
/// always. `now`: the clock of whoever holds it.
[[nodiscard]] std::string render_bundle(const HistoryBundle& bundle, double now,
                                        std::size_t most = kMaxBundle);

/// `now`: the clock of whoever takes it. Ages are not below 0. Errors: longer than kMaxBundle, not
/// JSON, a member that is missing or not what it may be, choices that nobody can have made.
[[nodiscard]] Result<HistoryBundle> parse_bundle(std::string_view text, double now);

}  // namespace flowcon::ctrl
