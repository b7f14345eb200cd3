// SPDX-License-Identifier: Apache-2.0
// Ids and sums as they are written: hexadecimal digits in lower case.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace flowcon {

/// Two digits a byte.
[[nodiscard]] std::string to_hex(std::span<const unsigned char> bytes);

/// Is `text` that many digits, and nothing else?
[[nodiscard]] bool is_hex(std::string_view text, std::size_t digits);

/// An id of random_id(): of a host, a move, a birth?
[[nodiscard]] inline bool is_random_id(std::string_view text) { return is_hex(text, 32); }

/// A container's whole id?
[[nodiscard]] inline bool is_container_id(std::string_view text) { return is_hex(text, 64); }

/// A sum of Sha256?
[[nodiscard]] inline bool is_sha256(std::string_view text) { return is_hex(text, 64); }

}  // namespace flowcon
