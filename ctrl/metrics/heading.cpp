// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/heading.h"

#include <algorithm>
#include <array>
#include <string>

#include "ctrl/metrics/scan_internal.h"
#include "ctrl/metrics/words.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::size_t kMaxHeadingBytes = 60;

bool is_heading_word(const std::string& word) {
  constexpr std::array<std::string_view, 9> words{
      "running", "begin", "start", "starting", "results", "phase", "mode", "loop", "data"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

bool announces_best(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.empty() || text.back() != ':' || text.size() > 100) return false;
  const std::string words = lower(text);
  return words.find("best iteration") != std::string::npos ||
         words.find("best epoch") != std::string::npos ||
         words.find("best step") != std::string::npos;
}

std::optional<Phase> heading_of(std::string_view text) {
  if (text.size() > kMaxHeadingBytes) return std::nullopt;
  Phase found = Phase::none;
  bool after_counter = false;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end == i) {
      if (is_digit(text[i]) && !after_counter) return std::nullopt;
      const bool is_mark =
          std::string_view(" -=#*>:.[]()/\t").find(text[i]) != std::string_view::npos;
      if (!is_mark && !is_digit(text[i])) return std::nullopt;
      ++i;
      continue;
    }
    const std::string word = lower(text.substr(i, end - i));
    const Meaning meaning = look_up(word).meaning;
    after_counter = meaning == Meaning::epoch || meaning == Meaning::step;
    const Phase phase = phase_of_word(word);
    if (phase != Phase::none) {
      if (found != Phase::none && found != phase) return std::nullopt;
      found = phase;
    } else if (!after_counter && meaning != Meaning::filler && !is_heading_word(word)) {
      return std::nullopt;
    }
    i = end;
  }
  return found == Phase::none ? std::nullopt : std::optional(found);
}

}  // namespace flowcon::ctrl::metrics
