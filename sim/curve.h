// SPDX-License-Identifier: Apache-2.0
// A training's evaluation function: E over the share of the work done, by formula or as a table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ctrl/model.h"

namespace flowcon::sim {

/// x: share of the run, 0..1; value in the metric's own unit (a real one may be NaN or infinite).
struct CurvePoint {
  double x = 0;
  double value = 0;
};

/// The shapes that have a formula. With E0 the first value, E1 the limit and r the rate:
///   exponential   E1 + (E0-E1) exp(-r x)
///   power         E1 + (E0-E1) / (1 + r x)
///   plateau_drop  half of the way exponentially at once, the other half, as fast, from x = 0.6 on
///   flat          E0 throughout
///   diverge       exponential to x = 0.3, then up again beyond E0
enum class Shape { exponential, power, plateau_drop, flat, diverge };

class Curve {
 public:
  [[nodiscard]] static Curve formula(Shape shape, double first, double last, double rate);
  /// Between the points it is a straight line. `points` in order of x, at least one.
  [[nodiscard]] static Curve table(std::vector<CurvePoint> points, ctrl::Goal goal);

  /// `x` in 0..1.
  [[nodiscard]] double value(double x) const;
  [[nodiscard]] ctrl::Goal goal() const { return goal_; }
  /// The first x at which 90 % of the way from the value at `from` to the best one after it has
  /// been made; 1 where nothing improves, or by more than a number holds.
  [[nodiscard]] double x90(double from) const;
  /// Largest minus smallest finite value.
  [[nodiscard]] double range() const { return range_; }

 private:
  void measure();
  [[nodiscard]] std::vector<CurvePoint> finite_points() const;

  std::vector<CurvePoint> points_;  ///< empty: a formula
  Shape shape_ = Shape::flat;
  double first_ = 0;
  double last_ = 0;
  double rate_ = 1;
  ctrl::Goal goal_ = ctrl::Goal::min;
  double range_ = 0;
};

/// A curve of a file, with its names.
struct NamedCurve {
  std::string id;
  std::string model;
  std::shared_ptr<const Curve> curve;
};

}  // namespace flowcon::sim
