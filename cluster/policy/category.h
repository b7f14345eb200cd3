// SPDX-License-Identifier: Apache-2.0
// SpeCon's categories and how many containers of one host are in each. No behaviour, no I/O.
#pragma once

#include <cstdint>

namespace flowcon::cluster::policy {

/// The categories of SpeCon: PC (progressing), WC (watched), CC (converged).
enum class Category { pc, wc, cc };

/// "PC", "WC", "CC".
[[nodiscard]] constexpr const char* name(Category category) {
  return category == Category::pc ? "PC" : category == Category::wc ? "WC" : "CC";
}

/// How many containers of one host are in each category; none is below 0.
struct Counts {
  std::int64_t pc = 0;
  std::int64_t wc = 0;
  std::int64_t cc = 0;
};

}  // namespace flowcon::cluster::policy
