// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace flowcon {
namespace {

std::uint64_t splitmix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return splitmix(splitmix(a) ^ b); }

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  return splitmix(state_);
}

double Random::uniform() { return unit(next()); }

std::size_t Random::below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

double normal_of(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t bits = mix(seed, index);
  const double radius = std::sqrt(-2 * std::log(1 - unit(bits)));
  return radius * std::cos(2 * std::numbers::pi * unit(splitmix(bits)));
}

}  // namespace flowcon
