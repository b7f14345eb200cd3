// SPDX-License-Identifier: Apache-2.0
// What launchers and loggers put before a line: times, levels, ranks, hosts, file names. Without it
// two ranks' copies of one record are the same text.
#pragma once

#include <string>
#include <string_view>

namespace flowcon::ctrl::metrics {

/// `line` without its prefixes, and quotes around all the rest; what remains may begin with blanks
/// that matter (a table's row).
[[nodiscard]] std::string_view without_prefix(std::string_view line);

/// `line` with the full-width forms of ASCII's marks (U+FF01 to U+FF5E), as Chinese and Japanese
/// texts have them, as those marks.
void narrow(std::string_view line, std::string& out);

}  // namespace flowcon::ctrl::metrics
