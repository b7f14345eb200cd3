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
// otherwise belongs to a job that went back, to its checkpoint or its beginning.
constexpr double kCycleEnd = 0.85;
constexpr double kCycleBegin = 0.15;
constexpr double kSamePlace = 1e-9;
constexpr double kSameTop = 0.02;  // it falls from the same share again: a cycle, whatever it is

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
  if (!has_look_ || now.used < record_.used) {
    const std::size_t version = version_ + 1;
    *this = Track();
    version_ = version;
    has_look_ = true;
    time_ = now.time;
  }
  if (looks_.empty()) looks_.push_back({record_.used, time_});
  const double elapsed = now.time - time_;
  const double before = record_.used;
  const double gained = now.used - before;
  const auto work_at = [&](double time) {
    if (time < time_) return used_at(time);
    if (!(elapsed > 0)) return now.used;
    const double part = std::clamp((time - time_) / elapsed, 0.0, 1.0);
    return std::min(before + gained * part, now.used);
  };
  // In the order in which they were printed, whatever times they say.
  const auto put = [](std::vector<WorkPoint>& points, double work, double value) {
    if (!points.empty()) work = std::max(work, points.back().work);
    points.push_back({work, value});
  };
  has_printed_ = has_printed_ || !fresh.empty();
  for (const Sample& sample : fresh) {
    if (std::fabs(sample.value) <= kMostValue) {
      put(record_.values, work_at(sample.time), sample.value);
    }
    thin(record_.values);
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
  if (elapsed > 0) {
    time_ = now.time;
    looks_.push_back({now.used, time_});
    thin(looks_);
  }
  record_.used = now.used;
}

double Track::used_at(double time) const {
  const auto after = std::find_if(looks_.begin(), looks_.end(),
                                  [time](const WorkPoint& look) { return look.value >= time; });
  if (after == looks_.begin() || after == looks_.end()) {
    return after == looks_.end() ? record_.used : after->work;
  }
  const WorkPoint& before = *(after - 1);
  const double part = (time - before.value) / (after->value - before.value);
  return before.work + part * (after->work - before.work);
}

void Track::count(double done, double work) {
  if (!(done >= 0 && done <= 1)) return;
  std::vector<WorkPoint>& counts = record_.counts;
  if (!counts.empty()) {
    const double last = counts.back().value;
    // A total by the time left gives the same place with another last digit.
    if (std::fabs(done - last) <= kSamePlace) return;
    if (done < last) {
      if (last > kCycleEnd && done < kCycleBegin) ++record_.cycles;
      if (top_ && std::fabs(last - *top_) <= kSameTop) {
        record_.cycles = std::max(record_.cycles, kCyclic);
      }
      top_ = last;
      go_back(done, work);
    }
  }
  counts.push_back({work, done});
  has_printed_ = true;
  ++version_;
  thin(counts);
}

// To come to `done` takes what it took before: the rest of the work up to now was for nothing, and
// all before `done` counts from that much later.
void Track::go_back(double done, double work) {
  std::vector<WorkPoint>& counts = record_.counts;
  const auto after = std::find_if(counts.begin(), counts.end(),
                                  [done](const WorkPoint& point) { return point.value >= done; });
  const WorkPoint before = after == counts.begin() ? WorkPoint{record_.begun, 0} : *(after - 1);
  const double rise = after->value - before.value;
  const double part = rise > 0 ? (done - before.value) / rise : 0;
  const double lost = work - (before.work + part * (after->work - before.work));
  counts.erase(after, counts.end());
  for (WorkPoint& point : counts) point.work = std::min(point.work + lost, work);
  record_.begun = std::min(record_.begun + lost, work);
}

std::optional<double> Track::width() const {
  return is_narrow_ && widest_ > 0 ? std::optional(widest_) : std::nullopt;
}

}  // namespace flowcon::ctrl::growth
