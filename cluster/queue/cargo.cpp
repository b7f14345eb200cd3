// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/cargo.h"

#include <boost/asio/awaitable.hpp>
#include <utility>
#include <vector>

#include "cluster/queue/hosts_json.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::queue {
namespace {

constexpr double kListEach = 30;      // seconds
constexpr double kAgain = 60;         // seconds until one that could not be weighed is tried again
constexpr std::size_t kLooked = 100;  // moves
constexpr std::uint64_t kLeast = 1'000'000;  // bytes: less says nothing of a link

}  // namespace

void Cargo::look() {
  const double now = world_.clock.steady();
  if (!is_listing_ && now >= next_listing_) {
    is_listing_ = true;
    next_listing_ = now + kListEach;
    ctrl::spawn(world_.host.io(), "images", list());
  }
  if (is_weighing_) return;
  JobPtr first;
  for (const auto& [id, job] : jobs_.open()) {
    const bool is_unknown = job->entry.state == JobState::waiting && !job->entry.task &&
                            job->ticket && !job->freight && !job->entry.group && !job->group;
    if (!is_unknown || now < job->weigh_at) continue;
    const bool comes_first = !first || job->entry.submitted < first->entry.submitted;
    if (comes_first) first = job;
  }
  if (!first) return;
  is_weighing_ = true;
  ctrl::spawn(world_.host.io(), "freight", weigh(first));
}

Async<void> Cargo::list() {
  const Result<std::vector<std::string>> images = co_await world_.engine.images();
  const Result<std::set<std::string>> shared = co_await world_.moves.shared_volumes();
  Result<migration::About> about = co_await world_.engine.about();
  is_listing_ = false;
  if (about) about_ = std::move(*about);
  if (shared) shared_ = *shared;
  if (!images) {
    ctrl::log::debug(images.error().message());
    co_return;
  }
  images_.clear();
  for (const std::string& id : *images) images_.insert(short_image(id));
}

Async<void> Cargo::weigh(JobPtr job) {
  const Result<Freight> freight = co_await world_.moves.weigh(job->entry.id);
  is_weighing_ = false;
  if (freight) {
    job->freight = *freight;
    co_return;
  }
  ctrl::log::debug("weighing job " + job->entry.id.substr(0, 12) + ": " +
                   freight.error().message());
  job->weigh_at = world_.clock.steady() + kAgain;
}

std::map<std::string, double> Cargo::rates() const {
  std::map<std::string, double> rates;
  for (const MoveView& move : world_.moves.list(kLooked)) {
    const bool counts =
        move.side == migration::Side::source && move.bytes >= kLeast && move.rate > 0;
    if (counts) rates.emplace(move.target, move.rate);
  }
  return rates;
}

}  // namespace flowcon::cluster::queue
