// SPDX-License-Identifier: Apache-2.0
// Statistics of one candidate, updated in constant time a value.
#include "ctrl/metrics/series.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace flowcon::ctrl::metrics {
namespace {

// Handlers that print twice, nodes with up to 16 ranks.
constexpr std::array<std::uint32_t, 6> kCopies{2, 3, 4, 6, 8, 16};
constexpr std::uint64_t kMinRuns = 3;

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool is_same_place(const Place& a, const Place& b) {
  return a.has_counter && b.has_counter && is_same(a.epoch, b.epoch) && is_same(a.step, b.step);
}

/// `a` has no more digits than those above 1 / `unit`, and `b` is as near as two roundings leave
/// it.
bool is_rounded_to(double a, double b, double unit) {
  const double whole = a * unit;
  // 11.14648 is printed as 11.1465, and as 11.146; of few digits that would be chance.
  const double half = std::abs(whole) < 100 ? 0.5 + 1e-9 : 0.55;
  return std::abs(whole - std::round(whole)) < 1e-9 * std::max(1.0, std::abs(whole)) &&
         std::abs(whole - b * unit) <= half;
}

/// `b` has at least two decimal places more than `unit` has.
bool has_more_places(double b, double unit) {
  const double tens = b * unit * 10;
  return std::abs(tens - std::round(tens)) >= 1e-9 * std::max(1.0, std::abs(tens));
}

/// One of both is the other one, rounded to some decimal place, or to six digits (2.09604e+15).
/// "0.5" and "0.51", or "1.0" and "0.98", are two values: of fewer than three digits it takes many
/// more behind them.
bool is_rounded(double a, double b) {
  constexpr double three_digits = 100;
  if (is_same(a, b)) return true;
  const auto is_short = [](double rounded, double whole, double unit) {
    const bool says_little = std::abs(rounded * unit) < three_digits;
    return is_rounded_to(rounded, whole, unit) && (!says_little || has_more_places(whole, unit));
  };
  const auto fits = [a, b, is_short](double unit) {
    return is_short(a, b, unit) || is_short(b, a, unit);
  };
  double unit = 10;
  for (int places = 1; places <= 6; ++places, unit *= 10) {
    if (fits(unit)) return true;
  }
  const double largest = std::max(std::abs(a), std::abs(b));
  return largest >= 1e6 && std::isfinite(largest) &&
         fits(std::pow(10, 5 - std::floor(std::log10(largest))));
}

}  // namespace

bool Series::is_copy(const Place& place, double value, bool has_counter) {
  // A counter that begins again: the lines of the new round are no copies of those before.
  if (place.step < last_place_.step && place.step <= first_place_.step) recent_.fill(0);
  const std::uint64_t epoch = std::bit_cast<std::uint64_t>(place.epoch) * 0x9E3779B97F4A7C15ULL;
  const bool seen = has_seen(place.record ^ static_cast<std::uint32_t>(epoch >> 32));
  const bool is_here = added > 0 && is_same_place(place, last_place_);
  is_again_ = is_here;
  const bool has_moved = added == 1 || !is_same_place(first_place_, last_place_);
  bool again = is_here && has_moved && !is_crowded_ && is_rounded(value, last_);
  // "1.0", "0.998", "0.995" at one place: not one value in three precisions.
  const bool is_other = again && value != last_ && !is_same(value, copy_) && !std::isnan(copy_);
  if (is_other) again = false;
  copy_ = again && value != last_ ? value : is_here ? copy_ : NAN;
  if (is_here && !seen && !again) is_crowded_ = true;
  if (added == 0) first_place_ = place;
  epoch_moves += added > 0 && place.epoch == last_place_.epoch + 1;
  last_place_ = place;
  return (seen && has_counter) || again;
}

bool Series::has_seen(std::uint32_t record) {
  if (record == 0) record = 1;
  const bool seen = std::find(recent_.begin(), recent_.end(), record) != recent_.end();
  if (!seen) {
    recent_[next_recent_] = record;
    next_recent_ = (next_recent_ + 1) % recent_.size();
  }
  return seen;
}

void Series::count_run(double value) {
  if (added > 0 && is_same(value, last_)) {
    ++run_length_;
  } else {
    if (added > 0) {
      ++runs_;
      for (std::size_t i = 0; i < kCopies.size(); ++i)
        divisible_[i] += run_length_ % kCopies[i] == 0;
    }
    run_length_ = 1;
  }
  for (std::size_t i = 0; i < kCopies.size(); ++i) {
    kept_values_[i] += (run_length_ - 1) % kCopies[i] == 0;
  }
}

void Series::add(Sample sample, std::uint64_t line, bool integer, std::size_t limit) {
  count_run(sample.value);
  if (added == 0) first_line = line;
  if (line != last_line) line_before = last_line;
  last_line = line;
  if (std::isfinite(sample.value)) {
    if (finite == 0) first_value = low = high = sample.value;
    low = std::min(low, sample.value);
    high = std::max(high, sample.value);
    const double step = sample.value - last_;
    if (finite > 0 && std::isfinite(last_)) {
      rises += step > 0;
      falls += step < 0;
      rises_again += is_again_ && step > 0;
      falls_again += is_again_ && step < 0;
      (is_again_ ? size_again : size_between) += std::abs(step);
      const double tolerance = 1e-9 * std::max(std::abs(step), std::abs(last_step_));
      equal_steps += step != 0 && std::abs(step - last_step_) <= tolerance;
      last_step_ = step;
    }
    tail_[finite % kHead] = sample.value;
    ++finite;
    integers += integer;
  }
  last_ = sample.value;
  const Kept kept{sample, run_length_ - 1};
  // Copies must not crowd the first values out.
  if (head_.size() < kHead * 2) head_.push_back(kept);
  if (limit != 0 && ring_.size() > limit) {
    std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(oldest_), ring_.end());
    ring_.erase(ring_.begin(), ring_.end() - static_cast<std::ptrdiff_t>(limit));
    ring_.shrink_to_fit();
    oldest_ = 0;
  }
  if (limit == 0 || ring_.size() < limit) {
    if (oldest_ != 0) {
      std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(oldest_), ring_.end());
      oldest_ = 0;
    }
    ring_.push_back(kept);
  } else {
    ring_[oldest_] = kept;
    oldest_ = (oldest_ + 1) % ring_.size();
  }
  ++added;
}

void Series::replace_last(double value) {
  if (added == 0) return;
  const std::size_t newest = (oldest_ + ring_.size() - 1) % ring_.size();
  ring_[newest].sample.value = value;
  if (added <= head_.size()) head_[added - 1].sample.value = value;
  if (std::isfinite(value)) {
    low = finite == 0 ? value : std::min(low, value);
    high = finite == 0 ? value : std::max(high, value);
    if (finite > 0) tail_[(finite - 1) % kHead] = value;
  }
  last_ = value;
}

std::size_t Series::copies() const {
  if (runs_ < kMinRuns) return 1;
  for (std::size_t i = kCopies.size(); i-- > 0;) {
    if (divisible_[i] * 20 >= runs_ * 19) return kCopies[i];
  }
  return 1;
}

std::size_t Series::count() const {
  const std::size_t times = copies();
  if (times == 1) return added;
  const auto index = std::find(kCopies.begin(), kCopies.end(), times) - kCopies.begin();
  return kept_values_[static_cast<std::size_t>(index)];
}

std::vector<Sample> Series::samples() const {
  const std::size_t times = copies();
  std::vector<Sample> out;
  out.reserve(ring_.size() / times + 1);
  for (std::size_t i = 0; i < ring_.size(); ++i) {
    const Kept& kept = ring_[(oldest_ + i) % ring_.size()];
    if (kept.run_position % times == 0) out.push_back(kept.sample);
  }
  return out;
}

std::vector<std::size_t> Series::places() const {
  const std::size_t times = copies();
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < ring_.size(); ++i) {
    if (ring_[(oldest_ + i) % ring_.size()].run_position % times != 0) continue;
    out.push_back(static_cast<std::size_t>(added) - ring_.size() + i);
  }
  return out;
}

std::vector<Sample> Series::head() const {
  const std::size_t times = copies();
  std::vector<Sample> out;
  for (const Kept& kept : head_) {
    if (kept.run_position % times == 0 && out.size() < kHead) out.push_back(kept.sample);
  }
  return out;
}

double Series::early() const {
  // Of a short series only the first half, so that early and late differ.
  const std::size_t half = std::max<std::size_t>(1, static_cast<std::size_t>(finite) / 2);
  const std::size_t most = finite < 2 * kHead ? half : kHead;
  double sum = 0;
  std::size_t n = 0;
  for (const Kept& kept : head_) {
    if (!std::isfinite(kept.sample.value)) continue;
    if (n == most) break;
    sum += kept.sample.value / static_cast<double>(most);  // a sum could be beyond all numbers
    ++n;
  }
  return n == 0 ? 0 : sum * (static_cast<double>(most) / static_cast<double>(n));
}

bool Series::ends_with(const Series& other) const {
  return last_line == other.last_line || last_line == other.line_before ||
         line_before == other.last_line;
}

double Series::late() const {
  const std::size_t available = std::min<std::size_t>(kHead, static_cast<std::size_t>(finite));
  std::size_t n = available;
  if (finite < 2 * kHead)
    n = std::min(available, std::max<std::size_t>(1, static_cast<std::size_t>(finite) / 2));
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += tail_[(static_cast<std::size_t>(finite) - 1 - i) % kHead] / static_cast<double>(n);
  }
  return sum;
}

}  // namespace flowcon::ctrl::metrics
