// SPDX-License-Identifier: Apache-2.0
#include "ctrl/job.h"

#include <algorithm>

#include "base/text.h"

namespace flowcon::ctrl {
namespace {

// Values before the anchor that are kept for the trend: as many as it asks for.
constexpr std::size_t kAnchorSamples = 32;

// A job that waits (for a GPU, for data) uses next to no CPU, and the quotient would drown all
// others. Below this share of the host its use counts as this. Ours, with the robust estimator.
constexpr double kLeastUse = 0.01;

constexpr std::size_t kLongestTraining = 4096;  // bytes

constexpr double kClosestLooks = 1;  // seconds; ALGORITHMS: below that the old growth is used

// A job may take long between two values (an epoch an hour). It counts as silent when it has said
// nothing for five times its usual gap, and for five intervals.
constexpr double kSilentGaps = 5;
constexpr double kSilentIntervals = 5;

double usual_gap(const metrics::Report& report) {
  if (report.samples.size() < 2) return 0;
  return (report.samples.back().time - report.samples.front().time) /
         static_cast<double>(report.samples.size() - 1);
}

// The samples since the anchor and those kept of before it. A fast job prints more in an interval
// than an extractor keeps, and without E at the anchor there is no progress to see.
std::vector<Sample> samples_of(const Job& job, const metrics::Report& report) {
  std::vector<Sample> samples;
  for (const Sample& sample : job.anchor_samples) {
    if (report.samples.empty() || sample.time < report.samples.front().time) {
      samples.push_back(sample);
    }
  }
  samples.insert(samples.end(), report.samples.begin(), report.samples.end());
  return samples;
}

void set_anchor(Job& job, const Moment& now, const metrics::Report& report) {
  job.has_anchor = true;
  job.anchor = now;
  job.anchor_reading = job.reading;
  job.anchor_traffic = job.traffic;
  job.anchor_count = report.count;
  const auto kept = std::min(report.samples.size(), kAnchorSamples);
  job.anchor_samples.assign(report.samples.end() - static_cast<std::ptrdiff_t>(kept),
                            report.samples.end());
  job.anchor_metric = report.metric;
  job.silent_since = now.wall;
}

void begin_track(Job& job, const Moment& now) {
  const double begun = std::min(job.begun(), now.wall);
  job.has_track = true;
  if (job.past) {
    job.track = growth::Track(job.past->track, begun);
    job.track_metric = job.past->metric;
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
  if (report.metric != job.track_metric) {
    job.track.forget_values();
    job.track_count = 0;
    job.track_metric = report.metric;
  }
  const std::size_t count =
      std::min(report.count - std::min(report.count, job.track_count), report.samples.size());
  job.track_count = report.count;
  job.goal = report.goal;
  std::vector<Sample> fresh;
  for (std::size_t i = report.samples.size() - count; i < report.samples.size(); ++i) {
    const Sample& sample = report.samples[i];
    const bool is_known = report.metric == job.known_metric &&
                          report.count - report.samples.size() + i < job.known_count;
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

store::Original original_of(const Job& job) {
  return {job.id(), job.container.name, job.group, job.original, job.life};
}

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
  job.has_anchor = false;
  job.silent_since = now.wall;
  job.track.follow_clock(std::max(0.0, now.wall - job.frozen->wall));
  job.frozen.reset();
}

namespace {

std::optional<double> rate_of(const std::optional<std::uint64_t>& now,
                              const std::optional<std::uint64_t>& before, double elapsed) {
  // A counter that went back is another one.
  if (!now || !before || *now < *before || !(elapsed > 0)) return std::nullopt;
  return static_cast<double>(*now - *before) / elapsed;
}

// What was used since the anchor, as shares of the host.
Usage usage_of(const Job& job, const Host& host, double elapsed) {
  Usage use;
  const auto used = job.reading.cpu_ns - std::min(job.reading.cpu_ns, job.anchor_reading.cpu_ns);
  use.cpu = static_cast<double>(used) / 1e9 / elapsed / host.cores;
  use.memory = static_cast<double>(job.reading.memory) / host.memory;
  const auto moved = rate_of(job.traffic.io, job.anchor_traffic.io, elapsed);
  const auto all = rate_of(job.traffic.host_io, job.anchor_traffic.host_io, elapsed);
  // What a container reads from memory disks is not in the disks' total.
  if (moved && all) use.blkio = *moved > 0 ? *moved / std::max(*moved, *all) : 0;
  return use;
}

}  // namespace

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

void measure(Job& job, const Host& host, const Moment& now, const growth::Parameters& parameters,
             double interval) {
  job.cpu.is_fresh = job.memory.is_fresh = job.io.is_fresh = false;
  if (job.frozen) return;
  if (!job.extractor || !job.has_reading) return;
  const metrics::Report report = job.extractor->report();
  // Another series was chosen meanwhile: its values have nothing to do with the kept ones.
  const bool is_other_series = !job.anchor_metric.empty() && report.metric != job.anchor_metric;
  if (!job.has_anchor || is_other_series) {
    set_anchor(job, now, report);
    return;
  }
  const double elapsed = now.steady - job.anchor.steady;
  if (elapsed < kClosestLooks) {
    for (Place* place : {&job.cpu, &job.memory, &job.io}) {
      place->is_fresh = place->growth.has_value() && job.verdict == growth::Verdict::measured;
    }
    return;
  }
  const bool has_news = report.count != job.anchor_count;
  if (!has_news && parameters.estimator == growth::Estimator::robust) {
    const double silence = now.wall - job.silent_since;
    if (silence > std::max(kSilentGaps * usual_gap(report), kSilentIntervals * interval)) {
      job.cpu.list = job.memory.list = job.io.list = List::nl;
      job.verdict = growth::Verdict::unmeasured;
    }
    return;
  }
  growth::Scale seen{report.head, report.low, report.high};
  const std::optional<double> scale = growth::scale_of(seen, parameters.normalise);
  growth::Progress progress;
  if (scale) {
    progress = growth::progress_between(samples_of(job, report), job.anchor.wall, now.wall,
                                        report.goal, *scale, parameters);
  }
  Usage use = usage_of(job, host, elapsed);
  for (double* share : {&use.cpu, &use.memory, &use.blkio}) {
    if (*share > 0 && parameters.estimator == growth::Estimator::robust) {
      *share = std::max(*share, kLeastUse);
    }
  }
  const growth::Efficiency efficiency = growth::efficiency(progress, use);
  job.verdict = progress.verdict;
  // A job that diverges keeps its place: it has not converged, whatever its growth of 0 suggests.
  const bool is_measured = progress.verdict == growth::Verdict::measured;
  const auto put = [is_measured](Place& place, const std::optional<double>& growth) {
    if (growth) place.growth = growth;
    place.is_fresh = growth.has_value() && is_measured;
  };
  put(job.cpu, efficiency.cpu);
  put(job.memory, efficiency.memory);
  put(job.io, efficiency.blkio);
  set_anchor(job, now, report);
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
    const metrics::Report report = job.extractor->report();
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
  const metrics::Report report = job.extractor->report();
  job.recorded_count = job.known_count = report.count;
  job.recorded_metric = job.known_metric = report.metric;
}

std::optional<double> growth_for_decision(const Place& place) {
  return place.is_fresh ? place.growth : std::nullopt;
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
