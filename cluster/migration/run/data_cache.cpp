// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/data_cache.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <utility>

#include "base/json_reader.h"
#include "cluster/migration/plan/data_volume.h"
#include "ctrl/log.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::Async;

constexpr double kSweepTime = 60;  // seconds

using Marks = std::vector<std::optional<DataMark>>;

// Names of the volumes that containers have.
std::set<std::string> used_volumes(const boost::json::value& containers) {
  std::set<std::string> used;
  for (const boost::json::value& container : list_of(containers)) {
    for (const boost::json::value& mount : list_of(container, "Mounts")) {
      if (text_of(mount, "Type") == "volume") used.insert(text_of(mount, "Name"));
    }
  }
  return used;
}

}  // namespace

// Of each volume whether it is whole.
Async<Result<Marks>> DataCache::marks_of(std::vector<DataVolume> volumes) {
  std::vector<std::string> folders;
  for (const DataVolume& volume : volumes) folders.push_back(volume.folder);
  co_return co_await world_.files.marks_of(std::move(folders));
}

Async<Result<std::map<std::string, std::string>>> DataCache::whole() {
  const Result<std::vector<DataVolume>> volumes = co_await world_.engine.data_volumes();
  if (!volumes) co_return volumes.error();
  std::vector<DataVolume> all = *volumes;
  const Result<Marks> marks = co_await marks_of(std::move(all));
  if (!marks) co_return marks.error();
  std::map<std::string, std::string> whole;
  for (std::size_t i = 0; i < volumes->size(); ++i) {
    if (marks->at(i)) whole[volumes->at(i).name] = volumes->at(i).folder;
  }
  co_return whole;
}

std::map<std::string, std::string> wanted_data(const Plan& plan) {
  std::map<std::string, std::string> wanted;
  for (const Part& part : plan.parts) {
    if (part.kind != PartKind::volume) continue;
    const std::string name = data_volume_at(plan.body, part.where);
    if (!name.empty()) wanted[name] = part.name;
  }
  return wanted;
}

Async<Result<std::set<std::string>>> DataCache::parts_there(Plan plan) {
  std::set<std::string> there;
  const std::map<std::string, std::string> wanted = wanted_data(plan);
  if (wanted.empty()) co_return there;
  const Result<std::map<std::string, std::string>> found = co_await whole();
  if (!found) co_return found.error();
  for (const auto& [name, part] : wanted) {
    const auto copy = found->find(name);
    if (copy == found->end()) continue;
    there.insert(part);
    std::string folder = copy->second;
    co_await world_.files.mark_used(std::move(folder));
  }
  co_return there;
}

bool DataCache::is_coming(const Plan& plan, const std::set<std::string>& there) const {
  for (const auto& [name, part] : wanted_data(plan)) {
    if (there.contains(part)) continue;
    for (const auto& [id, move] : open_.all()) {
      if (move->is_source() || move->entry.step >= Step::start) continue;
      const std::map<std::string, std::string> others = wanted_data(move->plan);
      const auto found = others.find(name);
      if (found != others.end() && !move->travel.received.contains(found->second)) return true;
    }
  }
  return false;
}

// What moves to here will mount.
std::set<std::string> DataCache::awaited() const {
  std::set<std::string> names;
  for (const auto& [id, move] : open_.all()) {
    if (move->is_source()) continue;
    for (const auto& [name, part] : wanted_data(move->plan)) names.insert(name);
  }
  return names;
}

Async<Result<void>> DataCache::sweep() {
  const Result<std::vector<DataVolume>> volumes = co_await world_.engine.data_volumes();
  if (!volumes || volumes->empty()) co_return volumes ? Result<void>() : volumes.error();
  std::vector<DataVolume> all = *volumes;
  const Result<Marks> marks = co_await marks_of(std::move(all));
  if (!marks) co_return marks.error();
  const Result<boost::json::value> containers = co_await world_.engine.list();
  if (!containers) co_return containers.error();
  const std::set<std::string> used = used_volumes(*containers);
  std::vector<DataCopy> copies;
  for (std::size_t i = 0; i < volumes->size(); ++i) {
    const std::optional<DataMark>& mark = marks->at(i);
    copies.push_back({volumes->at(i).name, used.contains(volumes->at(i).name), mark.has_value(),
                      mark ? mark->bytes : 0, mark ? mark->used : 0});
  }
  const double most = world_.host.config().queue.data_cache;
  for (const std::string& name : data_to_remove(std::move(copies), most)) {
    // One that has begun meanwhile counts on it. The engine keeps what a container has.
    if (awaited().contains(name)) continue;
    std::string volume = name;
    const Result<void> removed = co_await world_.engine.remove_volume(std::move(volume));
    if (!removed) co_return removed;
    ctrl::log::info("data " + name + " is kept no longer");
  }
  co_return Result<void>();
}

Async<void> DataCache::run() {
  while (!world_.is_ended) {
    const Result<void> swept = co_await sweep();
    if (!swept) ctrl::log::debug("data of jobs stays: " + swept.error().message());
    if (world_.is_ended) co_return;
    co_await alarm_->wait(kSweepTime);
  }
}

}  // namespace flowcon::cluster::migration
