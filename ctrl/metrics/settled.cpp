// SPDX-License-Identifier: Apache-2.0
// A collector whose choice has settled: most lines are passed over, the others are read by plan.
#include <algorithm>
#include <cstring>

#include "ctrl/metrics/collector.h"
#include "ctrl/metrics/scan_internal.h"

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

void Collector::favour(const Series* series) {
  if (favoured_ == series) return;
  favoured_ = series;
  for (CounterWord& counter : counter_words_) counter.alone = false;
}

void Collector::count_ratio(const Field& field, std::uint64_t key, Role role) {
  progress_.ratio(key, role, field.value, field.total, line_);
  record_step(PlanStep::Kind::ratio, field, key, role);
  if (plans_) return;
  line_counters_.push_back(key);
  const bool known = std::any_of(counter_words_.begin(), counter_words_.end(),
                                 [&](const CounterWord& counter) { return counter.hash == key; });
  if (known) return;
  if (counter_words_.size() < 4 * kMaxCounterWords) {
    counter_words_.push_back({key, longest_word(field.key), false});
  } else {
    many_counters_ = true;
  }
}

void Collector::note_counters(bool with_value) {
  if (with_value) return;
  for (std::uint64_t key : line_counters_) {
    for (CounterWord& counter : counter_words_)
      counter.alone = counter.alone || counter.hash == key;
  }
}

bool Collector::settle() {
  if (plans_) return true;
  if (!favoured_ || many_counters_) return false;
  const SeriesTraits& traits = favoured_->traits;
  const std::string word = longest_word(traits.name);
  const bool is_printed =
      traits.one_spelling && !traits.nameless && !traits.in_table && !traits.average;
  if (!is_printed || word.size() < kMinWordBytes) return false;
  std::vector<std::string> words{word};
  for (const CounterWord& counter : counter_words_) {
    if (!counter.alone) continue;
    if (counter.word.size() < kMinWordBytes || words.size() > kMaxCounterWords) return false;
    words.push_back(counter.word);
  }
  for (std::size_t i = 0; i < series_.size(); ++i) {
    if (series_[i].get() == favoured_) index_of_favoured_ = i;
  }
  words_ = std::move(words);
  plans_ = std::make_unique<PlanCache>();
  return true;
}

void Collector::record_step(PlanStep::Kind kind, const Field& field, std::uint64_t key, Role role) {
  if (!recording_ || !recording_->usable) return;
  PlanStep step;
  step.kind = kind;
  step.key = key;
  step.role = role;
  const bool anchored = find_anchor(shape_, text_offset_ + field.at, step.at) &&
                        (kind != PlanStep::Kind::ratio ||
                         find_anchor(shape_, text_offset_ + field.total_at, step.total));
  recording_->usable = anchored;
  recording_->steps.push_back(step);
}

/// What take_value() does for the favoured series.
void Collector::take_settled(std::string_view text, const Number& number, bool has_counter,
                             double time) {
  Series* series = series_[index_of_favoured_].get();
  record_ = static_cast<std::uint32_t>(text_hash(text) >> 16);
  if (series->has_seen(record_) && has_counter) return;
  series->add({time, number.value}, line_, number.integer, 0);
  ++values_;
}

/// True if the line was read by its plan. Where there is none, the long way is recorded as one.
bool Collector::feed_planned(std::string_view line, double time) {
  if (after_best_ || table_.has_header() || !read_shape(line, shape_)) return false;
  LinePlan& plan = plans_->slot(shape_.hash);
  if (plan.known && plan.shape == shape_.hash) {
    if (plan.usable) run_plan(line, plan, time);
    return plan.usable;
  }
  plan = LinePlan{};
  plan.shape = shape_.hash;
  plan.known = true;
  plan.usable = true;
  recording_ = &plan;
  return false;
}

void Collector::run_plan(std::string_view line, const LinePlan& plan, double time) {
  table_.pass_over();
  for (const PlanStep& step : plan.steps) {
    const std::size_t at = position_of(shape_, step.at);
    std::optional<Number> number = number_at(line, at);
    if (!number) number = non_finite_at(line, at);
    if (!number) continue;
    if (step.kind == PlanStep::Kind::counter) {
      progress_.counter(step.key, step.role, number->value, line_);
    } else if (step.kind == PlanStep::Kind::ratio) {
      const std::optional<Number> total = number_at(line, position_of(shape_, step.total));
      if (total) progress_.ratio(step.key, step.role, number->value, total->value, line_);
    } else {
      take_settled(line.substr(position_of(shape_, plan.text)), *number, plan.has_counter, time);
    }
  }
}

}  // namespace flowcon::ctrl::metrics
