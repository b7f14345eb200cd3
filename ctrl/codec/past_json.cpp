// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/past_json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/json_arrays.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace flowcon::ctrl {
namespace {

using growth::Track;
using growth::WorkPoint;

constexpr double kMostWork = 1e15;  // CPU seconds; keeps sums finite
constexpr double kMostCycles = 1e6;
constexpr double kMostTime = 1e11;  // seconds since the epoch
constexpr std::size_t kMostName = 4096;

json::array array_of(const std::vector<WorkPoint>& points) {
  return rendered(points, [](const WorkPoint& point) {
    return json::object{{"work", point.work}, {"value", point.value}};
  });
}

// In order of work, none of it beyond what was used.
std::vector<WorkPoint> points_of(FieldReader& reader, const char* name, double used, double low,
                                 double high) {
  std::vector<WorkPoint> points = reader.each(name, [&](FieldReader& point) {
    return WorkPoint{point.number("work", 0, used), point.number("value", low, high)};
  });
  reader.require(points.size() <= Track::kMaxPoints, name, "has too many points");
  const auto is_earlier = [](const WorkPoint& a, const WorkPoint& b) { return a.work < b.work; };
  reader.require(std::is_sorted(points.begin(), points.end(), is_earlier), name,
                 "must be in order of work");
  return points;
}

}  // namespace

json::value to_json(const Past& past) {
  const growth::TrackRecord& track = past.track;
  return json::object{{"metric", valid_utf8(past.metric)},
                      {"goal", name(past.goal)},
                      {"whole", past.is_whole},
                      {"started", past.started},
                      {"used", track.used},
                      {"cycles", track.cycles},
                      {"begun", track.begun},
                      {"values", array_of(track.values)},
                      {"counts", array_of(track.counts)}};
}

Result<Past> past_from(const json::value& value) {
  FieldReader reader(value, "past");
  Past past;
  past.metric = reader.text("metric");
  reader.require(past.metric.size() <= kMostName, "metric", "is too long");
  past.goal = reader.text("goal") == name(Goal::max) ? Goal::max : Goal::min;
  past.is_whole = reader.boolean("whole");
  past.started = reader.number("started", 0, kMostTime);
  growth::TrackRecord& track = past.track;
  track.used = reader.number("used", 0, kMostWork);
  track.cycles =
      static_cast<int>(std::clamp(reader.number("cycles", 0, kMostCycles), 0.0, kMostCycles));
  track.begun = reader.number("begun", 0, track.used);
  track.values = points_of(reader, "values", track.used, -Track::kMostValue, Track::kMostValue);
  track.counts = points_of(reader, "counts", track.used, 0, 1);
  const auto is_less = [](const WorkPoint& a, const WorkPoint& b) { return a.value < b.value; };
  reader.require(std::is_sorted(track.counts.begin(), track.counts.end(), is_less), "counts",
                 "must be in order of value");
  if (reader.failed()) return reader.error();
  return past;
}

}  // namespace flowcon::ctrl
