// SPDX-License-Identifier: Apache-2.0
// Headers are recognised by words that name metrics or counters; a row must have the header's
// number of cells, nearly all of them numbers. Prose fails the second test.
#include "ctrl/metrics/table.h"

#include <algorithm>
#include <array>

#include "ctrl/metrics/counters.h"
#include "ctrl/metrics/names.h"
#include "ctrl/metrics/scan_internal.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::size_t kMaxColumns = 64;
constexpr std::size_t kMaxHeaderBytes = 1024;
constexpr std::size_t kMaxRowBytes = 4096;
constexpr int kMaxMarks = 2;      // words at the end of a row
constexpr double kMayBeNorm = 6;  // "|residual|", "|gap|", by the weight of the name

std::string_view stripped(std::string_view text) {
  while (!text.empty() && (is_blank(text.front()) || text.front() == '"')) text.remove_prefix(1);
  while (!text.empty() && (is_blank(text.back()) || text.back() == '"')) text.remove_suffix(1);
  return text;
}

/// The line before the bar that YOLO draws at its end: "…  640: 100%|████| 8/8 [00:05<00:00]".
std::string_view without_bar(std::string_view line) {
  const std::size_t bar = percent_of_bar(line);
  if (bar == std::string_view::npos) return line;
  line = stripped(line.substr(0, bar));
  if (!line.empty() && line.back() == ':') line.remove_suffix(1);
  return line;
}

bool is_rule(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) {
    return is_blank(c) || c == '-' || c == '+' || c == '=' || c == '|' || c == ':' ||
           is_beyond_ascii(c);
  });
}

/// Kinds of cells that are no number and yet no reason to refuse a row.
bool is_gap(std::string_view text) {
  const std::string word = lower(text);
  return word.empty() || word == "-" || word == "n/a" || word == "no log" || word == "none" ||
         word == "--" || word == "*" || word == "+" || word == "[]";
}

bool is_clock(std::string_view text) {
  return text.find(':') != std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_digit(c) || is_blank(c) ||
                  std::string_view(":.-+_/TZ").find(c) != std::string_view::npos;
         });
}

/// A cell of a line that marks part: the name of a run, of a file, "True".
bool is_text(std::string_view cell) {
  return cell.find_first_of("={}") == std::string_view::npos &&
         cell.find(": ") == std::string_view::npos;
}

bool is_number(std::string_view cell) { return number_at(cell, 0) || non_finite_at(cell, 0); }

/// A last column of such a name holds words, be it one.
bool is_of_remarks(std::string_view column) {
  constexpr std::array<std::string_view, 7> names{"notes",   "note",   "remark", "comment",
                                                  "message", "status", "info"};
  return std::find(names.begin(), names.end(), lower(column)) != names.end();
}

/// "cost  |gradient|  ||d||": bars that are part of names, and no walls between them; "|loss|" is a
/// cell.
bool has_norms(std::string_view line) {
  for (std::size_t at = line.find('|'); at != std::string_view::npos;) {
    const std::size_t begin = line.find_last_of(" \t", at) + 1;
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    const std::size_t first = word.find_first_not_of('|');
    if (first == 0 || first == std::string_view::npos || !is_letter(word[first])) return false;
    const std::size_t behind = word.find('|', first);
    if (behind == std::string_view::npos || word.find_first_not_of('|', behind) != word.npos)
      return false;
    const NameInfo info = judge_name(word.substr(first, behind - first));
    if (first == 1 && info.weight > kMayBeNorm) return false;
    at = line.find('|', end);
  }
  return true;
}

bool has_digit(std::string_view text) { return std::any_of(text.begin(), text.end(), is_digit); }

bool is_name(std::string_view cell) {
  if (cell == "#") return true;
  if (cell.empty() || cell.size() > 48 || !std::any_of(cell.begin(), cell.end(), is_letter)) {
    return false;
  }
  if (cell.find_first_of("={}\"") != std::string_view::npos || cell.front() == '\'') return false;
  if (is_wrapper(cell.substr(0, cell.find('(')))) return false;  // "tensor(0.7)"
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (is_digit(cell[i]) && (i == 0 || is_blank(cell[i - 1]))) return false;  // "loss 6.97"
    const bool pair = i > 0 && is_digit(cell[i]) && cell[i - 1] == ':';        // "loss:6.97"
    if (pair && cell.find('@') == std::string_view::npos) return false;
  }
  return true;
}

/// Bytes of the "Chain 1:", "Worker 0:" that begins a text; 0 where none does.
std::size_t size_of_part(std::string_view text) {
  constexpr std::array<std::string_view, 7> parts{"chain", "worker", "rank",   "node",
                                                  "gpu",   "client", "replica"};
  const std::size_t begin = skip_blanks(text, 0);
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::size_t blank = text.substr(0, colon).find(' ', begin);
  if (blank == text.npos || skip_any(text, blank + 1, "") != colon || colon == blank + 1) return 0;
  const std::string word = lower(text.substr(begin, blank - begin));
  return std::find(parts.begin(), parts.end(), word) == parts.end() ? 0 : colon + 1;
}

/// Names of columns as programs print them: parentheses may open in one and close in another
/// ("Box(P  R  mAP50  mAP50-95)").
std::string column_name(std::string_view cell) {
  if (cell.find('(') != std::string_view::npos && cell.find(')') == std::string_view::npos) {
    cell = cell.substr(cell.find('(') + 1);
  }
  if (!cell.empty() && cell.back() == ')' && cell.find('(') == std::string_view::npos)
    cell.remove_suffix(1);
  return std::string(stripped(cell));
}

}  // namespace

TableLine TableReader::read(std::string_view line, std::string_view text) {
  if (line.size() > kMaxRowBytes) return TableLine::none;
  const bool after_header = just_read_header_;
  just_read_header_ = false;
  const std::string_view whole =
      line.starts_with(prefix_) ? line.substr(prefix_.size()) : std::string_view{};
  // A prefix that the header has not got is more likely one than a first column.
  const bool is_plain = prefix_.empty();
  if (how_ != Split::none &&
      (read_row(is_plain ? text : whole) || (text != whole && read_row(is_plain ? whole : text)))) {
    previous_.clear();
    return TableLine::row;
  }
  const std::string_view body = without_bar(text);
  if (body.size() > kMaxHeaderBytes) return TableLine::none;
  if (is_rule(body)) return TableLine::none;
  if (after_header && join_header(body)) return TableLine::header;
  const std::size_t part = size_of_part(body);
  just_read_header_ = read_header(body.substr(part));
  if (!just_read_header_) return TableLine::none;
  const char* const begin = part > 0 ? body.data() + part : text.data();
  prefix_ = line.substr(0, static_cast<std::size_t>(begin - line.data()));
  return TableLine::header;
}

bool TableReader::is_row(std::string_view line) {
  return how_ != Split::none && line.size() <= kMaxRowBytes && read_row(line);
}

void TableReader::pass_over() {
  just_read_header_ = false;
  previous_.clear();
}

/// The lower half of a header in a box, some of its cells empty.
bool TableReader::join_header(std::string_view line) {
  if (how_ != Split::pipes || !split(line, how_, parts_) || parts_.size() != columns_.size())
    return false;
  const bool has_values = std::any_of(parts_.begin(), parts_.end(), [](std::string_view cell) {
    return !cell.empty() && !is_name(cell) && cell.front() != '(';
  });
  if (has_values) return false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].empty()) columns_[i] += ' ' + std::string(parts_[i]);
  }
  return true;
}

bool TableReader::split(std::string_view line, Split how, std::vector<std::string_view>& cells) {
  cells.clear();
  if (how == Split::blanks || how == Split::wide_blanks) {
    const std::size_t gap = how == Split::blanks ? 1 : 2;
    std::size_t at = 0;
    while (at < line.size() && cells.size() <= kMaxColumns) {
      while (at < line.size() && is_blank(line[at])) ++at;
      std::size_t end = at;
      while (end < line.size()) {
        if (!is_blank(line[end])) {
          ++end;
          continue;
        }
        std::size_t blanks = 0;
        while (end + blanks < line.size() && is_blank(line[end + blanks])) ++blanks;
        if (blanks >= gap || end + blanks == line.size()) break;
        end += blanks;
      }
      if (end > at) cells.push_back(line.substr(at, end - at));
      at = end + (end == at ? 1 : 0);
    }
    return cells.size() <= kMaxColumns;
  }
  const char mark = how == Split::tabs         ? '\t'
                    : how == Split::commas     ? ','
                    : how == Split::semicolons ? ';'
                                               : '|';
  if (how == Split::pipes) {
    line = stripped(line);
    if (line.empty() || line.front() != '|') return false;
    line.remove_prefix(1);
    if (!line.empty() && line.back() == '|') line.remove_suffix(1);
  }
  while (cells.size() <= kMaxColumns) {
    const std::size_t end = line.find(mark);
    cells.push_back(stripped(line.substr(0, end)));
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
  return cells.size() <= kMaxColumns;
}

bool TableReader::read_header(std::string_view line) {
  const auto upper = std::move(previous_);
  previous_.clear();
  std::vector<Split> ways;
  const std::string_view body = stripped(line);
  if (body.empty()) return false;
  if (body.front() == '|') {
    ways = {Split::pipes};
  } else if (body.find('\t') != std::string_view::npos) {
    ways = {Split::tabs, Split::blanks};
  } else if (body.find('|') != std::string_view::npos && !has_norms(body)) {
    ways = {Split::inner_pipes};
  } else if (body.find(',') != std::string_view::npos) {
    ways = {Split::commas};
  } else if (body.find(';') != std::string_view::npos) {
    ways = {Split::semicolons};
  } else {
    ways = {Split::wide_blanks, Split::blanks};
  }
  for (Split how : ways) {
    if (!split(line, how, parts_)) continue;
    if (how != Split::pipes && parts_.back().empty()) parts_.pop_back();  // "loss\tacc\t"
    if (parts_.size() < 2) continue;
    if (how == Split::wide_blanks && parts_.size() < 3) continue;
    if (!std::all_of(parts_.begin(), parts_.end(), is_name)) continue;
    int known = 0;
    for (std::string_view cell : parts_) {
      const NameInfo info = judge_name(column_name(cell));
      const bool prose = how == Split::blanks && info.weight <= 5 && info.role == Role::metric;
      known += !prose &&
               (info.role == Role::metric || info.role == Role::epoch || info.role == Role::step);
    }
    const bool needs_two =
        parts_.size() == 2 || how == Split::inner_pipes || how == Split::semicolons;
    if (known == 0 || (needs_two && known < 2)) continue;
    if (how == Split::blanks && (known < 2 || static_cast<std::size_t>(known) * 3 < parts_.size()))
      continue;
    columns_.clear();
    for (std::string_view cell : parts_) columns_.push_back(column_name(cell));
    narrow_.clear();
    // "# step rmse": a mark of comments, unless the rows have as many cells.
    if (columns_.front() == "#") narrow_.assign(columns_.begin() + 1, columns_.end());
    // Vowpal Wabbit names its columns on two lines.
    split(line, Split::blanks, parts_);
    const std::vector<std::string> words(parts_.begin(), parts_.end());
    const bool two_lines = upper.size() >= 3 && upper.size() == words.size() && upper != words;
    const bool has_marks = how != Split::blanks && how != Split::wide_blanks && how != Split::tabs;
    if (!has_marks && two_lines) {
      columns_.clear();
      for (std::size_t i = 0; i < words.size(); ++i) columns_.push_back(upper[i] + ' ' + words[i]);
      how = Split::blanks;
    }
    how_ = how;
    ends_in_remarks_ = how != Split::pipes && how != Split::inner_pipes &&
                       judge_name(columns_.back()).role == Role::unknown;
    if (how == Split::wide_blanks) {
      narrow_.clear();
      for (const std::string& word : words) narrow_.push_back(column_name(word));
      if (narrow_.front() == "#") narrow_.erase(narrow_.begin());
    }
    if (std::all_of(words.begin(), words.end(), is_name)) previous_ = words;
    return true;
  }
  if (split(line, Split::blanks, parts_) && std::all_of(parts_.begin(), parts_.end(), is_name)) {
    for (std::string_view word : parts_) previous_.emplace_back(word);
  }
  return false;
}

/// "1100  -0.036  36.790  1.521   MAY BE DIVERGING": the last column's words, however many. Prose
/// ("7 12.5 3 files were skipped") and "1 1.0 0.1 train" are no such rows. True if words went.
bool TableReader::drop_remark(std::string_view line) {
  constexpr std::ptrdiff_t least_numbers = 3;
  const std::size_t place = columns_.size() - 1;
  const bool is_named = is_of_remarks(columns_.back());
  const bool is_narrow = parts_.size() == narrow_.size() && narrow_.size() != columns_.size();
  if (!(ends_in_remarks_ || is_named) || is_narrow || narrow_.size() == place) return false;
  const std::size_t least_words = is_named ? 1 : 2;
  if (parts_.size() < place + least_words) return false;
  const std::string_view first = parts_[place];
  if (!is_letter(first.front()) || is_gap(first) || is_number(first)) return false;
  const auto begin = parts_.begin() + static_cast<std::ptrdiff_t>(place);
  if (std::count_if(parts_.begin(), begin, is_number) < least_numbers) return false;
  // Columns stand apart, words do not.
  const auto at = static_cast<std::size_t>(first.data() - line.data());
  if (line[at - 1] != '\t' && !is_blank(line[at - 2])) return false;
  const bool may_tell_part = !is_named || parts_.size() == place + 1;
  const bool are_words = std::all_of(begin, parts_.end(), [may_tell_part](std::string_view word) {
    const bool tells_part = may_tell_part && phase_of_word(lower(word)) != Phase::none;
    return !tells_part && !has_digit(word) && is_text(word) && word.back() != ':';
  });
  if (are_words) parts_.resize(place);
  return are_words;
}

bool TableReader::take_cell(std::string_view text, const std::string& column) {
  Cell cell;
  cell.column = column;
  // "[0.001]", or the first of several values.
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    text = stripped(text.substr(1, text.find_first_of(",]") - 1));
  }
  std::optional<Number> number = number_at(text, 0);
  if (!number) number = non_finite_at(text, 0);
  if (!number) return false;
  std::size_t end = number->end;
  if (end < text.size() && text[end] == '/') {
    const std::optional<Number> total = number_at(text, end + 1);
    if (!total || total->end != text.size()) return false;
    cell.has_total = true;
    cell.total = total->value;
    end = total->end;
  } else if (end < text.size()) {
    if (text[end] == ' ') ++end;
    if (!std::all_of(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), is_letter) ||
        text.size() - end > 4) {
      return false;
    }
    cell.unit = true;
  }
  cell.number = *number;
  cells_.push_back(cell);
  return true;
}

bool TableReader::read_row(std::string_view text) {
  row_ = text;
  const std::string_view body = without_bar(text);
  if (how_ != Split::wide_blanks) return read_row(body, how_);
  return read_row(body, Split::blanks) || read_row(body, Split::wide_blanks);
}

bool TableReader::read_row(std::string_view line, Split how) {
  if (!split(line, how, parts_) || parts_.empty()) return false;
  const bool ends_in_mark = parts_.size() == columns_.size() + 1 && parts_.back().empty();
  if (ends_in_mark && how != Split::pipes) parts_.pop_back();
  const bool has_marks = how != Split::blanks && how != Split::wide_blanks;
  const bool had_remark = how == Split::blanks && drop_remark(line);
  const std::size_t most = std::max(columns_.size(), narrow_.size());
  for (int marks = 0; !has_marks && marks < kMaxMarks; ++marks) {
    if (parts_.size() > std::max<std::size_t>(most, 2) && !has_digit(parts_.back())) {
      parts_.pop_back();
    }
  }
  // A last column of remarks stays empty mostly.
  const bool is_short = (ends_in_remarks_ || had_remark) && parts_.size() >= 3 &&
                        parts_.size() + 1 == columns_.size();
  if (parts_.size() != columns_.size() && parts_.size() != narrow_.size() && !is_short)
    return false;
  const std::vector<std::string>& columns =
      parts_.size() == columns_.size() || (is_short && parts_.size() != narrow_.size()) ? columns_
                                                                                        : narrow_;
  cells_.clear();
  label_ = {};
  phase_ = Phase::none;
  std::size_t gaps = 0;
  std::size_t texts = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (take_cell(parts_[i], columns[i])) continue;
    if (is_gap(parts_[i]) || is_clock(parts_[i])) {
      ++gaps;
    } else if (cells_.empty() && label_.empty() && is_name(parts_[i])) {
      label_ = parts_[i];
    } else if (how == Split::pipes) {
      ++gaps;  // a status or a place among the values of a box
    } else if (has_marks && is_text(parts_[i])) {
      ++gaps;
      ++texts;
      if (phase_ == Phase::none) phase_ = phase_of_word(lower(parts_[i]));
    } else {
      return false;
    }
  }
  if (label_ == "#") label_ = {};
  if (texts > 0 && cells_.size() < 2) return false;
  return !cells_.empty() && cells_.size() >= gaps && (parts_.size() > 2 || label_.empty());
}

}  // namespace flowcon::ctrl::metrics
