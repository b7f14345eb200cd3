// SPDX-License-Identifier: Apache-2.0
// What happened to a job or to the host that somebody may want to be told of. docs/metrics.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flowcon::ctrl {

enum class EventKind : std::uint8_t {
  converged,
  diverging,
  nan,
  migrated,
  revert,
  failure,
  job_waits,
  job_started,
  job_parked,
  job_ended
};

inline constexpr std::array<EventKind, 10> kEventKinds{
    EventKind::converged,  EventKind::diverging, EventKind::nan,       EventKind::migrated,
    EventKind::revert,     EventKind::failure,   EventKind::job_waits, EventKind::job_started,
    EventKind::job_parked, EventKind::job_ended};
/// Their words, in the order of EventKind: in the option hook-events, in what hooks get, and as a
/// label of flowcon_events_total.
inline constexpr std::array<std::string_view, kEventKinds.size()> kEventNames{
    "converged", "diverging", "nan",         "migrated",   "revert",
    "failure",   "job-waits", "job-started", "job-parked", "job-ended"};

[[nodiscard]] constexpr std::string_view name(EventKind kind) {
  return kEventNames[static_cast<std::size_t>(kind)];
}

struct Event {
  EventKind kind = EventKind::failure;
  std::string container;        ///< its name; "" where it is about the host
  std::string id;               ///< of the container
  std::string metric;           ///< name of its evaluation function, "" while none is known
  std::optional<double> value;  ///< the last one, which may be no finite number
  std::string sentence;         ///< what happened, for a person
  double time = 0;              ///< seconds since the epoch; 0 = now
};

}  // namespace flowcon::ctrl
