// SPDX-License-Identifier: Apache-2.0
// The walk over a line. A "fence" marks the end of the last value; what stands between the fence
// and a number is all that can name it, so every byte is looked at a bounded number of times.
#include "ctrl/metrics/scan.h"

#include <algorithm>
#include <array>

#include "ctrl/metrics/counters.h"
#include "ctrl/metrics/scan_internal.h"
#include "ctrl/metrics/words.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::size_t kMaxFields = 256;
constexpr std::size_t kUsualFields = 64;  // room for more is given back after the line
constexpr std::size_t kMaxDepth = 12;
constexpr std::size_t kArenaBytes = 8192;

bool is_word_char(char c) { return is_letter(c) || is_digit(c) || c == '_' || is_beyond_ascii(c); }

/// Characters that belong to a word only when a letter or digit follows.
bool is_joiner(char c) { return c == '.' || c == '-' || c == '/' || c == '\''; }

/// "epoch1", "Epoch1/10": where the count begins; 0 = nowhere.
std::size_t count_in(std::string_view word) {
  constexpr std::size_t shortest = 4, longest = 12;
  std::size_t end = 0;
  while (end < word.size() && end <= longest && is_letter(word[end])) ++end;
  if (end < shortest || end == word.size() || skip_any(word, end, "/") != word.size() ||
      word.back() == '/' || std::count(word.begin(), word.end(), '/') > 1) {
    return 0;
  }
  const Meaning meaning = look_up(lower(word.substr(0, end))).meaning;
  return meaning == Meaning::epoch || meaning == Meaning::step ? end : 0;
}

bool opens_bracket(std::string_view line, std::size_t at) {
  while (at > 0 && is_blank(line[at - 1])) --at;
  return at > 0 && line[at - 1] == '[';
}

bool is_sign_position(std::string_view line, std::size_t at) {
  if (at == 0) return true;
  const char before = line[at - 1];
  return is_blank(before) ||
         std::string_view("=:,;|([{/\"'<>").find(before) != std::string_view::npos;
}

/// "avg. loss [1601-1650]" without the range.
std::string_view without_range(std::string_view key) {
  const std::size_t open = key.rfind(" [");
  if (open == std::string_view::npos || !key.ends_with(']')) return key;
  const bool is_range = key.find_first_not_of("0123456789-", open + 2) == key.size() - 1;
  return is_range ? key.substr(0, open) : key;
}

bool is_source_file(std::string_view name) {
  constexpr std::array<std::string_view, 9> kinds{".cc", ".cpp", ".c",  ".h",   ".cu",
                                                  ".py", ".go",  ".rs", ".java"};
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](std::string_view kind) { return name.ends_with(kind); });
}

bool is_generic(std::string_view key) {
  constexpr std::array<std::string_view, 11> names{"value",  "metrics", "data",  "logs",
                                                   "log",    "results", "stats", "scalars",
                                                   "scalar", "metric",  "result"};
  return std::find(names.begin(), names.end(), key) != names.end();
}

/// "NDCG(k=20): 0.23": a whole number that is part of a name. `open` where there is none.
std::size_t end_of_argument(std::string_view line, std::size_t open) {
  std::size_t at = open + 1;
  while (at < line.size() && (is_letter(line[at]) || line[at] == '_')) ++at;
  if (at == open + 1 || line.substr(at, 1) != "=") return open;
  const std::size_t close = skip_any(line, at + 1, "");
  if (close == at + 1 || line.substr(close, 1) != ")") return open;
  const std::string_view next = line.substr(skip_blanks(line, close + 1), 1);
  return next == ":" || next == "=" ? close + 1 : open;
}

/// "Cost=229 sec,": behind the word stands no value that it could be the name of.
bool is_far_time(std::string_view line, std::string_view unit) {
  constexpr std::array<std::string_view, 8> times{"s",  "sec", "secs", "seconds",
                                                  "ms", "min", "mins", "minutes"};
  const std::size_t end = static_cast<std::size_t>(unit.data() - line.data()) + unit.size();
  const bool ends_there =
      end == line.size() || std::string_view(",;)|").find(line[end]) != std::string_view::npos;
  return ends_there && std::find(times.begin(), times.end(), lower(unit)) != times.end();
}

/// The unit may stand apart: "351.17 samples/sec", "100.8 [ms]".
std::string_view far_unit(std::string_view line, std::size_t at) {
  constexpr std::size_t longest_unit = 14;
  if (at >= line.size() || line[at] != ' ') return {};
  std::size_t word = at + 1;
  if (word < line.size() && line[word] == '[') ++word;
  std::size_t stop = word;
  while (stop < line.size() && stop - word <= longest_unit &&
         (is_word_char(line[stop]) || line[stop] == '/'))
    ++stop;
  const std::string_view unit = line.substr(word, stop - word);
  return unit.size() <= longest_unit && is_unit_word(lower(unit)) ? unit : std::string_view{};
}

/// "Mean: [0.082 0.149 0.087]...": what names no kind of value describes data.
bool opens_vector(std::string_view line, std::string_view key, std::size_t end) {
  const std::size_t next = line.substr(end, 1) == " " ? skip_blanks(line, end) : line.size();
  if (key.empty() || next == line.size() || !number_at(line, next)) return false;
  const NameInfo info = judge_name(key);
  return info.role == Role::metric && info.weight <= kNamedWeight;
}

}  // namespace

LineScanner::LineScanner() { arena_.reserve(kArenaBytes); }

const LineFacts& LineScanner::scan(std::string_view line) {
  line_ = line;
  fence_ = 0;
  first_ = std::min(line.find_first_not_of(" \t"), line.size());
  phase_ = Phase::none;
  frames_.clear();
  overdeep_ = 0;
  after_best_ = false;
  has_open_double_ = has_open_single_ = false;
  fence_is_field_ = false;
  arena_.clear();
  facts_.fields.clear();
  if (facts_.fields.capacity() > kUsualFields) facts_.fields.shrink_to_fit();
  facts_.bar = {};
  last_close_ = line.rfind(']');
  passed_over_ = 0;
  for (std::size_t i = 0; i < line.size() && facts_.fields.size() + passed_over_ < kMaxFields;) {
    const char c = line[i];
    if (is_digit(c)) {
      i = scan_number(i);
    } else if (is_letter(c) || c == '_') {
      i = scan_word(i);
    } else if ((c == '-' || c == '+' || c == '.') && i + 1 < line.size() &&
               (is_digit(line[i + 1]) || line[i + 1] == '.' || is_letter(line[i + 1])) &&
               is_sign_position(line, i)) {
      i = scan_number(i);
    } else if (c == '"' || (c == '\'' && (!frames_.empty() || quotes_number(i)))) {
      i = scan_quoted(i);
    } else if (c == '@') {
      i = scan_at_sign(i);
    } else {
      // "Saving new best policy, reward=4.5!"
      const bool goes_on = c == ',' && facts_.fields.size() == fields_before_best_;
      if ((c == ',' && !goes_on) || c == ';' || c == '|' || c == '\t') after_best_ = false;
      if (c == '{') open_frame(i);
      if (c == '}') close_frame();
      ++i;
      if (c == '{' || c == '}') {
        fence_ = i;
        fence_is_field_ = false;
      }
    }
  }
  overdeep_ = 0;
  while (!frames_.empty()) close_frame();
  name_by_place();
  tell_phase_at_end();
  find_bar();
  return facts_;
}

std::size_t LineScanner::scan_word(std::size_t at) {
  std::size_t end = at;
  while (end < line_.size()) {
    if (is_word_char(line_[end])) {
      ++end;
    } else if (line_[end] == '@') {
      end = scan_at_sign(end);
    } else if (is_joiner(line_[end]) && end + 1 < line_.size() && is_word_char(line_[end + 1]) &&
               !is_beyond_ascii(line_[end + 1])) {
      ++end;
    } else {
      break;
    }
  }
  if (end < line_.size() && line_[end] == '(') end = end_of_argument(line_, end);
  const std::string_view word = line_.substr(at, end - at);
  if (const std::size_t count = count_in(word); count != 0) return at + count;
  if (const std::size_t letters = short_epoch(line_, at, word); letters != 0) {
    Field field;
    field.key = "epoch";
    field.phase = phase_;
    field.integer = true;
    field.at = at + letters;
    field.value = number_at(line_, field.at)->value;
    add(field, end);
    return end;
  }
  if (word.size() >= 3 && word.size() <= 9 &&
      ((word[0] | 0x20) == 'n' || (word[0] | 0x20) == 'i')) {
    // "nan", and "nanms" where a unit is glued to it.
    std::optional<Number> number = non_finite_at(line_, at);
    if (number) {
      take_number(at, *number, {}, std::max(number->end, end));
      return std::max(number->end, end);
    }
  }
  if (word.size() == 4 && (word == "best" || word == "Best")) {
    after_best_ = true;
    fields_before_best_ = facts_.fields.size();
  }
  if (word.size() > 12 ||
      std::string_view("tvdelhfTVDELHF").find(word[0]) == std::string_view::npos) {
    return end;
  }
  const Phase phase = phase_of_word(lower(word));
  if (phase == Phase::none) return end;
  // "train=0.82" is a name, "(train)1.4s" a remark; "Test: [1/10]" and "valid loss" tell the part.
  const std::size_t next = skip_blanks(line_, end);
  if (next < line_.size() && (line_[next] == ':' || line_[next] == '=')) {
    const std::size_t digits = skip_blanks(line_, next + 1);
    const std::size_t point = skip_any(line_, digits, "-");
    if (point > digits && point < line_.size() && line_[point] == '.') return end;
  }
  if (end + 1 < line_.size() && line_[end] == ')' && is_digit(line_[end + 1])) return end;
  phase_ = phase;
  phase_end_ = end;
  return end;
}

/// "loss 0.5 (val)", "loss 0.5 | train": the last word of a line tells the part as well.
void LineScanner::tell_phase_at_end() {
  if (phase_ == Phase::none || fence_ >= phase_end_ ||
      line_.find_first_not_of(")]}|. ", phase_end_) != std::string_view::npos) {
    return;
  }
  for (Field& field : facts_.fields) {
    if (field.phase == Phase::none) field.phase = phase_;
  }
}

/// "@10", "@[ IoU=0.50:0.95 | area=all ]", "@.5:.95": part of a name, not a value.
std::size_t LineScanner::scan_at_sign(std::size_t at) const {
  std::size_t end = skip_blanks(line_, at + 1);
  if (end < line_.size() && line_[end] == '[') {
    const std::size_t close = line_.substr(0, end + 100).find(']', end);
    return close == std::string_view::npos ? at + 1 : close + 1;
  }
  end = skip_any(line_, at + 1, ".");
  for (std::string_view range : {":0.95", ":.95", "-0.95", ":95", "-95"}) {
    if (line_.substr(end, range.size()) == range) return end + range.size();
  }
  return end;
}

std::size_t LineScanner::scan_number(std::size_t at) {
  const bool is_named = !is_digit(line_[at]) && at + 1 < line_.size() && is_letter(line_[at + 1]);
  const std::optional<Number> number = is_named ? non_finite_at(line_, at) : number_at(line_, at);
  // Not again from each digit of a run that is no number: that would be quadratic.
  if (!number) return std::max(at + 1, skip_any(line_, at, ".,"));
  // "{0: 20, 1: 17}": an index.
  const bool is_index = !frames_.empty() && number->integer && line_.substr(number->end, 1) == ":";
  if (is_index && (at == frames_.back().begin || line_.substr(0, at).ends_with(", "))) {
    set_fence(number->end);
    return number->end;
  }
  const std::size_t compound = skip_compound(at, *number);
  if (compound != number->end) return compound;
  if (const std::size_t after = take_around(at, *number)) return after;
  bool spaced = false;
  const std::optional<Number> scaled = scaled_at(line_, at);
  if (const auto count = scaled ? scaled : spaced_done_at(line_, at)) {
    const std::size_t total = second_of_ratio(line_, count->end, spaced);
    const std::size_t after = total == std::string_view::npos ? 0 : take_ratio(at, *count, total);
    if (after != 0) return after;
  }
  std::size_t second =
      number->percent ? std::string_view::npos : second_of_ratio(line_, number->end, spaced);
  if (second == std::string_view::npos && number->integer) {
    second = limit_in_parentheses(line_, number->end);
    const Role role =
        second == std::string_view::npos ? Role::unknown : judge_name(key_before(at).text).role;
    if (role != Role::epoch && role != Role::step) second = std::string_view::npos;
  }
  if (second != std::string_view::npos) {
    const std::size_t after = take_ratio(at, *number, second);
    if (after != 0) return after;
  }
  if (const std::size_t after = take_scaled_count(at, number->end)) return after;
  const char next = number->end < line_.size() ? line_[number->end] : '\0';
  if (is_letter(next) || next == '_' || is_beyond_ascii(next)) return take_with_unit(at, *number);
  take_number(at, *number, {}, number->end);
  return number->end;
}

/// "Total steps = 1,200", "step:12K". Returns the position after it, 0 where it is no such number.
std::size_t LineScanner::take_scaled_count(std::size_t at, std::size_t end) {
  if (end >= line_.size() || std::string_view(",_'kKMGB").find(line_[end]) == line_.npos) return 0;
  const std::optional<Number> count = scaled_at(line_, at);
  if (!count) return 0;
  const Key key = key_before(at);
  const Role role = key.text.empty() ? Role::unknown : judge_name(key.text).role;
  if (role != Role::total && role != Role::step) return 0;
  Field field;
  field.key = frame_key(key.text);
  field.phase = phase_;
  field.value = count->value;
  field.at = at;
  field.integer = true;
  field.scaled = true;
  add(field, count->end);
  return count->end;
}

std::size_t LineScanner::skip_compound(std::size_t at, const Number& number) {
  std::size_t end = number.end;
  if (number.percent || end + 1 >= line_.size() || !is_digit(line_[end + 1])) return end;
  const auto count = [&](std::string_view key, std::size_t behind) {
    Field field;
    field.key = key;
    field.value = number.value;
    field.integer = true;
    field.at = at;
    add(field, behind);
  };
  const char next = line_[end];
  if (next == ':' || next == '-') {
    end = skip_any(line_, end, ":-./,");
    // "avg. loss [1601-1650]: 131.3": of which steps, between the name and its value;
    // "Minibatch[ 991-1000]: loss = 3.5" counts.
    if (next == '-' && line_.substr(end).starts_with("]: ") && opens_bracket(line_, at)) {
      const std::string_view key = key_before(at).text;
      if (judge_name(key).role == Role::step) count(key, end);
      return end;
    }
    if (const std::size_t after = take_of_range(at, number, end)) return after;
    if (end < line_.size() && (line_[end] == 'T' || line_[end] == 'Z')) {
      end = skip_any(line_, end + 1, ":-.+Z");
    }
    const std::string_view half = line_.substr(end, 3);  // of a day
    const bool ends_there = end + 3 >= line_.size() || !is_letter(line_[end + 3]);
    if ((half == " AM" || half == " PM") && ends_there) end += 3;
    set_fence(end);
    std::size_t word = end;
    while (word < line_.size() && is_letter(line_[word])) ++word;
    const Meaning meaning =
        look_up(lower(line_.substr(end, std::min<std::size_t>(word - end, 12)))).meaning;
    if (meaning != Meaning::epoch && meaning != Meaning::step) return end;
    count(line_.substr(end, word - end), word);  // "1-50batch"
    return word;
  }
  if (next != '.' && next != '/') return end;
  const std::size_t run = skip_any(line_, end, "./:");
  const std::string_view rest = line_.substr(end, run - end);
  const bool is_ratio = next == '/' && std::count(rest.begin(), rest.end(), '/') == 1;
  if (is_ratio) return end;
  set_fence(run);
  return run;
}

/// "12.5ms", "3.98G"; "2d_unet" and "5f3a" are names.
std::size_t LineScanner::take_with_unit(std::size_t at, const Number& number) {
  constexpr std::size_t longest_unit = 12;
  std::size_t end = number.end;
  while (end < line_.size() && (is_word_char(line_[end]) || line_[end] == '/')) ++end;
  const std::string_view letters = line_.substr(number.end, end - number.end);
  const bool is_id =
      letters.size() > longest_unit || letters.front() == '_' ||
      std::any_of(letters.begin(), letters.end(), [](char c) { return is_digit(c); });
  // "learn 0.6355passed: 17.4": the name of the next one.
  constexpr std::size_t shortest_name = 3;
  const bool is_name = !is_id && !number.integer && letters.size() >= shortest_name &&
                       end < line_.size() && (line_[end] == ':' || line_[end] == '=') &&
                       !is_unit_word(lower(letters));
  if (is_name) end = number.end;
  if (!is_id) take_number(at, number, is_name ? std::string_view{} : letters, end);
  return end;
}

void LineScanner::take_number(std::size_t begin, const Number& number, std::string_view unit,
                              std::size_t end) {
  // "set to 1.": the full stop is the sentence's.
  const bool ends_sentence = !number.integer && unit.empty() && line_[end - 1] == '.' &&
                             (end == line_.size() || is_blank(line_[end]));
  Key key = key_before(begin);
  key.text = is_cell(key.text, begin, end) ? std::string_view{} : without_range(key.text);
  // "mark_for_compilation_pass.cc:1648]" is a place, "'scores': [161.9," the first of many.
  const bool is_place = begin > 0 && line_[begin - 1] == ':' && is_source_file(key.text);
  const bool has_next = key.bracketed && line_.substr(end).starts_with(',');
  const bool opens_list = (has_next && (last_close_ == line_.npos || last_close_ < end ||
                                        (key.quoted && number.integer))) ||
                          (key.bracketed && opens_vector(line_, key.text, end));
  if (is_place || opens_list) {
    ++passed_over_;
    return set_fence(end);
  }
  Field field;
  field.value = number.value;
  field.at = begin;
  field.integer = number.integer || ends_sentence;
  field.percent = number.percent;
  field.phase = phase_;
  field.unit = !unit.empty();
  if (!unit.empty() && key.text.empty()) {
    const Meaning meaning = look_up(lower(unit)).meaning;
    if (meaning == Meaning::epoch || meaning == Meaning::step) {
      field.key = unit;  // "3epoch"
      field.unit = false;
    }
  }
  if (key.is_average && !facts_.fields.empty()) {
    if (take_in_parentheses(field, number, end)) add(field, end);
    return;
  }
  field.quoted = key.quoted;
  field.after_best = after_best_;
  const std::string_view counter =
      number.integer ? counter_behind(line_.substr(number.end)) : std::string_view();
  if (!counter.empty()) {
    field.key = counter;
    field.unit = false;
    add(field, static_cast<std::size_t>(counter.data() - line_.data()) + counter.size());
    return;
  }
  if (key.after_number) {
    name_after_counter(field);
  } else if (field.key.empty()) {
    field.key = frame_key(key.text);
  }
  // "Accuracy of 0: 99%"; not "Loss = 3817: 10%|##  |".
  const bool is_share = number.percent && (end == line_.size() || line_[end] != '|');
  if (field.key.empty() && (!number.integer || is_share) && fence_is_field_) {
    name_before_counter(field, begin);
  }
  field.bracketed = key.bracketed && field.key.empty();
  if (field.key.empty() && !field.bracketed) {
    field.key = key_after(end, number.integer || field.unit);
    // "Epoch 3 : 0.98 Loss".
    if (key.after_number && judge_name(field.key).weight <= kNamedWeight) field.key = {};
    field.named_after = !field.key.empty();
  }
  const std::string_view apart = field.unit ? std::string_view{} : far_unit(line_, end);
  field.far_unit = !apart.empty();
  field.unit = field.unit || (field.far_unit && is_far_time(line_, apart));
  add(field, end);
}

/// "0.776285    accuracy       0.285695     3.112715": a word among the values of a row.
bool LineScanner::is_cell(std::string_view key, std::size_t begin, std::size_t end) const {
  if (key.empty() || begin < 2 || !is_blank(line_[begin - 2]) || !is_blank(line_[begin - 1]) ||
      !fence_is_field_ || facts_.fields.empty()) {
    return false;
  }
  const auto at = static_cast<std::size_t>(key.data() - line_.data());
  if (facts_.fields.back().integer || at < fence_ + 2 || skip_blanks(line_, fence_) != at ||
      skip_blanks(line_, at + key.size()) != begin) {
    return false;
  }
  for (int behind = 0; behind < 2; ++behind) {
    const std::size_t next = skip_blanks(line_, end);
    const std::optional<Number> number = next > end + 1 ? number_at(line_, next) : std::nullopt;
    if (!number) return false;
    end = number->end;
  }
  return true;
}

void LineScanner::set_fence(std::size_t end) {
  fence_ = end;
  fence_is_field_ = false;
}

void LineScanner::add(Field field, std::size_t end) {
  fence_ = end;
  fence_is_field_ = true;
  if (facts_.fields.size() < kMaxFields) facts_.fields.push_back(field);
}

/// "iter: 20, 'loss': '38.34'": outside of a dictionary, too, what is in quotes behind a colon; not
/// the name of the next one: "scores: '1' : 0.15".
bool LineScanner::quotes_number(std::size_t at) const {
  constexpr std::size_t longest = 32;
  std::size_t before = at;
  while (before > fence_ && is_blank(line_[before - 1])) --before;
  if (before == fence_ || line_[before - 1] != ':') return false;
  const std::size_t close = line_.substr(0, at + longest).find('\'', at + 1);
  if (close == std::string_view::npos) return false;
  const std::string_view next = line_.substr(skip_blanks(line_, close + 1), 1);
  return next != ":" && next != "=" &&
         whole_number(line_.substr(at + 1, close - at - 1)).has_value();
}

std::size_t LineScanner::scan_quoted(std::size_t at) {
  const char quote = line_[at];
  bool& is_open = quote == '"' ? has_open_double_ : has_open_single_;
  if (is_open) return at + 1;
  if (quote == '\'' && at > 0 && (is_letter(line_[at - 1]) || is_digit(line_[at - 1])))
    return at + 1;
  std::size_t close = at + 1;
  while (close < line_.size() && line_[close] != quote) close += line_[close] == '\\' ? 2 : 1;
  if (close >= line_.size()) {
    is_open = true;  // looked for once: a second search could make the cost quadratic
    return at + 1;
  }
  const std::size_t next = skip_blanks(line_, close + 1);
  if (next < line_.size() && line_[next] == ':') return close + 1;
  std::size_t before = at;
  while (before > fence_ && is_blank(line_[before - 1])) --before;
  const bool is_value = before > fence_ && (line_[before - 1] == ':' || line_[before - 1] == '=');
  if (is_value) take_string(line_.substr(at + 1, close - at - 1), at, close + 1);
  return close + 1;
}

void LineScanner::take_string(std::string_view content, std::size_t begin, std::size_t end) {
  if (std::optional<Number> number = whole_number(content)) {
    const std::size_t before = facts_.fields.size();
    take_number(begin, *number, {}, end);
    // Where a plan finds it again: not the quote.
    if (facts_.fields.size() > before) {
      facts_.fields.back().at = begin + 1 + content.find_first_not_of(" \t");
    }
    return;
  }
  // "epoch": "3/196".
  if (content.find_first_not_of("0123456789/") == std::string_view::npos &&
      content.find('/') != std::string_view::npos) {
    bool spaced = false;
    const std::optional<Number> first = number_at(line_, begin + 1);
    const std::size_t second = first ? second_of_ratio(line_, first->end, spaced) : 0;
    if (first && second < end && take_ratio(begin, *first, second) != 0) {
      fence_ = end;
      return;
    }
  }
  const std::string key = lower(key_before(begin).text);
  set_fence(end);
  if (key == "key" || key == "name" || key == "tag" || key == "metric" || key == "metric_name") {
    if (!frames_.empty() && content.size() <= 100) frames_.back().label = content;
  } else if (key == "mode" || key == "split" || key == "phase" || key == "subset" ||
             key == "stage") {
    if (content.size() <= 20) {
      const Phase phase = phase_of_word(lower(content));
      if (phase != Phase::none) {
        phase_ = phase;
        for (Field& field : facts_.fields) field.phase = phase;
      }
    }
  }
}

void LineScanner::open_frame(std::size_t at) {
  if (frames_.size() >= kMaxDepth) {
    ++overdeep_;
    return;
  }
  Frame frame;
  frame.first_field = facts_.fields.size();
  frame.begin = at + 1;
  std::string_view name = key_before(at).text;
  const std::string_view outer = frames_.empty() ? std::string_view{} : frames_.back().prefix;
  if (is_generic(name)) name = frames_.empty() ? std::string_view{} : frames_.back().label;
  frame.prefix = name.empty() ? outer : compose(outer, name, ".");
  frames_.push_back(frame);
}

void LineScanner::close_frame() {
  if (overdeep_ > 0) {
    --overdeep_;
    return;
  }
  if (frames_.empty()) return;
  const Frame frame = frames_.back();
  frames_.pop_back();
  // {"key": "accuracy", "value": 0.9} and accuracy: {"value": 0.9} name the value from outside.
  std::string_view name = frame.label;
  if (name.empty() && !frame.prefix.empty()) name = frame.prefix.substr(0, frame.prefix.size() - 1);
  if (name.empty()) return;
  for (std::size_t i = frame.first_field; i < facts_.fields.size(); ++i) {
    std::string_view& key = facts_.fields[i].key;
    std::string_view leaf = key;
    if (leaf.starts_with(frame.prefix)) leaf.remove_prefix(frame.prefix.size());
    if (leaf == "value" || leaf == "v") key = name;
  }
}

std::string_view LineScanner::frame_key(std::string_view key) {
  if (frames_.empty() || key.empty() || frames_.back().prefix.empty()) return key;
  return compose(frames_.back().prefix, key);
}

std::string_view LineScanner::compose(std::string_view a, std::string_view b, std::string_view c) {
  const std::size_t size = a.size() + b.size() + c.size();
  if (arena_.size() + size > kArenaBytes) return b.empty() ? a : b;
  const std::size_t from = arena_.size();
  arena_.append(a).append(b).append(c);
  return std::string_view(arena_).substr(from);
}

}  // namespace flowcon::ctrl::metrics
