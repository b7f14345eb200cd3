// SPDX-License-Identifier: Apache-2.0
// Removes the images that moves have brought and that no container uses any more: a person removed
// it, or it was replaced; and those that could not be removed when their move ended.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "cluster/migration/run/open_moves.h"
#include "cluster/migration/run/world.h"

namespace flowcon::cluster::migration {

class ImageSweep {
 public:
  ImageSweep(World& world, OpenMoves& open)
      : world_(world), open_(open), alarm_(world.clock.make_alarm()) {}

  /// Sweeps until World::is_ended: now, each minute, and when it is woken.
  ctrl::Async<void> run();
  void wake() { alarm_->ring(); }
  /// An image that could not be removed; `must_be_moved` as remove_image() says.
  void leave(const std::string& image, bool must_be_moved) { left_[image] = must_be_moved; }

 private:
  ctrl::Async<void> remove_left(std::set<std::string> kept);

  World& world_;
  OpenMoves& open_;
  std::unique_ptr<Alarm> alarm_;
  std::map<std::string, bool> left_;  ///< images; only if moved
};

}  // namespace flowcon::cluster::migration
