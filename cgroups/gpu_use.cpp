// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <set>

#include "cgroups/gpu.h"

namespace flowcon::cgroups {
namespace {

bool is_at_or_below(const std::string& path, const std::string& group) {
  if (group.empty() || path.compare(0, group.size(), group) != 0) return false;
  return path.size() == group.size() || path[group.size()] == '/';
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

}  // namespace

bool is_within(const Group& process, const Group& container) {
  return is_at_or_below(process.cpu, container.cpu);
}

std::map<std::string, GpuUse> gpu_use_of(
    const GpuReading& reading, const std::map<std::string, Group>& containers,
    const std::function<Result<Group>(std::int64_t pid)>& group_of) {
  struct OnDevice {
    std::set<std::string> containers;  ///< "" is everybody that is none
    bool tells_apart = true;
  };
  std::vector<OnDevice> devices(reading.devices.size());
  std::map<std::string, GpuUse> uses;
  std::set<std::string> unknown;
  for (const GpuProcess& process : reading.processes) {
    if (process.device >= devices.size()) continue;
    const auto group = group_of(process.pid);
    std::string owner;
    for (const auto& [id, container] : containers) {
      if (group && is_within(*group, container)) owner = id;
    }
    OnDevice& device = devices[process.device];
    device.containers.insert(owner);
    device.tells_apart = device.tells_apart && process.use.has_value();
    if (owner.empty()) continue;
    GpuUse& use = uses[owner];
    use.memory_bytes = sum(use.memory_bytes, process.memory_bytes.value_or(0));
    if (process.use) use.use = use.use.value_or(0) + *process.use;
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].tells_apart) continue;
    const bool is_alone = devices[i].containers.size() == 1 && reading.devices[i].use;
    for (const std::string& owner : devices[i].containers) {
      if (owner.empty()) continue;
      if (!is_alone) unknown.insert(owner);
      if (is_alone) uses[owner].use = uses[owner].use.value_or(0) + *reading.devices[i].use;
    }
  }
  for (const std::string& owner : unknown) uses[owner].use.reset();
  return uses;
}

}  // namespace flowcon::cgroups
