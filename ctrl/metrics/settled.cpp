// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/settled.h"

#include <algorithm>
#include <cstring>

#include "ctrl/metrics/scan_internal.h"
#include "ctrl/metrics/series.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::size_t kMaxCounterWords = 3;
constexpr std::size_t kMinWordBytes = 3;  // "f" and "it" are in every line

/// The longest run of letters, digits and underscores: it stands in the text as it is, in plain
/// output and in JSON.
std::string longest_word(std::string_view name) {
  std::string_view best;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < name.size() && (is_letter(name[end]) || is_digit(name[end]) || name[end] == '_'))
      ++end;
    if (end - i > best.size()) best = name.substr(i, end - i);
    i = end + 1;
  }
  return std::string(best);
}

}  // namespace

bool holds_any(std::string_view text, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return ::memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
  });
}

void CounterWords::add(std::uint64_t key, std::string_view name) {
  line_.push_back(key);
  const bool known = std::any_of(counters_.begin(), counters_.end(),
                                 [&](const Counter& counter) { return counter.key == key; });
  if (known) return;
  if (counters_.size() < 4 * kMaxCounterWords) {
    counters_.push_back({key, longest_word(name), false});
  } else {
    is_overfull_ = true;
  }
}

void CounterWords::end_line(bool with_value) {
  if (with_value) return;
  for (const std::uint64_t key : line_) {
    for (Counter& counter : counters_) counter.alone = counter.alone || counter.key == key;
  }
}

void CounterWords::start_over() {
  for (Counter& counter : counters_) counter.alone = false;
}

std::vector<std::string> CounterWords::needed(const SeriesTraits& favoured) const {
  const std::string word = longest_word(favoured.name);
  const bool is_printed =
      favoured.one_spelling && !favoured.nameless && !favoured.in_table && !favoured.average;
  if (is_overfull_ || !is_printed || word.size() < kMinWordBytes) return {};
  std::vector<std::string> words{word};
  for (const Counter& counter : counters_) {
    if (!counter.alone) continue;
    if (counter.word.size() < kMinWordBytes || words.size() > kMaxCounterWords) return {};
    words.push_back(counter.word);
  }
  return words;
}

}  // namespace flowcon::ctrl::metrics
