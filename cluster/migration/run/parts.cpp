// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/parts.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <limits>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/migration/run/engine.h"
#include "cluster/migration/run/parts_internal.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::Pull;
namespace engine = ctrl::engine;

std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return a > most - b ? most : a + b;
}

const VolumePlace* volume_at(const CopyPlace& place, const std::string& destination) {
  for (const VolumePlace& volume : place.volumes) {
    if (volume.destination == destination) return &volume;
  }
  return nullptr;
}

Error no_volume(const std::string& destination) {
  return errno_error(
      ENOENT, "there is no volume at " + printable(destination) + " that its engine keeps itself");
}

// A volume with options is some other file system, which is mounted only while it is in use.
Async<Result<void>> check_options(engine::Client& client, std::string name) {
  const std::string doing = "inspecting volume " + printable(name, 80);
  const Result<json::value> volume =
      co_await client.get_json("/volumes/" + percent_encoded(name), doing, engine::kAnswerTime);
  if (!volume) co_return volume.error();
  if (!volume->is_object()) co_return bad_input(doing + ": no JSON object");
  if (!object_of(*volume, "Options").empty()) {
    co_return bad_input("volume " + printable(name, 80) +
                        " has mount options of its own: its contents cannot migrate");
  }
  co_return Result<void>();
}

// The ticket or a task of the group, and it does not run.
bool is_resting_partner(const json::value& container, const std::string& group) {
  const std::string state = text_of(container, "State");
  const bool rests = state == "created" || state == "exited";
  const bool is_partner = text_of(container, "Id") == group ||
                          text_of(member(container, "Labels"), kGroupLabel) == group;
  return !group.empty() && rests && is_partner;
}

// What is in it will be replaced: nobody else may have it.
Async<Result<void>> check_alone(engine::Client& client, std::string name, std::string id,
                                std::string group) {
  std::string path = "/containers/json?all=1&" + filter_of("volume", name);
  const std::string doing = "asking who has volume " + printable(name, 80);
  const Result<json::value> all =
      co_await client.get_json(std::move(path), doing, engine::kAnswerTime);
  if (!all) co_return all.error();
  if (!all->is_array()) co_return bad_input(doing + ": not a JSON list");
  for (const json::value& one : all->get_array()) {
    if (text_of(one, "Id") != id && !is_resting_partner(one, group)) {
      co_return bad_input("volume " + printable(name, 80) + " is used by another container here");
    }
  }
  co_return Result<void>();
}

// A name that is one, and no path.
Result<std::string> checkpoint_folder(const CopyPlace& place, const std::string& name) {
  if (name.empty() || name.size() > 128 || name.find('/') != std::string::npos ||
      name.front() == '.') {
    return bad_input("a checkpoint cannot be called " + printable(name, 80));
  }
  return place.folder + "/checkpoints/" + name;
}

// Without what runtimes mount into any container, and make a folder for where the image has none.
Async<Result<Pull>> send_layer(std::string upper) {
  std::vector<std::string> mounted{"dev", "proc", "sys"};
  co_return co_await send_folder(std::move(upper), std::move(mounted));
}

Async<Result<std::string>> next_with_room(Pull body, Room room) {
  Result<std::string> piece = co_await body();
  if (!piece || piece->empty()) co_return piece;
  const Result<void> fits = co_await room(piece->size());
  if (!fits) co_return fits.error();
  co_return piece;
}

Error no_layer() {
  return bad_input(
      "the engine keeps no folder with a container's changes to its image: only overlay2 has one");
}

}  // namespace

Pull with_room(Pull body, Room room) {
  if (!room) return body;
  return [body, room]() -> Async<Result<std::string>> { return next_with_room(body, room); };
}

ArchiveRules archive_rules(const PartLimits& limits) {
  // Headers, attributes and padding of each entry; most have a block or three.
  constexpr std::uint64_t kEntryOverhead = 8 * kTarBlock;
  ArchiveRules rules;
  rules.max_entries = limits.entries;
  rules.max_content_bytes = limits.bytes;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / kEntryOverhead;
  rules.max_archive_bytes =
      sum_of(limits.bytes, std::min(limits.entries, most - 4) * kEntryOverhead + (1U << 20));
  rules.any_symlink = true;
  return rules;
}

Async<Result<Pull>> send_part(engine::Client& client, CopyPlace from, Part part) {
  if (from.is_running) co_return bad_input("the container runs");
  switch (part.kind) {
    case PartKind::volume: {
      const VolumePlace* volume = volume_at(from, part.where);
      if (volume == nullptr) co_return no_volume(part.where);
      const std::string folder = volume->folder;
      const Result<void> plain = co_await check_options(client, volume->name);
      if (!plain) co_return plain.error();
      Result<Pull> archive = co_await send_folder(folder);
      if (!archive) co_return archive;
      co_return packed(std::move(*archive));
    }
    case PartKind::path:
      co_return co_await send_path(client, std::move(from), std::move(part.where));
    case PartKind::layer:
      if (from.upper.empty()) co_return no_layer();
      co_return co_await send_layer(std::move(from.upper));
    case PartKind::checkpoint: {
      const Result<std::string> folder = checkpoint_folder(from, part.where);
      if (!folder) co_return folder.error();
      co_return co_await send_folder(*folder);
    }
    case PartKind::log:
      break;
  }
  co_return co_await send_log(client, std::move(from), part.where != "open");
}

Async<Result<void>> take_part(engine::Client& client, CopyPlace into, Part part, Pull body,
                              PartLimits limits) {
  if (!into.is_fresh) co_return bad_input("the copy has been started already");
  ArchiveRules rules = archive_rules(limits);
  rules.memory = limits.memory;
  const Room room = limits.room;
  switch (part.kind) {
    case PartKind::volume: {
      const VolumePlace* found = volume_at(into, part.where);
      if (found == nullptr) co_return no_volume(part.where);
      const VolumePlace volume = *found;
      const Result<void> plain = co_await check_options(client, volume.name);
      if (!plain) co_return plain;
      if (!is_data_volume(volume.name)) {
        const Result<void> alone = co_await check_alone(client, volume.name, into.id, into.group);
        if (!alone) co_return alone;
      }
      co_return co_await take_folder(volume.folder,
                                     checked(with_room(unpacked(std::move(body)), room), rules));
    }
    case PartKind::path:
      co_return co_await take_path(client, std::move(into),
                                   checked(with_room(std::move(body), room), rules));
    case PartKind::layer:
      if (into.upper.empty()) co_return no_layer();
      rules.devices = DeviceRule::whiteouts;
      co_return co_await take_folder(std::move(into.upper),
                                     checked(with_room(std::move(body), room), rules));
    case PartKind::checkpoint: {
      const Result<std::string> folder = checkpoint_folder(into, part.where);
      if (!folder) co_return folder.error();
      rules.has_links = false;
      co_return co_await take_folder(*folder, checked(with_room(std::move(body), room), rules));
    }
    case PartKind::log:
      break;
  }
  co_return co_await take_log(std::move(into), with_room(std::move(body), room), limits.bytes);
}

}  // namespace flowcon::cluster::migration
