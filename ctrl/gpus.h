// SPDX-License-Identifier: Apache-2.0
// GPUs of a host, and those that docker gives a container (--gpus). Pure.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace flowcon::ctrl {

/// One, by the names that docker knows it by.
struct HostGpu {
  unsigned number = 0;  ///< NVML's
  std::string uuid;     ///< "" = not known
  bool operator==(const HostGpu&) const = default;
};

/// What a container asks docker for: the first `count` GPUs, or those of `ids`.
struct GpuDevices {
  static constexpr std::int64_t kAll = -1;
  std::int64_t count = 0;        ///< or kAll
  std::vector<std::string> ids;  ///< numbers or UUIDs, as they were given; not "all"
  [[nodiscard]] bool is_none() const { return count == 0 && ids.empty(); }
  /// How many these are on a host that has `all`.
  [[nodiscard]] std::size_t size(std::size_t all) const;
  /// The places in `gpus`, the list of a host's, that are known to be among these.
  [[nodiscard]] std::vector<std::size_t> places(const std::vector<HostGpu>& gpus) const;
};

/// Of a HostConfig, as the engine tells it or is asked for it.
[[nodiscard]] GpuDevices gpus_in(const boost::json::value& host_config);

/// In a HostConfig that asks for GPUs: these instead; none of them where there are no `ids`.
void set_gpus(boost::json::object& host_config, const std::vector<std::string>& ids);

}  // namespace flowcon::ctrl
