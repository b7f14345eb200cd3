// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/columns.h"

#include <cmath>

namespace flowcon::ctrl::estimate {
namespace {

constexpr float kMissing = -1'000;  // below any number on the scale

// A name with one of its texts; no name of a number looks like that.
std::string key_of(const std::string& name, const std::string& text) {
  return std::to_string(name.size()) + ':' + name + text;
}

}  // namespace

Columns::Columns(const std::vector<const Profile*>& rows) {
  const auto add = [this](auto& columns, const std::string& key) {
    const std::size_t count = numbers_.size() + texts_.size();
    if (count < Estimator::kMostColumns) columns.emplace(key, count);
  };
  for (const Profile* row : rows) {
    add(texts_, key_of("", row->family));
    for (const auto& [name, value] : row->features) {
      if (const auto* text = std::get_if<std::string>(&value)) {
        add(texts_, key_of(name, *text));
      } else {
        add(numbers_, name);
      }
    }
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
