// SPDX-License-Identifier: Apache-2.0
#include "ctrl/growth/track.h"

#include <algorithm>
#include <cmath>

namespace flowcon::ctrl::growth {
namespace {

// Shorter looks say nothing of how many cores a job can use.
constexpr double kShortestLook = 1;  // seconds
// Using less than this share of what it was guaranteed, it cannot use more. A job that waits for
// its data now and then is near to it.
constexpr double kUsesAll = 0.85;
// A counter that falls from above the one to below the other begins its next cycle; one that falls
// otherwise belongs to a job that was begun again.
constexpr double kCycleEnd = 0.85;
constexpr double kCycleBegin = 0.15;
constexpr double kSameTop = 0.02;  // it falls from the same share again: a cycle, whatever it is
constexpr int kCycles = 2;

// The last one stays; of the others every second.
void thin(std::vector<WorkPoint>& points) {
  if (points.size() <= Track::kMaxPoints) return;
  std::vector<WorkPoint> kept;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i % 2 == 0 || i + 1 == points.size()) kept.push_back(points[i]);
  }
  points = std::move(kept);
}

}  // namespace

void Track::look(const TrackLook& now, const std::vector<Sample>& fresh) {
  if (!has_look_ || now.used < used_) {
    const std::size_t version = version_ + 1;
    *this = Track();
    version_ = version;
    has_look_ = true;
    time_ = now.time;
  }
  const double elapsed = now.time - time_;
  const double gained = now.used - used_;
  const auto work_at = [&](double time) {
    if (!(elapsed > 0)) return now.used;
    return used_ + gained * std::clamp((time - time_) / elapsed, 0.0, 1.0);
  };
  for (const Sample& sample : fresh) {
    if (std::fabs(sample.value) <= kMostValue)
      values_.push_back({work_at(sample.time), sample.value});
    thin(values_);
    ++version_;
  }
  // The counter stands on the lines of the values, or near them.
  if (now.done) count(*now.done, fresh.empty() ? now.used : work_at(fresh.back().time));
  if (elapsed >= kShortestLook) {
    const double rate = gained / elapsed;
    widest_ = std::max(widest_, rate);
    // What is used up to the guarantee says nothing; more than was thought possible does.
    if (now.guaranteed > 0 && gained > 0) {
      if (rate < kUsesAll * now.guaranteed) {
        is_narrow_ = true;
      } else if (rate >= widest_) {
        is_narrow_ = false;
      }
    }
  }
  if (elapsed > 0) time_ = now.time;
  used_ = now.used;
}

void Track::count(double done, double work) {
  if (!(done >= 0 && done <= 1)) return;
  if (!counts_.empty()) {
    const double last = counts_.back().value;
    if (done == last) return;
    if (done < last) {
      if (last > kCycleEnd && done < kCycleBegin) ++cycles_;
      if (top_ && std::fabs(last - *top_) <= kSameTop) cycles_ = std::max(cycles_, kCycles);
      top_ = last;
      begun_ = counts_.back().work;
      counts_.clear();
    }
  }
  counts_.push_back({work, done});
  ++version_;
  thin(counts_);
}

std::optional<double> Track::width() const {
  return is_narrow_ && widest_ > 0 ? std::optional(widest_) : std::nullopt;
}

}  // namespace flowcon::ctrl::growth
