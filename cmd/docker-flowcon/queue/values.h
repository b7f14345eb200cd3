// SPDX-License-Identifier: Apache-2.0
// Checks of the values that `submit` and `queue set` take, as CLI11 wants them: "" if all is well,
// else the expected form. Pure.
#pragma once

#include <string>

namespace flowcon::plugin {

/// "cpu=2,mem=3G": cores above 0 and bytes above 0 with docker's units (B, K, M, G, T, also KB or
/// KiB; of 1024), either part or both.
[[nodiscard]] std::string check_request(const std::string& text);
/// A number from 0.1 to 10.
[[nodiscard]] std::string check_priority(const std::string& text);
/// A whole number from 0 to 100.
[[nodiscard]] std::string check_retries(const std::string& text);
/// A whole number from 1 to 192, or two of them, "2:6".
[[nodiscard]] std::string check_workers(const std::string& text);
/// A whole number from 1 to 192, or "none".
[[nodiscard]] std::string check_scale(const std::string& text);
/// A whole number from 0 to 64.
[[nodiscard]] std::string check_servers(const std::string& text);

/// The same, and the word "none".
[[nodiscard]] std::string check_request_or_none(const std::string& text);
[[nodiscard]] std::string check_priority_or_none(const std::string& text);
[[nodiscard]] std::string check_retries_or_none(const std::string& text);

}  // namespace flowcon::plugin
