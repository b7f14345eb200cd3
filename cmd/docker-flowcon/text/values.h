// SPDX-License-Identifier: Apache-2.0
// Checks of option values, as CLI11 wants them: "" if all is well, else the expected form.
#pragma once

#include <optional>
#include <string>

namespace flowcon::plugin {

/// A finite number that fills the whole text.
[[nodiscard]] std::optional<double> parse_real(const std::string& text);

/// A share of the host: "0.5" or "50%", above 0 and at most 1.
[[nodiscard]] std::optional<double> parse_share(const std::string& text);

/// A share as flowcond takes it: "50%" becomes "0.5"; anything else stays as it is.
[[nodiscard]] std::string share_word(const std::string& text);

[[nodiscard]] std::string check_not_empty(const std::string& text);
[[nodiscard]] std::string check_weight(const std::string& text);
[[nodiscard]] std::string check_share(const std::string& text);
[[nodiscard]] std::string check_bool(const std::string& text);
[[nodiscard]] std::string check_duration(const std::string& text);

/// The same, and the word "none".
[[nodiscard]] std::string check_weight_or_none(const std::string& text);
[[nodiscard]] std::string check_share_or_none(const std::string& text);

/// Checks that a floor is not above a ceiling, if both are shares: a sentence, or "".
[[nodiscard]] std::string check_range(const std::string& floor, const std::string& ceiling);

}  // namespace flowcon::plugin
