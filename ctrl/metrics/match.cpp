// SPDX-License-Identifier: Apache-2.0
// From the same text down to words that contain each other.
#include "ctrl/metrics/match.h"

#include <algorithm>

#include "ctrl/metrics/scan_internal.h"

namespace flowcon::ctrl::metrics {
namespace {

/// Letters and digits in lower case, everything between them one blank.
std::string normal_form(std::string_view text) {
  std::string out;
  bool gap = false;
  for (char c : lower(text)) {
    if (is_letter(c) || is_digit(c) || is_beyond_ascii(c)) {
      if (gap && !out.empty()) out.push_back(' ');
      gap = false;
      out.push_back(c);
    } else {
      gap = true;
    }
  }
  return out;
}

bool contains_all(const std::vector<std::string>& whole, const std::vector<std::string>& part) {
  return std::all_of(part.begin(), part.end(), [&](const std::string& word) {
    return std::find(whole.begin(), whole.end(), word) != whole.end();
  });
}

bool has_any(const std::vector<std::string>& words,
             std::initializer_list<std::string_view> wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
  });
}

std::string_view phase_word(Phase phase) { return phase == Phase::train ? "train" : "val"; }

/// The name without the path of dictionaries before it: "train/loss" -> "loss".
std::string_view leaf_of(std::string_view key) {
  const std::size_t mark = key.find_last_of("./");
  return mark == std::string_view::npos ? key : key.substr(mark + 1);
}

}  // namespace

NameQuery::NameQuery(std::string_view asked)
    : asked_(asked), normal_(normal_form(asked)), words_(name_words(asked)) {
  wants_average_ = has_any(words_, {"avg", "average", "mean", "running", "smoothed"});
  wants_epoch_ = has_any(words_, {"epoch"});
  for (const std::string& word : words_) {
    if (phase_ == Phase::none) phase_ = phase_of_word(word);
  }
}

int NameQuery::match(std::string_view key, Phase line_phase) const {
  if (is_same(key)) return 7;
  if (lower(key) == lower(asked_)) return 6;
  const std::string normal = normal_form(key);
  if (normal.empty() || normal_.empty()) return 0;
  if (normal == normal_) return 5;
  if (normal_form(leaf_of(key)) == normal_) return 4;
  std::vector<std::string> words = name_words(key);
  if (line_phase != Phase::none) {
    if (std::string(phase_word(line_phase)) + ' ' + normal == normal_) return 4;
    // val, valid, eval and test mean the same here.
    for (const std::string& word : words_) {
      if (phase_of_word(word) == line_phase) words.push_back(word);
    }
  }
  if (contains_all(words, words_)) return words.size() == words_.size() ? 3 : 2;
  return contains_all(words_, words) && judge_name(key).role == Role::metric ? 1 : 0;
}

double NameQuery::preference(const Series& series) const {
  const std::string_view name = series.traits.name;
  const std::vector<std::string> own = name_words(name.substr(0, name.find(" (average)")));
  const bool asks_average =
      wants_average_ && !has_any(own, {"avg", "average", "mean", "running", "smoothed"});
  double sum = series.traits.average == asks_average ? 2 : 0;
  // "Training average loss": of "… loss at step" and "… positive_sample_loss at step" the first.
  sum -= 0.01 * static_cast<double>(own.size());
  const bool asks_epoch = wants_epoch_ && !has_any(own, {"epoch"});
  if (asks_epoch) sum += series.traits.grain == Grain::epoch ? 2 : 0;
  if (phase_ != Phase::none) {
    sum += series.traits.phase == phase_ ? 4 : 0;
  } else {
    sum += series.traits.phase == Phase::eval ? 0 : 1;
  }
  return sum;
}

}  // namespace flowcon::ctrl::metrics
