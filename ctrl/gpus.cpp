// SPDX-License-Identifier: Apache-2.0
#include "ctrl/gpus.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <string_view>
#include <utility>

#include "base/json_arrays.h"
#include "base/json_reader.h"

namespace flowcon::ctrl {
namespace {

constexpr std::size_t kMostGpus = 1024;

// As docker selects its driver: by name, else one that has all capabilities of one of the lists.
bool is_for_gpus(const boost::json::value& request) {
  constexpr std::array<std::string_view, 8> kOfDriver{"gpu",      "nvidia",  "compute", "compat32",
                                                      "graphics", "utility", "video",   "display"};
  const std::string driver = text_of(request, "Driver");
  if (!driver.empty()) return driver == "nvidia";
  const auto has_it = [&](const boost::json::value& one) {
    return std::find(kOfDriver.begin(), kOfDriver.end(), text_of(one)) != kOfDriver.end();
  };
  const boost::json::array& lists = list_of(request, "Capabilities");
  return std::any_of(lists.begin(), lists.end(), [&](const boost::json::value& all) {
    return all.is_array() && std::all_of(all.get_array().begin(), all.get_array().end(), has_it);
  });
}

// The beginning of a UUID is enough.
bool names(const std::string& id, const HostGpu& gpu) {
  constexpr std::string_view kUuid = "GPU-";
  const bool is_uuid = id.size() > kUuid.size() && id.starts_with(kUuid);
  return id == std::to_string(gpu.number) || (is_uuid && gpu.uuid.starts_with(id));
}

}  // namespace

std::size_t GpuDevices::size(std::size_t all) const {
  if (!ids.empty()) return ids.size();
  return count == kAll ? all : static_cast<std::size_t>(count);
}

std::vector<std::size_t> GpuDevices::places(const std::vector<HostGpu>& gpus) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const bool is_counted = count == kAll || static_cast<std::int64_t>(gpus[i].number) < count;
    const auto is_it = [&](const std::string& id) { return names(id, gpus[i]); };
    if (ids.empty() ? is_counted : std::any_of(ids.begin(), ids.end(), is_it)) found.push_back(i);
  }
  return found;
}

GpuDevices gpus_in(const boost::json::value& host_config) {
  GpuDevices devices;
  for (const boost::json::value& request : list_of(host_config, "DeviceRequests")) {
    if (!is_for_gpus(request)) continue;
    bool is_all = false;
    for (const boost::json::value& id : list_of(request, "DeviceIDs")) {
      is_all = is_all || text_of(id) == "all";
      if (devices.ids.size() < kMostGpus) devices.ids.push_back(text_of(id));
    }
    if (is_all) return {GpuDevices::kAll, {}};
    const double count = real_of(member(request, "Count")).value_or(0);
    devices.count =
        count < 0 ? GpuDevices::kAll
                  : static_cast<std::int64_t>(std::min(count, static_cast<double>(kMostGpus)));
  }
  return devices;
}

void set_gpus(boost::json::object& host_config, const std::vector<std::string>& ids) {
  const boost::json::value before = host_config;
  boost::json::array requests;
  bool is_given = ids.empty();
  for (const boost::json::value& request : list_of(before, "DeviceRequests")) {
    if (!is_for_gpus(request)) {
      requests.push_back(request);
    } else if (!std::exchange(is_given, true)) {
      boost::json::object given = request.get_object();
      given["Count"] = 0;
      given["DeviceIDs"] = texts(ids);
      requests.emplace_back(std::move(given));
    }
  }
  host_config["DeviceRequests"] = std::move(requests);
}

}  // namespace flowcon::ctrl
