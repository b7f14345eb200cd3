// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/listing.h"

#include <algorithm>
#include <array>

#include "ctrl/metrics/names.h"
#include "ctrl/metrics/scan_internal.h"

namespace flowcon::ctrl::metrics {
namespace {

/// "make[2]: *** [Makefile:868: all] Error 13", in any language.
bool is_exit_of_make(std::string_view line) {
  const std::size_t at = line.find(": *** [");
  return at != line.npos && line.substr(0, at).find("make") != line.npos;
}

}  // namespace

bool is_command(std::string_view line) {
  int options = 0;
  if (line.starts_with('{')) return false;
  for (std::size_t at = line.find(" --"); at != line.npos; at = line.find(" --", at + 3)) {
    const std::size_t begin = at + 3;
    const std::size_t end = std::min(line.find_first_of(" =:", begin), line.size());
    const std::string_view name = line.substr(begin, end - begin);
    if (name.empty() || !is_letter(name.front())) continue;
    // "--loss: 0.6 --acc: 0.5" reports.
    if ((end < line.size() && line[end] == ':') || judge_name(name).weight > kNamedWeight) {
      return false;
    }
    if (++options == 2) return true;
  }
  return false;
}

bool is_listing(std::string_view line) {
  if (line.starts_with("[CV] ") || line.starts_with("[CV ") || is_exit_of_make(line)) return true;
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  constexpr std::array<std::string_view, 5> statements{"return ", "if ", "elif ", "while ",
                                                       "assert "};
  const bool is_statement =
      std::any_of(statements.begin(), statements.end(),
                  [line](std::string_view word) { return line.starts_with(word); });
  return is_statement && (line.ends_with(';') || line.ends_with(':') ||
                          line.find(" == ") != line.npos || line.find(" != ") != line.npos);
}

bool is_binary(std::string_view line) {
  if (line.find('\0') == std::string_view::npos) return false;
  return 4 * std::count(line.begin(), line.end(), '\0') > static_cast<std::ptrdiff_t>(line.size());
}

bool is_of_report(std::string_view line) {
  constexpr std::string_view name = "accuracy";
  constexpr std::size_t least = 16;  // blanks in the place of precision and recall
  line.remove_prefix(skip_blanks(line, 0));
  if (!line.starts_with(name)) return false;
  const std::size_t value = skip_blanks(line, name.size());
  const std::size_t end = skip_any(line, value, ".");
  const std::size_t support = skip_blanks(line, end);
  return value >= name.size() + least && end > value && support > end &&
         skip_any(line, support, "") == line.size();
}

bool is_of_fold(std::string_view line) {
  for (const std::string_view word : {"Fold", "fold"}) {
    const std::size_t at = line.find(word);
    if (at == line.npos) continue;
    const std::size_t end = at + word.size();
    const bool is_whole =
        (at == 0 || !is_letter(line[at - 1])) && (end == line.size() || !is_letter(line[end]));
    if (is_whole) return true;
  }
  return false;
}

}  // namespace flowcon::ctrl::metrics
