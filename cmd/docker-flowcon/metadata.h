// SPDX-License-Identifier: Apache-2.0
// The plugin's metadata, which docker asks for at each of its starts: constant text and one write.
#pragma once

#include <string_view>

namespace flowcon::plugin {

/// The metadata as JSON with a line end, as docker's plugin protocol 0.1.0 wants it.
[[nodiscard]] std::string_view metadata_json();

/// Writes metadata_json() to `file`. Returns the exit status: 0, or 1 where the write fails.
[[nodiscard]] int write_metadata(int file);

/// The one-line description in `docker --help`.
[[nodiscard]] std::string_view short_description();

}  // namespace flowcon::plugin
