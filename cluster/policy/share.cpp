// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/share.h"

namespace flowcon::cluster::policy {
namespace {

constexpr double kTolerance = 1e-9;
constexpr double kWholeDevice = 100;  // percent

struct Device {
  const SharedDevice* listed = nullptr;
  double util_used = 0;
  double mem_used = 0;
  bool is_given = false;  // in this call
  bool is_whole = false;  // given to one task alone
};

// The first `count` that nobody uses; fewer where there are not so many.
std::vector<Device*> unused(std::vector<Device>& devices, std::int64_t count) {
  std::vector<Device*> found;
  for (Device& device : devices) {
    if (static_cast<std::int64_t>(found.size()) == count) break;
    if (device.util_used == 0 && device.mem_used == 0 && !device.is_given) found.push_back(&device);
  }
  return found;
}

Device* most_used(std::vector<Device>& devices, const DeviceTask& task) {
  Device* best = nullptr;
  for (Device& device : devices) {
    if (device.is_whole || !(device.util_used + task.util <= kWholeDevice + kTolerance) ||
        !(device.mem_used + task.mem <= device.listed->mem + kTolerance)) {
      continue;
    }
    if (!best || device.util_used > best->util_used ||
        (device.util_used == best->util_used && device.mem_used > best->mem_used)) {
      best = &device;
    }
  }
  return best;
}

// The devices that a task gets, marked as its own; none where it finds no room.
std::optional<std::vector<Device*>> devices_for(std::vector<Device>& devices,
                                                const DeviceTask& task) {
  if (task.gpus) {
    std::vector<Device*> found = unused(devices, *task.gpus);
    if (static_cast<std::int64_t>(found.size()) < *task.gpus) return std::nullopt;
    for (Device* device : found) device->is_given = device->is_whole = true;
    return found;
  }
  Device* device = most_used(devices, task);
  if (!device) return std::nullopt;
  device->util_used += task.util;
  device->mem_used += task.mem;
  device->is_given = true;
  return std::vector<Device*>{device};
}

}  // namespace

ShareDecision decide_share(const ShareState& state) {
  std::vector<Device> devices;
  devices.reserve(state.devices.size());
  for (const SharedDevice& listed : state.devices) {
    devices.push_back({&listed, listed.util_used, listed.mem_used});
  }
  ShareDecision decision;
  for (const DeviceTask& task : state.tasks) {
    const auto found = devices_for(devices, task);
    if (!found) {
      decision.unplaced.push_back(task.id);
      continue;
    }
    TaskDevices placed{task.id, {}};
    for (const Device* device : *found) placed.devices.push_back(device->listed->id);
    decision.placed.push_back(std::move(placed));
  }
  return decision;
}

}  // namespace flowcon::cluster::policy
