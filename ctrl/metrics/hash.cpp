// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/hash.h"

#include <cstring>

#include "ctrl/metrics/scan_internal.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::uint64_t kFnvOffset = 14695981039346656037ULL;
constexpr std::uint64_t kFnvPrime = 1099511628211ULL;

}  // namespace

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * kFnvPrime;
  return hash ^ (hash >> 29);
}

std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = kFnvOffset ^ text.size();
  while (text.size() >= 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data(), 8);
    hash = mix(hash, eight);
    text.remove_prefix(8);
  }
  for (char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

std::uint32_t record_hash(std::string_view text) {
  return static_cast<std::uint32_t>(text_hash(text) >> 16);
}

std::uint64_t name_hash(std::string_view text) {
  std::uint64_t hash = kFnvOffset;
  bool blank = false;
  for (char c : text) {
    if (is_blank(c)) {
      blank = true;
      continue;
    }
    if (blank) hash = (hash ^ static_cast<unsigned char>(' ')) * kFnvPrime;
    blank = false;
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    hash = (hash ^ static_cast<unsigned char>(small)) * kFnvPrime;
  }
  return hash;
}

std::uint64_t letters_hash(std::string_view text) {
  std::uint64_t hash = kFnvOffset;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_exponent = (text[i] == 'e' || text[i] == 'E') && i > 0 && is_digit(text[i - 1]);
    if (!is_letter(text[i]) || is_exponent) continue;
    hash = (hash ^ static_cast<unsigned char>(text[i])) * kFnvPrime;
  }
  return hash;
}

}  // namespace flowcon::ctrl::metrics
