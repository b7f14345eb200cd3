// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/cells.h"

#include <langinfo.h>
#include <wchar.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace flowcon::plugin {
namespace {

struct Character {
  wchar_t code = L'?';
  std::size_t bytes = 1;
};

// The first character; a byte that begins none is one of code 0, which has no width.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {static_cast<wchar_t>(lead), 1};
  const std::size_t bytes = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const auto is_rest = [](char c) { return (c & 0xC0) == 0x80; };
  const auto rest = text.substr(0, bytes).substr(1);
  if (bytes == 1 || rest.size() + 1 < bytes || !std::all_of(rest.begin(), rest.end(), is_rest)) {
    return {0, 1};
  }
  unsigned code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return {static_cast<wchar_t>(code), bytes};
}

std::size_t width_of(wchar_t code) {
  const int width = wcwidth(code);
  return width == 1 || width == 2 ? static_cast<std::size_t>(width) : 0;
}

// How much of `text` takes at most `width` columns.
struct Cut {
  std::size_t bytes = 0;
  std::size_t columns = 0;
};

Cut cut_at(std::string_view text, std::size_t width) {
  Cut cut;
  while (cut.bytes < text.size()) {
    const Character next = first_of(text.substr(cut.bytes));
    const std::size_t columns = std::max<std::size_t>(width_of(next.code), 1);
    if (cut.columns + columns > width) break;
    cut.bytes += next.bytes;
    cut.columns += columns;
  }
  return cut;
}

constexpr std::array<std::pair<std::string_view, char>, 5> kSigns{
    {{"…", '~'}, {"↓", 'v'}, {"↑", '^'}, {"→", '>'}, {"·", '-'}}};

constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 5> kAsciiBlocks{"_", ".", "-", "'", "^"};

}  // namespace

bool take_locale() {
  const char* set = std::setlocale(LC_CTYPE, "");
  if (set == nullptr) {
    const char* all = std::getenv("LC_ALL");
    const char* type = std::getenv("LC_CTYPE");
    const char* lang = std::getenv("LANG");
    const char* wanted = all != nullptr && *all != '\0'     ? all
                         : type != nullptr && *type != '\0' ? type
                         : lang != nullptr                  ? lang
                                                            : "";
    const bool is_utf8 = strcasestr(wanted, "utf-8") != nullptr ||  //
                         strcasestr(wanted, "utf8") != nullptr;
    std::setlocale(LC_CTYPE, is_utf8 ? "C.UTF-8" : "C");
  }
  return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

std::string drawable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character next = first_of(text);
    out += width_of(next.code) > 0 ? std::string(text.substr(0, next.bytes)) : "?";
    text.remove_prefix(next.bytes);
  }
  return out;
}

std::size_t columns_of(std::string_view text) { return cut_at(text, text.size() * 2).columns; }

std::size_t rows_of(std::string_view text, std::size_t width) {
  std::size_t rows = 1;
  for (Cut cut = cut_at(text, width); cut.bytes < text.size(); cut = cut_at(text, width)) {
    text.remove_prefix(std::max(cut.bytes, first_of(text).bytes));
    ++rows;
  }
  return rows;
}

std::string fitted(std::string_view text, std::size_t width, Align align) {
  if (width == 0) return "";
  Cut cut = cut_at(text, width);
  std::string out(text.substr(0, cut.bytes));
  if (cut.bytes < text.size()) {
    cut = cut_at(text, width - 1);
    out = std::string(text.substr(0, cut.bytes)) + "…";
    ++cut.columns;
  }
  const std::string blanks(width - cut.columns, ' ');
  return align == Align::left ? out + blanks : blanks + out;
}

std::vector<std::string> folded(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (true) {
    const Cut cut = cut_at(text, width);
    if (cut.bytes >= text.size()) {
      lines.emplace_back(text);
      return lines;
    }
    // A character wider than the line would never fit.
    std::size_t end = cut.bytes > 0 ? cut.bytes : first_of(text).bytes;
    const std::size_t blank = text.rfind(' ', end);
    std::size_t next = end;
    if (blank != std::string_view::npos && blank > 0) {
      end = blank;
      next = blank + 1;
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(next);
    if (text.empty()) return lines;
  }
}

std::string ascii_cells(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character next = first_of(text);
    const std::string_view bytes = text.substr(0, next.bytes);
    const auto* sign = std::find_if(kSigns.begin(), kSigns.end(),
                                    [&](const auto& known) { return known.first == bytes; });
    if (sign != kSigns.end()) {
      out += sign->second;
    } else if (next.code > 0 && next.code < 0x80) {
      out += static_cast<char>(next.code);
    } else {
      out.append(std::max<std::size_t>(width_of(next.code), 1), '?');
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

std::string sparkline(const std::vector<double>& values, std::size_t width, bool is_utf8) {
  const std::size_t first = values.size() > width ? values.size() - width : 0;
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (std::size_t i = first; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  const std::size_t levels = is_utf8 ? kBlocks.size() : kAsciiBlocks.size();
  std::string out;
  for (std::size_t i = first; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      out += ' ';
      continue;
    }
    // Halves keep the width of a range from -1e308 to 1e308 finite.
    const double range = high / 2 - low / 2;
    const double part = range > 0 ? (values[i] / 2 - low / 2) / range : 0;
    const auto level =
        static_cast<std::size_t>(std::lround(part * static_cast<double>(levels - 1)));
    out += is_utf8 ? kBlocks[level] : kAsciiBlocks[level];
  }
  return out;
}

}  // namespace flowcon::plugin
