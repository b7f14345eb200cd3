// SPDX-License-Identifier: Apache-2.0
// The name of a number: what stands between the last value and it, read from right to left.
#include <algorithm>
#include <array>

#include "ctrl/metrics/counters.h"
#include "ctrl/metrics/scan.h"
#include "ctrl/metrics/scan_internal.h"
#include "ctrl/metrics/words.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::size_t kMaxGap = 200;  // a name further away than that names nothing
constexpr std::size_t kMaxWords = 6;  // "Overall average objective function for output"
constexpr std::size_t kMaxUnit = 24;
constexpr std::size_t kFarUnit = 2;          // blanks
constexpr std::size_t kMaxAbbreviation = 5;  // "avg.", "Ep."

bool is_separator(char c) { return c == ':' || c == '=' || c == '~'; }

/// Box drawing, blocks, bullets and arrows of Unicode (U+2000 to U+2FFF) part names; letters of
/// other scripts do not.
bool is_symbol_byte(std::string_view line, std::size_t at) {
  std::size_t lead = at;
  for (int steps = 0;
       steps < 3 && lead > 0 && (static_cast<unsigned char>(line[lead]) & 0xC0) == 0x80; ++steps) {
    --lead;
  }
  return static_cast<unsigned char>(line[lead]) == 0xE2;
}

bool starts_word(char c) { return is_letter(c) || is_digit(c); }

bool is_key_char(std::string_view line, std::size_t at, bool in_frame) {
  const char c = line[at];
  if (is_letter(c) || is_digit(c)) return true;
  if (is_beyond_ascii(c)) return !is_symbol_byte(line, at);
  if (c == ':') {
    if (at == 0 || at + 1 >= line.size()) return false;
    // "metrics:mcc", "mAP@0.5:0.95".
    const std::string_view before = line.substr(at < 5 ? 0 : at - 5, at < 5 ? at : 5);
    if (is_digit(line[at - 1]))
      return before.find('@') != std::string_view::npos && line[at + 1] != ' ';
    return is_letter(line[at - 1]) && is_letter(line[at + 1]);
  }
  if (c == '\'') {
    const bool inside = at > 0 && at + 1 < line.size() && is_letter(line[at + 1]);
    return in_frame ? inside && starts_word(line[at - 1]) : true;
  }
  return std::string_view("_./-@%#<>*+^&$!?").find(c) != std::string_view::npos;
}

/// "pred.        cost: 1.2": a name across blanks; not "Done.   cost: 1.2".
bool ends_in_abbreviation(std::string_view text) {
  if (!text.ends_with('.')) return false;
  std::size_t begin = text.size() - 1;
  while (begin > 0 && text[begin - 1] >= 'a' && text[begin - 1] <= 'z') --begin;
  const std::size_t size = text.size() - begin;
  return size > 2 && size <= kMaxAbbreviation && (begin == 0 || is_blank(text[begin - 1]));
}

bool is_level(std::string_view word) {
  constexpr std::array<std::string_view, 8> levels{"info",  "warning",  "warn",   "error",
                                                   "debug", "critical", "notice", "fatal"};
  return word.size() <= 8 && std::find(levels.begin(), levels.end(), lower(word)) != levels.end();
}

/// "INFO:tensorflow:loss" is a loss that Python's logging printed.
std::string_view without_logger(std::string_view key) {
  const std::size_t colon = key.find(':');
  if (colon == std::string_view::npos || !is_level(key.substr(0, colon))) return key;
  key.remove_prefix(colon + 1);
  const std::size_t second = key.find(':');
  if (second != std::string_view::npos) key.remove_prefix(second + 1);
  return key;
}

/// Marks around a name and verbs after it.
std::string_view trimmed(std::string_view key) {
  while (!key.empty() &&
         std::string_view("-*#/.<>!?+&' ").find(key.front()) != std::string_view::npos &&
         !(key.front() == '<' && key.find('>') != std::string_view::npos)) {
    key.remove_prefix(1);
  }
  while (!key.empty() &&
         std::string_view("-*/.!?+&' ").find(key.back()) != std::string_view::npos) {
    key.remove_suffix(1);
  }
  for (std::string_view verb : {" is", " was", " of", " are", " at", " to", " equals"}) {
    if (key.ends_with(verb)) key.remove_suffix(verb.size());
  }
  return key;
}

/// "loss of epoch3-batch-0", "epoch_3_loss" without the counts, which are others on each line.
std::string_view without_counts(std::string_view key) {
  if (std::none_of(key.begin(), key.end(), is_digit)) return key;
  const std::string words = lower(key);
  const std::size_t begin = words.find("epoch");
  if (begin == words.npos || (begin > 0 && is_letter(words[begin - 1]))) return key;
  std::size_t end = begin;
  for (std::string_view count : {"epoch", "batch", "step", "iter"}) {
    std::size_t from = end;
    if (end > begin && from < words.size() && (words[from] == '-' || words[from] == '_')) ++from;
    if (!std::string_view(words).substr(from).starts_with(count)) continue;
    from += count.size();
    if (from < words.size() && (words[from] == '-' || words[from] == '_')) ++from;
    const std::size_t behind = skip_any(words, from, "");
    if (behind > from) end = behind;
  }
  if (end == begin) return key;
  if (begin == 0) return key.substr(std::min(words.find_first_not_of("-_ ", end), key.size()));
  return end == key.size() ? trimmed(key.substr(0, key.find_last_not_of("-_ ", begin - 1) + 1))
                           : key;
}

/// "lgbm's best error", "6fe47_00001 with loss": whose value it is differs from line to line.
std::string_view without_owner(std::string_view key) {
  const std::size_t mark = key.find('\'');
  if (mark != key.npos && key.substr(mark).starts_with("'s best ")) return key.substr(mark + 3);
  if (std::none_of(key.begin(), key.end(), is_digit)) return key;
  const std::size_t with = key.find(" with ");
  return with != key.npos && key.find_first_of("0123456789") < with ? key.substr(with + 6) : key;
}

bool has_letter(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || is_beyond_ascii(c); });
}

std::string_view without_units(std::string_view key) {
  while (!key.empty()) {
    const std::size_t blank = key.find(' ');
    const std::string_view first = key.substr(0, blank);
    const std::string word = lower(first);
    const bool is_done = word == "complete" || word == "completed" || word == "done";  // "45% done"
    if (!is_done && !is_unit_word(word)) return key;
    // A unit alone names nothing; "s" or "time" before a separator is a name.
    key = blank == std::string_view::npos ? std::string_view{} : key.substr(blank + 1);
  }
  return key;
}

std::size_t end_of_value(std::string_view line, const Field& field) {
  std::optional<Number> number = number_at(line, field.at);
  if (!number) number = non_finite_at(line, field.at);
  return number ? number->end : field.at;
}

/// Of the parenthesis that ends at `close`, if it holds words alone; else `low`.
std::size_t begin_of_remark(std::string_view line, std::size_t low, std::size_t close) {
  constexpr std::size_t longest = 40;
  for (std::size_t at = close; at > low && close - at < longest; --at) {
    const char c = line[at - 1];
    if (c == '(') return at - 1;
    if (!is_letter(c) && c != ' ') break;
  }
  return low;
}

}  // namespace

bool is_wrapper(std::string_view word) {
  constexpr std::array<std::string_view, 16> names{
      "tf.Tensor",     "param",   "Float32",     "Float64",    "tensor",     "array",
      "float32",       "float64", "float16",     "np.float32", "np.float64", "numpy.float32",
      "numpy.float64", "Decimal", "DeviceArray", "Array"};
  return std::find(names.begin(), names.end(), word) != names.end();
}

bool is_unit_word(std::string_view word) {
  constexpr std::array<std::string_view, 49> units{
      "s",        "sec",       "secs",    "second",  "seconds",  "ms",     "us",
      "ns",       "min",       "mins",    "minute",  "minutes",  "h",      "hr",
      "hrs",      "hour",      "hours",   "day",     "days",     "none",   "gb",
      "mb",       "kb",        "gib",     "mib",     "kib",      "b",      "bytes",
      "fps",      "wps",       "hz",      "samples", "tokens",   "images", "imgs",
      "examples", "sequences", "records", "msec",    "usec",     "it",     "px",
      "sents",    "tok",       "req",     "reqs",    "requests", "rows",   "jobs"};
  if (word.ends_with("/s") || word.find("/sec") != std::string_view::npos) return true;
  return std::find(units.begin(), units.end(), word) != units.end();
}

void LineScanner::skip_back(Gap& gap) const {
  while (gap.end > gap.low && is_blank(line_[gap.end - 1])) --gap.end;
}

/// An opening parenthesis before the number: "0.5 (0.6", "tensor(0.5", "loss (0.5".
void LineScanner::step_out_of_call(Gap& gap, Key& key) const {
  if (gap.end == gap.low || line_[gap.end - 1] != '(') return;
  std::size_t before = gap.end - 1;
  while (before > gap.low && is_blank(line_[before - 1])) --before;
  if (before == gap.low && gap.after_field) {
    key.is_average = true;
    return;
  }
  std::size_t word = before;
  const auto is_name = [](char c) { return is_letter(c) || is_digit(c) || c == '.'; };
  while (word > gap.low && is_name(line_[word - 1])) --word;
  gap.called = !is_wrapper(line_.substr(word, before - word));
  gap.end = gap.called ? before : word;
  skip_back(gap);
}

/// Takes ":", "=", "=>" and the wall of a box off the gap. False where what is there separates this
/// number from every name.
bool LineScanner::step_over_separator(Gap& gap) const {
  const char before = gap.end - 1 > gap.low ? line_[gap.end - 2] : '\0';
  if (line_[gap.end - 1] == '>' && before == '-') return false;
  if (line_[gap.end - 1] == '>' && before == '=') --gap.end;
  while (gap.end > gap.low && is_separator(line_[gap.end - 1])) {
    gap.separated = true;
    --gap.end;
  }
  if (!gap.separated && line_[gap.end - 1] == '|') {
    const bool in_box = first_ < line_.size() && line_[first_] == '|' && gap.end - 1 > first_;
    if (!in_box) return false;
    --gap.end;
    gap.separated = true;
  }
  gap.blank_after_name = gap.end > gap.low && is_blank(line_[gap.end - 1]);
  skip_back(gap);
  return true;
}

/// "elapsed (ms): 5", "(mf)0.47", "Average Precision @[ IoU=0.5 ] = 0.3".
std::string_view LineScanner::name_with_group(const Gap& gap, std::size_t at) const {
  const char closing = line_[gap.end - 1];
  const std::string_view reach = line_.substr(gap.low, gap.end - gap.low);
  const std::size_t found = reach.rfind(closing == ')' ? '(' : '[');
  if (found == std::string_view::npos) return {};
  const std::size_t open = gap.low + found;
  const std::string_view inside = line_.substr(open + 1, gap.end - open - 2);
  if (!gap.separated && !gap.blank_after_name && gap.end == at) {
    return has_letter(inside) ? trimmed(inside) : std::string_view{};
  }
  if (!gap.separated && (closing == ']' || gap.called)) return {};
  std::size_t before = open;
  while (before > gap.low && is_blank(line_[before - 1])) --before;
  const std::string_view words = words_before(gap.low, before);
  if (words.empty()) return inside;
  const auto begin = static_cast<std::size_t>(words.data() - line_.data());
  return line_.substr(begin, gap.end - begin);
}

LineScanner::Key LineScanner::key_before(std::size_t at) const {
  Gap gap;
  gap.low = std::max(fence_, at > kMaxGap ? at - kMaxGap : 0);
  gap.end = at;
  gap.after_field = gap.low == fence_ && fence_is_field_;
  Key key;
  skip_back(gap);
  step_out_of_call(gap, key);
  if (key.is_average) return key;
  while (gap.end > gap.low && line_[gap.end - 1] == '[') {
    key.bracketed = true;
    --gap.end;
    skip_back(gap);
  }
  if (gap.end == gap.low) return key;
  if (!step_over_separator(gap)) {
    key.text = name_before_wall(gap);
    return key;
  }
  if (gap.end == gap.low) {
    key.after_number = gap.separated && gap.after_field;
    return key;
  }
  const char last = line_[gap.end - 1];
  if (last == ',' || last == ';' || last == '|' || last == '-') {
    if (!gap.separated) key.text = name_before_wall(gap);
    if (last != '-' || !key.text.empty()) return key;
  }
  if (gap.separated && (last == '"' || last == '\'')) {
    const std::string_view reach = line_.substr(gap.low, gap.end - 1 - gap.low);
    const std::size_t open = reach.rfind(last);
    if (open == std::string_view::npos) return key;
    key.text = reach.substr(open + 1);
    key.quoted = true;
    return key;
  }
  const bool grouped = last == ')' || last == ']';
  key.text = grouped ? name_with_group(gap, at) : words_before(gap.low, gap.end);
  key.text = name_of_bracket(cleaned_name(key.text, gap), gap);
  if (key.text == "is" || key.text == "was") {  // "Score at iteration 10 is 1.6"
    key.text = {};
    key.after_number = gap.after_field;
  }
  // "TRAIN [0][12/3416]", "Test: [3/98]": the word tells the part, the bracket holds a counter.
  if (key.bracketed && phase_of_word(lower(key.text)) != Phase::none) key.text = {};
  return key;
}

/// "tot_loss[loss=0.25, over 2436 frames]": the bracket's name says the same and more.
std::string_view LineScanner::name_of_bracket(std::string_view name, const Gap& gap) const {
  const auto begin = static_cast<std::size_t>(name.data() - line_.data());
  if (name.empty() || begin < gap.low + 2 || line_[begin - 1] != '[') return name;
  std::string_view outer = words_before(gap.low, begin - 1);
  outer.remove_prefix(outer.rfind(' ') + 1);
  return outer.size() > name.size() && outer.ends_with(name) ? outer : name;
}

/// "loss_train, 0.838", "train loss |  0.838", "Loss - [0.838]": only the name of a metric reaches
/// over such a mark, and none that follows a value ("0.5 loss, 0.6 acc").
std::string_view LineScanner::name_before_wall(Gap gap) const {
  const char wall = line_[gap.end - 1];
  const bool is_dash = wall == '-' && gap.end - 1 > gap.low && is_blank(line_[gap.end - 2]);
  if (wall != ',' && wall != ';' && wall != '|' && !is_dash) return {};
  --gap.end;
  skip_back(gap);
  const std::string_view name = trimmed(words_before(gap.low, gap.end));
  if (name.empty()) return {};
  // "(:epoch, 1, :trn, 0.9f0)": Julia's symbols are names, whatever they say.
  const auto begin = static_cast<std::size_t>(name.data() - line_.data());
  if (wall == ',' && begin > gap.low + 1 && line_[begin - 1] == ':' &&
      (line_[begin - 2] == '(' || line_[begin - 2] == ' ')) {
    return name;
  }
  if (judge_name(name).weight <= kNamedWeight) return {};
  const bool touches_value =
      gap.after_field && line_.find_first_not_of(" \t", fence_) ==
                             static_cast<std::size_t>(name.data() - line_.data());
  return touches_value ? std::string_view{} : name;
}

/// Without the unit of the value before, the logger's name and marks around it.
std::string_view LineScanner::cleaned_name(std::string_view name, const Gap& gap) const {
  const std::size_t at = static_cast<std::size_t>(name.data() - line_.data());
  const bool touches_value =
      gap.after_field && !name.empty() && line_.find_first_not_of(" \t[", fence_) == at;
  // "score: 0.99      Min score: 0.62" are no minutes.
  const bool is_far = at > fence_ + kFarUnit && !is_unit_word(lower(name));
  if (touches_value && !is_far) name = without_units(name);
  name = without_counts(without_owner(trimmed(without_logger(name))));
  return has_letter(name) ? name : std::string_view{};
}

std::string_view LineScanner::words_before(std::size_t low, std::size_t at) const {
  const bool in_frame = !frames_.empty();
  std::size_t start = at;
  std::size_t p = at;
  for (std::size_t words = 0; words < kMaxWords; ++words) {
    std::size_t begin = p;
    while (begin > low && is_key_char(line_, begin - 1, in_frame)) --begin;
    if (begin == p) break;
    const std::string_view word = line_.substr(begin, p - begin);
    if (words > 0 && std::string_view(":=!?").find(word.back()) != std::string_view::npos) break;
    if (words > 0 && word.back() == '.' && word.size() > kMaxAbbreviation) break;
    const bool lone_mark = word == "-" || word == "--" || word == "*" || word == ">" ||
                           word == "->" || word == "+" || word == "=>" || word == ">>" ||
                           word == "&";
    if (lone_mark) break;
    start = begin;
    // "Training loss (for one batch) at step 100"
    if (begin > low + 1 && line_[begin - 1] == ' ' && line_[begin - 2] == ')') {
      const std::size_t remark = begin_of_remark(line_, low, begin - 2);
      if (remark > low + 1 && line_[remark - 1] == ' ' && !is_blank(line_[remark - 2])) {
        p = remark - 1;
        continue;
      }
    }
    if (begin < low + 2 || line_[begin - 1] != ' ') break;
    p = begin - 1;
    while (p > low && line_[p - 1] == ' ') --p;
    if (p + 1 < begin && !ends_in_abbreviation(line_.substr(low, p - low))) break;
  }
  return line_.substr(start, at - start);
}

/// The name after a nameless value: "719.53 avg loss,". It ends at a delimiter, so that the name of
/// the next value is not taken; not so "-16.95   = Validation score (-MAE)".
std::string_view LineScanner::key_after(std::size_t at, bool is_count) const {
  if (at >= line_.size() || !is_blank(line_[at])) return {};
  const std::size_t equals = skip_blanks(line_, at);
  const bool is_assigned = line_.substr(equals).starts_with("= ");
  if (!is_assigned && line_[at] != ' ') return {};
  const std::size_t from = is_assigned ? equals + 2 : at + 1;
  std::size_t end = from;
  const auto is_of_name = [this, from](std::size_t i) {
    // "C.E. Loss".
    const bool is_initial = line_[i] == '.' && i > from && is_letter(line_[i - 1]) &&
                            (i == from + 1 || !is_letter(line_[i - 2]));
    return is_letter(line_[i]) || line_[i] == ' ' || line_[i] == '_' || line_[i] == '/' ||
           is_initial;
  };
  while (end < line_.size() && end - from < 40 && is_of_name(end)) ++end;
  const bool closed = is_assigned || end == line_.size() ||
                      std::string_view(",;|)").find(line_[end]) != std::string_view::npos;
  if (end == from || !is_letter(line_[from])) return {};
  const std::string_view words = trimmed(line_.substr(from, end - from));
  if (closed) return words;
  // "365.2 perplexity estimate based on a held-out corpus": its first word names it.
  if (is_count) return {};
  const std::string_view first = words.substr(0, words.find(' '));
  return judge_name(first).weight > 5 && end < line_.size() && line_[end] != ':' &&
                 line_[end] != '='
             ? first
             : std::string_view{};
}

std::size_t LineScanner::take_around(std::size_t at, const Number& count) {
  if (!count.integer || count.percent || count.end >= line_.size() || line_[count.end] != ' ') {
    return 0;
  }
  std::string_view unit;
  Meaning meaning = Meaning::none;
  std::size_t end = count.end;
  for (int words = 0; words < 2 && meaning != Meaning::epoch && meaning != Meaning::step; ++words) {
    const std::size_t begin = std::min(line_.find_first_not_of(' ', end), line_.size());
    for (end = begin; end < line_.size() && is_letter(line_[end]);) ++end;
    unit = line_.substr(begin, end - begin);
    meaning = unit.size() > kMaxUnit ? Meaning::none : look_up(lower(unit)).meaning;
  }
  if (meaning != Meaning::epoch && meaning != Meaning::step) return 0;
  std::size_t value_at = std::min(line_.find_first_not_of(" :=)", end), line_.size());
  const bool has_verb = line_.substr(value_at).starts_with("is ");
  if (has_verb) value_at = skip_blanks(line_, value_at + 2);
  std::optional<Number> value = number_at(line_, value_at);
  if (!value) value = non_finite_at(line_, value_at);
  const bool is_separated =
      has_verb || line_.substr(end, value_at - end).find_first_of(":=") != line_.npos;
  if (!value || (!is_separated && value->integer)) return 0;
  // "per 100 steps" tells a width, "after 100 steps" a place.
  std::string_view name = key_before(at).text;
  bool is_width = false;
  for (std::string_view word :
       {" last", " per", " over", " every", " after", " at", " in", " for"}) {
    if (!name.ends_with(word)) continue;
    name.remove_suffix(word.size());
    is_width = is_width || word == " last" || word == " per" || word == " over" || word == " every";
  }
  if (judge_name(name).weight <= kNamedWeight) return 0;
  Field field;
  field.phase = phase_;
  field.key = unit;
  field.value = count.value;
  field.integer = true;
  field.at = at;
  if (!is_width) add(field, end);
  field.key = frame_key(name);
  field.value = value->value;
  field.integer = value->integer;
  field.percent = value->percent;
  field.at = value_at;
  add(field, value->end);
  return value->end;
}

std::size_t LineScanner::take_of_range(std::size_t at, const Number& first, std::size_t end) {
  constexpr std::string_view verb = " is ";
  if (!first.integer || !line_.substr(end).starts_with(verb)) return 0;
  const std::string_view words = key_before(at).text;
  const std::size_t blank = words.rfind(' ');
  if (blank == words.npos || words.size() - blank > kMaxUnit) return 0;
  const std::string_view unit = words.substr(blank + 1);
  std::string_view name = words.substr(0, blank);
  if (name.ends_with(" for")) name.remove_suffix(4);
  if (look_up(lower(unit)).meaning != Meaning::step || judge_name(name).weight <= kNamedWeight) {
    return 0;
  }
  std::size_t value_at = end + verb.size();
  std::optional<Number> value = number_at(line_, value_at);
  if (!value) value = non_finite_at(line_, value_at);
  if (!value) return 0;
  // "-0.35 + -0.01 = -0.36": the sum.
  if (line_.substr(value->end).starts_with(" + ")) {
    const std::optional<Number> part = number_at(line_, value->end + 3);
    const bool has_sum = part && line_.substr(part->end).starts_with(" = ");
    if (const auto sum = has_sum ? number_at(line_, part->end + 3) : std::nullopt) {
      value_at = part->end + 3;
      value = sum;
    }
  }
  Field field;
  field.phase = phase_;
  field.key = unit;
  field.value = first.value;
  field.integer = true;
  field.at = at;
  add(field, end);
  field.key = frame_key(name);
  field.value = value->value;
  field.integer = value->integer;
  field.at = value_at;
  add(field, value->end);
  return value->end;
}

/// "Cost after iteration 100: 0.64": the words before the counter name the value after it.
void LineScanner::name_after_counter(Field& field) {
  if (facts_.fields.empty() || !fence_is_field_) return;
  Field& counter = facts_.fields.back();
  const std::size_t blank = counter.key.rfind(' ');
  if (!counter.integer || blank == std::string_view::npos) return;
  const std::string_view last = counter.key.substr(blank + 1);
  const Role role = judge_name(last).role;
  if (role != Role::epoch && role != Role::step) return;
  if (judge_name(counter.key).role != Role::metric) return;
  field.key = counter.key;
  counter.key = last;
}

/// "Train loss 100 0.64", "Validation loss 100: 0.64": so does the name of a metric where a whole
/// number stands between it and the value.
void LineScanner::name_before_counter(Field& field, std::size_t begin) {
  if (facts_.fields.empty()) return;
  Field& counter = facts_.fields.back();
  if (!counter.integer || counter.key.empty() || counter.has_total || counter.percent ||
      counter.unit || counter.named_after || counter.quoted || counter.at + 20 < fence_) {
    return;
  }
  const bool joined = line_.find_first_not_of(" \t:", fence_) == begin;
  if (!joined || line_.substr(fence_, begin - fence_).find('\t') != std::string_view::npos) return;
  if (judge_name(counter.key).weight <= kNamedWeight) return;
  field.key = counter.key;
  field.named_after = false;
  counter.key = {};
  counter.bracketed = true;
}

/// "loss, acc: 0.53, 0.81", "MAE:(pitch, yaw)/(3.4, 2.2)": names in a row, then as many values.
void LineScanner::name_by_place() {
  std::vector<Field>& fields = facts_.fields;
  for (std::size_t first = 0; first + 1 < fields.size();) {
    std::size_t last = first;
    while (last + 1 < fields.size() && fields[last + 1].key.empty() && !fields[last].has_total &&
           !fields[last + 1].has_total) {
      const std::size_t end = end_of_value(line_, fields[last]);
      if (line_.substr(end, 1) != "," || skip_blanks(line_, end + 1) != fields[last + 1].at) break;
      ++last;
    }
    if (last > first) name_by_place(first, last - first + 1);
    first = last + 1;
  }
}

void LineScanner::name_by_place(std::size_t first, std::size_t count) {
  constexpr std::size_t most = 8;
  std::vector<Field>& fields = facts_.fields;
  if (count > most) return;
  std::size_t low = first > 0 ? end_of_value(line_, fields[first - 1]) : 0;
  if (first > 0 && fields[first - 1].has_total) {
    const std::optional<Number> total = number_at(line_, fields[first - 1].total_at);
    if (total) low = std::max(low, total->end);
  }
  while (first > 0 && low < line_.size() && is_letter(line_[low])) ++low;  // a unit
  const std::string_view reach = line_.substr(0, fields[first].at);
  std::size_t begin = reach.find_last_not_of(" \t:=>-/()[]") + 1;
  std::array<std::string_view, most> names;
  for (std::size_t i = count; i-- > 0;) {
    if (i + 1 < count) {
      if (begin <= low || line_[begin - 1] != ',') return;
      --begin;
    }
    const std::size_t end = begin;
    while (begin > low && (line_[begin - 1] == ' ' || is_key_char(line_, begin - 1, false)))
      --begin;
    names[i] = trimmed(line_.substr(std::min(begin, end), end - std::min(begin, end)));
    if (names[i].empty()) return;
  }
  std::string_view group;
  if (begin > low && (line_[begin - 1] == '(' || line_[begin - 1] == '[')) {
    const std::size_t end = line_.substr(0, begin - 1).find_last_not_of(" \t:=") + 1;
    if (end > low) group = trimmed(words_before(low, end));
  }
  const bool in_group = judge_name(group).weight > kNamedWeight;
  for (std::size_t i = 0; i < count && !in_group; ++i) {
    const NameInfo info = judge_name(names[i]);
    const bool is_counter = info.role == Role::epoch || info.role == Role::step;
    if (info.weight <= kNamedWeight && !(is_counter && fields[first + i].integer)) return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    Field& field = fields[first + i];
    field.key = in_group ? compose(group, " ", names[i]) : names[i];
    if (field.key == " ") field.key = names[i];  // there is no room for longer names
    field.bracketed = field.named_after = field.average = false;
  }
}

void LineScanner::find_bar() {
  const Field* counter = nullptr;
  for (const Field& field : facts_.fields) {
    const bool better = !counter || (!counter->key.empty() && field.key.empty());
    if (field.has_total && better) counter = &field;
  }
  if (!counter) return;
  std::size_t drawn = std::string_view::npos;
  for (std::string_view mark :
       {"%|", "[==", "[>", "[=>", "\xE2\x94\x81\xE2\x94\x81", "\xE2\x96\x88", "[...", "[##"}) {
    drawn = std::min(drawn, line_.find(mark));
  }
  if (drawn == std::string_view::npos) drawn = percent_of_bar(line_);
  if (drawn == std::string_view::npos) return;
  facts_.bar = {true, counter->value, counter->total, drawn};
}

}  // namespace flowcon::ctrl::metrics
