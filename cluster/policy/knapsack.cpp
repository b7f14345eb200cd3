// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/knapsack.h"

namespace flowcon::cluster::policy::horizon {

void Knapsack::reset(int spare) {
  width_ = static_cast<std::size_t>(spare) + 1;
  least_worth_ = 0;
  best_.assign(width_, 0);
  choices_.clear();
  numbers_.clear();
}

void Knapsack::add(const std::vector<int>& numbers, const double* worth) {
  numbers_.push_back(&numbers);
  least_worth_ += worth[0];
  before_ = best_;
  const std::size_t row = choices_.size();
  choices_.resize(row + width_, 0);
  std::uint8_t* const chosen = choices_.data() + row;
  for (std::size_t k = 1; k < numbers.size(); ++k) {
    const double more = worth[k] - worth[0];
    if (!(more > 0)) continue;
    const auto extra = static_cast<std::size_t>(numbers[k] - numbers[0]);
    for (std::size_t c = extra; c < width_; ++c) {
      const double value = before_[c - extra] + more;
      if (value > best_[c]) {
        best_[c] = value;
        chosen[c] = static_cast<std::uint8_t>(k);
      }
    }
  }
}

void Knapsack::choose(int spare, std::vector<std::uint8_t>& choices) const {
  choices.assign(numbers_.size(), 0);
  auto left = static_cast<std::size_t>(spare);
  for (std::size_t i = numbers_.size(); i-- > 0;) {
    const std::uint8_t k = choices_[i * width_ + left];
    choices[i] = k;
    left -= static_cast<std::size_t>((*numbers_[i])[k] - (*numbers_[i])[0]);
  }
}

}  // namespace flowcon::cluster::policy::horizon
