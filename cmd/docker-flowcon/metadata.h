// SPDX-License-Identifier: Apache-2.0
// What docker asks each plugin on each of its own starts. Text known at build time and one write;
// nothing is read.
#pragma once

#include <string_view>

namespace flowcon::plugin {

/// The metadata as JSON with a line end, as docker's plugin protocol 0.1.0 wants it.
[[nodiscard]] std::string_view metadata_json();

/// Writes metadata_json() to `file`. Returns the exit status: 0, or 1 where the write fails.
[[nodiscard]] int write_metadata(int file);

/// What this program is for, in one line, as `docker --help` lists it.
[[nodiscard]] std::string_view short_description();

}  // namespace flowcon::plugin
