// SPDX-License-Identifier: Apache-2.0
// Pseudo-random numbers that depend on a seed alone, on every machine. No clock, no device.
#pragma once

#include <cstdint>

namespace flowcon {

/// Well mixed 64 bits of two numbers. Source: splitmix64 (Steele, Lea, Flood 2014).
[[nodiscard]] std::uint64_t mix(std::uint64_t a, std::uint64_t b);

/// A stream of numbers; the same seed gives the same stream.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed, 0x5eed)) {}
  std::uint64_t next();
  /// In [0,1).
  double uniform();
  /// In [low,high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// 0 to n-1; n at least 1.
  std::size_t below(std::size_t n);

 private:
  std::uint64_t state_;
};

/// The value of the standard normal distribution for (seed, index), always the same, so that the
/// noise of a line does not depend on when it is printed.
[[nodiscard]] double normal_of(std::uint64_t seed, std::uint64_t index);

}  // namespace flowcon
