// SPDX-License-Identifier: Apache-2.0
#include "ctrl/job.h"

#include <algorithm>

#include "base/text.h"

namespace flowcon::ctrl {
namespace {

constexpr std::size_t kLongestTraining = 4096;  // bytes

void begin_track(Job& job, const Moment& now) {
  const double begun = std::min(job.begun(), now.wall);
  job.has_track = true;
  if (job.past) {
    job.track = growth::Track(job.past->track, begun);
    job.track_series = {job.past->metric, 0};
    job.goal = job.past->goal;
  } else {
    // What it printed before the first look it printed since it began.
    job.track.look({begun, 0, 0, {}}, {});
  }
}

// What was printed since the look before. Of a job that goes on from another host the log has what
// it printed there, too, which its track has already; an earlier daemon here has recorded that, and
// what the job printed here until then.
std::vector<Sample> fresh_values(Job& job, const metrics::Report& report) {
  if (report.metric.empty()) return {};
  if (!report.is_of(job.track_series)) {
    job.track.forget_values();
    job.track_count = 0;
  }
  job.track_series = report.id();
  const std::size_t first = report.first_behind(job.track_count);
  job.track_count = report.printed;
  job.goal = report.goal;
  std::vector<Sample> fresh;
  for (std::size_t i = first; i < report.samples.size(); ++i) {
    const Sample& sample = report.samples[i];
    const bool is_known = report.is_of(job.known_series) && report.places[i] < job.known_count;
    // The lines of a text file have no times of their own.
    const bool has_time = job.log.format != logs::Format::text;
    const bool is_from_elsewhere =
        job.past &&
        (sample.time < job.begun() || (is_known && (!has_time || sample.time > job.admitted)));
    if (!is_from_elsewhere) fresh.push_back(sample);
  }
  return fresh;
}

}  // namespace

void take_reading(Job& job, const Host& host, const Moment& now, const Reading& reading) {
  const double elapsed = now.steady - job.read_at.steady;
  // A counter that went back belongs to another cgroup; a look in the same instant says nothing.
  if (job.has_reading && reading.cpu_ns >= job.reading.cpu_ns && elapsed > 0) {
    job.cpu_share =
        static_cast<double>(reading.cpu_ns - job.reading.cpu_ns) / 1e9 / elapsed / host.cores;
  }
  job.has_reading = true;
  job.read_at = now;
  job.reading = reading;
}

void freeze(Job& job, const Moment& now) {
  if (!job.frozen) job.frozen = now;
}

void thaw(Job& job, const Moment& now) {
  if (!job.frozen) return;
  // As if the machine had slept.
  job.comparable_from = now.steady;
  job.track.follow_clock(std::max(0.0, now.wall - job.frozen->wall));
  job.frozen.reset();
}

void take_traffic(Job& job, const Moment& now, const Traffic& traffic) {
  const double elapsed = now.steady - job.traffic_at.steady;
  if (job.has_traffic) {
    job.io_rate = rate_of(traffic.io, job.traffic.io, elapsed);
    job.network_rate = rate_of(traffic.network, job.traffic.network, elapsed);
  }
  job.has_traffic = true;
  job.traffic_at = now;
  job.traffic = traffic;
}

policy::JobView view_of(const Job& job) {
  policy::JobView view;
  view.id = job.id();
  view.training = job.training;
  view.arrived = job.arrived;
  view.is_frozen = job.frozen.has_value();
  view.comparable_from = job.comparable_from;
  view.clock_from = job.clock_from;
  if (job.has_reading) {
    view.used = Used{static_cast<double>(job.reading.cpu_ns) / 1e9,
                     static_cast<double>(job.reading.memory), job.traffic.io, job.traffic.host_io};
  }
  if (job.extractor) view.report = &job.extractor->report();
  view.goal = job.goal;
  view.track = &job.track;
  return view;
}

void take_standing(Job& job, const policy::Standing& standing) {
  for (const Resource resource : kResources) {
    static_cast<policy::Share&>(job[resource]) = standing[resource];
  }
  job.verdict = standing.verdict;
}

policy::Standing standing_of(const Job& job) {
  policy::Standing standing;
  for (const Resource resource : kResources) standing[resource] = job[resource];
  standing.verdict = job.verdict;
  return standing;
}

std::string training_of(const engine::Container& container) {
  return valid_utf8((container.image + " " + container.command).substr(0, kLongestTraining));
}

void follow_track(Job& job, const Moment& now, bool is_busy, bool is_half_read) {
  if (!job.unsupported.empty() || !job.has_reading || job.frozen) return;
  if (!job.has_track) begin_track(job, now);
  // Half of what it printed elsewhere may speak of another metric, and of an earlier count.
  if (job.is_reading_past || (job.past && (is_half_read || job.is_catching_up))) return;
  const double before = job.past ? job.past->track.used : 0;
  growth::TrackLook look{now.wall, before + static_cast<double>(job.reading.cpu_ns) / 1e9, 0, {}};
  if (is_busy) look.guaranteed = job.guaranteed;
  std::vector<Sample> fresh;
  if (job.extractor) {
    const metrics::Report& report = job.extractor->report();
    fresh = fresh_values(job, report);
    if (report.counter && report.counter->total > 0) {
      look.done = report.counter->done / report.counter->total;
    }
  }
  job.track.look(look, fresh);
}

void end_catching_up(Job& job) {
  job.is_catching_up = false;
  if (!job.extractor) return;
  const metrics::Report& report = job.extractor->report();
  job.recorded_count = job.known_count = report.printed;
  job.recorded_series = job.known_series = report.id();
}

const char* verdict_of(const Job& job) {
  if (!job.extractor || job.extractor->count() == 0) return "no metric";
  switch (job.verdict) {
    case growth::Verdict::measured:
      return "measured";
    case growth::Verdict::diverging:
      return "diverging";
    case growth::Verdict::unmeasured:
      break;
  }
  return "unmeasured";
}

}  // namespace flowcon::ctrl
