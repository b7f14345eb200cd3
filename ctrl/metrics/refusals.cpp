// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/refusals.h"

#include <algorithm>

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::size_t kMaxNameBytes = 96;

}  // namespace

void Refusals::add(const Field& field, std::uint64_t name_hash, bool is_asked) {
  if (!is_wanted_ || field.key.empty()) return;
  const auto known = std::find(names_.begin(), names_.end(), name_hash);
  if (known != names_.end()) {
    ++refused_[static_cast<std::size_t>(known - names_.begin())].count;
    return;
  }
  if (refused_.size() >= kMost) return;
  const std::string_view name = field.key.substr(0, kMaxNameBytes);
  std::string why = explain_name(name);
  if (why.empty() && is_asked) why = "its name is not the one asked for";
  if (why.empty()) {
    why = field.unit || field.far_unit ? "it has a unit: a time, a size or a rate"
          : field.has_total            ? "so many of so many: a counter"
                                       : "no plain value stands behind its name";
  }
  refused_.push_back({std::string(name), std::move(why), 1});
  names_.push_back(name_hash);
}

}  // namespace flowcon::ctrl::metrics
