// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/cache.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <utility>

#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/saved_image.h"
#include "ctrl/log.h"

namespace flowcon::cluster::migration {
namespace {

constexpr double kSweepTime = 60;  // seconds, and after each move
constexpr double kSweepAgain = 5;  // seconds, while something could not be removed

using Marks = std::vector<std::optional<DataMark>>;

// The rest is gone through all the same.
void stays(const Error& error) {
  ctrl::log::debug("data of migrations is kept longer: " + error.message());
}

// Names of the volumes and ids of the images that containers have.
std::set<std::string> used_by(const std::vector<ctrl::engine::Listed>& containers) {
  std::set<std::string> used;
  for (const ctrl::engine::Listed& container : containers) {
    used.insert(container.image_id);
    used.insert(container.volumes.begin(), container.volumes.end());
  }
  return used;
}

}  // namespace

// Of each volume whether it is whole.
Async<Result<Marks>> Cache::marks_of(std::vector<DataVolume> volumes) {
  std::vector<std::string> folders;
  for (const DataVolume& volume : volumes) folders.push_back(volume.folder);
  co_return co_await world_.files.marks_of(std::move(folders));
}

Async<Result<std::map<std::string, std::string>>> Cache::whole() {
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

Async<Result<std::set<std::string>>> Cache::parts_there(Plan plan) {
  std::set<std::string> there;
  const std::map<std::string, std::string> wanted = wanted_data(plan);
  if (wanted.empty()) co_return there;
  const Result<std::map<std::string, std::string>> found = co_await whole();
  if (!found) co_return found.error();
  for (const auto& [name, part] : wanted) {
    const auto copy = found->find(name);
    if (copy == found->end()) continue;
    there.insert(part);
    co_await world_.files.mark_used(copy->second);
  }
  co_return there;
}

bool Cache::is_coming(const Plan& plan, const std::set<std::string>& there) const {
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
std::set<std::string> Cache::awaited() const {
  std::set<std::string> names;
  for (const auto& [id, move] : open_.all()) {
    if (move->is_source()) continue;
    for (const auto& [name, part] : wanted_data(move->plan)) names.insert(name);
  }
  return names;
}

Async<void> Cache::remove_nameless() {
  const std::set<std::string> images = nameless_;
  for (const std::string& id : images) {
    if (open_.images().contains(id)) continue;
    const Result<void> removed = co_await world_.goods.remove_image(id, ImageName::none);
    if (removed) nameless_.erase(id);
  }
}

Async<Result<void>> Cache::remove(std::string name) {
  const bool is_image = is_digest(name);
  // What has begun meanwhile counts on it. The engine keeps what a container has.
  if (is_image ? open_.images().contains(name) : awaited().contains(name)) co_return Result<void>();
  std::string called = name;
  Result<void> removed;
  if (is_image) {
    removed = co_await world_.goods.remove_image(std::move(called), ImageName::moved);
    // On a full disk the engine may lose its name, and keep it.
    if (!removed) leave(name);
  } else {
    removed = co_await world_.engine.remove_volume(std::move(called));
  }
  if (removed) {
    ctrl::log::info(std::string(is_image ? "image " : "data ") + name + " is kept no longer");
  }
  co_return removed;
}

Async<std::vector<CachedCopy>> Cache::data_copies(std::set<std::string> used) {
  std::vector<CachedCopy> copies;
  const Result<std::vector<DataVolume>> volumes = co_await world_.engine.data_volumes();
  if (!volumes || volumes->empty()) {
    if (!volumes) stays(volumes.error());
    co_return copies;
  }
  std::vector<DataVolume> all = *volumes;
  const Result<Marks> marks = co_await marks_of(std::move(all));
  if (!marks) stays(marks.error());
  for (std::size_t i = 0; marks && i < volumes->size(); ++i) {
    const std::optional<DataMark>& mark = marks->at(i);
    copies.push_back({volumes->at(i).name, used.contains(volumes->at(i).name), mark.has_value(),
                      mark ? mark->bytes : 0, mark ? mark->used : 0});
  }
  co_return copies;
}

Async<std::vector<CachedCopy>> Cache::image_copies(std::set<std::string> used) {
  std::vector<CachedCopy> copies;
  const Result<std::vector<MovedImage>> images = co_await world_.goods.moved_images();
  if (!images) {
    stays(images.error());
    co_return copies;
  }
  for (const MovedImage& image : *images) {
    const bool is_used = used.contains(image.id) || open_.images().contains(image.id);
    copies.push_back({image.id, is_used, true, image.bytes, image.wanted});
  }
  co_return copies;
}

// Empty, too, where the engine does not answer.
Async<std::vector<CachedCopy>> Cache::copies(std::set<std::string> kept) {
  std::vector<CachedCopy> all;
  const Result<std::vector<ctrl::engine::Listed>> containers = co_await world_.engine.list();
  if (!containers) {
    stays(containers.error());
    co_return all;
  }
  std::set<std::string> used = used_by(*containers);
  used.merge(kept);
  std::set<std::string> same = used;
  all = co_await data_copies(std::move(used));
  const std::vector<CachedCopy> images = co_await image_copies(std::move(same));
  all.insert(all.end(), images.begin(), images.end());
  co_return all;
}

Async<void> Cache::sweep(double most, std::set<std::string> kept) {
  std::vector<CachedCopy> all = co_await copies(std::move(kept));
  for (const std::string& name : copies_to_remove(std::move(all), most)) {
    const Result<void> removed = co_await remove(name);
    if (!removed) stays(removed.error());
  }
}

std::set<std::string> Cache::kept_for(const Plan& plan) {
  std::set<std::string> kept{plan.image.id};
  for (const auto& [name, part] : wanted_data(plan)) kept.insert(name);
  return kept;
}

Async<std::uint64_t> Cache::removable(std::set<std::string> kept) {
  const std::vector<CachedCopy> all = co_await copies(std::move(kept));
  std::uint64_t bytes = 0;
  for (const CachedCopy& copy : all) bytes += copy.is_used ? 0 : copy.bytes;
  co_return bytes;
}

Async<void> Cache::clear(std::set<std::string> kept) { co_await sweep(0, std::move(kept)); }

Async<void> Cache::run() {
  while (!world_.is_ended) {
    is_due_ = false;
    co_await remove_nameless();
    std::set<std::string> none;
    co_await sweep(world_.host.config().queue.data_cache, std::move(none));
    if (world_.is_ended) co_return;
    if (!is_due_) co_await alarm_->wait(nameless_.empty() ? kSweepTime : kSweepAgain);
  }
}

}  // namespace flowcon::cluster::migration
