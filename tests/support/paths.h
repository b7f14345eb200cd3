// SPDX-License-Identifier: Apache-2.0
// The path of this checkout. Only paths.cpp is compiled with it, so that a compiler cache serves
// every checkout.
#pragma once

#include <string>

namespace flowcon::test {

/// The path of a file of the checkout: source_path("tests/golden").
[[nodiscard]] std::string source_path(const std::string& file);
/// The folder of recorded logs and traces: $FLOWCON_SHARED, else beside the checkout. It may be
/// absent.
[[nodiscard]] std::string shared_path(const std::string& file);

}  // namespace flowcon::test
