// SPDX-License-Identifier: Apache-2.0
#include "ctrl/logs/framing_position.h"

#include <array>
#include <bit>
#include <charconv>

namespace flowcon::ctrl::logs {
namespace {

constexpr std::string_view kKind = "file ";
constexpr std::size_t kNumbers = 10;

}  // namespace

Fingerprint fingerprint_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return {bytes.size(), bytes.empty() ? 0 : hash};
}

std::string render_position(const Position& p) {
  if (p.is_empty()) return "";
  // The time by its bits, so that the very same one comes back.
  const std::array<std::uint64_t, kNumbers> numbers = {p.file.device_major,
                                                       p.file.device_minor,
                                                       p.file.inode,
                                                       static_cast<std::uint64_t>(p.file.born_ns),
                                                       p.head.bytes,
                                                       p.head.hash,
                                                       p.offset,
                                                       p.before.bytes,
                                                       p.before.hash,
                                                       std::bit_cast<std::uint64_t>(p.time)};
  std::string text(kKind);
  for (const std::uint64_t number : numbers) {
    if (text.size() > kKind.size()) text += ' ';
    text += std::to_string(number);
  }
  return text;
}

Result<Position> parse_position(std::string_view text) {
  if (text.empty()) return Position{};
  const Error error = bad_input("a log's stored position is not readable");
  if (!text.starts_with(kKind)) return error;
  text.remove_prefix(kKind.size());
  std::array<std::uint64_t, kNumbers> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && (text.empty() || text.front() != ' ')) return error;
    if (i > 0) text.remove_prefix(1);
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), numbers[i]);
    if (code != std::errc()) return error;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  if (!text.empty()) return error;
  Position p;
  p.file = {numbers[0], numbers[1], numbers[2], static_cast<std::int64_t>(numbers[3])};
  p.head = {numbers[4], numbers[5]};
  p.offset = numbers[6];
  p.before = {numbers[7], numbers[8]};
  p.time = std::bit_cast<double>(numbers[9]);
  return p;
}

}  // namespace flowcon::ctrl::logs
