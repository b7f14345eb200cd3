// SPDX-License-Identifier: Apache-2.0
// The nodes used in each step as one key of 128 bits: a field for each step, with a bit to spare,
// so that two are added and compared at once. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace flowcon::cluster::policy::horizon {

using Usage = std::array<std::uint64_t, 2>;

class UsageFields {
 public:
  UsageFields(int nodes, int steps) {
    while ((nodes >> bits_) != 0) ++bits_;
    bits_ += 2;  // for the sum of two, and the spare one
    in_word_ = 64 / bits_;
    for (int t = 0; t < steps && t < 2 * in_word_; ++t) {
      spares_[word(t)] |= std::uint64_t{1} << (shift(t) + bits_ - 1);
    }
    can_hold_ = steps <= 2 * in_word_;
  }

  /// Whether there is a field for each step; nothing else may be asked where not.
  [[nodiscard]] bool can_hold() const { return can_hold_; }

  void add(Usage& usage, int step, int nodes) const {
    usage[word(step)] += static_cast<std::uint64_t>(nodes) << shift(step);
  }

  [[nodiscard]] std::size_t at(const Usage& usage, int step) const {
    return usage[word(step)] >> shift(step) & ((std::uint64_t{1} << bits_) - 1);
  }

  [[nodiscard]] static Usage sum(const Usage& a, const Usage& b) {
    return {a[0] + b[0], a[1] + b[1]};
  }

  /// Whether each step has at most what it has in `most`.
  [[nodiscard]] bool fits(const Usage& usage, const Usage& most) const {
    for (std::size_t w = 0; w < 2; ++w) {
      // A field that is too large takes its spare bit away.
      if ((((most[w] | spares_[w]) - usage[w]) & spares_[w]) != spares_[w]) return false;
    }
    return true;
  }

  [[nodiscard]] static std::size_t hash(const Usage& usage) {
    const std::uint64_t mixed =
        (usage[0] ^ usage[1] * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;
    return static_cast<std::size_t>(mixed ^ mixed >> 32);
  }

 private:
  [[nodiscard]] std::size_t word(int step) const {
    return static_cast<std::size_t>(step / in_word_);
  }
  [[nodiscard]] int shift(int step) const { return step % in_word_ * bits_; }

  int bits_ = 0;
  int in_word_ = 1;
  bool can_hold_ = true;
  Usage spares_{};
};

}  // namespace flowcon::cluster::policy::horizon
