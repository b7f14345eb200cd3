// SPDX-License-Identifier: Apache-2.0
// Two stages: a coarse grid on a few draws, then steps around its best; the winners are measured
// again on draws that the search has not seen, so that luck in the search is no gain.
#include "sim/tune.h"

#include <algorithm>
#include <cmath>

#include "sim/drive.h"
#include "sim/engine.h"
#include "sim/summary.h"

namespace flowcon::sim {
namespace {

using ctrl::policy::DividesBy;

constexpr double kLooksPerRun = 300;
constexpr std::uint64_t kSearchDraws = 3;        // the runs as they came, and two more
constexpr std::uint64_t kFirstFreshDraw = 1000;  // unlike those of the search
constexpr int kSteps = 2;                        // around the best of the grid

// How the runs fared.
struct Times {
  std::vector<double> completions;
  double mean = 0;
  double t90 = 0;
  double makespan = 0;
};

struct Candidate {
  TuneSetting setting;
  double score = 0;  // percent of the objective, in the search
};

double value_of(const Times& times, Objective objective) {
  return objective == Objective::mean  ? times.mean
         : objective == Objective::t90 ? times.t90
                                       : times.makespan;
}

// How much a setting differs from another: of two that do alike the one that changes less is taken.
int differences(const TuneSetting& a, const TuneSetting& b) {
  return (a.policy != b.policy) + (a.is_quota != b.is_quota) + (a.alpha != b.alpha) +
         (a.beta != b.beta) + (a.interval != b.interval) + (a.interval_max != b.interval_max);
}

// The percents of one setting, draw by draw.
struct Series {
  std::vector<double> mean, t90, makespan, worst;

  void add(const Times& with, const Times& present) {
    mean.push_back(percent(with.mean, present.mean));
    t90.push_back(percent(with.t90, present.t90));
    makespan.push_back(percent(with.makespan, present.makespan));
    double most = -100;
    for (std::size_t i = 0; i < with.completions.size(); ++i) {
      most = std::max(most, percent(with.completions[i], present.completions[i]));
    }
    worst.push_back(most);
  }
  [[nodiscard]] TuneRow row(std::optional<TuneSetting> setting) const {
    return {setting, effect(mean), effect(t90), effect(makespan), effect(worst)};
  }
  // What is drawn again differs as much as another history would: that spread is the error, it does
  // not shrink with more draws.
  static Effect effect(const std::vector<double>& values) {
    const Figure figure = figure_of(values);
    const double draws = static_cast<double>(values.size());
    return {figure.mean, figure.se.value_or(0) * std::sqrt(draws)};
  }
};

class Search {
 public:
  Search(const std::vector<ReplayRun>& runs, double cores, const TuneBase& base,
         Objective objective, const std::function<void(double)>& progress)
      : runs_(runs), cores_(cores), base_(base), objective_(objective), progress_(progress) {
    double seconds = 0;
    for (const ReplayRun& run : runs) seconds += run.seconds;
    shortest_ = seconds / static_cast<double>(runs.size()) / kLooksPerRun;
    // Few runs need more draws and cost less.
    draws_ = runs.size() > 100 ? 12 : 24;
  }

  Tuning run();

 private:
  [[nodiscard]] Times simulate(const Schedule& schedule,
                               const std::optional<TuneSetting>& setting) const;
  void consider(const TuneSetting& setting);
  void search_grid();
  void search_around(TuneSetting best);
  [[nodiscard]] std::vector<TuneSetting> finalists();
  [[nodiscard]] Tuning compare(const std::vector<TuneSetting>& chosen);
  void sort_candidates();
  void advance(double runs);

  const std::vector<ReplayRun>& runs_;
  double cores_;
  const TuneBase& base_;
  Objective objective_;
  const std::function<void(double)>& progress_;
  double shortest_ = 0;  // interval, seconds
  std::uint64_t draws_ = 0;
  std::vector<Schedule> schedules_;  // of the search
  std::vector<Times> present_;       // on each of them
  std::vector<Candidate> candidates_;
  double done_ = 0;
  double whole_ = 1;
};

void Search::advance(double runs) {
  done_ += runs;
  if (progress_) progress_(std::min(1.0, done_ / whole_));
}

Times Search::simulate(const Schedule& schedule, const std::optional<TuneSetting>& setting) const {
  PolicySet set;
  if (!setting) {
    set.hosts.push_back(drive("free", cores_, {}, {}));
  } else {
    PolicyParameters parameters;
    ctrl::policy::HostOptions& host = parameters.host;
    host.alpha = setting->alpha;
    host.beta = setting->beta;
    host.interval = std::max(setting->interval, shortest_);
    host.interval_max = std::max(setting->interval_max, host.interval);
    host.observe = std::max(base_.observe, shortest_);
    host.floor_all = base_.floor_all;
    host.growth = base_.growth;
    parameters.is_quota = setting->is_quota;
    set.hosts.push_back(drive(setting->policy, cores_, {}, parameters));
  }
  const RunResult result = sim::run(schedule, set, EngineParameters());
  Times times;
  for (std::size_t i = 0; i < result.jobs.size(); ++i) {
    const Outcome& outcome = result.jobs[i];
    const double arrival = schedule.jobs[i].arrival;
    times.completions.push_back(outcome.finished - arrival);
    times.mean += outcome.finished - arrival;
    times.t90 += outcome.reached90.value_or(outcome.finished) - arrival;
    times.makespan = std::max(times.makespan, outcome.finished);
  }
  times.mean /= static_cast<double>(result.jobs.size());
  times.t90 /= static_cast<double>(result.jobs.size());
  return times;
}

void Search::consider(const TuneSetting& setting) {
  const auto is_same = [&](const Candidate& known) { return known.setting == setting; };
  if (setting == base_.present || std::any_of(candidates_.begin(), candidates_.end(), is_same)) {
    return;
  }
  double sum = 0;
  for (std::size_t i = 0; i < schedules_.size(); ++i) {
    const Times times = simulate(schedules_[i], setting);
    sum += percent(value_of(times, objective_), value_of(present_[i], objective_));
  }
  candidates_.push_back({setting, sum / static_cast<double>(schedules_.size())});
  advance(static_cast<double>(schedules_.size()));
}

void Search::search_grid() {
  TuneSetting setting = base_.present;
  for (const ctrl::policy::HostPolicyKind& kind : ctrl::policy::host_policies()) {
    if (kind.divides_by == DividesBy::nothing) continue;
    for (const bool is_quota : {false, true}) {
      setting.policy = kind.name;
      setting.is_quota = is_quota;
      consider(setting);
    }
  }
  setting.policy = "flowcon";
  for (const bool is_quota : {false, true}) {
    for (const double alpha : {0.001, 0.003, 0.01, 0.03, 0.1, 0.3}) {
      for (const double interval : {5.0, 10.0, 20.0, 40.0, 80.0}) {
        if (interval < shortest_) continue;
        setting.is_quota = is_quota;
        setting.alpha = alpha;
        setting.interval = interval;
        setting.interval_max = std::max(base_.present.interval_max, interval);
        consider(setting);
      }
    }
  }
}

void Search::search_around(TuneSetting best) {
  const auto changed = [&](auto change) {
    TuneSetting setting = best;
    change(setting);
    setting.interval_max = std::max(setting.interval_max, setting.interval);
    consider(setting);
  };
  for (const double alpha : {0.5, 2.0}) changed([&](TuneSetting& s) { s.alpha *= alpha; });
  for (const double beta : {1.0, 2.0, 4.0, 8.0}) changed([&](TuneSetting& s) { s.beta = beta; });
  for (const double longest : {1.0, 4.0, 16.0}) {
    changed([&](TuneSetting& s) { s.interval_max = s.interval * longest; });
  }
}

// The best first; equal ones by their change.
void Search::sort_candidates() {
  const auto rank = [&](const Candidate& candidate) {
    return std::pair(std::round(candidate.score * 10),
                     differences(candidate.setting, base_.present));
  };
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
}

// The best of the other policy in any case, and the best that do not do alike.
std::vector<TuneSetting> Search::finalists() {
  sort_candidates();
  std::vector<TuneSetting> chosen;
  const auto is_other = [&](const Candidate& candidate) {
    return candidate.setting.policy != base_.present.policy;
  };
  const auto other = std::find_if(candidates_.begin(), candidates_.end(), is_other);
  if (other != candidates_.end()) chosen.push_back(other->setting);
  std::optional<double> last;
  for (const Candidate& candidate : candidates_) {
    const double score = std::round(candidate.score * 10);
    if (chosen.size() >= kMostOthers) break;
    if (candidate.setting != chosen.front() && score != last) chosen.push_back(candidate.setting);
    last = score;
  }
  return chosen;
}

// On draws that the search has not seen.
Tuning Search::compare(const std::vector<TuneSetting>& chosen) {
  std::vector<Series> series(chosen.size());
  Series free;
  for (std::uint64_t draw = 0; draw < draws_; ++draw) {
    const Schedule schedule = replay_schedule(runs_, cores_, kFirstFreshDraw + draw);
    const Times present = simulate(schedule, base_.present);
    free.add(simulate(schedule, std::nullopt), present);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      series[i].add(simulate(schedule, chosen[i]), present);
      advance(1);
    }
    advance(2);
  }
  Tuning tuning;
  tuning.free = free.row(std::nullopt);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    tuning.others.push_back(series[i].row(chosen[i]));
  }
  std::stable_sort(tuning.others.begin(), tuning.others.end(),
                   [&](const TuneRow& a, const TuneRow& b) {
                     return a.of(objective_).percent < b.of(objective_).percent;
                   });
  for (std::size_t i = 0; i < tuning.others.size() && !tuning.best; ++i) {
    const Effect& effect = tuning.others[i].of(objective_);
    if (effect.percent <= -kLeastGain && is_beyond_error(effect)) tuning.best = i;
  }
  return tuning;
}

Tuning Search::run() {
  // The present setting on each draw, 63 of the grid, 9 a step; the finalists, present and none.
  const auto searched = static_cast<double>(kSearchDraws);
  whole_ = searched * (1 + 63 + 9 * kSteps) + static_cast<double>(draws_ * (2 + kMostOthers));
  for (std::uint64_t draw = 0; draw < kSearchDraws; ++draw) {
    schedules_.push_back(replay_schedule(runs_, cores_, draw));
    present_.push_back(simulate(schedules_.back(), base_.present));
    advance(1);
  }
  search_grid();
  for (int step = 0; step < kSteps; ++step) {
    sort_candidates();
    const auto has_growth = [](const Candidate& c) {
      return ctrl::policy::divides_by(c.setting.policy) == DividesBy::growth;
    };
    const auto best = std::find_if(candidates_.begin(), candidates_.end(), has_growth);
    if (best != candidates_.end()) search_around(best->setting);
  }
  Tuning tuning = compare(finalists());
  tuning.mean = present_.front().mean;
  tuning.t90 = present_.front().t90;
  tuning.makespan = present_.front().makespan;
  return tuning;
}

}  // namespace

Tuning tune(const std::vector<ReplayRun>& runs, double cores, const TuneBase& base,
            Objective objective, const std::function<void(double)>& progress) {
  return Search(runs, cores, base, objective, progress).run();
}

}  // namespace flowcon::sim
