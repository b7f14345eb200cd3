// SPDX-License-Identifier: Apache-2.0
// What moves have brought and this host keeps for jobs to come: copies of data (plan/data_volume.h)
// and images.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/run/open_moves.h"
#include "cluster/migration/run/world.h"

namespace flowcon::cluster::migration {

/// Why a part or a move has to wait.
inline constexpr const char* kDataComing = "its data is on the way there, for another job";

/// The copies of data that a plan wants: by name, the part that brings each.
[[nodiscard]] std::map<std::string, std::string> wanted_data(const Plan& plan);

class Cache {
 public:
  Cache(World& world, OpenMoves& open)
      : world_(world), open_(open), alarm_(world.clock.make_alarm()) {}

  /// Those that are whole: by name, the folder of each. Errors: the engine or the disk does not
  /// answer.
  Async<Result<std::map<std::string, std::string>>> whole();
  /// Of the parts of a plan those that need not travel: data that is here. It is used now.
  Async<Result<std::set<std::string>>> parts_there(Plan plan);
  /// Is another move bringing data that this plan wants and that is not among `there`?
  [[nodiscard]] bool is_coming(const Plan& plan, const std::set<std::string>& there) const;

  /// Removes what no container uses and is not whole, or is beyond the option data-cache, until
  /// World::is_ended: now, each minute, and when it is woken.
  Async<void> run();
  void wake() {
    is_due_ = true;
    alarm_->ring();
  }
  /// The names of what the plan needs of it: data, an image.
  [[nodiscard]] static std::set<std::string> kept_for(const Plan& plan);
  /// How much no container uses, without those names. Unit: bytes.
  Async<std::uint64_t> removable(std::set<std::string> kept);
  /// All of that goes.
  Async<void> clear(std::set<std::string> kept);
  /// An image without a name, by its id, that could not be removed: is tried again.
  void leave(const std::string& image) { nameless_.insert(image); }

 private:
  Async<Result<std::vector<std::optional<DataMark>>>> marks_of(std::vector<DataVolume> volumes);
  Async<void> remove_nameless();
  Async<Result<void>> remove(std::string name);
  Async<std::vector<CachedCopy>> data_copies(std::set<std::string> used);
  Async<std::vector<CachedCopy>> image_copies(std::set<std::string> used);
  Async<std::vector<CachedCopy>> copies(std::set<std::string> kept);
  /// So that what no container uses is `most` bytes at most.
  Async<void> sweep(double most, std::set<std::string> kept);
  [[nodiscard]] std::set<std::string> awaited() const;

  World& world_;
  OpenMoves& open_;
  std::unique_ptr<Alarm> alarm_;
  std::set<std::string> nameless_;
  bool is_due_ = false;  ///< woken, perhaps while it sweeps
};

}  // namespace flowcon::cluster::migration
