// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/bounds.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/json_reader.h"
#include "cluster/migration/plan/refusals.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::size_t kMostMembers = 128;    // of the objects that an engine knows the members of
constexpr std::size_t kMostElements = 1024;  // of every other list
constexpr std::uint64_t kUnforeseen = 4ULL << 30;

std::size_t size_of(const json::value& value) {
  if (const json::array* list = value.if_array()) return list->size();
  const json::object* object = value.if_object();
  return object != nullptr ? object->size() : 0;
}

// Ports of the host, or one more than may be.
std::size_t ports_of(const json::value& host) {
  std::size_t ports = 0;
  for (const auto& [port, bindings] : object_of(host, "PortBindings")) {
    ports += std::max<std::size_t>(1, size_of(bindings));
    if (ports > kMostPorts) break;
  }
  return ports;
}

std::string more_than(std::size_t most, const std::string& what) {
  return "a container with more than " + std::to_string(most) + " " + what + " is not accepted";
}

}  // namespace

std::string beyond_bounds(const json::value& plan) {
  const json::value& body = member(plan, "body");
  const json::value& host = member(body, "HostConfig");
  const bool publishes_all = is_true(host, "PublishAllPorts");
  const std::size_t exposed = size_of(member(body, "ExposedPorts"));
  if (ports_of(host) > kMostPorts || (publishes_all && exposed > kMostPorts)) {
    return more_than(kMostPorts, "ports");
  }
  const std::size_t mounts = size_of(member(host, "Mounts")) + size_of(member(host, "Tmpfs"));
  if (mounts > kMostMounts) return more_than(kMostMounts, "mounts");
  const std::size_t devices =
      size_of(member(host, "Devices")) + size_of(member(host, "DeviceRequests"));
  if (devices > kMostDevices) return more_than(kMostDevices, "devices");
  if (size_of(body) > kMostMembers || size_of(host) > kMostMembers) {
    return more_than(kMostMembers, "settings");
  }
  if (exposed > kMostElements) return more_than(kMostElements, "exposed ports");
  for (const auto& [key, value] : object_of(body, "HostConfig")) {
    if (size_of(value) > kMostElements) {
      return more_than(kMostElements, "elements in one setting");
    }
  }
  const json::value& networks = member(member(body, "NetworkingConfig"), "EndpointsConfig");
  if (size_of(networks) > kMostElements) return more_than(kMostElements, "networks");
  return "";
}

std::string why_no_seat(std::size_t of_peer, std::size_t open_of_peer, std::size_t all,
                        std::size_t ready) {
  if (ready >= kMostReady) {
    return std::to_string(kMostReady) + kTasksWait;
  }
  if (of_peer >= kMostOfPeer) {
    return std::to_string(kMostOfPeer) + kOnTheirWay + ": try again when one has arrived";
  }
  if (open_of_peer >= kMostIncoming) {
    return std::to_string(kMostIncoming) + kNotOver;
  }
  return all >= kMostIncoming ? kTooMany : "";
}

std::string why_reservation_ends(double age, double silence, bool is_coming) {
  if (age > kReservationAge) return "it was reserved a day ago and has not come";
  const bool is_silent = silence > kReservationSilence && !is_coming;
  return is_silent ? kSilentSource : "";
}

std::uint64_t spare_of(std::uint64_t disk_bytes) {
  return std::min<std::uint64_t>(disk_bytes / 20, 1ULL << 30);
}

bool is_full(const Disk& disk) {
  const bool has_files = disk.files == 0 || disk.free_files > disk.files / 100;
  return disk.free_bytes <= spare_of(disk.bytes) || !has_files;
}

Budget::Budget(std::uint64_t announced)
    : left_(announced > std::numeric_limits<std::uint64_t>::max() / 4
                ? std::numeric_limits<std::uint64_t>::max()
                : 2 * announced + kUnforeseen) {}

void Budget::begin(const std::string& part) { left_ += std::exchange(taken_[part], 0); }

Result<void> Budget::take(const std::string& part, std::uint64_t bytes) {
  if (bytes > left_) return errno_error(EFBIG, "the peer sends more than twice the announced size");
  left_ -= bytes;
  taken_[part] += bytes;
  return {};
}

}  // namespace flowcon::cluster::migration
