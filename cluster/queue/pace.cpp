// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/pace.h"

namespace flowcon::cluster::queue {

void PaceMeter::see(double now, std::int64_t workers, double done) {
  now_ = now;
  if (workers != workers_ || done < done_) {
    rest();
    workers_ = workers;
  } else if (done > done_) {
    if (first_) ++moves_;
    (first_ ? last_ : first_) = Point{now, done};
  }
  done_ = done;
}

void PaceMeter::rest() {
  add(sums_);
  first_.reset();
  last_.reset();
  moves_ = 0;
  workers_ = 0;
}

void PaceMeter::add(std::map<std::int64_t, Sum>& sums) const {
  if (moves_ < kLeastMoves || last_->time - first_->time < kLeastStretch) return;
  Sum& sum = sums[workers_];
  sum.share = sum.share / 2 + (last_->done - first_->done);
  sum.seconds = sum.seconds / 2 + (last_->time - first_->time);
  sum.end = last_->time;
}

std::vector<Pace> PaceMeter::paces() const {
  std::map<std::int64_t, Sum> sums = sums_;
  add(sums);
  std::vector<Pace> all;
  for (const auto& [workers, sum] : sums) {
    if (sum.end >= now_ - kForgotten) all.push_back({workers, sum.share / sum.seconds});
  }
  return all;
}

std::optional<double> PaceMeter::open() const {
  return done_ < 0 ? std::nullopt : std::optional(1 - done_);
}

std::optional<double> PaceMeter::left(std::int64_t workers) const {
  const std::optional<double> share = open();
  if (!share || !(*share > 0)) return std::nullopt;
  for (const Pace& pace : paces()) {
    if (pace.workers == workers) return *share / pace.rate;
  }
  return std::nullopt;
}

}  // namespace flowcon::cluster::queue
