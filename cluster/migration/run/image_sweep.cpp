// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/image_sweep.h"

#include <boost/asio/awaitable.hpp>
#include <utility>

#include "ctrl/log.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::Async;

constexpr double kSweepTime = 60;  // seconds, and after each move
constexpr double kSweepAgain = 5;  // seconds, while something could not be removed

}  // namespace

// Images without a name, or a full disk kept them.
Async<void> ImageSweep::remove_left(std::set<std::string> kept) {
  const std::map<std::string, bool> left = std::exchange(left_, {});
  for (const auto& [id, must_be_moved] : left) {
    std::string image = id;
    bool is_gone = false;
    if (!kept.contains(id)) {
      const Result<void> removed =
          co_await world_.goods.remove_image(std::move(image), must_be_moved);
      is_gone = removed.has_value();
    }
    if (!is_gone) left_[id] = must_be_moved;
  }
}

Async<void> ImageSweep::run() {
  while (!world_.is_ended) {
    std::set<std::string> kept = open_.images();
    co_await remove_left(std::move(kept));
    kept = open_.images();
    const Result<void> swept = co_await world_.goods.remove_moved_images(std::move(kept));
    if (!swept) ctrl::log::debug("images of migrations stay: " + swept.error().message());
    if (world_.is_ended) co_return;
    co_await alarm_->wait(left_.empty() ? kSweepTime : kSweepAgain);
  }
}

}  // namespace flowcon::cluster::migration
