// SPDX-License-Identifier: Apache-2.0
// The way of a line: prefixes off, a table's row or free text to fields, fields to series. The
// choice among the series is made when somebody asks.
#include "ctrl/metrics/extractor.h"

#include <re2/re2.h>

#include <algorithm>

#include "ctrl/metrics/choose.h"
#include "ctrl/metrics/collector.h"
#include "ctrl/metrics/doubt.h"
#include "ctrl/metrics/number.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::size_t kMaxPatternBytes = 4096;
constexpr int kMostMatches = 16;  // of a line: each may go to its end
// What RE2 makes of it. A line takes time by its length times this where no automaton fits.
constexpr int kMaxPatternSteps = 600;
constexpr std::size_t kMaxReported = 20;
constexpr std::uint64_t kLinesToSettle = 50000;
constexpr std::uint64_t kValuesToSettle = 1000;

/// The group that holds the value: named `value`, else the only one.
Result<int> value_group(const re2::RE2& pattern) {
  const auto& names = pattern.NamedCapturingGroups();
  const auto named = names.find("value");
  if (named != names.end()) return named->second;
  if (pattern.NumberOfCapturingGroups() == 1) return 1;
  return bad_input(
      "the pattern needs a group named \"value\", as in loss=(?P<value>[0-9.e+-]+), or exactly one "
      "group");
}

}  // namespace

struct Extractor::Impl {
  Impl(const Spec& what, std::size_t kept)
      : spec(what),
        keep(kept),
        collector(what.pattern.empty() ? what.metric : std::string(), kept) {
    collector.told(what.told);
  }

  void feed_pattern(std::string_view line, double time);
  void look_again();
  [[nodiscard]] Report look() const;
  [[nodiscard]] std::vector<Scored> ranked() const;
  [[nodiscard]] std::string missing_text() const;
  [[nodiscard]] bool is_none(const std::vector<Scored>& order, const Series* series) const;
  [[nodiscard]] GoalGuess goal_for(const Series& series) const {
    return spec.goal ? GoalGuess{*spec.goal, false, "as set"} : judge_goal(series);
  }
  /// The choice is too doubtful to rank a job by; whoever reads a whole file sees it all the same.
  [[nodiscard]] bool is_withheld() const {
    return keep != 0 && !matched && collector.query().empty() && !is_sure;
  }

  Spec spec;
  std::size_t keep;
  Collector collector;
  std::unique_ptr<re2::RE2> pattern;
  int group = 0;
  std::unique_ptr<Series> matched;  ///< values of the pattern
  Report told;                      ///< as last asked for
  bool is_report_due = true;        ///< lines came since
  std::uint64_t lines = 0;
  const Series* chosen = nullptr;
  const Series* favoured = nullptr;
  std::uint64_t changes = 0;         ///< of the choice
  std::uint64_t favoured_since = 0;  ///< line
  bool is_sure = false;              ///< of `chosen`
  bool settled = false;
  std::uint64_t next_look = 1;  ///< number of values at which the choice is made again
};

void Extractor::Impl::feed_pattern(std::string_view line, double time) {
  re2::StringPiece text(line.data(), line.size());
  re2::StringPiece groups[10];
  const int wanted = std::min(group + 1, 10);
  std::size_t from = 0;
  for (int matches = 0;
       matches < kMostMatches && from <= line.size() &&
       pattern->Match(text, from, line.size(), re2::RE2::UNANCHORED, groups, wanted);
       ++matches) {
    const re2::StringPiece& value = groups[group];
    const std::optional<Number> number = whole_number({value.data(), value.size()});
    if (number) matched->add({time, number->value}, lines, number->integer, keep);
    const auto end = static_cast<std::size_t>(groups[0].data() - line.data()) + groups[0].size();
    from = groups[0].empty() ? end + 1 : end;
  }
}

std::vector<Scored> Extractor::Impl::ranked() const {
  return rank_candidates(collector.series(), collector.query());
}

/// How much better a challenger must be: the longer a choice has stood, the more.
double inertia(std::size_t count) { return count < 8 ? 0 : count < 64 ? 0.5 : 1.5; }

/// The choice may change while little is known and settles with the values; a whole file is judged
/// at its end.
void Extractor::Impl::look_again() {
  if (pattern || settled || collector.values() < next_look) return;
  next_look = collector.values() + 1 + collector.values() / 8;
  const std::vector<Scored> order = ranked();
  const auto present = std::find_if(order.begin(), order.end(),
                                    [&](const Scored& scored) { return scored.series == chosen; });
  if (order.empty()) {
    chosen = nullptr;
  } else if (keep == 0 || present == order.end() ||
             order.front().score > present->score + inertia(present->series->count())) {
    chosen = order.front().series;
  }
  if (chosen != favoured) {
    ++changes;
    favoured = chosen;
    favoured_since = collector.lines();
    is_sure = false;
  }
  // What was sure stays so unless doubt has grown: a job's rank must not come and go.
  if (keep != 0) is_sure = confidence_of(order, chosen) >= (is_sure ? 0.75 * kSure : kSure);
  collector.favour(chosen);
  const bool stands = collector.lines() >= kLinesToSettle &&
                      collector.lines() - favoured_since >= kLinesToSettle / 2;
  if (keep == 0 && chosen && stands && chosen->added >= kValuesToSettle)
    settled = collector.settle();
}

Extractor::Extractor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Extractor::Extractor(Extractor&&) noexcept = default;
Extractor& Extractor::operator=(Extractor&&) noexcept = default;
Extractor::~Extractor() = default;

Result<Extractor> Extractor::create(const Spec& spec, std::size_t keep) {
  auto impl = std::make_unique<Impl>(spec, keep);
  if (!spec.pattern.empty()) {
    if (spec.pattern.size() > kMaxPatternBytes)
      return bad_input("the pattern is longer than 4096 bytes");
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(1 << 20);
    impl->pattern = std::make_unique<re2::RE2>(spec.pattern, options);
    if (!impl->pattern->ok()) return bad_input("the pattern is not RE2: " + impl->pattern->error());
    if (impl->pattern->ProgramSize() > kMaxPatternSteps) {
      return bad_input("the pattern is too large once its repetitions are written out (" +
                       std::to_string(impl->pattern->ProgramSize()) + " steps, at most " +
                       std::to_string(kMaxPatternSteps) + "): repeat less, or use * and +");
    }
    const Result<int> group = value_group(*impl->pattern);
    if (!group) return group.error();
    if (*group > 9)
      return bad_input("the pattern has too many groups before the value's; make them (?:…)");
    impl->group = *group;
    SeriesTraits traits;
    traits.name = spec.metric.empty() ? "pattern" : spec.metric;
    traits.info = judge_name(spec.metric.empty() ? spec.pattern : spec.metric);
    impl->matched = std::make_unique<Series>(traits);
  }
  return Extractor(std::move(impl));
}

void Extractor::feed(std::string_view line, double time) {
  impl_->is_report_due = true;
  ++impl_->lines;
  if (impl_->pattern) impl_->feed_pattern(line, time);
  impl_->collector.feed(line, time);
  impl_->look_again();
}

const Report& Extractor::report() const {
  if (impl_->is_report_due) impl_->told = impl_->look();
  impl_->is_report_due = false;
  return impl_->told;
}

Report Extractor::Impl::look() const {
  Report report;
  std::vector<Scored> order = ranked();
  const Series* series = matched ? matched.get() : chosen;
  if (keep == 0 && !matched && !settled) series = order.empty() ? nullptr : order.front().series;
  for (const Scored& scored : order) {
    if (report.candidates.size() == kMaxReported) break;
    report.candidates.push_back({scored.series->traits.name, goal_for(*scored.series).goal,
                                 scored.score, scored.series->count()});
  }
  report.counter = collector.progress().result();
  report.warning = collector.warning();
  if (!series || series->added == 0 || is_none(order, series)) {
    if (!spec.metric.empty() && !matched) report.missing = missing_text();
    return report;
  }
  const bool named = matched || !collector.query().empty();
  report.confidence = named ? 1 : confidence_of(order, series);
  if (is_withheld()) {
    report.unsure_of = series->traits.name;
    return report;
  }
  report.metric = series->traits.name;
  const GoalGuess goal = goal_for(*series);
  report.goal = goal.goal;
  if (goal.is_guess) report.goal_guess = goal.how;
  report.samples = series->samples();
  report.head = series->head();
  report.series = std::max<std::uint64_t>(changes, 1);
  report.count = series->count();
  report.printed = static_cast<std::size_t>(series->added);
  // A whole file is asked about once.
  if (keep != 0) report.places = series->places();
  report.low = series->low;
  report.high = series->high;
  return report;
}

/// "200 OK", "running at 2.4": neither its name nor its values speak for it.
bool Extractor::Impl::is_none(const std::vector<Scored>& order, const Series* series) const {
  if (matched || !collector.query().empty()) return false;
  const SeriesTraits& traits = series->traits;
  const bool is_named =
      traits.nameless || traits.info.weight > kNamedWeight || traits.info.phase != Phase::none;
  return !is_named && std::any_of(order.begin(), order.end(), [series](const Scored& scored) {
    return scored.series == series && scored.score < 0;
  });
}

std::string Extractor::Impl::missing_text() const {
  std::string text = "nothing named " + spec.metric;
  for (const std::string& name : collector.seen()) {
    text += (&name == &collector.seen().front() ? "; seen: " : ", ") + name;
  }
  return text;
}

void Extractor::remember_refused() { impl_->collector.remember_refused(); }

Explanation Extractor::explain() const {
  Explanation out;
  const auto& all = impl_->collector.series();
  const NameQuery& query = impl_->collector.query();
  std::vector<Scored> order = impl_->ranked();
  if (order.size() > kMaxReported) order.resize(kMaxReported);
  // Asked for a name, what it does not fit is no candidate at all.
  for (std::size_t i = 0; query.empty() && i < all.size(); ++i) {
    const auto& series = all[i];
    const bool is_listed = std::any_of(order.begin(), order.end(), [&](const Scored& scored) {
      return scored.series == series.get();
    });
    if (is_listed || series->added == 0 || order.size() >= 2 * kMaxReported) continue;
    order.push_back({series.get(), 0, Goal::min});
  }
  for (const Scored& scored : order) {
    Explained candidate;
    candidate.metric = scored.series->traits.name;
    const GoalGuess goal = impl_->goal_for(*scored.series);
    candidate.goal = goal.goal;
    candidate.direction = goal.how;
    candidate.count = scored.series->count();
    candidate.reasons = explain_score(*scored.series, all, query);
    for (const Reason& reason : candidate.reasons) candidate.score += reason.points;
    out.candidates.push_back(std::move(candidate));
  }
  out.refused = impl_->collector.refused();
  return out;
}

const std::vector<std::string>& Extractor::needed_words() const {
  return impl_->collector.needed_words();
}

std::size_t Extractor::count() const {
  const Series* series = impl_->matched ? impl_->matched.get() : impl_->chosen;
  return series && !impl_->is_withheld() ? series->count() : 0;
}

}  // namespace flowcon::ctrl::metrics
