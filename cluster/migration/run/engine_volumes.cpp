// SPDX-License-Identifier: Apache-2.0
// What the engine says of volumes.
#include <algorithm>
#include <boost/asio/awaitable.hpp>

#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/migration/plan/refusals.h"
#include "cluster/migration/run/engine.h"

namespace flowcon::cluster::migration {
namespace {

// Does a container of the engine's list run, and may it write to the volume?
bool writes_to(const json::value& container, const std::string& volume) {
  const std::string state = text_of(container, "State");
  if (state == "created" || state == "exited" || state == "dead") return false;
  for (const json::value& mount : list_of(container, "Mounts")) {
    if (text_of(mount, "Name") == volume && is_true(mount, "RW")) return true;
  }
  return false;
}

// A container of the engine's list: the ticket or a task of this group?
bool is_of_group(const json::value& container, const std::string& group) {
  if (group.empty()) return false;
  return text_of(container, "Id") == group ||
         text_of(member(container, "Labels"), kGroupLabel) == group;
}

}  // namespace

Async<Result<std::vector<std::string>>> DockerEngine::volumes_made(std::string id) {
  std::string path = "/volumes?" + filter_of("label", std::string(kMoveLabel) + "=" + id);
  Result<json::value> all = co_await client_.get_json(std::move(path), "listing volumes", kQuick);
  if (!all) co_return all.error();
  std::vector<std::string> names;
  for (const json::value& one : list_of(*all, "Volumes")) names.push_back(text_of(one, "Name"));
  co_return names;
}

Async<Result<std::vector<DataVolume>>> DockerEngine::data_volumes() {
  Result<std::string> root = co_await this->root();
  if (!root) co_return root.error();
  std::string path = "/volumes?" + filter_of("label", kDataLabel);
  const Result<json::value> all =
      co_await client_.get_json(std::move(path), "listing volumes with data", kQuick);
  if (!all) co_return all.error();
  std::vector<DataVolume> volumes;
  for (const json::value& one : list_of(*all, "Volumes")) {
    DataVolume volume{text_of(one, "Name"), text_of(one, "Mountpoint")};
    // A label that a person gave makes no copy of ours.
    const bool is_ours = is_data_volume(volume.name) &&
                         volume.folder == *root + "/volumes/" + volume.name + "/_data";
    if (is_ours) volumes.push_back(std::move(volume));
  }
  co_return volumes;
}

Async<Result<Volumes>> DockerEngine::look_at_volumes(Description description) {
  Volumes volumes;
  const std::string group = group_of(description.body);
  for (const TravellingVolume& one : description.volumes) {
    const auto same = [&](const PlannedVolume& other) { return other.name == one.name; };
    if (std::any_of(volumes.planned.begin(), volumes.planned.end(), same)) continue;
    const std::string shown = "the volume '" + printable(one.name, 80) + "'";
    std::string path = "/volumes/" + percent_encoded(one.name), doing = "inspecting " + shown;
    Result<json::value> volume =
        co_await client_.get_json(std::move(path), std::move(doing), kQuick);
    if (!volume) co_return volume.error();
    if (!object_of(*volume, "Options").empty()) {
      volumes.obstacles.push_back(shown + " was made with options, which mean something here");
    }
    path = "/containers/json?all=1&" + filter_of("volume", one.name);
    doing = "listing the containers that use " + shown;
    Result<json::value> users =
        co_await client_.get_json(std::move(path), std::move(doing), kQuick);
    if (!users) co_return users.error();
    for (const json::value& user : users->is_array() ? users->get_array() : json::array()) {
      if (text_of(user, "Id") == description.id || is_of_group(user, group)) continue;
      if (one.is_data && !writes_to(user, one.name)) continue;
      const json::array& names = list_of(user, "Names");
      const std::string who = names.empty() || !names.front().is_string()
                                  ? ""
                                  : std::string(names.front().get_string());
      const std::string name = printable(who.starts_with('/') ? who.substr(1) : who, 80);
      volumes.obstacles.push_back(one.is_data ? shown + kWrittenTo + name
                                              : shown + kUsedBy + name + " too");
    }
    if (one.is_anonymous) continue;
    PlannedVolume planned{one.name, object_of(*volume, "Labels")};
    planned.labels.erase(kMoveLabel);
    volumes.planned.push_back(std::move(planned));
  }
  co_return volumes;
}

}  // namespace flowcon::cluster::migration
