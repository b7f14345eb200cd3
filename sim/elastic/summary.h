// SPDX-License-Identifier: Apache-2.0
// Many runs of the elastic experiment summarised, each beside greedy on the same jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/elastic/elastic.h"
#include "sim/render.h"
#include "sim/summary.h"

namespace flowcon::sim::elastic {

/// One allocator on so many nodes; means over the seeds.
struct Summary {
  int nodes = 0;
  Allocator allocator = Allocator::greedy;
  Figure completion;        ///< minutes from arrival to end
  Figure queueing;          ///< minutes from arrival to start
  Figure queueing_percent;  ///< against greedy; negative is better
  Figure additional_jobs;   ///< per 100 of greedy, in the same time
  Figure completed;         ///< jobs
};

struct Comparison {
  std::vector<Job> jobs;
  std::vector<int> nodes;
  std::vector<Allocator> allocators;
  Setting setting;  ///< but for nodes, allocator and seed
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1;
};

/// By nodes, then allocators, as they are listed. Calls `progress`, if set, before each run.
[[nodiscard]] std::vector<Summary> compare(
    const Comparison& comparison,
    const std::function<void(const std::string& what)>& progress = nullptr);

/// JSON: an array with one object a summary; CSV: the same members as columns.
[[nodiscard]] std::string render(const std::vector<Summary>& summaries, Format format);

}  // namespace flowcon::sim::elastic
