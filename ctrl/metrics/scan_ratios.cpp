// SPDX-License-Identifier: Apache-2.0
// "3/10", "3 of 10", "-0.05/-0.26", "0.5 (0.6)": numbers that belong together.
#include <algorithm>
#include <array>

#include "ctrl/metrics/scan.h"
#include "ctrl/metrics/scan_internal.h"
#include "ctrl/metrics/words.h"

namespace flowcon::ctrl::metrics {
namespace {

/// "3 epochs / 100 epochs": where the slash stands behind the counting word at `at`; 0 = nowhere.
std::size_t slash_behind_unit(std::string_view line, std::size_t at) {
  constexpr std::size_t longest = 12;
  std::size_t end = at;
  while (end < line.size() && end - at <= longest && is_letter(line[end])) ++end;
  const std::size_t slash = skip_blanks(line, end);
  if (end == at || slash >= line.size() || line[slash] != '/') return 0;
  const Meaning meaning = look_up(lower(line.substr(at, end - at))).meaning;
  return meaning == Meaning::epoch || meaning == Meaning::step ? slash : 0;
}

/// "100 000" behind "5 735 /", "11,470 /"; behind a plain number only where nothing else can be
/// meant.
std::optional<Number> spaced_total_at(std::string_view line, std::string_view first,
                                      std::size_t at) {
  if (line[at - 1] != ' ') return std::nullopt;
  const std::optional<Number> total = spaced_count_at(line, at);
  if (!total || first.find_first_of(" ,_'") != first.npos) return total;
  const std::string_view text = line.substr(at, total->end - at);
  for (std::size_t blank = text.find(' '); blank != text.npos; blank = text.find(' ', blank + 1)) {
    if (text.substr(blank + 1, 3) != "000") return std::nullopt;
  }
  return total;
}

}  // namespace

std::optional<Number> spaced_done_at(std::string_view line, std::size_t at) {
  const std::optional<Number> done = spaced_count_at(line, at);
  if (!done) return std::nullopt;
  bool spaced = false;
  const std::size_t second = second_of_ratio(line, done->end, spaced);
  if (second == std::string_view::npos || line[second - 1] != ' ') return std::nullopt;
  const std::optional<Number> grouped = scaled_at(line, second);
  const std::optional<Number> total = grouped ? grouped : spaced_count_at(line, second);
  return total && done->value <= total->value ? done : std::nullopt;
}

std::size_t limit_in_parentheses(std::string_view line, std::size_t at) {
  at = skip_blanks(line, at);
  if (line.substr(at, 1) != "(") return std::string_view::npos;
  for (std::string_view word : {"max", "of", "out of", "total"}) {
    if (!line.substr(at + 1).starts_with(word)) continue;
    const std::size_t from = at + 1 + word.size();
    const std::size_t limit = std::min(line.find_first_not_of(" .:=", from), line.size());
    const std::size_t end = skip_any(line, limit, "");
    if (limit > from && end > limit && line.substr(end, 1) == ")") return limit;
  }
  return std::string_view::npos;
}

std::size_t short_epoch(std::string_view line, std::size_t at, std::string_view word) {
  constexpr std::size_t longest = 6, reach = 16;
  if (word.size() > longest || (word[0] | 0x20) != 'e') return 0;
  const std::size_t letters = word.size() > 1 && (word[1] | 0x20) == 'p' ? 2 : 1;
  const std::size_t digits = word.size() - letters;
  if (digits == 0 || digits > 3) return 0;
  if (skip_any(word, letters, "") != word.size() || (at > 0 && is_letter(line[at - 1]))) return 0;
  std::size_t next = at + word.size();
  const std::size_t most = std::min(line.size(), next + reach);
  while (next < most && (is_letter(line[next]) || is_blank(line[next]) ||
                         std::string_view("[](|:,-").find(line[next]) != std::string_view::npos)) {
    ++next;
  }
  if (next >= most || !is_digit(line[next]) || next == at + word.size()) return 0;
  bool spaced = false;
  const std::size_t total = second_of_ratio(line, skip_any(line, next, ""), spaced);
  return total != std::string_view::npos && is_digit(line[total]) ? letters : 0;
}

std::size_t second_of_ratio(std::string_view line, std::size_t at, bool& spaced) {
  const std::size_t next = skip_blanks(line, at);
  spaced = next != at;
  std::size_t second = std::string_view::npos;
  if (next < line.size() && line[next] == '/') {
    second = skip_blanks(line, next + 1);
    spaced = spaced || second != next + 1;
  } else if (const std::size_t slash = slash_behind_unit(line, next); slash != 0) {
    second = skip_blanks(line, slash + 1);
    spaced = true;
  } else if (spaced && (line.substr(next, 3) == "of " || line.substr(next, 3) == "OF ")) {
    second = skip_blanks(line, next + 3);
    // "iteration: 1 of max_iter: 30".
    for (std::string_view limit : {"max", "total", "num"}) {
      if (line.substr(second, limit.size()) != limit) continue;
      while (second < line.size() && (is_letter(line[second]) || line[second] == '_')) ++second;
      second = std::min(line.find_first_not_of(" :=", second), line.size());
    }
  } else if (spaced) {
    constexpr std::array<std::string_view, 7> others{"out of ", "von ", "de ", "sur ",
                                                     "di ",     "z ",   "из "};
    for (std::string_view other : others) {
      if (line.substr(next).starts_with(other)) second = skip_blanks(line, next + other.size());
    }
  }
  if (second >= line.size()) return std::string_view::npos;
  const char c = line[second];
  const bool starts = is_digit(c) || (!spaced && (c == '-' || c == '.' || c == 'n' || c == 'i'));
  return starts ? second : std::string_view::npos;
}

/// Returns the position after the ratio, 0 where it is none after all.
std::size_t LineScanner::take_ratio(std::size_t begin, const Number& first, std::size_t second_at) {
  std::optional<Number> scaled = scaled_at(line_, second_at);
  if (!scaled) {
    scaled = spaced_total_at(line_, line_.substr(begin, first.end - begin), second_at);
  }
  std::optional<Number> second = scaled ? scaled : number_at(line_, second_at);
  if (!second) second = non_finite_at(line_, second_at);
  if (!second) return 0;
  // "3/10. Loss: 0.5"
  if (!second->integer && line_[second->end - 1] == '.') {
    second->integer = true;
    --second->end;
  }
  Key key = key_before(begin);
  if (const std::size_t unit = skip_blanks(line_, first.end); is_letter(line_[unit])) {
    const std::string_view words = line_.substr(unit, second_at - unit);
    if (words.find('/') != words.npos) key.text = words.substr(0, words.find_first_of(" /"));
  }
  std::size_t end = second->end;
  while (end < line_.size() && is_letter(line_[end])) ++end;
  if (end > second->end) {
    // "5/30epoch".
    const std::string_view unit = line_.substr(second->end, end - second->end);
    const Meaning meaning = look_up(lower(unit.substr(0, 24))).meaning;
    if (meaning != Meaning::epoch && meaning != Meaning::step) return 0;
    const Role role = judge_name(key.text).role;
    if (role != Role::epoch && role != Role::step) key.text = unit;
  }
  // "609/924-6648", "1/8-1/2000": of a telephone, a range.
  if (end + 1 < line_.size() && line_[end] == '-' && is_digit(line_[end + 1])) {
    set_fence(skip_any(line_, end, "-/."));
    return fence_;
  }
  Field field;
  field.phase = phase_;
  field.value = first.value;
  field.at = begin;
  field.total_at = second_at;
  field.integer = first.integer;
  field.bracketed = key.bracketed && key.text.empty();
  // "Epoch 1.50/3.00", "E: 9.0/10".
  const bool are_whole = first.integer && second->integer;
  const bool is_epoch =
      !are_whole && first.value <= second->value &&
      ((key.text == "E" && second->integer) || judge_name(key.text).role == Role::epoch);
  if (are_whole || is_epoch) {
    field.key = frame_key(key.text);
    field.total = second->value;
    field.has_total = true;
    const char first_end = line_[first.end - 1];
    field.scaled = scaled || !is_digit(first_end);
    add(field, end);
    return end;
  }
  return take_two_values(field, key.text, *second, second_at);
}

/// `field` has the first value. Returns the position after the second.
std::size_t LineScanner::take_two_values(Field field, std::string_view key, const Number& second,
                                         std::size_t second_at) {
  // "Running: 2.0/7.0 CPU": what is used of a thing that is there.
  constexpr std::array<std::string_view, 6> things{"CPU", "GPU", "GiB", "MiB", "GB", "MB"};
  const std::string_view thing = line_.substr(skip_blanks(line_, second.end));
  const bool is_used = std::any_of(things.begin(), things.end(),
                                   [&](std::string_view word) { return thing.starts_with(word); });
  if (is_used && judge_name(key).weight <= kNamedWeight) {
    ++passed_over_;
    set_fence(second.end);
    return second.end;
  }
  // "Gen/Dis Loss: -0.05/-0.26", "loss/acc: 0.6/0.8": the slash joins names as it joins values.
  const std::size_t slash = key.find('/');
  const std::size_t blank =
      std::min(key.find(' ', slash == std::string_view::npos ? 0 : slash), key.size());
  const bool are_two = slash != std::string_view::npos && blank == key.size() &&
                       judge_name(key.substr(0, slash)).weight > kNamedWeight &&
                       judge_name(key.substr(slash + 1)).weight > kNamedWeight;
  const bool joined = slash != std::string_view::npos && (blank < key.size() || are_two);
  field.key = joined ? compose(key.substr(0, slash), key.substr(blank)) : key;
  const std::string_view second_key = joined        ? key.substr(slash + 1)
                                      : key.empty() ? key
                                                    : compose(key, " second");
  add(field, fence_);
  field.key = second_key;
  field.value = second.value;
  field.at = second_at;
  field.percent = second.percent;
  add(field, second.end);
  return second.end;
}

/// "0.5 (0.6)": the running mean of the same name; "9650/10000 (96%)": the share is the value, the
/// counts are its source. True if `field` is to be kept.
bool LineScanner::take_in_parentheses(Field& field, const Number& number, std::size_t end) {
  if (facts_.fields.empty()) return false;
  Field& last = facts_.fields.back();
  const bool is_outer = line_.substr(skip_blanks(line_, end)).starts_with(") [");
  if (number.percent && last.has_total && !last.key.empty() && !is_outer &&
      judge_name(last.key).role == Role::metric) {
    last.value = number.value;
    last.at = field.at;
    last.percent = true;
    last.has_total = false;
    last.integer = false;
    set_fence(end);
    return false;
  }
  field.average = true;
  field.key = last.key;
  field.unit = field.unit || last.unit;
  if (!last.key.empty() && !last.average && !last.has_total) return true;
  set_fence(end);
  return false;
}

}  // namespace flowcon::ctrl::metrics
