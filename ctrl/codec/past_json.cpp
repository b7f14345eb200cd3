// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/past_json.h"

#include <algorithm>

#include "base/json_fields.h"
#include "base/text.h"

namespace flowcon::ctrl {
namespace {

using growth::Track;
using growth::WorkPoint;

constexpr double kMostWork = 1e15;  // CPU seconds; keeps sums finite
constexpr double kMostCycles = 1e6;
constexpr double kMostTime = 1e11;  // seconds since the epoch
constexpr std::size_t kMostName = 4096;

// In order of work, none of it beyond what was used.
void points(auto& io, const char* name, auto& points, double used, double low, double high) {
  io.each(name, points, [&](auto& inner, auto& point) {
    inner("work", point.work, 0, used);
    inner("value", point.value, low, high);
  });
  io.require(points.size() <= Track::kMaxPoints, name, "has too many points");
  const auto is_earlier = [](const WorkPoint& a, const WorkPoint& b) { return a.work < b.work; };
  io.require(std::is_sorted(points.begin(), points.end(), is_earlier), name,
             "must be in order of work");
}

Goal read_goal(FieldReader& reader, std::string_view field) {
  return reader.text(field) == name(Goal::max) ? Goal::max : Goal::min;
}

int read_cycles(FieldReader& reader, std::string_view field) {
  return static_cast<int>(std::clamp(reader.number(field, 0, kMostCycles), 0.0, kMostCycles));
}

}  // namespace

static void fields(auto& io, Is<Past> auto& past) {
  auto& track = past.track;
  io.as("metric", past.metric, &FieldReader::text, valid_utf8);
  io.require(past.metric.size() <= kMostName, "metric", "is too long");
  io.as("goal", past.goal, read_goal, [](Goal goal) { return name(goal); });
  io("whole", past.is_whole);
  io("started", past.started, 0, kMostTime);
  io("used", track.used, 0, kMostWork);
  io.as("cycles", track.cycles, read_cycles);
  io("begun", track.begun, 0, track.used);
  points(io, "values", track.values, track.used, -Track::kMostValue, Track::kMostValue);
  points(io, "counts", track.counts, track.used, 0, 1);
  const auto is_less = [](const WorkPoint& a, const WorkPoint& b) { return a.value < b.value; };
  io.require(std::is_sorted(track.counts.begin(), track.counts.end(), is_less), "counts",
             "must be in order of value");
}

json::value to_json(const Past& past) { return fields_json(past); }

Result<Past> past_from(const json::value& value) { return read_json<Past>(value, "past"); }

}  // namespace flowcon::ctrl
