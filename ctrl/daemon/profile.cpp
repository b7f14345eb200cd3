// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/profile.h"

#include <algorithm>
#include <utility>

#include "ctrl/began_elsewhere.h"
#include "ctrl/estimate/features.h"
#include "ctrl/extension.h"

namespace flowcon::ctrl {
namespace {

constexpr double kSoon = 10;        // seconds in which an engine tells of a start
constexpr double kTakesAll = 0.95;  // of a quota
constexpr double kTakesLess = 0.9;  // than what is guaranteed to it
constexpr std::int64_t kWorkers = 1;

// By this flowcond, from its beginning.
bool is_seen_whole(const Job& job) { return job.admitted - job.begun() <= kSoon; }

// Of a job that has come from another host, or comes back to this one.
bool has_gone_on(const Job& job) { return job.past || began_elsewhere(job.container.labels); }

// A limit, or what others take, kept it from more. `used`: cores.
bool is_held_back(const Job& job, double used, bool is_contended) {
  const cgroups::CpuSetting& cpu = job.present.cpu;
  const double quota =
      cpu.quota_us ? static_cast<double>(*cpu.quota_us) / static_cast<double>(cpu.period_us) : 0;
  if (cpu.quota_us && used >= kTakesAll * quota) return true;
  return is_contended && (job.guaranteed <= 0 || used >= kTakesLess * job.guaranteed);
}

// What a counter has gone on by; none where it is not known now.
std::optional<double> taken(const std::optional<std::uint64_t>& counter, std::uint64_t& before) {
  if (!counter) return std::nullopt;
  const std::uint64_t last = std::exchange(before, *counter);
  return *counter >= last ? static_cast<double>(*counter - last) : 0.0;
}

// When it printed values and counts, by the lines' own times. A log goes on through its container's
// lives.
void note_prints(const Job& job, estimate::RunMeter& meter) {
  if (!job.extractor) return;
  const metrics::Report& report = job.extractor->report();
  const double begun = job.begun();
  std::optional<double> first, last;
  const auto note = [&](std::optional<double>& kept, double at, bool is_first) {
    if (at >= begun) kept = !kept ? at : is_first ? std::min(*kept, at) : std::max(*kept, at);
  };
  const std::vector<Sample>& samples = report.samples;
  if (!report.head.empty() && report.head.front().time >= begun) {
    first = report.head.front().time;
  } else if (!samples.empty() && samples.front().time < begun) {
    const auto is_own = [begun](const Sample& sample) { return sample.time >= begun; };
    const auto own = std::find_if(samples.begin(), samples.end(), is_own);
    if (own != samples.end()) first = own->time;
  }
  if (!samples.empty()) note(last, samples.back().time, false);
  if (report.counter) {
    note(first, report.counter->first_at, true);
    note(last, report.counter->last_at, false);
  }
  if (!last) return;
  // Lines without times of their own have those at which they were read.
  const bool is_timed = job.log.format != logs::Format::text || is_seen_whole(job);
  if (first && is_timed) {
    meter.printed(*first);
    meter.printed(*last);
  } else {
    meter.printed_last(*last);
  }
}

}  // namespace

void follow_run(Job& job, const Host& host, const Moment& now, bool is_contended) {
  if (!job.unsupported.empty() || !job.has_reading || job.read_at.steady != now.steady) return;
  JobRun& run = job.run;
  estimate::RunSample sample;
  if (!run.meter) {
    run.meter.emplace(job.begun());
    run.sampled = now.steady - std::max(0.0, now.wall - job.begun());
    sample.is_seen = is_seen_whole(job);
  }
  if (job.frozen) {
    run.meter->stood_still();
    run.sampled = now.steady;
    return;
  }
  sample.at = now.wall;
  sample.seconds = now.steady - std::exchange(run.sampled, now.steady);
  sample.cpu_seconds = taken(job.reading.cpu_ns, run.cpu_ns).value_or(0) / 1e9;
  sample.is_held_back = is_held_back(job, job.cpu_share.value_or(0) * host.cores, is_contended);
  if (job.is_memory_read) sample.memory = static_cast<double>(job.reading.memory);
  if (job.has_traffic && job.traffic_at.steady == now.steady) {
    sample.io = taken(job.traffic.io, run.io);
    sample.net = taken(job.traffic.network, run.network);
    if (job.gpu && job.gpu->use) sample.gpu_util = 100 * *job.gpu->use;
    if (job.gpu) sample.gpu_memory = static_cast<double>(job.gpu->memory_bytes);
  }
  run.meter->sample(sample);
}

std::optional<EndedRun> ended_run(const Ending& ending, const Host& host,
                                  const std::string& gpu_model) {
  const Job& job = ending.job;
  if (ending.status != 0 || !job.run.meter) return std::nullopt;
  const engine::Container& container = job.container;
  const estimate::Command command = estimate::cleaned(
      {container.image, container.image_id, container.command, container.environment});
  EndedRun run{job.id(),       job.begun(), job.admitted, ending.time, is_seen_whole(job),
               *job.run.meter, {}};
  if (has_gone_on(job)) {
    run.is_seen_whole = false;
    run.meter.went_on(job.past && job.past->is_whole ? std::optional(job.past->track.used)
                                                     : std::nullopt);
  }
  note_prints(job, run.meter);
  run.profile.key = estimate::key_of(command);
  run.profile.family = estimate::family_of(command);
  run.profile.features =
      estimate::features_of(command, estimate::known_features(host.cores, host.memory, gpu_model));
  run.profile.ended = ending.time;
  return run;
}

std::optional<estimate::EndedProfile> profile_of(EndedRun run, const store::SeenBefore& before) {
  if (!run.is_seen_whole) {
    run.meter.saw_before(
        {before.began, before.until, static_cast<double>(before.memory), before.value_at});
  }
  run.profile.labels = run.meter.labels(run.ended, kWorkers);
  if (run.profile.labels.empty()) return std::nullopt;
  return std::move(run.profile);
}

}  // namespace flowcon::ctrl
