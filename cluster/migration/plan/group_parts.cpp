// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/group_parts.h"

#include "base/hex.h"
#include "base/json_reader.h"
#include "base/sha256.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::string_view kVolumePrefix = "flowcon-task-";
constexpr std::size_t kDigits = 32;

bool is_numbered(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && is_hex(name.substr(prefix.size()), kDigits);
}

}  // namespace

std::string group_network(std::string_view group) {
  return std::string(kGroupNetworks) + std::string(group.substr(0, kDigits));
}

bool is_group_network(std::string_view name) { return is_numbered(name, kGroupNetworks); }

std::string task_volume(const std::string& birth, const std::string& name) {
  Sha256 sum;
  sum.feed(birth);
  sum.feed(std::string_view("\0", 1));
  sum.feed(name);
  return std::string(kVolumePrefix) + sum.finish().substr(0, kDigits);
}

bool is_task_volume(std::string_view name) { return is_numbered(name, kVolumePrefix); }

std::string group_of(const boost::json::object& body) {
  return text_of(member(boost::json::value(body), "Labels"), kGroupLabel);
}

bool is_follower(const boost::json::object& body) {
  const boost::json::value whole(body);
  const boost::json::object& labels = object_of(whole, "Labels");
  return labels.contains(kGroupLabel) && !labels.contains(kLeaderLabel);
}

}  // namespace flowcon::cluster::migration
