// SPDX-License-Identifier: Apache-2.0
// Which devices of a node, GPUs, its tasks get: whole, or shared by use and memory (Liquid, 6.2).
// Pure functions: no clock, no I/O, no logging.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flowcon::cluster::policy {

/// A device as it is measured. Units: use in percent of the device, memory in any, all the same.
struct SharedDevice {
  std::string id;
  double mem = 0;
  double util_used = 0;
  double mem_used = 0;
};

/// A task that asks for whole devices, or for a part of one.
struct DeviceTask {
  std::string id;
  std::optional<std::int64_t> gpus;  ///< so many devices; without it the two below count
  double util = 0;                   ///< mean use, percent of a device
  double mem = 0;                    ///< greatest
};

struct ShareState {
  static constexpr const char* kAlgorithm = "share";

  std::vector<SharedDevice> devices;
  std::vector<DeviceTask> tasks;
};

struct TaskDevices {
  std::string task;
  std::vector<std::string> devices;
};

struct ShareDecision {
  std::vector<TaskDevices> placed;    ///< in the order of the tasks
  std::vector<std::string> unplaced;  ///< so too
};

/// The tasks in order. Whole devices: the first ones that nobody uses. A part: of the devices that
/// nobody has whole and that have room, the most used one, by use, then by memory, then the first.
/// O(tasks · devices).
/// Source: Liquid, 6.2.
[[nodiscard]] ShareDecision decide_share(const ShareState& state);

}  // namespace flowcon::cluster::policy
