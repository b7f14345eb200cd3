// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/cargo.h"

#include <boost/asio/awaitable.hpp>
#include <utility>
#include <vector>

#include "cluster/migration/plan/refusals.h"
#include "cluster/queue/hosts_json.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::queue {
namespace {

constexpr double kListEach = 30;             // seconds
constexpr double kAgain = 60;                // seconds until it is tried again,
constexpr double kSeldom = 600;              // and where what binds it may be over by then at most
constexpr std::size_t kLooked = 100;         // moves
constexpr std::uint64_t kLeast = 1'000'000;  // bytes: less says nothing of a link

bool waits_at_home(const Job& job) {
  return job.entry.state == JobState::waiting && !job.entry.task && job.ticket && !job.group;
}

}  // namespace

void Cargo::look() {
  const double now = world_.clock.steady();
  if (!is_listing_ && now >= next_listing_) {
    is_listing_ = true;
    next_listing_ = now + kListEach;
    ctrl::spawn(world_.host.io(), "images", list());
  }
  if (is_weighing_) return;
  const JobPtr first = next();
  if (!first) return;
  is_weighing_ = true;
  ctrl::spawn(world_.host.io(), "freight", weigh(first));
}

// As they came; then those that cannot leave: the reason may be over by now.
JobPtr Cargo::next() const {
  const auto rank = [](const Job& job) {
    return std::make_pair(job.freight.has_value(),
                          job.freight ? job.weigh_at : job.entry.submitted);
  };
  JobPtr first;
  for (const auto& [id, job] : jobs_.open()) {
    if (!waits_at_home(*job) || world_.clock.steady() < job->weigh_at) continue;
    if (job->freight && job->freight->bound.empty()) continue;
    if (!first || rank(*job) < rank(*first)) first = job;
  }
  return first;
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
  do {
    Result<Freight> freight = co_await world_.moves.weigh(job->entry.id);
    if (world_.is_ended) co_return;
    const bool is_news = !job->freight || (freight && freight->bound != job->freight->bound);
    if (waits_at_home(*job)) {
      if (freight) job->freight = std::move(*freight);
      const bool lasts = job->freight && !migration::is_passing_refusal(job->freight->bound);
      job->weigh_at = world_.clock.steady() + (lasts ? kSeldom : kAgain);
      if (is_news) weighed_();
    }
    if (!freight) {
      ctrl::log::debug("weighing job " + job->entry.id.substr(0, 12) + ": " +
                       freight.error().message());
    }
    job = next();
  } while (job && !job->freight);
  is_weighing_ = false;
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
