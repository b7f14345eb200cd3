// SPDX-License-Identifier: Apache-2.0
// One container under control: what is known of it from tick to tick. No I/O; readings are handed
// in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cgroups/gpu.h"
#include "cgroups/setting.h"
#include "ctrl/codec/past_json.h"
#include "ctrl/control.h"
#include "ctrl/engine/client.h"
#include "ctrl/estimate/profile.h"
#include "ctrl/growth/track.h"
#include "ctrl/metrics/extractor.h"
#include "ctrl/model.h"
#include "ctrl/policy/host_policy.h"
#include "ctrl/settings.h"
#include "ctrl/sources.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl {

/// A sample of the kernel's counters of a container. Units: nanoseconds of CPU time, bytes.
struct Reading {
  std::uint64_t cpu_ns = 0;
  std::uint64_t memory = 0;
};

/// Counters that are read less often than at each tick. Units: bytes since the container began, or
/// none where they cannot be had; `host_io` bytes of the host's disks since it booted.
struct Traffic {
  std::optional<std::uint64_t> io;
  std::optional<std::uint64_t> network;
  std::uint64_t host_io = 0;
};

/// Where a job stands by one resource, and its effective share, see grant().
struct Place : policy::Share {
  double granted = 1;
};

/// Who it is, and what people want of it.
struct JobSettings {
  engine::Container container;
  std::string training;  ///< see training_of()
  Settings given;        ///< by its labels or to adopt
  Settings settings;     ///< those that hold: `given` with the values of `control` in their place
  Control control;
  std::string unsupported;  ///< why it cannot be controlled; "" = it can
  double admitted = 0;      ///< wall time; what was printed before may be recorded already
  double arrived = 0;       ///< when it began, on the steady clock
};

/// Its limits in the kernel.
struct JobLimits {
  cgroups::Group group;
  std::string problem;  ///< why its limits are not what they should be; "" = they are
  std::string life;     ///< of its group, see store::Original
  cgroups::Setting original;
  cgroups::Setting present;        ///< as last written or read
  bool is_original_saved = false;  ///< in the store, as original_of() has it
  bool is_limited = false;         ///< it has an original to restore, and to forget
  /// Its memory or I/O was to be limited once, and systemd may have kept that.
  bool has_all_limits = false;
  bool is_reverted = false;  ///< somebody else changed it since
  /// What flowcond had written when control was suspended last. systemd may bring it back.
  std::optional<cgroups::Setting> put_away;
};

/// Where the policy has put it, and what was reported of that.
struct JobStanding : PerResource<Place> {
  std::string reason;                   ///< of the last decision, for a person
  std::optional<double> before_saving;  ///< its effective CPU share when its checkpoint began
  double guaranteed = 0;                ///< cores, by the last decision; 0 = not known
  bool is_early = false;                ///< Extension::is_early(): it has what others leave
  growth::Verdict verdict = growth::Verdict::unmeasured;

  struct Told {
    bool has_converged = false;
    bool is_diverging = false;
    bool is_nan = false;  ///< and its value is no finite number
    std::string problem;
  };
  Told told;
};

/// What it uses. Units: rates in bytes per second.
struct JobUse {
  bool has_reading = false;
  Moment read_at;
  Reading reading;
  bool is_memory_read = false;  ///< at that tick
  bool has_memory = false;      ///< it was read at some tick
  std::optional<double> cpu_share;
  // The last traffic, and its rate since the one before.
  bool has_traffic = false;
  Moment traffic_at;
  Traffic traffic;
  std::optional<double> io_rate;
  std::optional<double> network_rate;
  std::optional<cgroups::GpuUse> gpu;
  std::optional<Moment> frozen;  ///< since when flowcond has seen it frozen (docker pause)
  double comparable_from = 0;    ///< see policy::JobView
  double clock_from = 0;         ///< the same
};

/// What its run has needed so far, for its profile, and what of the counters is in that.
struct JobRun {
  std::optional<estimate::RunMeter> meter;  ///< none before the first sample
  double sampled = 0;                       ///< when, on the steady clock
  std::uint64_t cpu_ns = 0;
  std::uint64_t io = 0;
  std::uint64_t network = 0;
};

/// What it printed, and what is forecast from.
struct JobValues {
  std::optional<metrics::Extractor> extractor;
  growth::Track track;
  bool has_track = false;
  std::optional<Past> past;     ///< of a job that goes on from another host
  bool saw_all = false;         ///< the track reaches back to the job's beginning
  std::size_t track_count = 0;  ///< values printed when it was last given some
  metrics::SeriesId track_series;
  Goal goal = Goal::min;
};

/// Its log, and what of it is recorded.
struct JobLog {
  LogChoice log;                         ///< what is followed
  std::string log_problem;               ///< why it cannot be followed; "" = it is
  std::string read_until;                ///< in it; what was handed on is in the extractor
  store::LogPosition recorded_position;  ///< as the store has it
  bool has_position = false;             ///< the log is read from where an earlier daemon stopped
  bool is_reading_past = false;          ///< what was printed on earlier hosts is being read
  std::uint64_t past_reading = 0;        ///< which reading of that is its own; 0 = none yet
  bool is_catching_up = false;     ///< what is read now is what an earlier daemon has recorded
  std::size_t recorded_count = 0;  ///< values printed when it was last recorded
  metrics::SeriesId recorded_series;
  std::size_t known_count = 0;  ///< recorded_count when an earlier daemon stopped
  metrics::SeriesId known_series;
};

struct Job : JobSettings, JobLimits, JobStanding, JobUse, JobValues, JobLog {
  JobRun run;
  [[nodiscard]] const std::string& id() const { return container.id; }
  /// Wall time. The engine does not always say when.
  [[nodiscard]] double begun() const {
    return container.started > 0 ? container.started : admitted;
  }
};

/// Takes a reading: the use since the one before becomes cpu_share.
void take_reading(Job& job, const Host& host, const Moment& now, const Reading& reading);

/// It has been frozen, or goes on: what stood still is no progress that was not made, no silence
/// and no time that its work took.
void freeze(Job& job, const Moment& now);
void thaw(Job& job, const Moment& now);

/// Takes the counters of traffic: what passed since the ones before becomes the rates.
void take_traffic(Job& job, const Moment& now, const Traffic& traffic);

/// As a policy is shown it.
[[nodiscard]] policy::JobView view_of(const Job& job);

/// Where the policy has put it.
void take_standing(Job& job, const policy::Standing& standing);

/// For a policy that goes on from there.
[[nodiscard]] policy::Standing standing_of(const Job& job);

/// Image and command, cut to 4 KiB: equal means "the same training again".
[[nodiscard]] std::string training_of(const engine::Container& container);

/// Takes what it used, by the last reading, and what it printed since the tick before, into its
/// track, which it begins with the first reading. `is_busy`: its host's CPU is used up. Where what
/// an earlier daemon recorded `is_half_read` the sample is left to a later tick.
void follow_track(Job& job, const Moment& now, bool is_busy, bool is_half_read);

/// What the extractor holds by now has been recorded by an earlier daemon.
void end_catching_up(Job& job);

/// "measured", "unmeasured", "diverging" or "no metric".
[[nodiscard]] const char* verdict_of(const Job& job);

}  // namespace flowcon::ctrl
