// SPDX-License-Identifier: Apache-2.0
// Where a container's things are, as its engine says.
#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/migration/run/parts.h"

namespace flowcon::cluster::migration {
namespace {

namespace engine = ctrl::engine;

// Absolute, and every part of it a name.
bool is_plain(std::string_view path) {
  if (!path.starts_with('/') || path.size() > 4096) return false;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == ".." || part.find('\0') != part.npos) return false;
    path.remove_prefix(part.size());
  }
  return true;
}

bool is_below(const std::string& path, const std::string& root) {
  return is_plain(path) && path.starts_with(root + "/");
}

Result<std::vector<VolumePlace>> volumes_of(const json::value& inspect, const std::string& root) {
  std::vector<VolumePlace> volumes;
  const json::value& mounts = member(inspect, "Mounts");
  if (!mounts.is_array()) return volumes;
  for (const json::value& mount : mounts.get_array()) {
    if (text_of(mount, "Type") != "volume") continue;
    if (text_of(mount, "Driver") != "local") continue;
    VolumePlace volume{text_of(mount, "Name"), text_of(mount, "Destination"),
                       text_of(mount, "Source")};
    if (!is_below(volume.folder, root + "/volumes")) {
      return bad_input("the engine keeps volume " + printable(volume.name, 80) +
                       " elsewhere than below " + root + "/volumes");
    }
    volumes.push_back(std::move(volume));
  }
  return volumes;
}

Result<CopyPlace> place_of(const json::value& inspect, const json::value& info,
                           const std::string& id) {
  const std::string root = text_of(info, "DockerRootDir");
  if (!is_plain(root)) return bad_input("the engine does not say where it keeps its data");
  if (text_of(inspect, "Id") != id) return bad_input("the engine means another container");
  CopyPlace place;
  place.id = id;
  place.folder = root + "/containers/" + id;
  const std::string upper =
      text_of(member(member(member(inspect, "GraphDriver"), "Data"), "UpperDir"));
  if (is_below(upper, root)) place.upper = upper;
  const json::value& log = member(member(inspect, "HostConfig"), "LogConfig");
  place.log_driver = text_of(log, "Type");
  const json::value& terminal = member(member(inspect, "Config"), "Tty");
  place.has_terminal = terminal.is_bool() && terminal.get_bool();
  const json::value& state = member(inspect, "State");
  const json::value& running = member(state, "Running");
  place.is_running = !running.is_bool() || running.get_bool();
  place.is_fresh = text_of(state, "Status") == "created";
  place.group = text_of(member(member(inspect, "Config"), "Labels"), kGroupLabel);
  auto volumes = volumes_of(inspect, root);
  if (!volumes) return volumes.error();
  place.volumes = std::move(*volumes);
  return place;
}

}  // namespace

Async<Result<CopyPlace>> find_place(engine::Client& client, std::string id, std::string state_dir) {
  if (!is_container_id(id)) co_return bad_input("no container has the id " + printable(id, 80));
  const Result<json::value> inspect =
      co_await client.get_json("/containers/" + id + "/json",
                               "inspecting container " + id.substr(0, 12), engine::kAnswerTime);
  if (!inspect) co_return inspect.error();
  const Result<json::value> info =
      co_await client.get_json("/info", "asking the engine about itself", engine::kAnswerTime);
  if (!info) co_return info.error();
  Result<CopyPlace> place = place_of(*inspect, *info, id);
  if (place) place->lives = state_dir + "/lives";
  co_return place;
}

}  // namespace flowcon::cluster::migration
