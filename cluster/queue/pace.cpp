// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/pace.h"

namespace flowcon::cluster::queue {

void PaceMeter::see(double now, std::int64_t workers, double done) {
  if (workers != workers_ || done < done_) {
    rest();
    workers_ = workers;
  } else if (done > done_) {
    (first_ ? last_ : first_) = Point{now, done};
  }
  done_ = done;
}

void PaceMeter::rest() {
  if (first_ && last_) add(sums_, workers_, *first_, *last_);
  first_.reset();
  last_.reset();
  workers_ = 0;
}

void PaceMeter::add(std::map<std::int64_t, Sum>& sums, std::int64_t workers, const Point& first,
                    const Point& last) {
  if (last.time - first.time < kLeastStretch) return;
  Sum& sum = sums[workers];
  sum.share = sum.share / 2 + (last.done - first.done);
  sum.seconds = sum.seconds / 2 + (last.time - first.time);
}

std::vector<Pace> PaceMeter::paces() const {
  std::map<std::int64_t, Sum> sums = sums_;
  if (first_ && last_) add(sums, workers_, *first_, *last_);
  std::vector<Pace> all;
  for (const auto& [workers, sum] : sums) all.push_back({workers, sum.share / sum.seconds});
  return all;
}

std::optional<double> PaceMeter::open() const {
  return done_ < 0 ? std::nullopt : std::optional(1 - done_);
}

}  // namespace flowcon::cluster::queue
