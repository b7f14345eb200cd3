// SPDX-License-Identifier: Apache-2.0
// Checks of the values that `submit` and `queue set` take, as CLI11 wants them: "" if all is well,
// else what is wrong. Pure.
#pragma once

#include <functional>
#include <string>

namespace flowcon::plugin {

using Check = std::function<std::string(const std::string& text)>;

/// Takes what the label flowcon.`key` takes (ctrl/queue_labels.h).
[[nodiscard]] Check as_label(std::string key);
/// The same, and the word "none".
[[nodiscard]] Check as_label_or_none(std::string key);
/// A whole number from 1 to 192, or "none".
[[nodiscard]] std::string check_scale(const std::string& text);

}  // namespace flowcon::plugin
