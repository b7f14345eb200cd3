// SPDX-License-Identifier: Apache-2.0
#include "sim/bound.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <vector>

namespace flowcon::sim {
namespace {

struct Piece {
  double arrival = 0;
  double work = 0;
  double width = 1;  // cores that it can use on one host
};

// What is no number counts as nothing: a bound may be too low.
Piece piece_of(double arrival, double work, double width) {
  const auto number = [](double value) { return std::isfinite(value) ? std::max(0.0, value) : 0; };
  return {number(arrival), number(work), std::max(1e-9, number(width))};
}

// Ends, in order, on one machine of `cores`, shortest remaining work first.
std::vector<double> pooled_ends(const std::vector<Piece>& pieces, double cores) {
  std::vector<double> ends;
  std::priority_queue<double, std::vector<double>, std::greater<>> left;
  double now = 0;
  std::size_t next = 0;
  while (next < pieces.size() || !left.empty()) {
    // One is there then, even where `now` has become no number.
    if (left.empty()) now = std::max(pieces[next].arrival, now);
    while (next < pieces.size() && !(pieces[next].arrival > now)) left.push(pieces[next++].work);
    const double shortest = left.top();
    left.pop();
    const double end = now + shortest / cores;
    if (next < pieces.size() && pieces[next].arrival < end) {
      left.push(shortest - (pieces[next].arrival - now) * cores);
      now = pieces[next].arrival;
    } else {
      now = end;
      ends.push_back(end);
    }
  }
  return ends;
}

// The k-th end, for every k.
std::vector<double> least_ends(const std::vector<Piece>& pieces, double cores) {
  std::vector<double> ends = pooled_ends(pieces, cores);
  std::vector<double> alone;
  for (const Piece& piece : pieces) alone.push_back(piece.arrival + piece.work / piece.width);
  std::sort(alone.begin(), alone.end());
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = std::max(ends[i], alone[i]);
  return ends;
}

double mean_from_arrival(const std::vector<Piece>& pieces, const std::vector<double>& ends) {
  double sum = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) sum += ends[i] - pieces[i].arrival;
  return ends.empty() ? 0 : sum / static_cast<double>(ends.size());
}

}  // namespace

Bounds bounds_of(const Schedule& schedule) {
  double cores = 0;
  double widest = 0;
  for (const HostSpec& host : schedule.hosts) {
    cores += host.cores;
    widest = std::max(widest, host.cores);
  }
  std::vector<Piece> whole;
  std::vector<Piece> to90;
  for (const JobSpec& job : schedule.jobs) {
    if (job.kill_after || job.crash_at) continue;
    const double width = std::min(job.parallelism, widest);
    whole.push_back(piece_of(job.arrival, job.work, width));
    to90.push_back(piece_of(job.arrival, job.work90(), width));
  }
  Bounds bounds;
  bounds.jobs = whole.size();
  const std::vector<double> ends = least_ends(whole, cores);
  bounds.mean_completion = mean_from_arrival(whole, ends);
  bounds.makespan = ends.empty() ? 0 : ends.back();
  bounds.mean_t90 = mean_from_arrival(to90, least_ends(to90, cores));
  return bounds;
}

}  // namespace flowcon::sim
