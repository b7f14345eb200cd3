// SPDX-License-Identifier: Apache-2.0
// SpeCon's categories and how many containers of one host are in each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace flowcon::cluster::policy {

/// The categories of SpeCon: PC (progressing), WC (watched), CC (converged).
enum class Category { pc, wc, cc };

/// "PC", "WC", "CC".
[[nodiscard]] constexpr const char* name(Category category) {
  return category == Category::pc ? "PC" : category == Category::wc ? "WC" : "CC";
}

[[nodiscard]] constexpr std::optional<Category> parse_category(std::string_view text) {
  for (const Category category : {Category::pc, Category::wc, Category::cc}) {
    if (text == name(category)) return category;
  }
  return std::nullopt;
}

/// How many containers of one host are in each category; none is below 0.
struct Counts {
  std::int64_t pc = 0;
  std::int64_t wc = 0;
  std::int64_t cc = 0;

  constexpr void add(Category category) {
    ++(category == Category::pc ? pc : category == Category::wc ? wc : cc);
  }
};

}  // namespace flowcon::cluster::policy
