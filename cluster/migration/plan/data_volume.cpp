// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/data_volume.h"

#include <algorithm>

#include "base/hex.h"
#include "base/json_reader.h"
#include "base/sha256.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::string_view kPrefix = "flowcon-data-";
constexpr std::size_t kDigits = 32;

bool is_of_volume(const json::value& mount, const std::string& name) {
  return text_of(mount, "Type") == "volume" && text_of(mount, "Source") == name;
}

}  // namespace

std::string data_volume_name(const std::string& host, const std::string& name,
                             const std::string& content) {
  Sha256 sum;
  for (const std::string& part : {host, name, content}) {
    sum.feed(part);
    sum.feed(std::string_view("\0", 1));
  }
  return std::string(kPrefix) + sum.finish().substr(0, kDigits);
}

bool is_data_volume(std::string_view name) {
  return name.starts_with(kPrefix) && is_hex(name.substr(kPrefix.size()), kDigits);
}

void mark_data(Description& description) {
  for (TravellingVolume& volume : description.volumes) {
    const auto times =
        std::count_if(description.volumes.begin(), description.volumes.end(),
                      [&](const TravellingVolume& other) { return other.name == volume.name; });
    volume.is_data = volume.is_read_only && !volume.is_anonymous && times == 1;
  }
}

void rename_volume(json::object& body, const std::string& name, const std::string& copy) {
  json::object& host = body["HostConfig"].as_object();
  for (json::value& mount : host["Mounts"].as_array()) {
    if (is_of_volume(mount, name)) mount.as_object()["Source"] = copy;
  }
}

std::string data_volume_at(const json::object& body, const std::string& destination) {
  const json::value whole(body);
  for (const json::value& mount : list_of(member(whole, "HostConfig"), "Mounts")) {
    if (text_of(mount, "Target") != destination) continue;
    const std::string name = text_of(mount, "Source");
    if (is_of_volume(mount, name) && is_data_volume(name)) return name;
  }
  return "";
}

std::vector<std::string> copies_to_remove(std::vector<CachedCopy> copies, double most) {
  std::stable_sort(copies.begin(), copies.end(),
                   [](const CachedCopy& a, const CachedCopy& b) { return a.used < b.used; });
  double all = 0;
  for (const CachedCopy& copy : copies) all += copy.is_used ? 0 : static_cast<double>(copy.bytes);
  std::vector<std::string> removed;
  for (const CachedCopy& copy : copies) {
    if (copy.is_used || (copy.is_whole && all <= most)) continue;
    all -= static_cast<double>(copy.bytes);
    removed.push_back(copy.name);
  }
  return removed;
}

}  // namespace flowcon::cluster::migration
