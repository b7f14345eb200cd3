// SPDX-License-Identifier: Apache-2.0
// Text in a page.
#pragma once

#include <string>
#include <string_view>

namespace flowcon {

/// For the text of an element and for an attribute in quotes.
[[nodiscard]] std::string html_escaped(std::string_view text);

}  // namespace flowcon
