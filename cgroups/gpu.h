// SPDX-License-Identifier: Apache-2.0
// What processes use of NVIDIA's GPUs, through NVML, which is loaded at run time where it is there:
// FlowCon is neither built against it nor needs it. Reads only; a GPU's limits are not touched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cgroups/group.h"

namespace flowcon::cgroups {

/// One GPU. What it does not report (a MIG device, an old card) is missing.
struct GpuDevice {
  unsigned number = 0;        ///< NVML's own
  std::string uuid;           ///< "GPU-…", printable
  std::string name;           ///< "NVIDIA A100-SXM4-40GB", printable
  std::optional<double> use;  ///< share of time with work on it, 0..1
  std::optional<std::uint64_t> total_bytes;
};

/// One process that computes on one GPU; on two GPUs it is there twice.
struct GpuProcess {
  std::int64_t pid = 0;    ///< in our pid namespace, if that is the driver's (the host's)
  std::size_t device = 0;  ///< index into GpuReading::devices
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> use;  ///< 0..1 since the reading before; missing where not reported
};

struct GpuReading {
  std::vector<GpuDevice> devices;
  std::vector<GpuProcess> processes;
};

constexpr const char* kNvml = "libnvidia-ml.so.1";

/// An open NVML. One at a time in a process; not for two threads at once. Its calls go to the
/// driver and can take tens of milliseconds, or hang for ever with a broken GPU: a thread of
/// theirs.
class Gpus {
 public:
  /// Loads and starts the library. `library` is a name for the loader, or a path.
  /// Errors: ENOENT no such library (no driver on this host); ENOSYS it lacks a function that we
  /// need; ENODEV the driver is not loaded; EACCES not permitted; EIO anything else, in its words.
  [[nodiscard]] static Result<std::unique_ptr<Gpus>> open(const std::string& library = kNvml);

  Gpus(const Gpus&) = delete;
  Gpus& operator=(const Gpus&) = delete;
  ~Gpus();

  /// All GPUs and their processes now. A GPU that fails (lost, removed) is left out.
  /// Errors: EIO the GPUs cannot be counted.
  [[nodiscard]] Result<GpuReading> read();

 private:
  struct Library;
  explicit Gpus(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

/// What one container uses of all GPUs together.
struct GpuUse {
  /// In whole GPUs: 1.5 is one and a half busy. Missing where a GPU has no use by process
  /// and more than one container is on it.
  std::optional<double> use;
  std::uint64_t memory_bytes = 0;
  bool operator==(const GpuUse&) const = default;
};

/// Whether a process in `process` is in `container` or in a group below it. Pure.
[[nodiscard]] bool is_within(const Group& process, const Group& container);

/// The reading by container: each process is looked up with `group_of` (find_group; a process that
/// ended is left out) and belongs to the container whose group it is in or below. Containers
/// without a process on a GPU are left out. Where a GPU has no use by process, its
/// whole use is the one container's that is on it. Pure but for `group_of`.
[[nodiscard]] std::map<std::string, GpuUse> gpu_use_of(
    const GpuReading& reading, const std::map<std::string, Group>& containers,
    const std::function<Result<Group>(std::int64_t pid)>& group_of);

}  // namespace flowcon::cgroups
