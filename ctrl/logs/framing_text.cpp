// SPDX-License-Identifier: Apache-2.0
// Files that a job writes itself: lines, and nothing around them.
#include <cstring>
#include <utility>

#include "ctrl/logs/framing.h"

namespace flowcon::ctrl::logs {

TextDecoder::TextDecoder(LineSink sink) : lines_(std::move(sink)) {}

void TextDecoder::set_times(double first, double last) {
  first_time_ = first;
  last_time_ = last;
}

void TextDecoder::feed(std::string_view bytes) {
  const auto whole = static_cast<double>(bytes.size());
  const double span = last_time_ - first_time_;
  std::size_t from = 0;
  while (from < bytes.size()) {
    const void* newline = std::memchr(bytes.data() + from, '\n', bytes.size() - from);
    const std::size_t to =
        newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - bytes.data()) + 1
                : bytes.size();
    const double time = first_time_ + span * static_cast<double>(to) / whole;
    lines_.feed(bytes.substr(from, to - from), time, false);
    from = to;
  }
}

void TextDecoder::finish() { lines_.finish(); }

void TextDecoder::reset() { lines_.reset(); }

}  // namespace flowcon::ctrl::logs
