// SPDX-License-Identifier: Apache-2.0
// JSON as text, kept byte for byte as flowcond sent it.
#pragma once

#include <string>
#include <string_view>

namespace flowcon::plugin {

struct Terminal;

/// `text`, which is JSON, with the characters that JSON allows and a terminal may obey (DEL, C1
/// controls, marks of text direction) as escapes: the same value, safe to show. A carriage return
/// between the values becomes a blank.
[[nodiscard]] std::string safe_json(std::string_view text);

/// Prints `text`, which is JSON, as whole lines: byte for byte, or safe_json() on a terminal.
void print_json(Terminal& terminal, const std::string& text);

/// The bytes of the member `name` of an object; of several the last one, as parse_json() has it.
/// "" if it is missing or `object` is no object. `object` must be JSON that parse_json() accepts.
[[nodiscard]] std::string_view member_text(std::string_view object, std::string_view name);

/// The bytes of the last element of an array, under the same conditions; "" where it has none.
[[nodiscard]] std::string_view last_element_text(std::string_view array);

}  // namespace flowcon::plugin
