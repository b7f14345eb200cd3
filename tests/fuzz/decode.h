// SPDX-License-Identifier: Apache-2.0
// What the decoders of all formats must hold to, whatever they are fed. The input's first byte says
// how it is cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ctrl/logs/framing_decoder.h"

namespace flowcon::fuzz {

/// Feeds `data` cut and whole; ends the program where the two do not give the same lines, or a
/// promise of Decoder is broken.
inline int decode(ctrl::logs::Format format, const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t cut = static_cast<std::size_t>(data[0]) + 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  struct Seen {
    std::uint64_t lines = 0;
    std::uint64_t sum = 0;
  };
  const auto count = [](Seen& seen, const ctrl::logs::Line& line) {
    ++seen.lines;
    for (const char c : line.text) seen.sum = seen.sum * 31 + static_cast<unsigned char>(c);
    if (line.text.size() > ctrl::logs::kMaxLineBytes) std::abort();
    if (line.text.find('\n') != std::string_view::npos) std::abort();
  };
  Seen whole;
  Seen pieces;
  const auto one = make_decoder(format, [&](const auto& line) { count(whole, line); });
  const auto other = make_decoder(format, [&](const auto& line) { count(pieces, line); });
  one->feed(bytes);
  for (std::size_t at = 0; at < bytes.size(); at += cut) {
    other->feed(bytes.substr(at, cut));
    if (other->pending_bytes() > at + cut) std::abort();
  }
  if (one->pending_bytes() > bytes.size()) std::abort();
  if (one->is_stuck() != other->is_stuck()) std::abort();
  one->finish();
  other->finish();
  if (whole.lines != pieces.lines || whole.sum != pieces.sum) std::abort();
  if (one->stats().bad_records != other->stats().bad_records) std::abort();
  one->reset();
  if (one->pending_bytes() != 0 || one->is_stuck()) std::abort();
  return 0;
}

}  // namespace flowcon::fuzz
