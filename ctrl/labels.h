// SPDX-License-Identifier: Apache-2.0
// A container's labels.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace flowcon::ctrl {

using Labels = std::map<std::string, std::string>;

/// Of the labels that are ours.
inline constexpr std::string_view kLabelPrefix = "flowcon.";

}  // namespace flowcon::ctrl
