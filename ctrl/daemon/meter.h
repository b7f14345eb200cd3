// SPDX-License-Identifier: Apache-2.0
// What jobs use, read from the kernel: CPU time at each tick, memory, traffic and GPUs less often.
// For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cgroups/cgroup_fs.h"
#include "cgroups/disks.h"
#include "cgroups/gpu.h"
#include "ctrl/async.h"
#include "ctrl/gpus.h"
#include "ctrl/helper_threads.h"
#include "ctrl/job.h"

namespace flowcon::ctrl {

class Meter {
 public:
  using Jobs = std::map<std::string, Job>;

  /// All have to outlive it. `cores`: of the machine, of which the host may have fewer.
  Meter(boost::asio::io_context& io, cgroups::CgroupFs& fs, const Host& host, double cores,
        Jobs& jobs);

  /// Finds GPUs, which nobody waits for.
  void begin();
  /// Reads the host's memory.
  void look_at_host();
  /// Reads the CPU time of each job that can be controlled; memory, traffic and GPUs each 15 s, and
  /// where `needs_all`; memory of a young job each time.
  void look(Moment now, bool needs_all);
  [[nodiscard]] const cgroups::HostMemory& host_memory() const { return host_memory_; }
  /// Cores of the host that programs without a job use, over the last half minute or so; 0 where
  /// the kernel does not report it.
  [[nodiscard]] double cores_of_others() const;
  /// Of its first GPU; "" = it has none, or none was read yet.
  [[nodiscard]] const std::string& gpu_model() const { return gpu_model_; }
  /// Those that answered last.
  [[nodiscard]] const std::vector<HostGpu>& known_gpus() const { return known_gpus_; }
  /// It is not known yet whether there are any.
  [[nodiscard]] bool is_seeking_gpus() const { return is_seeking_gpus_; }

 private:
  void follow_clock(Moment now);
  /// `of_jobs`: nanoseconds of CPU time since the tick before.
  void follow_others(Moment now, std::uint64_t of_jobs);
  void read_memory(Job& job, Reading& reading) const;
  [[nodiscard]] Traffic read_traffic(const Job& job);
  Async<void> find_gpus();
  Async<void> read_gpus();

  boost::asio::io_context& io_;
  cgroups::CgroupFs& fs_;
  Host host_;
  double cores_;
  Jobs& jobs_;
  double next_rest_ = 0;       // steady; when all but CPU time is read
  std::uint64_t host_io_ = 0;  // bytes of all disks since the host booted
  cgroups::DeviceStacks stacks_;
  cgroups::HostMemory host_memory_;
  std::optional<std::uint64_t> host_cpu_;  // nanoseconds of all programs at the last tick
  double host_cpu_at_ = 0;                 // steady; that tick
  double others_ = 0;                      // cores of the machine, smoothed
  HelperThreads driver_{1};                // with a broken GPU it never answers
  std::shared_ptr<cgroups::Gpus> gpus_;    // null without a GPU
  bool is_reading_gpus_ = false;
  bool is_driver_late_ = false;  // asked again once it has answered
  std::string gpu_model_;
  std::vector<HostGpu> known_gpus_;
  bool is_seeking_gpus_ = false;
  std::optional<double> clock_offset_;  // wall minus steady at the last tick
};

}  // namespace flowcon::ctrl
