// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/report/worth.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ctrl/growth/fit.h"

namespace flowcon::plugin {
namespace {

constexpr std::size_t kCells = 4000;  // of time, all alike
constexpr double kLongestGap = 120;   // seconds between two looks; longer ones say nothing
constexpr double kShortLook = 0.5;    // a shorter one does not tell what a job can use
constexpr double kLeastRate = 1e-6;   // of the host; below it a time would mean nothing
constexpr double kLeastUse = 0.01;    // of the host, on average; CPU time holds no other job up
constexpr double kUnlimited = 0.999;  // a limit above it limits nothing
constexpr double kBinding = 0.9;      // of its limit; a job that uses less has other reasons

struct Grid {
  double begin = 0;
  double width = 1;  // seconds of a cell
  std::size_t cells = 0;

  [[nodiscard]] double time(std::size_t cell) const {
    return begin + width * (static_cast<double>(cell) + 0.5);
  }
  [[nodiscard]] std::size_t cell(double time) const {
    const double at = std::floor((time - begin) / width);
    return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(cells)));
  }
};

// What a job used in each cell (empty: not known), and whether its limit may have held it there.
struct Track {
  std::vector<std::optional<double>> use;
  std::vector<char> is_limited;
  std::vector<double> free;
  double most_held = 0;  // used in a look while it was limited
  double peak = 1;
};

Grid make_grid(const ReportData& data) {
  double begin = HUGE_VAL;
  double end = -HUGE_VAL;
  for (const ReportRun& run : data.runs) {
    if (run.usage.empty()) continue;
    begin = std::min(begin, std::max(std::min(run.started, run.usage.front().time), data.since));
    end = std::max(end, run.usage.back().time);
  }
  Grid grid;
  if (!(begin < end)) return grid;
  grid.begin = begin;
  grid.width = (end - begin) / static_cast<double>(kCells);
  grid.cells = kCells;
  return grid;
}

double limit_at(const ReportRun& run, double time) {
  double limit = 1;
  const auto after =
      std::upper_bound(run.places.cpu.begin(), run.places.cpu.end(), time,
                       [](double moment, const ReportPlace& place) { return moment < place.time; });
  if (after != run.places.cpu.begin()) limit = std::prev(after)->limit.value_or(1);
  return limit;
}

// 95th percentile of what it used where no limit held it; at least the most that it used where one
// may have, which can only be less than what it wanted.
double peak_of(const Track& track) {
  std::vector<double> uses;
  for (std::size_t i = 0; i < track.use.size(); ++i) {
    if (track.use[i] && track.is_limited[i] == 0) uses.push_back(*track.use[i]);
  }
  if (uses.empty()) return track.most_held;
  const auto at = uses.begin() + static_cast<std::ptrdiff_t>((uses.size() - 1) * 95 / 100);
  std::nth_element(uses.begin(), at, uses.end());
  return std::max(track.most_held, *at);
}

bool is_held(double use, double limit) { return limit < kUnlimited && use >= kBinding * limit; }

Track track_of(const ReportRun& run, const Grid& grid) {
  Track track;
  track.use.resize(grid.cells);
  track.is_limited.resize(grid.cells);
  track.free.resize(grid.cells);
  double before = run.started;
  for (const ReportUse& look : run.usage) {
    // A row is about the time since the one before it.
    if (look.cpu && std::isfinite(*look.cpu) && look.time - before <= kLongestGap) {
      const std::size_t last = grid.cell(look.time);
      const bool is_long = look.time - before >= kShortLook;
      for (std::size_t i = grid.cell(before); i <= last && i < grid.cells; ++i) {
        track.use[i] = std::max(*look.cpu, 0.0);
        track.is_limited[i] = is_held(*track.use[i], limit_at(run, grid.time(i))) ? 1 : 0;
        if (is_long && track.is_limited[i] != 0)
          track.most_held = std::max(track.most_held, *track.use[i]);
      }
    }
    before = look.time;
  }
  track.peak = peak_of(track);
  return track;
}

void give_out(std::vector<Track>& tracks, std::size_t cell) {
  std::vector<double> demands;
  std::vector<Track*> there;
  double capacity = 0;
  for (Track& track : tracks) {
    if (!track.use[cell]) continue;
    const double use = *track.use[cell];
    capacity += use;
    demands.push_back(track.is_limited[cell] != 0 ? std::max(use, track.peak) : use);
    there.push_back(&track);
  }
  const std::vector<double> shares = equal_parts(capacity, demands);
  for (std::size_t i = 0; i < there.size(); ++i) there[i]->free[cell] = shares[i];
}

// When the job had made 90 % of its improvement.
std::optional<double> learnt_time(const ReportRun& run) {
  std::optional<double> first;
  double best = 0;
  const auto is_better = [&run](double a, double b) { return run.is_max ? a > b : a < b; };
  for (const ReportPoint& sample : run.samples) {
    if (!std::isfinite(sample.value)) continue;
    if (!first) first = best = sample.value;
    if (is_better(sample.value, best)) best = sample.value;
  }
  if (!first || *first == best) return std::nullopt;
  const double target = *first * (1 - ctrl::growth::kUsable) + best * ctrl::growth::kUsable;
  for (const ReportPoint& sample : run.samples) {
    const bool is_there = std::isfinite(sample.value) && !is_better(target, sample.value);
    if (is_there) return sample.time;
  }
  return std::nullopt;
}

std::optional<WorthTime> worth_until(const ReportRun& run, const Track& track, const Grid& grid,
                                     double end) {
  const std::size_t first = grid.cell(run.started);
  const std::size_t last = std::min(grid.cell(end), grid.cells - 1);
  double work = 0;
  for (std::size_t i = first; i <= last && i < grid.cells; ++i) work += track.use[i].value_or(0);
  if (!(work >= kLeastUse * static_cast<double>(last + 1 - first))) return std::nullopt;
  if (!(end > run.started)) return std::nullopt;
  WorthTime worth;
  worth.took = end - run.started;
  double done = 0;
  double known = 0;
  for (std::size_t i = first; i < grid.cells; ++i) {
    if (!track.use[i]) continue;
    done += track.free[i];
    ++known;
    if (done < work) continue;
    // Where nothing was limited both come to the same cell; what is less than one is no saving.
    worth.free = i == last ? worth.took : grid.time(i) - run.started;
    return worth;
  }
  const double rate = known > 0 ? done / known : 0;
  if (rate < kLeastRate) return std::nullopt;
  const double more = (work - done) / rate * grid.width;
  worth.free = std::max(run.usage.back().time - run.started, 0.0) + more;
  worth.is_extrapolated = true;
  // All that was used was free, too: what is missing is rounding.
  if (more < grid.width) worth.free = worth.took;
  return worth;
}

}  // namespace

const char* worth_method() {
  return "An estimate, not a measurement: nobody ran the same jobs without FlowCon. At each moment "
         "it divides the CPU time that all containers under control used together into equal "
         "parts. A container that used 90 % of its limit or more counts as held back: without "
         "FlowCon it uses as much as it did while nothing held it back (95th percentile), or its "
         "maximum. The others use what they did use, and the rest goes to those that can use it. A "
         "job's progress is proportional to its CPU time; jobs that used less than 1 % of the "
         "host, "
         "or ran on other hosts too, have no estimate. Beyond the records a job goes on at its "
         "mean "
         "rate. 90 % learnt: from the start until the best value so far has made 90 % of the way "
         "from the first value to the best one. The estimate ignores other programs, weights, "
         "memory and I/O, so small differences mean nothing.";
}

std::string worth_gap(const ReportData& data) {
  if (data.is_dry_run) {
    return "No estimate: flowcond runs with --dry-run, so its limits held nobody back.";
  }
  return "No estimate: no container that started in this time has made progress or ended.";
}

std::vector<double> equal_parts(double capacity, const std::vector<double>& demands) {
  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return demands[a] < demands[b]; });
  std::vector<double> shares(demands.size());
  double left = capacity;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double part = left / static_cast<double>(order.size() - i);
    shares[order[i]] = std::min(demands[order[i]], part);
    left -= shares[order[i]];
  }
  return shares;
}

std::vector<JobWorth> estimate_worth(const ReportData& data) {
  const Grid grid = make_grid(data);
  std::vector<Track> tracks;
  for (const ReportRun& run : data.runs) tracks.push_back(track_of(run, grid));
  for (std::size_t cell = 0; cell < grid.cells; ++cell) give_out(tracks, cell);
  std::vector<JobWorth> worths;
  for (std::size_t i = 0; i < data.runs.size(); ++i) {
    const ReportRun& run = data.runs[i];
    JobWorth worth;
    worth.id = run.id;
    // What began before the report's time has no whole record, what was elsewhere, too, neither.
    const bool is_whole =
        run.started >= data.since && run.stays.empty() && !run.has_moved && !run.usage.empty();
    if (is_whole && grid.cells > 0 && !data.is_dry_run) {
      if (const auto end = learnt_time(run)) {
        worth.learnt = worth_until(run, tracks[i], grid, *end);
      }
      if (run.finished) worth.whole = worth_until(run, tracks[i], grid, *run.finished);
    }
    worths.push_back(std::move(worth));
  }
  return worths;
}

}  // namespace flowcon::plugin
