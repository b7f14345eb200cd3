// SPDX-License-Identifier: Apache-2.0
// Which of several counters speaks for the whole job.
#include "ctrl/metrics/progress.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "ctrl/metrics/hash.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::size_t kMaxStates = 16;
constexpr std::ptrdiff_t kMaxTotals = 4;  // of one name; more are no totals
constexpr std::size_t kMaxStated = 8;
constexpr double kMostTotal = 1e15;
// What programs print that have no end: the largest whole numbers, or the last ones below them.
constexpr std::array<double, 2> kEndless{2147483647, 4294967295};
// A fall from above the one to below the other begins a cycle, as does one from the end or from the
// same place.
constexpr double kCycleEnd = 0.85;
constexpr double kCycleBegin = 0.15;
// How long others may go on before a counter that stands still is over.
constexpr std::uint64_t kPatience = 8;
constexpr std::uint64_t kSureRises = 8;      // of a ratio alone on its lines
constexpr std::uint64_t kPatientValues = 8;  // lines of values after its end
constexpr std::uint64_t kSureTimes = 3;      // left, before they speak for the job
constexpr double kShortestCycle = 5;         // seconds
constexpr std::uint64_t kLeastRises = 2;
constexpr std::uint64_t kManyValues = 20;
constexpr double kHundred = 100;
constexpr double kLeastBeyond = 10;  // of a total
constexpr double kMostBeyond = 1.05;

bool is_total(double total) {
  const bool is_endless = std::any_of(kEndless.begin(), kEndless.end(), [total](double most) {
    return total > most - 8 && total <= most + 1;
  });
  return total >= 1 && total <= kMostTotal && !is_endless;
}

}  // namespace

Progress::State& Progress::state(std::uint64_t name, Role role, double done, double total) {
  std::ptrdiff_t namesakes = 0;
  bool is_pair = false;
  State* oldest = nullptr;
  RatioKind kind = RatioKind::plain;
  for (State& known : states_) {
    if (known.name != name) continue;
    kind = known.kind;
    if (role == Role::epoch || known.total == total) return known;
    ++namesakes;
    is_pair = is_pair || known.is_broken;
    // "4/203700", "4/203800": the total goes on, and the count does not.
    is_pair = is_pair || (known.rises + known.falls == 0 && known.done == done && done > 1 &&
                          known.total > 0 && total > known.total && known.last == moves_);
    if (!oldest || known.last < oldest->last) oldest = &known;
  }
  State fresh;
  fresh.name = name;
  fresh.role = role;
  fresh.kind = kind;
  fresh.first = fresh.done = done;
  fresh.total = total;
  fresh.epochs = epochs_;
  fresh.last = moves_;
  fresh.hops = hops_;
  fresh.first_line = line_;
  fresh.first_at = time_;
  fresh.values_before = values_;
  if (namesakes >= kMaxTotals || is_pair) {
    for (State& known : states_) known.is_broken = known.is_broken || known.name == name;
    fresh.is_broken = true;
    return *oldest = fresh;
  }
  if (states_.size() == kMaxStates) {
    // The one that was printed least gives way, an epoch last.
    const auto least = std::min_element(states_.begin(), states_.end(), [](auto& a, auto& b) {
      return std::tuple(a.role == Role::epoch, a.count) <
             std::tuple(b.role == Role::epoch, b.count);
    });
    *least = states_.back();
    states_.pop_back();
  }
  states_.push_back(fresh);
  return states_.back();
}

void Progress::move(State& now, double done) {
  if (done < now.done) {
    const double whole = now.total > 0 ? now.total : now.done;
    // "160/175" and then "40/175", which came first: one more step would have been beyond the end.
    const bool was_last = now.rises > 0 && now.total > 0 && done <= now.first &&
                          now.done + (now.done - now.before) > now.total;
    const bool anew = now.done == now.total || was_last ||
                      (now.done > kCycleEnd * whole && done < std::max(kCycleBegin * whole, 1.5));
    ++now.falls;
    now.cycles += anew || now.done == now.top;
    now.top = now.done;
  }
  if (done > now.done) {
    ++now.rises;
    now.crossed += now.epochs != epochs_;
  }
  if (now.role == Role::epoch && done != now.done) {
    now.fraction = 0;
    epochs_ += std::floor(done) != std::floor(now.done);
  }
  if (done != now.done) {
    now.before = now.done;
    ++moves_;
    hops_ += now.role == Role::unknown && now.falls * 2 > now.rises;
  }
  if (now.count > 0) now.gap = std::max(now.gap, moves_ - now.last);
  now.done = done;
  now.epochs = epochs_;
  now.last = moves_;
  now.hops = hops_;
  now.line = line_;
  now.values = values_;
  now.last_at = time_;
  ++now.count;
}

void Progress::begin_line(bool is_bar, double time) {
  ++line_;
  time_ = time;
  leading_.reset();
  is_led_ = is_bar;
}

void Progress::values() {
  ++values_;
  for (State& known : states_) known.has_values = known.has_values || known.line == line_;
}

void Progress::ratio(std::uint64_t name, Role role, double done, double total, RatioKind kind) {
  // "Batch 4/0" beside "Batch 4/200": a pair of indices.
  if (total == 0 && done > 0 && role != Role::epoch) {
    for (State& known : states_) known.is_broken = known.is_broken || known.name == name;
  }
  if (!is_total(total) || !(done >= 0) || done > total) return;
  State& now = state(name, role, done, total);
  if (now.is_passed) return;
  now.total = total;
  if (kind != RatioKind::plain) now.kind = kind;
  move(now, done);
  if (!is_led_ && role == Role::step) leading_ = name;
  is_led_ = true;
  if (role == Role::epoch) return;
  for (State& outer : states_) {
    if (outer.role != Role::epoch) continue;
    outer.has_inner = true;
    // Another bar within the epoch starts again: the epoch does not.
    outer.fraction = std::max(outer.fraction, done / total);
  }
}

void Progress::counter(std::uint64_t name, Role role, double done, bool is_whole, bool is_many) {
  if (!(done >= 0) || done > kMostTotal) return;
  State& now = state(name, role, done, 0);
  // "Epoch 00000: val_loss improved" beneath "Epoch 1/10": another one counts the same from 0.
  if (role == Role::epoch && now.total > 0 && done == now.done - 1) return;
  now.is_many = now.is_many || is_many;
  now.has_fractions = now.has_fractions || !is_whole;
  // "epoch 7" of a loop around fits that each say "Epoch 1/1".
  if (now.total > 0 && done > now.total) {
    now.total = 0;
    now.is_passed = role == Role::epoch;
  }
  move(now, done);
  is_led_ = is_led_ || role == Role::epoch;
  if (role != Role::epoch || !leading_) return;
  // "Epoch 1/10" on a line of its own is the outer one.
  const bool has_outer = std::any_of(states_.begin(), states_.end(), [](const State& known) {
    return known.role == Role::epoch && known.total > 0;
  });
  if (has_outer) return;
  for (State& known : states_) known.leads = known.leads || known.name == *leading_;
}

void Progress::total(std::uint64_t name, bool of_epochs, double total) {
  if (!is_total(total)) return;
  Stated now{name, of_epochs, total};
  now.line = line_;
  const auto known = std::find_if(stated_.begin(), stated_.end(),
                                  [name](const Stated& stated) { return stated.name == name; });
  if (known != stated_.end()) {
    now.rises = known->rises + (total > known->total);
    stated_.erase(known);
  } else if (stated_.size() == kMaxStated) {
    stated_.erase(stated_.begin());
  }
  stated_.push_back(now);
  if (now.rises >= 2) counter(name, of_epochs ? Role::epoch : Role::step, total, true);
}

void Progress::told(const std::vector<ToldTotal>& totals) {
  for (const ToldTotal& told : totals) {
    if (!is_total(told.total)) continue;
    if (stated_.size() == kMaxStated) stated_.erase(stated_.begin());
    stated_.push_back({letters_hash(told.name), told.of_epochs, told.total, 0, told.from});
  }
}

void Progress::share(double percent, bool is_end) {
  Shares& now = shares_;
  if (is_end && now.count == 0) return;
  if (now.count == 0) now.first_at = time_;
  now.rises += now.count > 0 && percent > now.done;
  now.has_fallen = now.has_fallen || percent < now.done;
  now.done = percent;
  now.last_at = time_;
  ++now.count;
}

void Progress::share_of_epoch(double percent) {
  EpochShare& now = epoch_share_;
  if (!(percent >= 0) || percent > kHundred) return;
  now.has_risen = now.has_risen || (now.epochs == epochs_ && percent > now.done);
  now.done = percent;
  now.epochs = epochs_;
  if (!now.has_risen) return;  // the accuracy of an epoch comes once
  for (State& outer : states_) {
    if (outer.role != Role::epoch || outer.line != line_) continue;
    outer.has_inner = true;
    outer.fraction = std::max(outer.fraction, percent / kHundred);
  }
}

void Progress::time_left(double since, double left) {
  TimeLeft& now = time_left_;
  if (!(since > 0) || !(left >= 0)) return;
  if (now.count == 0) now.epochs = epochs_;
  const bool is_anew = now.left < kCycleBegin * now.longest && left > now.longest / 2;
  now.is_cyclic = now.is_cyclic || (now.count > 0 && is_anew && left > kShortestCycle);
  now.longest = is_anew ? left : std::max(now.longest, left);
  ++now.count;
  now.since = since;
  now.left = left;
  now.share = std::max(now.share, since / (since + left));
}

/// The last one that is not below `least`.
const Progress::Stated* Progress::last_stated(bool of_epochs, double least) const {
  const Stated* last = nullptr;
  for (const Stated& stated : stated_) {
    const bool is_one = stated.of_epochs == of_epochs && stated.rises < 2;
    if (is_one && stated.total >= least) last = &stated;
  }
  return last;
}

double Progress::stated(bool of_epochs, double least) const {
  const Stated* last = last_stated(of_epochs, least);
  return last ? last->total : 0;
}

/// "Tuning trial 1/5", "Uploading file 1/5": what comes once, behind the work.
bool Progress::is_late(const State& state) const {
  return state.role == Role::step && state.rises == 0 && state.values_before >= kManyValues &&
         state.total != stated(false);
}

/// By one step of its own, the first time.
bool Progress::is_just_beyond(const State& state, double total) const {
  return state.rises >= kLeastRises && state.before < total && state.done <= kMostBeyond * total;
}

double Progress::total_of(const State& state) const {
  if (state.total > 0) {
    const bool is_sure = state.role != Role::unknown || state.rises >= kSureRises;
    if (!is_sure || is_late(state)) return 0;
    return state.kind == RatioKind::to_last ? state.total + 1 : state.total;
  }
  // A total that is stated elsewhere counts for what goes on towards it, not for a setting. One
  // that is there from the beginning has not gone.
  // A number that leads its lines needs time to show that it counts.
  const std::uint64_t least = state.role == Role::unknown ? kLeastRises : 1;
  if (state.role != Role::epoch && (state.rises < least || state.falls > 0)) return 0;
  const double last = stated(counts_epochs(state));
  // Printed as the next one, at the end it is one beyond; one that counts by many goes past it.
  const bool is_beyond = state.role == Role::step && last >= kLeastBeyond &&
                         (state.done == last + 1 || is_just_beyond(state, last));
  // "warmup: 200 iterations" behind "max_iter: 10000": what is passed is not how far it goes.
  const bool is_passed = state.role == Role::step && last > 0 && last < state.done && !is_beyond;
  const double total = is_passed ? stated(false, state.done) : last;
  const bool is_there = state.rises == 0 && state.done == total && total > 1;
  if (total > 0) return !is_there && (total >= state.done || is_beyond) ? total : 0;
  for (const State& setting : states_) {
    // "Error after 300 iterations" is said when they are over.
    const bool is_one = setting.is_many && setting.count == 1 && setting.first_line < state.line;
    if (is_one && state.role == Role::step && setting.done >= state.done) return setting.done;
  }
  return 0;
}

/// It was at its end from the beginning, or stands still while the job goes on.
bool Progress::is_dead(const State& state) const {
  if (state.is_broken) return true;
  const bool is_at_end = state.total > 0 && state.done >= state.total;
  // "Total optimization steps = 500", and the bar of 500/500: what comes behind it is not the work.
  const bool is_told = state.total > 1 && state.total == stated(false) && state.has_values;
  if (is_at_end && state.role == Role::step && is_told) return false;
  if (is_at_end && state.rises == 0) return true;
  // "(0/4)", "[1/8]": a part of the machine, not of the work; "0.3%" is of it.
  const bool is_whole = state.done == std::floor(state.done);
  if (is_whole && state.rises == 0 && state.falls == 0 && state.count >= kPatience) return true;
  std::uint64_t since = moves_ - state.last;
  // The ranks that say goodbye, each with its number in brackets, do not end what is told.
  if (state.total == 0) since -= hops_ - state.hops;
  if (!is_at_end) return since > kPatience + 4 * state.gap;
  return since > kPatience + 2 * state.count || values_ - state.values >= kPatientValues;
}

const Progress::State* Progress::best_epoch() const {
  const State* best = nullptr;
  // A total beside the counter says more than one that stands elsewhere.
  const auto worth = [](const State& state) { return std::tuple(state.total > 0, state.count); };
  for (const State& candidate : states_) {
    if (candidate.role != Role::epoch || total_of(candidate) <= 0) continue;
    if (stands_still(candidate) || is_over(candidate)) continue;
    if (!best || worth(candidate) > worth(*best)) best = &candidate;
  }
  return best;
}

/// Another part of the job has begun: behind its last line the log has said of how many steps, and
/// a counter that was not there before has made them since.
bool Progress::is_over(const State& epoch) const {
  if (epoch.rises < kLeastRises) return false;
  const Stated* steps = last_stated(false);
  bool is_said = steps && steps->line > epoch.line;
  bool goes_on = false;
  for (const State& other : states_) {
    if (other.role != Role::step || other.first_line <= epoch.line) continue;
    is_said = is_said || (other.is_many && other.rises == 0);
    goes_on = goes_on || (other.total == 0 && other.rises >= kPatience);
  }
  return is_said && goes_on;
}

/// While another one counts epochs.
bool Progress::stands_still(const State& epoch) const {
  return epoch.rises == 0 && std::any_of(states_.begin(), states_.end(), [](const State& other) {
           return other.role == Role::epoch && !other.has_fractions && other.rises >= 2;
         });
}

const Progress::State* Progress::best_step() const {
  const State* best = nullptr;
  const auto worth = [](const State& state) {
    const bool is_of_job = state.cycles == 0 && !counts_batches(state);
    return std::tuple(is_of_job, state.role == Role::step, state.total > 0, state.count);
  };
  for (const State& candidate : states_) {
    if (candidate.role == Role::epoch || total_of(candidate) <= 0 || is_dead(candidate)) continue;
    if (!best || worth(candidate) > worth(*best)) best = &candidate;
  }
  return best;
}

/// The epoch that a program counts, whether it says how many there are or not.
const Progress::State* Progress::named_epoch() const {
  const State* best = nullptr;
  for (const State& candidate : states_) {
    if (candidate.role != Role::epoch || candidate.has_fractions || is_over(candidate)) continue;
    if (!best || candidate.count > best->count) best = &candidate;
  }
  return best;
}

/// Until it has gone on from one epoch to the next twice, a counter beside an epoch may start again
/// with each. So may one whose job only states how many epochs there are.
bool Progress::is_within_epoch(const State& step, const State* epoch) const {
  if (step.cycles > 0) return true;
  if (step.leads && step.falls == 0) return false;
  // "iters: 200" before "epoch: 1, iter: 5/200".
  const bool is_stated = std::any_of(states_.begin(), states_.end(), [&step](const State& setting) {
    return setting.is_many && setting.total == 0 && setting.rises == 0 &&
           setting.done == step.total;
  });
  if (step.total > 0 && (is_stated || step.total == stated(false))) return false;
  const State* named = named_epoch();
  if (named && total_of(*named) == 1) return false;
  if (!named && counts_batches(step)) return stated(true) != 1;
  // "epoch 0" that never moves beside steps of a told number.
  const bool goes_far = step.total == 0 && step.role == Role::step && stated(false) > 0;
  if (named && !epoch && goes_far && named->rises == 0 && step.falls == 0) return false;
  if (named) return step.falls > 0 || step.crossed < (epoch ? 1U : 2U);
  return !epoch && stated(true) > 1 && step.total > 0 && step.role == Role::step;
}

/// What a counter without a total beside it counts towards.
bool Progress::counts_epochs(const State& state) const {
  return state.role == Role::epoch || (state.role == Role::unknown && stated(true) > 0);
}

Counter Progress::counted(const State& state, double done) const {
  Counter counter{done, total_of(state)};
  if (counter.total > 0) counter.done = std::min(done, counter.total);
  const Stated* stated = nullptr;
  if (state.total <= 0) stated = last_stated(counts_epochs(state), counter.total);
  if (stated) counter.from = stated->from;
  if (!stated && state.total <= 0) counter.from = TotalFrom::log;
  counter.first_at = state.first_at;
  counter.last_at = state.last_at;
  return counter;
}

/// They are the job's where nothing says of what else: no epoch, and no other total.
std::optional<Counter> Progress::by_shares() const {
  const Shares& now = shares_;
  if (now.has_fallen || now.rises < kLeastRises || !stated_.empty()) return std::nullopt;
  const bool has_other = std::any_of(states_.begin(), states_.end(), [this](const State& other) {
    return other.role == Role::epoch || other.total > 0 || total_of(other) > 0;
  });
  if (has_other) return std::nullopt;
  return Counter{now.done, kHundred, 0, TotalFrom::counter, now.first_at, now.last_at};
}

/// It is the job's own where it did not begin anew with an epoch, or where nothing counts within a
/// part of the job.
std::optional<Counter> Progress::by_time_left() const {
  const TimeLeft& now = time_left_;
  if (now.count < kSureTimes || now.is_cyclic) return std::nullopt;
  const bool has_parts = std::any_of(states_.begin(), states_.end(), [](const State& state) {
    return state.role == Role::epoch || state.total > 0;
  });
  if (has_parts && epochs_ == now.epochs) return std::nullopt;
  Counter counter{now.since, std::max(now.since, now.since / now.share)};
  counter.from = TotalFrom::time_left;
  return counter;
}

bool Progress::has_total() const {
  const std::optional<Counter> counted = by_counters();
  return (counted && counted->total > 0) || by_shares();
}

std::optional<Counter> Progress::result() const {
  const std::optional<Counter> counted = by_counters();
  if (counted && counted->total > 0) return counted;
  if (const std::optional<Counter> shared = by_shares()) return shared;
  const std::optional<Counter> timed = by_time_left();
  return timed ? timed : counted;
}

std::optional<Counter> Progress::by_counters() const {
  const State* epoch = best_epoch();
  const State* step = best_step();
  const bool is_within = step && is_within_epoch(*step, epoch);
  if (step && !is_within) return counted(*step, step->done);
  if (epoch && (total_of(*epoch) > 1 || !step)) {
    const double total = total_of(*epoch);
    // "Epoch 1/1" may stand at its beginning.
    if (total == 1 && !epoch->has_inner && !epoch->has_fractions) return std::nullopt;
    if (!epoch->has_inner || epoch->has_fractions) return counted(*epoch, epoch->done);
    const bool is_from_zero = epoch->first == 0 || epoch->kind == RatioKind::to_last;
    const double before = is_from_zero ? epoch->done : epoch->done - 1;
    return counted(*epoch, std::clamp(before + epoch->fraction, 0.0, total));
  }
  if (const State* named = named_epoch(); named && named->has_inner) {
    Counter counter{named->done, 0, named->fraction};
    counter.first_at = named->first_at;
    counter.last_at = named->last_at;
    return counter;
  }
  const bool has_begun = is_within && (step->cycles > 0 || counts_batches(*step));
  if (has_begun && !named_epoch() && stated(true) > 1) {
    // Only the bar of an epoch is printed, and how many there are.
    const double done = static_cast<double>(step->cycles) + step->done / step->total;
    const Stated& epochs = *last_stated(true);
    if (done <= epochs.total) {
      return Counter{done, epochs.total, 0, epochs.from, step->first_at, step->last_at};
    }
  }
  return std::nullopt;
}

}  // namespace flowcon::ctrl::metrics
