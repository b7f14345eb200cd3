// SPDX-License-Identifier: Apache-2.0
#include "sim/curve.h"

#include <algorithm>
#include <cmath>

#include "ctrl/growth/fit.h"

namespace flowcon::sim {
namespace {

constexpr int kSteps = 2000;  // of the search for x90 in a formula
constexpr double kDropAt = 0.6;
constexpr double kTurnAt = 0.3;

}  // namespace

Curve Curve::formula(Shape shape, double first, double last, double rate) {
  Curve curve;
  curve.shape_ = shape;
  curve.first_ = first;
  curve.last_ = last;
  curve.rate_ = rate;
  curve.goal_ = last <= first ? ctrl::Goal::min : ctrl::Goal::max;
  curve.measure();
  return curve;
}

Curve Curve::table(std::vector<CurvePoint> points, ctrl::Goal goal) {
  Curve curve;
  curve.points_ = std::move(points);
  curve.goal_ = goal;
  curve.measure();
  return curve;
}

double Curve::value(double x) const {
  if (!points_.empty()) {
    const auto after = std::upper_bound(points_.begin(), points_.end(), x,
                                        [](double at, const CurvePoint& p) { return at < p.x; });
    if (after == points_.begin()) return points_.front().value;
    const CurvePoint& a = *(after - 1);
    if (after == points_.end() || !(after->x > a.x)) return a.value;
    return a.value + (after->value - a.value) * (x - a.x) / (after->x - a.x);
  }
  const double way = first_ - last_;
  switch (shape_) {
    case Shape::exponential:
      return last_ + way * std::exp(-rate_ * x);
    case Shape::power:
      return last_ + way / (1 + rate_ * x);
    case Shape::plateau_drop: {
      const double late = x < kDropAt ? 1 : std::exp(-rate_ * (x - kDropAt));
      return last_ + way / 2 * std::exp(-rate_ * x) + way / 2 * late;
    }
    case Shape::flat:
      return first_;
    case Shape::diverge:
      if (x < kTurnAt) return last_ + way * std::exp(-rate_ * x);
      return last_ + way * std::exp(-rate_ * kTurnAt) + 2 * way * (x - kTurnAt);
  }
  return first_;
}

std::vector<CurvePoint> Curve::finite_points() const {
  std::vector<CurvePoint> points = points_;
  if (points.empty()) {
    for (int i = 0; i <= kSteps; ++i) {
      const double x = static_cast<double>(i) / kSteps;
      points.push_back({x, value(x)});
    }
  }
  std::erase_if(points, [](const CurvePoint& p) { return !std::isfinite(p.value); });
  return points;
}

double Curve::x90(double from) const {
  const double begin = value(from);
  if (!std::isfinite(begin)) return 1;
  std::vector<CurvePoint> points = finite_points();
  std::erase_if(points, [from](const CurvePoint& p) { return p.x <= from; });
  const double sign = goal_ == ctrl::Goal::min ? -1 : 1;
  double gain = 0;
  for (const CurvePoint& p : points) gain = std::max(gain, sign * (p.value - begin));
  if (!(gain > 0) || !std::isfinite(gain)) return 1;
  CurvePoint before{from, begin};
  for (const CurvePoint& p : points) {
    const double made = sign * (p.value - begin);
    if (made >= ctrl::growth::kUsable * gain) {
      // Between two points it is a straight line.
      const double had = sign * (before.value - begin);
      return before.x + (p.x - before.x) * (ctrl::growth::kUsable * gain - had) / (made - had);
    }
    before = p;
  }
  return 1;
}

void Curve::measure() {
  const std::vector<CurvePoint> points = finite_points();
  if (points.empty()) return;
  const auto less = [](const CurvePoint& a, const CurvePoint& b) { return a.value < b.value; };
  const auto [low, high] = std::minmax_element(points.begin(), points.end(), less);
  range_ = high->value - low->value;
}

}  // namespace flowcon::sim
