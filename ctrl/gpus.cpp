// SPDX-License-Identifier: Apache-2.0
#include "ctrl/gpus.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <utility>

#include "base/json_arrays.h"
#include "base/json_reader.h"

namespace flowcon::ctrl {
namespace {

constexpr std::size_t kMostGpus = 1024;

bool is_for_gpus(const boost::json::value& request) {
  const std::string driver = text_of(request, "Driver");
  if (!driver.empty() && driver != "nvidia") return false;
  for (const boost::json::value& all : list_of(request, "Capabilities")) {
    if (!all.is_array()) continue;
    for (const boost::json::value& one : all.get_array()) {
      if (text_of(one) == "gpu") return true;
    }
  }
  return false;
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
    const auto names = [&](const std::string& id) {
      return id == std::to_string(gpus[i].number) || (!id.empty() && id == gpus[i].uuid);
    };
    if (ids.empty() ? is_counted : std::any_of(ids.begin(), ids.end(), names)) found.push_back(i);
  }
  return found;
}

GpuDevices gpus_in(const boost::json::value& host_config) {
  GpuDevices devices;
  for (const boost::json::value& request : list_of(host_config, "DeviceRequests")) {
    if (!is_for_gpus(request)) continue;
    for (const boost::json::value& id : list_of(request, "DeviceIDs")) {
      if (devices.ids.size() < kMostGpus) devices.ids.push_back(text_of(id));
    }
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
