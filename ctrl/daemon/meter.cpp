// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/meter.h"

#include <cmath>

#include "base/json.h"
#include "cgroups/network.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

constexpr double kRestEvery = 15;  // seconds; people see memory and traffic that old
constexpr double kYoung = 60;      // seconds; a run may end before the next but one
constexpr double kClockJump = 2;   // seconds; ntp slews less between two looks

}  // namespace

Meter::Meter(boost::asio::io_context& io, cgroups::CgroupFs& fs, Effects& effects, const Host& host,
             Jobs& jobs)
    : io_(io), fs_(fs), effects_(effects), host_(host), jobs_(jobs) {}

Async<void> Meter::begin() {
  auto load = [] { return cgroups::Gpus::open(); };
  Result<std::unique_ptr<cgroups::Gpus>> gpus = co_await effects_.run(std::move(load));
  if (gpus) gpus_ = std::move(*gpus);
}

void Meter::look_at_host() {
  if (Result<cgroups::HostMemory> memory = cgroups::read_host_memory()) host_memory_ = *memory;
}

void Meter::look(Moment now, bool needs_all) {
  follow_clock(now);
  const bool is_rest_due = needs_all || now.steady >= next_rest_;
  if (is_rest_due) {
    next_rest_ = now.steady + kRestEvery;
    Result<std::uint64_t> moved = cgroups::read_host_io();
    host_io_ = moved ? *moved : 0;
    if (gpus_ && !is_reading_gpus_) spawn(io_, "gpus", read_gpus());
  }
  for (auto& [id, job] : jobs_) {
    if (!job.unsupported.empty()) continue;
    Result<std::uint64_t> cpu = cgroups::read_cpu_usage(fs_, job.group);
    if (!cpu) continue;  // dying: its end is about to be told
    Reading reading{*cpu, job.reading.memory};
    const bool is_new = !job.has_reading;
    job.is_memory_read = is_rest_due || is_new || now.wall - job.begun() < kYoung;
    if (job.is_memory_read) {
      Result<cgroups::MemoryUse> memory = cgroups::read_memory_use(fs_, job.group);
      if (memory) reading.memory = memory->working_set;
    }
    take_reading(job, host_, now, reading);
    if (is_rest_due || is_new) take_traffic(job, now, read_traffic(job));
  }
}

Traffic Meter::read_traffic(const Job& job) const {
  Traffic traffic;
  traffic.host_io = host_io_;
  const Result<cgroups::IoUses> uses = cgroups::read_io_use(fs_, job.group);
  // On v1 a newer kernel counts nothing before some group has a throttle rule; no number is not 0.
  if (uses && (!uses->empty() || fs_.is_v2("io"))) {
    traffic.io = 0;
    for (const auto& [device, use] : *uses) *traffic.io += use.read_bytes + use.written_bytes;
  }
  const auto network = cgroups::read_network_use(job.container.pid);
  if (network && *network) traffic.network = (*network)->rx_bytes + (*network)->tx_bytes;
  return traffic;
}

Async<void> Meter::read_gpus() {
  is_reading_gpus_ = true;
  auto read = [this] { return gpus_->read(); };
  const Result<cgroups::GpuReading> reading = co_await effects_.run(std::move(read));
  is_reading_gpus_ = false;
  if (!reading) co_return;
  if (!reading->devices.empty()) gpu_model_ = reading->devices.front().name;
  std::map<std::string, cgroups::Group> groups;
  for (const auto& [id, job] : jobs_) {
    if (job.unsupported.empty()) groups[id] = job.group;
  }
  const auto group_of = [this](std::int64_t pid) { return cgroups::find_group(pid, fs_.mode()); };
  auto uses = cgroups::gpu_use_of(*reading, groups, group_of);
  for (auto& [id, job] : jobs_) {
    const auto use = uses.find(id);
    job.gpu = use == uses.end() ? std::nullopt : std::optional(use->second);
  }
}

// Values carry the wall clock's time, intervals are the steady clock's. Where the two part, by a
// clock that was set or a machine that slept, no growth can be measured across.
void Meter::follow_clock(Moment now) {
  const double offset = now.wall - now.steady;
  const double jump = offset - clock_offset_.value_or(offset);
  clock_offset_ = offset;
  if (std::fabs(jump) < kClockJump) return;
  log::event(log::Event::clock_jumped, "the clock jumped by " + render_number(std::round(jump)) +
                                           " s, or the machine slept: growth is measured anew");
  for (auto& [id, job] : jobs_) {
    job.comparable_from = now.steady;
    job.track.follow_clock(jump);
    if (job.run.meter) job.run.meter->stood_still();
  }
}

}  // namespace flowcon::ctrl
