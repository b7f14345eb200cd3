// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/raw_json.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <ostream>

#include "base/json.h"
#include "cmd/docker-flowcon/plugin.h"

namespace flowcon::plugin {
namespace {

// A character at the start of the text that a terminal may obey although JSON allows it.
struct Unsafe {
  std::size_t length = 0;  // 0 = it is harmless
  unsigned point = 0;
};

Unsafe find_unsafe(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) == 0x7F) return {1, 0x7F};
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0) return {2, byte(1)};
  if (byte(0) == 0xD8 && byte(1) == 0x9C) return {2, 0x061C};
  if (byte(0) != 0xE2 || byte(1) < 0x80 || byte(1) > 0x81) return {};
  const unsigned point = 0x2000U + (byte(1) - 0x80U) * 0x40U + (byte(2) & 0x3FU);
  const bool is_direction = point == 0x200E || point == 0x200F ||
                            (point >= 0x2028 && point <= 0x202E) ||
                            (point >= 0x2066 && point <= 0x2069);
  return is_direction ? Unsafe{3, point} : Unsafe{};
}

// Walks over valid JSON without reading it: where a value ends is all that is asked.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) { skip_blanks(); }

  // The character at hand, '\0' at the end.
  [[nodiscard]] char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void step() {
    if (at_ < text_.size()) ++at_;
    skip_blanks();
  }

  // Passes over one value; its bytes.
  std::string_view take_value() {
    const std::size_t start = at_;
    if (now() == '"') {
      skip_string();
    } else if (now() == '{' || now() == '[') {
      skip_nested();
    } else {
      while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == npos) ++at_;
    }
    const std::string_view value = text_.substr(start, at_ - start);
    skip_blanks();
    return value;
  }

 private:
  static constexpr std::size_t npos = std::string_view::npos;

  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != npos) ++at_;
  }

  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  void skip_nested() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// A member's name as it is spelt: `"state"` also as `"st\u0061te"`.
bool is_name(std::string_view spelt, std::string_view name) {
  const Result<boost::json::value> read = parse_json(spelt);
  return read && read->is_string() && std::string_view(read->get_string()) == name;
}

}  // namespace

std::string safe_json(std::string_view text) {
  // Outside of strings the unsafe characters cannot occur, so the escape is always in place.
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Unsafe unsafe = find_unsafe(text.substr(i));
    if (unsafe.length == 0) {
      out += text[i] == '\r' ? ' ' : text[i];
      ++i;
      continue;
    }
    out += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) out += kHex[(unsafe.point >> shift) & 0xFU];
    i += unsafe.length;
  }
  return out;
}

void print_json(Terminal& terminal, const std::string& text) {
  terminal.out << (terminal.is_interactive ? safe_json(text) : text);
  if (!text.ends_with('\n')) terminal.out << "\n";
}

std::string_view member_text(std::string_view object, std::string_view name) {
  Walker walker(object);
  std::string_view found;
  if (walker.now() != '{') return found;
  for (walker.step(); walker.now() == '"'; walker.step()) {
    const std::string_view spelt = walker.take_value();
    walker.step();  // the colon
    const std::string_view value = walker.take_value();
    if (is_name(spelt, name)) found = value;
    if (walker.now() != ',') break;
  }
  return found;
}

std::string_view last_element_text(std::string_view array) {
  Walker walker(array);
  std::string_view last;
  if (walker.now() != '[') return last;
  for (walker.step(); walker.now() != ']'; walker.step()) {
    const std::string_view value = walker.take_value();
    if (value.empty()) break;
    last = value;
    if (walker.now() != ',') break;
  }
  return last;
}

}  // namespace flowcon::plugin
