// SPDX-License-Identifier: Apache-2.0
// By what lines, names and counters are known again.
#pragma once

#include <cstdint>
#include <string_view>

namespace flowcon::ctrl::metrics {

[[nodiscard]] std::uint64_t mix(std::uint64_t hash, std::uint64_t value);

[[nodiscard]] std::uint64_t text_hash(std::string_view text);

/// Tells a record from its copies.
[[nodiscard]] std::uint32_t record_hash(std::string_view text);

/// FNV-1a of the text in lower case with runs of blanks as one.
[[nodiscard]] std::uint64_t name_hash(std::string_view text);

/// The letters of a text: what its fixed part is.
[[nodiscard]] std::uint64_t letters_hash(std::string_view text);

}  // namespace flowcon::ctrl::metrics
