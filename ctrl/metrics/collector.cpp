// SPDX-License-Identifier: Apache-2.0
// What is a candidate, and to which series does it belong. A series is a name on one kind of line:
// the loss of a batch, of an epoch and of the validation are three.
#include "ctrl/metrics/collector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ctrl/metrics/counters.h"
#include "ctrl/metrics/hash.h"
#include "ctrl/metrics/heading.h"
#include "ctrl/metrics/listing.h"
#include "ctrl/metrics/prefix.h"
#include "ctrl/metrics/scan_internal.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr double kMayBeMetric = 6;        // names that mean something else, too
constexpr double kRecordPenalty = 5;      // as judge_name() takes off a best so far
constexpr std::size_t kUsualFields = 64;  // room for more is given back after the line
constexpr double kSelfEvident = 10;
constexpr std::size_t kMaxNames = 128;
constexpr std::size_t kMaxSeen = 8;
constexpr std::size_t kLivePlans = 32;      // of a job that runs: it prints few kinds of lines
constexpr std::size_t kSettledPlans = 256;  // of a whole file
constexpr std::size_t kMaxNameBytes = 96;
constexpr double kHundred = 100;
constexpr int kPlaced = 1;  // the match of a column's head: any name before a value is closer
constexpr std::size_t kLongLine = 4096;  // bytes
constexpr std::size_t kCountersOfLongLine = 16;

}  // namespace

Collector::Collector(const std::string& metric, std::size_t keep) : query_(metric), series_(keep) {
  if (series_.is_bounded()) plans_.emplace(kLivePlans);
}

void Collector::favour(const Series* series) {
  if (series_.favoured() == series) return;
  series_.favour(series);
  counters_.start_over();
}

void Collector::remember_refused() {
  refusals_.begin();
  if (!is_settled()) plans_.reset();
}

bool Collector::settle() {
  if (is_settled()) return true;
  if (!series_.favoured() || above_.was_used || bars_.tells_parts()) return false;
  words_ = counters_.needed(series_.favoured()->traits);
  if (is_settled()) plans_.emplace(kSettledPlans);
  return is_settled();
}

void Collector::feed(std::string_view line, double time) {
  // A file that was cut while its writer kept its place begins with a hole.
  line.remove_prefix(std::min(line.find_first_not_of('\0'), line.size()));
  now_.whole = line.size();
  if (!words_.empty() && !holds_any(line, words_)) return;
  if (line.find("\xEF\xBC") != std::string_view::npos) {
    narrow(line, unescaped_);
    return feed_line(unescaped_, time);
  }
  if (line.find("#01") == std::string_view::npos) return feed_line(line, time);
  // A syslog on the way has written control characters as #octal: tab 011, return 015, back 010.
  unescaped_.clear();
  bool went_back = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view code = line.substr(i, 4);
    if (code == "#015" || code == "#010" || code == "#012") {
      went_back = true;
      i += 3;
      continue;
    }
    if (went_back && !unescaped_.empty()) {
      feed_line(unescaped_, time);
      unescaped_.clear();
    }
    went_back = false;
    unescaped_.push_back(code == "#011" ? '\t' : line[i]);
    if (code == "#011") i += 3;
  }
  feed_line(unescaped_, time);
}

void Collector::feed_line(std::string_view line, double time) {
  if (++line_ == 1) begun_ = time;
  const bool has_plans = plans_ && !above_.is_best && above_.phase == Phase::none && !has_head();
  if (const LinePlan* plan = has_plans ? plans_->find(line) : nullptr) {
    return run_plan(line, *plan, time);
  }
  while (!line.empty()) {
    const std::size_t end = end_of_bar(line);
    if (end < line.size()) refuse_plan();
    feed_part(line.substr(0, end), time);
    line.remove_prefix(end);
    line_ += line.empty() ? 0 : 1;
  }
}

void Collector::feed_part(std::string_view line, double time) {
  const std::string_view text = without_prefix(line);
  if (plans_) plans_->begin_text(static_cast<std::size_t>(text.data() - line.data()));
  feed_long(line, text, time);
  if (const std::optional<Phase> heading = heading_of(text)) {
    // Where training begins again the values are as they were before the first evaluation.
    above_.phase = *heading == Phase::eval && values_ > 0 ? Phase::eval : Phase::none;
    above_.is_first = true;
    above_.epoch = place_.epoch;
    refuse_plan();
  }
  if (plans_) plans_->end_line();
}

void Collector::run_plan(std::string_view line, const LinePlan& plan, double time) {
  table_.pass_over();
  progress_.begin_line(false, time);
  place_.begin_line();
  if (plan.has_values) {
    place_.record = record_hash(line.substr(plans_->position_of(plan.text)));
  }
  for (const PlanStep& step : plan.steps) {
    const std::size_t at = plans_->position_of(step.at);
    std::optional<Number> number = number_at(line, at);
    if (!number) number = non_finite_at(line, at);
    if (!number) continue;
    if (step.kind != PlanStep::Kind::value) place_.count(step.role, number->value);
    if (step.kind == PlanStep::Kind::counter) {
      progress_.counter(step.key, step.role, number->value, number->integer);
    } else if (step.kind == PlanStep::Kind::percent) {
      progress_.ratio(step.key, step.role, number->value, kHundred);
    } else if (step.kind == PlanStep::Kind::ratio) {
      const std::optional<Number> total = number_at(line, plans_->position_of(step.total));
      if (total) progress_.ratio(step.key, step.role, number->value, total->value);
    } else {
      add_value(*step.series, number->value, step.integer, plan.has_counter, time);
    }
  }
  if (std::exchange(took_metric_, false)) progress_.values();
}

void Collector::feed_long(std::string_view line, std::string_view text, double time) {
  if (text.find_first_not_of(" \t") == std::string_view::npos) {
    if (!table_.is_row(line)) return;
    text = line;  // "2023-04-29 01:45:54,0.001,0.53" looks like a time to its end
  }
  if (is_binary(text)) {
    has_zero_bytes_ = true;
    return;
  }
  const bool is_copy = std::exchange(above_.is_best, announces_best(text));
  if (above_.is_best) refuse_plan();
  if (is_copy) return;
  if (query_.empty() && is_command(text)) return read_command(text, time);
  if (query_.empty() && is_listing(text)) return refuse_plan();
  if (time > begun_ && !progress_.has_total()) {
    if (const std::optional<double> left = time_left_in(text)) {
      progress_.time_left(time - begun_, *left);
      refuse_plan();
    }
  }
  now_.text = text;
  place_.begin_line();
  place_.record = record_hash(text);
  now_.label = {};
  now_.in_table = false;
  const Field* placed = query_.empty() ? nullptr : column_.read(line, query_.asked());
  const TableLine kind = table_.read(line, text);
  if (kind != TableLine::none || table_.awaits_header() || column_.is_open()) refuse_plan();
  if (kind == TableLine::header || (kind == TableLine::none && column_.is_head())) return;
  if (kind == TableLine::row) {
    now_.in_table = true;
    text = table_.row();
    place_.record = record_hash(text);
    take_row(text);
    take_fields(now_.row, text, time);
    return;
  }
  const LineFacts& facts = scanner_.scan(text);
  now_.bar = facts.bar;
  const auto is_cut = [&](const Field& field) { return ends_at_comma(field, text); };
  const bool has_comma = std::any_of(facts.fields.begin(), facts.fields.end(), is_cut);
  if (!has_comma && !placed) return take_fields(facts.fields, text, time);
  now_.row = facts.fields;
  if (has_comma) {
    has_decimal_commas_ = true;
    refuse_plan();
    std::erase_if(now_.row, is_cut);
  }
  if (placed) now_.row.push_back(*placed);
  take_fields(now_.row, text, time);
}

void Collector::read_command(std::string_view text, double time) {
  refuse_plan();
  progress_.begin_line(false, time);
  const std::vector<ToldTotal> all = told_totals(text, {});
  const bool has_epochs =
      std::any_of(all.begin(), all.end(), [](const ToldTotal& told) { return told.of_epochs; });
  for (const ToldTotal& told : all) {
    // "--epochs 10 --steps 100": the steps may be those of an epoch.
    if (told.of_epochs || !has_epochs) {
      progress_.total(letters_hash(told.name), told.of_epochs, told.total);
    }
  }
}

std::string Collector::warning() const {
  if (has_zero_bytes_) return "the log holds zero bytes: UTF-16 and binary data are not read";
  if (has_decimal_commas_)
    return "numbers with a decimal comma (0,53) are not read: set LC_NUMERIC=C";
  return {};
}

/// "loss: 0,5312" would be read as 0: rather not at all.
bool Collector::ends_at_comma(const Field& field, std::string_view text) const {
  if (!field.integer || field.key.empty() || field.has_total) return false;
  const std::size_t comma = text.find_first_not_of("0123456789", field.at);
  if (comma == text.npos || comma + 1 >= text.size() || text[comma] != ',' ||
      !is_digit(text[comma + 1]))
    return false;
  const std::size_t end = std::min(text.find_first_not_of("0123456789", comma + 1), text.size());
  const bool ends = end == text.size() || (!is_letter(text[end]) && text[end] != ',');
  const bool is_group = end - comma == 4 && text[field.at] != '0' && !has_decimal_commas_;
  return ends && !is_group && judge_name(field.key).weight > kNamedWeight;
}

void Collector::take_row(std::string_view text) {
  const std::size_t bar = percent_of_bar(text);
  now_.bar = bar == std::string_view::npos ? Bar{} : scanner_.scan(text.substr(bar)).bar;
  now_.bar.title = now_.bar.present ? bar : 0;
  now_.label = table_.label();
  Phase phase = phase_of_word(lower(now_.label));
  if (phase != Phase::none) now_.label = {};
  if (phase == Phase::none) phase = table_.phase();
  now_.row.clear();
  for (const Cell& cell : table_.cells()) {
    Field field;
    field.key = cell.column;
    field.value = cell.number.value;
    field.integer = cell.number.integer;
    field.percent = cell.number.percent;
    field.unit = cell.unit;
    field.has_total = cell.has_total;
    field.total = cell.total;
    field.phase = phase;
    now_.row.push_back(field);
  }
}

const NameInfo& Collector::judge(std::string_view key, std::uint64_t hash) {
  const auto known = names_.find(hash);
  if (known != names_.end()) return known->second;
  if (names_.size() >= kMaxNames) names_.clear();
  const NameInfo& info =
      names_.emplace(hash, judge_name(key.substr(0, kMaxNameBytes))).first->second;
  if (!query_.empty() && info.weight > kNamedWeight && seen_.size() < kMaxSeen) {
    seen_.emplace_back(key.substr(0, kMaxNameBytes));
  }
  return info;
}

void Collector::judge_fields(const std::vector<Field>& fields) {
  judged_.clear();
  if (judged_.capacity() > kUsualFields) judged_.shrink_to_fit();
  for (const Field& field : fields) {
    Judged judged;
    if (!field.key.empty()) {
      judged.hash = name_hash(field.key);
      judged.info = judge(field.key, judged.hash);
      if (field.has_total && judged.info.role == Role::metric &&
          judged.info.weight <= kNamedWeight) {
        judged.info.role = Role::step;  // "Training 640/60000": no kind of value is named
      }
      // "Total batch # 3400/3830", "E: 9.0/10".
      const bool is_part_of_epoch = field.has_total && !field.integer && !now_.in_table;
      if (is_part_of_epoch || (field.has_total && judged.info.role == Role::total)) {
        const bool of_epochs = is_part_of_epoch || is_of_epochs(field.key);
        judged.info.role = of_epochs ? Role::epoch : Role::step;
      }
      if (field.after_best && judged.info.role == Role::metric && !judged.info.is_best) {
        judged.info.is_best = true;
        judged.info.weight = std::max(0.5, judged.info.weight - kRecordPenalty);
      }
      if (field.named_after && judged.info.role == Role::metric &&
          judged.info.phase == Phase::none) {
        // "719.53, 719.53 avg": named by how it was averaged, a value the program need not explain.
        judged.info.weight = std::max(judged.info.weight, kSelfEvident);
      }
    }
    judged_.push_back(judged);
  }
}

Collector::LineKind Collector::read_counters(const std::vector<Field>& fields,
                                             std::string_view text) {
  LineKind kind;
  bool epoch = false;
  bool seen_metric = false;  // counters behind the first value tell no more than those before it
  const bool has_ratio =
      std::any_of(fields.begin(), fields.end(), [](const Field& field) { return field.has_total; });
  // What a counter is takes a look at the whole line; they stand at its ends.
  const std::size_t ends = now_.whole > kLongLine ? kCountersOfLongLine : fields.size();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i >= ends && i + ends < fields.size()) continue;
    const Field& field = fields[i];
    const Judged& judged = judged_[i];
    const Role role = judged.info.role;
    if (field.average || field.unit || is_at_rest(fields, i)) continue;
    if (role == Role::metric && !seen_metric) {
      seen_metric = true;
      kind.counter_first = kind.has_counter || epoch;
      if (kind.counter_first) kind.grain = kind.has_counter ? Grain::fine : Grain::epoch;
    }
    const bool is_stated = note_total(field, judged, text, has_ratio);
    const bool is_outer = stands_outside(fields, i, text);
    if (field.key.empty()) {
      const bool leads = i == 0 && field.integer && !field.percent;
      kind.has_counter =
          kind.has_counter || field.has_total || (field.bracketed && field.integer) || leads;
      count_nameless(fields, i, is_outer, text);
      continue;
    }
    const bool is_counter = role == Role::epoch || role == Role::step;
    const bool is_of_eval = field.phase == Phase::eval || judged.info.phase == Phase::eval;
    if (is_counter) (role == Role::epoch ? epoch : kind.has_counter) = true;
    if (field.has_total && role != Role::metric) {
      kind.has_counter = kind.has_counter || (!is_counter && counts_data(field.key));
      count_ratio(field, judged, is_outer, text);
    } else if (role == Role::epoch && !is_stated) {
      count(field, judged.hash, role);
    } else if (role == Role::step && !is_stated && !is_of_eval && is_counter_of_steps(field.key)) {
      count(field, judged.hash, role);
    }
  }
  if (epoch && fields.size() == 1 && !now_.bar.present) {
    bars_.begin_epoch();
    refuse_plan();
  }
  if (kind.grain == Grain::none) {
    kind.grain = kind.has_counter ? Grain::fine : epoch ? Grain::epoch : Grain::none;
  }
  return kind;
}

/// A total that stands alone, and how much is done in percent. True if prose states the total.
bool Collector::note_total(const Field& field, const Judged& judged, std::string_view text,
                           bool has_ratio) {
  if (judged.info.role == Role::total && may_be_total(text, field)) {
    progress_.total(judged.hash, is_of_epochs(field.key), field.value);
    refuse_plan();
  }
  if (now_.in_table || has_ratio) return false;
  if (const auto stated = stated_total(text, field)) {
    progress_.total(letters_hash(text), stated->of_epochs, stated->total);
    refuse_plan();
    return true;
  }
  const bool is_end = is_end_of_shares(text, field);
  if (is_progress(text, field) && !is_aside(text, field)) {
    count(field, letters_hash(text.substr(0, field.at)), Role::step, PlanStep::Kind::percent);
  } else if (field.phase != Phase::eval && (is_end || is_share_of_steps(text, field))) {
    progress_.share(field.value, is_end);
    refuse_plan();
    if (!plans_) counters_.add(letters_hash("share"), field.key);
  } else if (may_be_percentage(field)) {
    refuse_plan();
  }
  return false;
}

void Collector::count_ratio(const Field& field, const Judged& judged, bool is_outer,
                            std::string_view text) {
  Role role = judged.info.role;
  if (is_outer ||
      (role != Role::step && !now_.in_table && role_of_ratio(text, field) == Role::epoch)) {
    role = Role::epoch;
  }
  if (role != Role::epoch) {
    if (role != Role::step && !counts_data(field.key)) return;
    if (judged.info.phase == Phase::eval || is_aside(text, field)) return;
    role = Role::step;
  }
  count(field, judged.hash, role, PlanStep::Kind::ratio);
}

void Collector::count_nameless(const std::vector<Field>& fields, std::size_t index, bool is_outer,
                               std::string_view text) {
  const Field& field = fields[index];
  const std::uint64_t name = letters_hash(text.substr(0, field.at));
  if (field.has_total) {
    const bool says_nothing =
        !now_.bar.present && std::none_of(text.begin(), text.end(), is_letter);
    const Role role = is_outer       ? Role::epoch
                      : says_nothing ? Role::unknown
                                     : role_of_ratio(text, field);
    if (index > 0 && is_share(fields[index - 1]) && judged_[index - 1].info.weight > kNamedWeight)
      return;
    if (!is_aside(text, field)) count(field, is_outer ? ~name : name, role, PlanStep::Kind::ratio);
  } else if (index > 0 && !now_.in_table && judged_[index - 1].info.role == Role::epoch &&
             is_share_of_epoch(text, fields[index - 1], field)) {
    progress_.share_of_epoch(field.value);
    refuse_plan();
  } else if (is_outer && field.integer) {
    count(field, ~name, Role::epoch);
  } else if (index == 0 && field.integer && !field.percent && fields.size() > 1 &&
             !is_index(text, field)) {
    count(field, name, Role::unknown);
  }
}

/// A counter, which has a total or not.
void Collector::count(const Field& field, std::uint64_t key, Role role, PlanStep::Kind kind) {
  place_.count(role, field.value);
  if (kind == PlanStep::Kind::counter) {
    progress_.counter(key, role, field.value, field.integer, is_many_steps(field.key));
  } else {
    const bool is_free = kind == PlanStep::Kind::ratio && !now_.in_table;
    const RatioKind of = is_free ? kind_of_ratio(now_.text, field, role) : RatioKind::plain;
    progress_.ratio(key, role, field.value, field.has_total ? field.total : kHundred, of);
  }
  if (field.scaled) refuse_plan();
  if (plans_) {
    plans_->record({kind, role, false, {}, {}, key, nullptr}, field.at, field.total_at);
  } else if (kind != PlanStep::Kind::counter) {
    counters_.add(key, field.key);
  }
}

void Collector::read_bar(const std::vector<Field>& fields, std::string_view text, LineKind& kind) {
  if (!now_.bar.present) return;
  refuse_plan();
  kind.grain = Grain::redraw;
  kind.has_counter = true;
  bool is_work = false;  // and no loading of files, no evaluation by its own words
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const NameInfo& info = judged_[i].info;
    is_work = is_work || (info.role == Role::metric && info.phase != Phase::eval &&
                          fields[i].phase != Phase::eval && !fields[i].has_total);
  }
  kind.bar = bars_.read(now_.bar, text_hash(text.substr(0, now_.bar.title)), line_, is_work);
}

bool Collector::is_candidate(const Field& field, const Judged& judged, bool nameless_line) const {
  if (field.key.empty()) {
    return nameless_line && query_.empty() && !field.bracketed && !field.has_total && !field.unit;
  }
  if (!query_.empty()) return query_.match(field.key, field.phase) > 0;
  const Role role = judged.info.role;
  if (role == Role::metric) {
    // "distance=5431 kB": what may be a metric is none where a unit follows.
    const bool has_unit = field.unit || (field.far_unit && judged.info.weight <= kMayBeMetric);
    return !has_unit && !(field.bracketed && field.integer);
  }
  if (role != Role::unknown) return false;
  return !field.unit && !field.far_unit && !field.has_total && !field.average;
}

void Collector::take_fields(const std::vector<Field>& fields, std::string_view text, double time) {
  if (fields.empty()) {
    above_.phase = Phase::none;
    return;
  }
  judge_fields(fields);
  now_.of_class = std::any_of(fields.begin(), fields.end(), is_class);
  counters_.begin_line();
  const Series* favoured = series_.favoured();
  const std::uint64_t before = favoured ? favoured->added : 0;
  progress_.begin_line(now_.bar.present, time);
  LineKind kind = read_counters(fields, text);
  read_bar(fields, text, kind);
  // Lines of another kind or of the next epoch are no longer what the heading spoke of.
  if ((!above_.is_first && above_.has_counter != kind.has_counter) || place_.epoch > above_.epoch) {
    above_.phase = Phase::none;
  }
  bool took_value = false;
  bool nameless_line = true;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Role role = judged_[i].info.role;
    const bool named = !fields[i].key.empty() && (role == Role::metric || role == Role::unknown);
    if (named && !fields[i].integer) nameless_line = false;
  }
  if (plans_) plans_->note_counter(kind.has_counter);
  if (nameless_line) now_.skeleton = letters_hash(text);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool is_of_bar =
        now_.bar.present && fields[i].percent && percent_of_bar(text) == fields[i].at;
    if (is_of_bar || !is_candidate(fields[i], judged_[i], nameless_line)) {
      refusals_.add(fields[i], judged_[i].hash, !query_.empty());
      continue;
    }
    if (fields[i].key.empty() && i == 0 && fields[i].integer && fields.size() > 1) continue;
    int occurrence = 0;
    for (std::size_t j = 0; j < i && !fields[i].key.empty(); ++j) {
      occurrence += judged_[j].hash == judged_[i].hash && fields[j].phase == fields[i].phase &&
                    fields[j].average == fields[i].average;
    }
    if (occurrence > 1) continue;
    took_value = true;
    take_value(fields[i], judged_[i], kind.grain, occurrence, i, kind, time);
    if (kind.bar.is_finished)
      take_value(fields[i], judged_[i], Grain::finished, occurrence, i, kind, time);
  }
  if (std::exchange(took_metric_, false)) progress_.values();
  if (above_.phase != Phase::none) {
    above_.has_counter = kind.has_counter;
    above_.is_first = false;
    if (!took_value) above_.phase = Phase::none;
  }
  if (!plans_) counters_.end_line(favoured && favoured->added > before);
}

Phase Collector::phase_of(const Field& field, const Judged& judged, const LineKind& kind) {
  if (judged.info.phase != Phase::none) return judged.info.phase;
  if (field.phase != Phase::none) return field.phase;
  if (kind.bar.phase != Phase::none || above_.phase == Phase::none) return kind.bar.phase;
  above_.was_used = true;
  return above_.phase;
}

void Collector::take_value(const Field& field, const Judged& judged, Grain grain, int occurrence,
                           std::size_t position, const LineKind& kind, double time) {
  const Phase phase = phase_of(field, judged, kind);
  std::uint64_t identity = field.key.empty() ? mix(now_.skeleton, position) : judged.hash;
  identity =
      mix(identity, static_cast<std::uint64_t>(grain) * 64 + static_cast<std::uint64_t>(phase) * 8 +
                        (field.average ? 4 : 0) + static_cast<std::uint64_t>(occurrence));
  if (kind.counter_first) identity = mix(identity, 3);
  if (judged.info.is_best) identity = mix(identity, 5);
  if (field.quoted || now_.in_table) identity = mix(identity, now_.in_table ? 2 : 1);
  if (field.placed) identity = mix(identity, 9);
  if (!now_.label.empty()) identity = mix(identity, text_hash(now_.label));
  if (query_.is_same(field.key)) identity = mix(identity, 7);
  Series* series = find_or_create(identity, field, judged, grain, occurrence, position, kind);
  if (!series || (is_settled() && series != series_.favoured())) return;
  if (plans_) {
    PlanStep step;
    step.integer = field.integer;
    step.series = series;
    plans_->record(step, field.at);
  }
  if (field.key != series->traits.name) series->traits.one_spelling = false;
  if (grain == Grain::finished && kind.bar.is_same) {
    series->replace_last(field.value);
    return;
  }
  add_value(*series, field.value, field.integer, kind.has_counter, time);
}

void Collector::add_value(Series& series, double value, bool integer, bool has_counter,
                          double time) {
  if (series.is_copy(place_, value, has_counter)) return;
  series.add({time, value}, line_, integer, series_.room_of(series));
  ++values_;
  took_metric_ = took_metric_ || series.traits.info.role == Role::metric;
}

Series* Collector::find_or_create(std::uint64_t identity, const Field& field, const Judged& judged,
                                  Grain grain, int occurrence, std::size_t position,
                                  const LineKind& kind) {
  Series* known = series_.find(identity);
  if (known || is_settled()) return known;
  if (series_.is_full()) {
    series_.evict();
    if (plans_) plans_->forget();
  }
  SeriesTraits traits;
  traits.name = field.key.empty() ? "column " + std::to_string(position + 1)
                                  : std::string(field.key.substr(0, kMaxNameBytes));
  if (!now_.label.empty()) traits.name += " (" + std::string(now_.label) + ")";
  if (field.average) traits.name += " (average)";
  traits.info = judged.info;
  traits.grain = grain;
  traits.phase = phase_of(field, judged, kind);
  traits.average = field.average;
  traits.repeated_key = occurrence > 0;
  traits.nameless = field.key.empty();
  traits.percent = field.percent;
  traits.in_table = now_.in_table || field.placed;
  traits.of_report = is_of_report(now_.text);
  traits.of_fold = kind.grain == Grain::none && is_of_fold(now_.text);
  traits.labelled = !now_.label.empty() && lower(now_.label) != "all";
  traits.of_class = now_.of_class;
  traits.match = query_.empty() ? 0 : field.placed ? kPlaced : query_.match(field.key, field.phase);
  traits.family =
      mix(mix(judged.hash, static_cast<std::uint64_t>(traits.phase) * 4 + (field.average ? 2 : 0) +
                               static_cast<std::uint64_t>(occurrence)),
          now_.label.empty() ? 0 : text_hash(now_.label));
  return &series_.add(identity, std::move(traits));
}

}  // namespace flowcon::ctrl::metrics
