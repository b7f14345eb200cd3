// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/columns.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace flowcon::ctrl::estimate {
namespace {

constexpr float kMissing = -1'000;  // below any number on the scale

// A name with one of its texts; no name of a number looks like that.
std::string key_of(const std::string& name, const std::string& text) {
  return std::to_string(name.size()) + ':' + name + text;
}

struct Found {
  std::string key;
  bool is_text = false;
  double age = 0;  // of the newest row that has it
  std::size_t rows = 0;
};

// Where there are too many. What one row alone has says nothing of others; a number says more than
// a text.
void choose(std::vector<Found>& found) {
  const auto is_lone = [](const Found& one) { return one.rows == 1; };
  if (!std::all_of(found.begin(), found.end(), is_lone)) std::erase_if(found, is_lone);
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::tie(a.is_text, b.rows, a.age) < std::tie(b.is_text, a.rows, b.age);
  });
  if (found.size() > Estimator::kMostColumns) found.resize(Estimator::kMostColumns);
}

}  // namespace

Columns::Columns(const std::vector<const Profile*>& rows) {
  std::vector<Found> found;
  for (const Profile* row : rows) {
    const auto see = [&](bool is_text, const std::string& key) {
      const auto [place, is_new] = (is_text ? texts_ : numbers_).emplace(key, found.size());
      if (is_new) found.push_back({key, is_text, row->age});
      Found& one = found[place->second];
      one.age = std::min(one.age, row->age);
      ++one.rows;
    };
    see(true, key_of("", row->family));
    for (const auto& [name, value] : row->features) {
      const auto* text = std::get_if<std::string>(&value);
      see(text != nullptr, text != nullptr ? key_of(name, *text) : name);
    }
  }
  if (found.size() <= Estimator::kMostColumns) return;
  choose(found);
  numbers_.clear();
  texts_.clear();
  for (const Found& one : found) {
    (one.is_text ? texts_ : numbers_).emplace(one.key, numbers_.size() + texts_.size());
  }
}

std::vector<float> Columns::row(const std::string& family, const Features& features) const {
  std::vector<float> row(numbers_.size() + texts_.size());
  for (const auto& [name, column] : numbers_) row[column] = kMissing;
  const auto put = [&](const auto& columns, const std::string& key, float value) {
    if (const auto column = columns.find(key); column != columns.end()) row[column->second] = value;
  };
  put(texts_, key_of("", family), 1);
  for (const auto& [name, value] : features) {
    if (const auto* text = std::get_if<std::string>(&value)) {
      put(texts_, key_of(name, *text), 1);
    } else {
      put(numbers_, name, static_cast<float>(std::asinh(std::get<double>(value))));
    }
  }
  return row;
}

}  // namespace flowcon::ctrl::estimate
