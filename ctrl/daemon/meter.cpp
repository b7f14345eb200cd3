// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/meter.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "cgroups/io.h"
#include "cgroups/network.h"
#include "ctrl/limits.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

constexpr double kRestEvery = 15;   // seconds; people see memory and traffic that old
constexpr double kYoung = 60;       // seconds; a run may end before the next but one
constexpr double kOthersSpan = 30;  // seconds; the use of other programs, older, counts for little
constexpr double kClockJump = 2;    // seconds; ntp slews less between two looks
constexpr double kDriverTime = 10;  // seconds that a GPU's driver has
constexpr const char* kSilentDriver =
    "the NVIDIA driver does not answer (nvidia-smi): the use of GPUs is not read until it does";

}  // namespace

Meter::Meter(boost::asio::io_context& io, cgroups::CgroupFs& fs, const Host& host, double cores,
             Jobs& jobs)
    : io_(io), fs_(fs), host_(host), cores_(cores), jobs_(jobs) {}

void Meter::begin() {
  is_seeking_gpus_ = true;
  spawn(io_, "gpus", find_gpus());
}

Async<void> Meter::find_gpus() {
  auto load = [] {
    auto opened = cgroups::Gpus::open();
    return opened ? std::shared_ptr<cgroups::Gpus>(std::move(*opened)) : nullptr;
  };
  const auto gpus = co_await driver_.ask(std::move(load), kDriverTime);
  is_driver_late_ = !gpus;
  if (!gpus) log::warning(kSilentDriver);
  if (gpus) gpus_ = *gpus;
  if (gpus_ && !is_reading_gpus_) co_await read_gpus();
  is_seeking_gpus_ = false;
}

void Meter::look_at_host() {
  if (Result<cgroups::HostMemory> memory = cgroups::read_host_memory()) host_memory_ = *memory;
}

void Meter::look(Moment now, bool needs_all) {
  follow_clock(now);
  const bool is_rest_due = needs_all || now.steady >= next_rest_;
  if (is_rest_due) {
    next_rest_ = now.steady + kRestEvery;
    stacks_.forget();
    Result<std::uint64_t> moved = cgroups::read_host_io();
    host_io_ = moved ? *moved : 0;
    if (gpus_ && !is_reading_gpus_) spawn(io_, "gpus", read_gpus());
    if (is_driver_late_ && driver_.running() == 0) {
      is_driver_late_ = false;
      spawn(io_, "gpus", find_gpus());
    }
  }
  std::uint64_t of_jobs = 0;
  for (auto& [id, job] : jobs_) {
    if (!job.unsupported.empty()) continue;
    Result<std::uint64_t> cpu = cgroups::read_cpu_usage(fs_, job.group);
    if (!cpu) {
      // Its end is about to be told, or is not by an engine that stands still: it uses nothing.
      if (is_gone(cpu.error())) job.cpu_share = 0;
      continue;
    }
    Reading reading{*cpu, job.reading.memory};
    const bool is_new = !job.has_reading;
    if (!is_new && *cpu > job.reading.cpu_ns) of_jobs += *cpu - job.reading.cpu_ns;
    job.is_memory_read = false;
    if (is_rest_due || !job.has_memory || now.wall - job.begun() < kYoung) {
      read_memory(job, reading);
    }
    take_reading(job, host_, now, reading);
    if (is_rest_due || is_new) take_traffic(job, now, read_traffic(job));
  }
  follow_others(now, of_jobs);
}

void Meter::follow_others(Moment now, std::uint64_t of_jobs) {
  const Result<std::uint64_t> all = cgroups::read_host_cpu_usage(fs_);
  if (!all) return;
  const double seconds = now.steady - host_cpu_at_;
  if (host_cpu_ && seconds > 0 && *all >= *host_cpu_) {
    const std::uint64_t used = *all - *host_cpu_;
    const double cores = used > of_jobs ? static_cast<double>(used - of_jobs) / 1e9 / seconds : 0;
    others_ += (cores - others_) * -std::expm1(-seconds / kOthersSpan);
  }
  host_cpu_ = *all;
  host_cpu_at_ = now.steady;
}

// They have the cores that jobs may not use first.
double Meter::cores_of_others() const {
  return std::max(0.0, others_ - std::max(0.0, cores_ - host_.cores));
}

void Meter::read_memory(Job& job, Reading& reading) const {
  const Result<cgroups::MemoryUse> memory = cgroups::read_memory_use(fs_, job.group);
  if (!memory) return;
  reading.memory = memory->working_set;
  job.is_memory_read = job.has_memory = true;
}

Traffic Meter::read_traffic(const Job& job) {
  Traffic traffic;
  traffic.host_io = host_io_;
  const Result<cgroups::IoUses> uses = cgroups::read_io_use(fs_, job.group);
  // On v1 a newer kernel counts nothing before some group has a throttle rule; no number is not 0.
  if (uses && (!uses->empty() || fs_.is_v2(cgroups::io_controller(fs_)))) {
    traffic.io = cgroups::moved_bytes(*uses, stacks_);
  }
  const auto network = cgroups::read_network_use(job.container.pid);
  if (network && *network) traffic.network = (*network)->rx_bytes + (*network)->tx_bytes;
  return traffic;
}

Async<void> Meter::read_gpus() {
  is_reading_gpus_ = true;
  auto read = [gpus = gpus_] {
    auto seen = gpus->read();
    return seen ? std::optional(std::move(*seen)) : std::nullopt;
  };
  const auto asked = co_await driver_.ask(std::move(read), kDriverTime);
  is_reading_gpus_ = false;
  if (!asked) {
    log::warning(kSilentDriver);
    is_driver_late_ = true;
    gpus_.reset();
    for (auto& [id, job] : jobs_) job.gpu.reset();
    co_return;
  }
  const std::optional<cgroups::GpuReading>& reading = *asked;
  if (!reading) co_return;
  if (!reading->devices.empty()) gpu_model_ = reading->devices.front().name;
  known_gpus_.clear();
  for (const cgroups::GpuDevice& gpu : reading->devices) {
    known_gpus_.push_back({gpu.number, gpu.uuid});
  }
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
  log::event(log::MessageId::clock_jumped, "the clock jumped by " +
                                               render_number(std::round(jump)) +
                                               " s, or the machine slept: growth is measured anew");
  for (auto& [id, job] : jobs_) {
    job.comparable_from = job.clock_from = now.steady;
    job.track.follow_clock(jump);
    if (job.run.meter) job.run.meter->stood_still();
  }
}

}  // namespace flowcon::ctrl
