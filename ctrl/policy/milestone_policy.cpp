// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/milestone_policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/digits.h"
#include "base/json.h"
#include "ctrl/codec/milestone_json.h"
#include "ctrl/policy/changes.h"

namespace flowcon::ctrl::policy {
namespace {

// Where nobody looks, looks are further apart while no milestone is near: this share of the time to
// the nearest one, as fast as that job was ever seen to run, or may run now.
constexpr double kOfNearest = 1.0 / 60;
constexpr double kFarthest = 60;  // seconds

// Where one has no earlier run, its course is a guess: each gets this share of the host at least,
// up to so much for all together.
constexpr double kLeastByGuess = 0.01;
constexpr double kMostByGuess = 0.15;

double floor_for(const std::vector<growth::Forecast>& forecasts, double floor) {
  const bool is_guess = std::any_of(forecasts.begin(), forecasts.end(),
                                    [](const growth::Forecast& one) { return one.is_first; });
  if (!is_guess) return floor;
  const auto count = static_cast<double>(forecasts.size());
  return std::max(floor, std::min(kMostByGuess, kLeastByGuess * count));
}

// A guessed course tells too late that a usable model is near. Where every end is known, its worth
// is at least this meanwhile.
constexpr double kWorthByGuess = 1.25;

double worth_for(const std::vector<growth::Forecast>& forecasts, double worth) {
  bool is_guess = false;
  for (const growth::Forecast& one : forecasts) {
    if (one.basis == growth::Basis::age) return worth;
    is_guess = is_guess || (one.is_first && one.basis == growth::Basis::counter);
  }
  return is_guess ? std::max(worth, kWorthByGuess) : worth;
}

// A job that prints no value at all goes by its age so long; then it goes behind those that print.
constexpr double kMaySilent = 60;  // seconds

bool is_silent(const JobView& job, const growth::Forecast& expected, double now) {
  return expected.basis == growth::Basis::age && job.report != nullptr &&
         job.report->metric.empty() && job.report->candidates.empty() &&
         now - job.arrived > kMaySilent;
}

// Of a total that is said elsewhere than beside the counter: it may be another job's, or a part's.
double trust_in(const JobView& job, growth::Basis basis) {
  const bool is_counted = basis == growth::Basis::counter && job.report && job.report->counter;
  return is_counted ? metrics::trust_in(job.report->counter->from) : 1;
}

std::string whole(double number) { return render_number(std::round(number)); }

// A name of what says how much is left.
std::string source_of(const JobView& job, growth::Basis basis) {
  const bool is_counted = basis == growth::Basis::counter && job.report && job.report->counter;
  return is_counted ? name(job.report->counter->from) : name(basis);
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kSources{
    {{name(metrics::TotalFrom::counter), "progress counter"},
     {name(metrics::TotalFrom::log), "progress counter, total from its log"},
     {name(metrics::TotalFrom::command), "progress counter, total from its command"},
     {name(metrics::TotalFrom::environment), "progress counter, total from its environment"},
     {name(metrics::TotalFrom::time_left), "the time left that it prints"},
     {name(growth::Basis::memory), "an earlier run"},
     {name(growth::Basis::age), "its age, a guess"}}};

// " (progress counter, weighs 100 %)", for people. Records may be older than the field, or of a
// newer flowcond.
std::string told_by(const MilestoneMember& member) {
  for (const auto& [source, text] : kSources) {
    if (member.from != source) continue;
    const bool is_guess = source == name(growth::Basis::age);
    const std::string weight = is_guess ? "" : ", weighs " + percent(member.trust);
    return " (" + std::string(text) + weight + ")";
  }
  return member.is_blind ? " (a guess)" : "";
}

std::string reason_for(const Ranked& ranked, const MilestoneMember& member, std::size_t jobs) {
  std::string text = "milestone: " + std::to_string(ranked.rank + 1) + " of " +
                     std::to_string(jobs) + ", " + whole(member.left) + " CPU s left" +
                     told_by(member);
  if (member.left90 && member.open90 > 0) {
    text += ", 90 % of its gain to come (chance " + whole(member.open90 * 100) + " %)";
  }
  return text;
}

// Whether changes_of() finds something in it.
bool changes_any(const MilestoneState& state, const MilestoneDecision& decision) {
  for (std::size_t i = 0; i < state.members.size(); ++i) {
    const MilestoneMember& member = state.members[i];
    const Ranked& ranked = decision.members[i];
    if (member.before != ranked.rank) return true;
    if (member.share && std::fabs(ranked.share - *member.share) >= kLeastShareChange) return true;
  }
  return false;
}

// Seconds. One alone has the host until another comes.
double rare_look(const HostView& view, const MilestoneDecision& decision,
                 const HostParameters& parameters) {
  if (view.jobs.size() < 2) return std::numeric_limits<double>::infinity();
  const double cores = parameters.host.cores;
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < decision.members.size(); ++i) {
    const Ranked& job = decision.members[i];
    const growth::Track& track = *view.jobs[i].track;
    const double given = std::min(track.width().value_or(cores), job.share * cores);
    nearest = std::min(nearest, job.key / std::max(track.widest(), given));
  }
  return std::max(parameters.observe, std::min(kFarthest, kOfNearest * nearest));
}

}  // namespace

Result<std::string> explain(const MilestoneState& state, const MilestoneDecision& decision,
                            const About& about) {
  const auto member = std::find_if(state.members.begin(), state.members.end(),
                                   [&](const MilestoneMember& m) { return m.id == about.id; });
  if (member == state.members.end()) return bad_input("the container is not in this decision");
  const auto at = static_cast<std::size_t>(member - state.members.begin());
  const Ranked& ranked = decision.members[at];
  std::string text = "rank " + std::to_string(ranked.rank + 1) + " of " +
                     std::to_string(state.members.size()) + ": " + rounded(member->left) +
                     " CPU s left" + told_by(*member);
  if (member->left90 && member->open90 > 0) {
    text += ", 90 % of its gain to come (chance " + percent(member->open90) + "), " +
            rounded(*member->left90) + " CPU s per chance";
  }
  if (member->due) {
    text += *member->due < 0 ? "; late by " + rounded(-*member->due) + " s"
                             : "; due in " + rounded(*member->due) + " s";
  }
  text += "; share " + share_text(ranked.share);
  return text + granted(about, ranked.share);
}

MilestonePolicy::MilestonePolicy(const HostParameters& parameters, Forecaster& forecaster)
    : Flowcon(parameters), forecaster_(forecaster), fair_(parameters.host.cores) {}

// Who came goes into the fair world with what it has used, and who left leaves it.
void MilestonePolicy::meet(const std::vector<JobView>& jobs) {
  ++turn_;
  for (const JobView& job : jobs) {
    const auto [known, is_new] = kept_.try_emplace(job.id);
    if (is_new) fair_.add(job.id, job.track->used());
    known->second.turn = turn_;
  }
  std::erase_if(kept_, [this](const auto& job) {
    if (job.second.turn == turn_) return false;
    fair_.remove(job.first);
    forecaster_.forget(job.first);
    return true;
  });
}

MilestoneState MilestonePolicy::plan(const HostView& view) {
  const PlannerParameters& planner = parameters().planner;
  const double cores = parameters().host.cores;
  fair_.advance(view.now.steady);
  fair_.set_cores_there(view.cores_there.value_or(cores));
  meet(view.jobs);
  MilestoneState state;
  state.cores = cores;
  state.step = planner.step;
  state.inertia = planner.inertia;
  state.members.reserve(view.jobs.size());
  std::vector<growth::Forecast> forecasts;
  double longest = 0;  // that is left of a job that prints something
  for (const JobView& job : view.jobs) {
    forecasts.push_back(forecaster_.forecast(job));
    if (!is_silent(job, forecasts.back(), view.now.steady))
      longest = std::max(longest, forecasts.back().left);
  }
  state.floor = floor_for(forecasts, planner.floor);
  state.worth = worth_for(forecasts, planner.worth);
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    const JobView& job = view.jobs[i];
    Kept& kept = kept_.at(job.id);
    growth::Forecast& expected = forecasts[i];
    if (is_silent(job, expected, view.now.steady)) {
      expected.left = std::max(expected.left, longest);
      expected.open90 = 0;
    }
    MilestoneMember member;
    member.id = job.id;
    member.left = expected.left;
    member.left90 = expected.left90;
    member.open90 = expected.open90;
    member.is_blind = expected.basis == growth::Basis::age;
    member.from = source_of(job, expected.basis);
    member.trust = trust_in(job, expected.basis);
    member.width = job.track->width();
    member.before = kept.rank;
    member.share = kept.share;
    // Of a job whose end is not known it is only known that it has not ended there either.
    double total = job.track->used() + expected.left;
    if (member.is_blind) total = std::max(job.track->used(), fair_.used(job.id)) + expected.left;
    fair_.expect(job.id, total, member.width.value_or(cores));
    state.members.push_back(std::move(member));
  }
  const std::map<std::string, double>& ends = fair_.ends();
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    const JobView& job = view.jobs[i];
    const auto end = ends.find(job.id);
    if (end == ends.end()) continue;
    const double span = end->second - job.arrived;
    state.members[i].due = job.arrived + (1 + planner.lateness) * span - view.now.steady;
    if (span > 0) state.members[i].span = span;
  }
  return state;
}

void MilestonePolicy::keep(const MilestoneState& state, const MilestoneDecision& decision) {
  for (std::size_t i = 0; i < state.members.size(); ++i) {
    const Ranked& ranked = decision.members[i];
    Kept& kept = kept_.at(ranked.id);
    kept.rank = ranked.rank;
    kept.share = ranked.share;
    Share& cpu = share_of(ranked.id, Resource::cpu);
    // What has made most of its way is converged in reports to people and other hosts.
    cpu.list = state.members[i].open90 < 0.5 ? List::cl : List::nl;
    cpu.limit = ranked.share;
    if (!parameters().is_watched) continue;
    kept.reason = reason_for(ranked, state.members[i], state.members.size());
  }
}

// An order that stays is recorded once an interval.
void MilestonePolicy::record(double now, const MilestoneState& state,
                             const MilestoneDecision& decision, Rounds* rounds) {
  if (rounds == nullptr) return;
  const bool is_same = state.members.size() == last_recorded_ && !changes_any(state, decision);
  if (is_same && now < next_telling_) return;
  last_recorded_ = state.members.size();
  next_telling_ = now + parameters().interval;
  if (state.members.empty()) return;
  add_round(rounds, state, decision);
}

HostDecision MilestonePolicy::decide(const HostView& view, Rounds* rounds) {
  const double now = view.now.steady;
  const HostParameters& said = parameters();
  const bool needs_growth = said.is_watched || !said.others.empty();
  if (needs_growth && now >= next_growth_) {
    measure(view);
    next_growth_ = now + said.interval;
    decide_others(rounds);
  }
  reset_interval();
  const MilestoneState state = plan(view);
  const MilestoneDecision ranked = decide_milestone(state);
  keep(state, ranked);
  record(now, state, ranked, rounds);
  HostDecision decision = standings(view);
  decision.next = said.is_watched ? said.observe : rare_look(view, ranked, said);
  return decision;
}

std::string MilestonePolicy::reason(const std::string& id) const {
  const auto found = kept_.find(id);
  return found == kept_.end() ? "" : found->second.reason;
}

void MilestonePolicy::end(const JobView& job, double now) {
  fair_.advance(now);
  fair_.end(job.id, job.track->used());
  kept_.erase(job.id);
}

}  // namespace flowcon::ctrl::policy
