// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/gpus.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/text.h"
#include "cluster/policy/room.h"
#include "cluster/policy/share.h"

namespace flowcon::cluster::queue {
namespace {

constexpr double kPercent = 100;

}  // namespace

GpuLedger::GpuLedger(const std::vector<ctrl::HostGpu>& gpus, const std::vector<GpuHolder>& holders)
    : gpus_(gpus), used_(gpus.size(), 0), first_of_(gpus.size()) {
  for (const GpuHolder& holder : holders) {
    const double share = share_of(holder.devices, holder.amount);
    if (share <= 0) continue;
    for (const std::size_t gpu : holder.devices.places(gpus_)) {
      used_[gpu] += share;
      if (first_of_[gpu].empty()) first_of_[gpu] = printable(holder.name, 80);
    }
  }
}

double GpuLedger::share_of(const ctrl::GpuDevices& devices, double amount) const {
  const std::size_t count = devices.size(gpus_.size());
  return count > 0 ? std::min(1.0, amount / static_cast<double>(count)) : 0;
}

double GpuLedger::free(double offered) const {
  double free = 0;
  for (std::size_t gpu = 0; gpu < used_.size() && static_cast<double>(gpu) < offered; ++gpu) {
    free += std::max(0.0, 1 - used_[gpu]);
  }
  return free;
}

std::string GpuLedger::why_taken(const ctrl::GpuDevices& devices, double amount) const {
  const double share = share_of(devices, amount);
  const auto has_room = [&](std::size_t gpu) {
    return used_[gpu] + share <= 1 + policy::Room::kTolerance;
  };
  const std::vector<std::size_t> asked = devices.places(gpus_);
  const auto taken = std::find_if_not(asked.begin(), asked.end(), has_room);
  if (share <= 0 || taken == asked.end()) return "";
  std::string why = "waits for GPU " + std::to_string(gpus_[*taken].number) + ", which " +
                    first_of_[*taken] + " has";
  if (devices.count <= 0 || !devices.ids.empty()) return why;
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    if (std::find(asked.begin(), asked.end(), gpu) != asked.end() || !has_room(gpu)) continue;
    const std::string count = std::to_string(devices.count);
    return why + "; docker gives --gpus " + count + " the first " +
           (devices.count == 1 ? "one" : count) +
           ": see --gpus device=" + std::to_string(gpus_[gpu].number) +
           " in docker-flowcon-submit(1)";
  }
  return why;
}

std::vector<std::string> GpuLedger::choose(double amount, double offered) const {
  policy::ShareState state;
  for (std::size_t gpu = 0; gpu < gpus_.size() && static_cast<double>(gpu) < offered; ++gpu) {
    const double used = used_[gpu] > policy::Room::kTolerance ? kPercent * used_[gpu] : 0;
    state.devices.push_back({std::to_string(gpus_[gpu].number), 0, used, 0});
  }
  policy::DeviceTask task;
  task.id = "task";
  if (amount >= 1) {
    task.gpus = static_cast<std::int64_t>(std::ceil(amount - policy::Room::kTolerance));
  } else {
    task.util = kPercent * amount;
  }
  state.tasks.push_back(task);
  const policy::ShareDecision decided = policy::decide_share(state);
  return decided.placed.empty() ? std::vector<std::string>() : decided.placed.front().devices;
}

}  // namespace flowcon::cluster::queue
