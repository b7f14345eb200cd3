// SPDX-License-Identifier: Apache-2.0
// Shapes must never be equal for lines that the scanner reads differently. Digits glued to letters
// or in quotes may be part of a name and count literally; the length of a run counts beside the
// marks of dates, times and ratios.
#include "ctrl/metrics/plan.h"

#include <algorithm>

#include "ctrl/metrics/scan_internal.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15ULL;

/// "NDCG(k=20)": its number is part of a name.
bool is_argument(std::string_view line, std::size_t equals) {
  std::size_t at = equals;
  while (at > 0 && (is_letter(line[at - 1]) || line[at - 1] == '_')) --at;
  return at > 1 && at < equals && line[at - 1] == '(' && is_letter(line[at - 2]);
}

/// The run of digits [start, end) may be a group of the one before it: "5 735 / 100 000".
bool may_be_group(std::string_view line, std::size_t start, std::size_t end) {
  if (end - start != 3 || start < 2 || line[start - 1] != ' ' || !is_digit(line[start - 2])) {
    return false;
  }
  if (line.substr(start, 3) == "000") return true;
  const std::size_t slash = skip_blanks(line, end);
  if (line.substr(slash, 1) != "/") return false;
  const std::size_t total = skip_any(line, skip_blanks(line, slash + 1), ",_'");
  return total + 1 < line.size() && line[total] == ' ' && is_digit(line[total + 1]);
}

bool is_date_mark(char c) { return c == ':' || c == '-' || c == '/'; }

}  // namespace

bool read_shape(std::string_view line, LineShape& shape) {
  std::uint64_t hash = line.size() > 4096 ? 0 : 0x243F6A8885A308D3ULL;
  if (hash == 0) return false;
  shape.runs = 0;
  bool in_word = false;
  bool in_quote = false;
  for (std::size_t i = 0; i < line.size();) {
    const char c = line[i];
    if (is_digit(c) && !in_word && !in_quote) {
      const std::size_t start = i;
      while (i < line.size() && is_digit(line[i])) ++i;
      if (shape.runs == LineShape::kMaxRuns) return false;
      shape.starts[shape.runs++] = static_cast<std::uint32_t>(start);
      const char before = start > 0 ? line[start - 1] : ' ';
      const char after = i < line.size() ? line[i] : ' ';
      if (may_be_group(line, start, i)) return false;
      if (after == ',' && i + 1 < line.size() && is_digit(line[i + 1])) return false;
      std::uint64_t mark = 1;
      if (is_date_mark(before) || is_date_mark(after)) mark += i - start;
      hash = (hash ^ (mark << 8)) * kPrime;
      hash ^= hash >> 32;
      continue;
    }
    if (c == '@' || c == '#' || (c == '=' && is_argument(line, i))) return false;
    if (c == '"' || c == '\'') in_quote = !in_quote;
    if (is_letter(c) || c == '_' || is_beyond_ascii(c)) {
      in_word = true;
    } else if (!is_digit(c) && c != '.' && c != '-' && c != '\'') {
      in_word = false;
    }
    hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
    hash ^= hash >> 32;
    ++i;
  }
  shape.hash = hash;
  return true;
}

bool find_anchor(const LineShape& shape, std::size_t at, Anchor& anchor) {
  for (std::size_t run = 0; run < shape.runs; ++run) {
    if (shape.starts[run] < at) continue;
    const std::size_t back = shape.starts[run] - at;
    if (back > UINT16_MAX) return false;
    anchor = {static_cast<std::uint16_t>(run), static_cast<std::uint16_t>(back)};
    return true;
  }
  return false;
}

// A line can be made whose shape has the same hash and which is another one.
static bool fits(const LinePlan& plan, const LineShape& shape) {
  const auto is_there = [&shape](Anchor anchor) {
    return anchor.run < shape.runs && shape.starts[anchor.run] >= anchor.back;
  };
  return (!plan.has_values || is_there(plan.text)) &&
         std::all_of(plan.steps.begin(), plan.steps.end(), [&](const PlanStep& step) {
           return is_there(step.at) && (step.kind != PlanStep::Kind::ratio || is_there(step.total));
         });
}

const LinePlan* LinePlans::find(std::string_view line) {
  recording_ = nullptr;
  if (!read_shape(line, shape_)) return nullptr;
  LinePlan& plan = plans_[shape_.hash % plans_.size()];
  if (plan.known && plan.shape == shape_.hash) {
    return plan.usable && fits(plan, shape_) ? &plan : nullptr;
  }
  plan = LinePlan{};
  plan.shape = shape_.hash;
  plan.known = plan.usable = true;
  recording_ = &plan;
  return nullptr;
}

void LinePlans::record(PlanStep step, std::size_t at, std::size_t total_at) {
  if (!recording_ || !recording_->usable) return;
  recording_->usable = find_anchor(shape_, text_offset_ + at, step.at) &&
                       (step.kind != PlanStep::Kind::ratio ||
                        find_anchor(shape_, text_offset_ + total_at, step.total));
  recording_->has_values = recording_->has_values || step.kind == PlanStep::Kind::value;
  recording_->steps.push_back(step);
}

void LinePlans::note_counter(bool has_counter) {
  if (recording_) recording_->has_counter = has_counter;
}

void LinePlans::refuse_line() {
  if (recording_) recording_->usable = false;
}

void LinePlans::end_line() {
  if (recording_ && recording_->has_values && recording_->usable) {
    recording_->usable = find_anchor(shape_, text_offset_, recording_->text);
  }
  recording_ = nullptr;
}

void LinePlans::forget() {
  std::fill(plans_.begin(), plans_.end(), LinePlan{});
  recording_ = nullptr;
}

}  // namespace flowcon::ctrl::metrics
