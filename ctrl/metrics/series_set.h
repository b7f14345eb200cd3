// SPDX-License-Identifier: Apache-2.0
// The candidate series of one log by their identity; bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ctrl/metrics/series.h"

namespace flowcon::ctrl::metrics {

class SeriesSet {
 public:
  static constexpr std::size_t kMost = 40;
  static constexpr std::size_t kMostUnbounded = 1024;
  static constexpr std::size_t kSmallKeep = 8;

  /// `keep` samples for the favoured series and at most kSmallKeep for the others; 0 = all.
  explicit SeriesSet(std::size_t keep) : keep_(keep) {}

  [[nodiscard]] const std::vector<std::unique_ptr<Series>>& all() const { return series_; }
  /// Null: there is none.
  [[nodiscard]] Series* find(std::uint64_t identity) const;
  [[nodiscard]] bool is_full() const;
  Series& add(std::uint64_t identity, SeriesTraits traits);
  /// Half of them go; the favoured one stays.
  void evict();

  void favour(const Series* series) { favoured_ = series; }
  [[nodiscard]] const Series* favoured() const { return favoured_; }
  [[nodiscard]] bool is_bounded() const { return keep_ != 0; }
  /// Samples that `series` keeps; 0 = all.
  [[nodiscard]] std::size_t room_of(const Series& series) const;

 private:
  std::size_t keep_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::vector<std::unique_ptr<Series>> series_;
  std::vector<std::uint64_t> identities_;  ///< of series_, same order
  const Series* favoured_ = nullptr;
};

}  // namespace flowcon::ctrl::metrics
