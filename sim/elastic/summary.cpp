// SPDX-License-Identifier: Apache-2.0
#include "sim/elastic/summary.h"

#include <array>

#include "sim/elastic/modes.h"
#include "sim/table.h"

namespace flowcon::sim::elastic {
namespace {

constexpr double kMinutes = 60;  // of an hour

struct Column {
  const char* name;
  const char* title;
  Figure Summary::*figure;
};

constexpr std::array<Column, 5> kColumns{{
    {"mean_completion_minutes", "MEAN MIN", &Summary::completion},
    {"mean_queueing_minutes", "QUEUEING MIN", &Summary::queueing},
    {"queueing_percent", "QUEUEING %", &Summary::queueing_percent},
    {"additional_jobs", "ADDITIONAL JOBS/100", &Summary::additional_jobs},
    {"completed", "COMPLETED", &Summary::completed},
}};

// The runs of one allocator beside those of greedy, seed by seed.
Summary summary_of(int nodes, Allocator allocator, const std::vector<Run>& greedy,
                   const std::vector<Run>& runs) {
  std::array<std::vector<double>, kColumns.size()> values;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    values[0].push_back(run.mean_completion * kMinutes);
    values[1].push_back(run.mean_queueing * kMinutes);
    values[2].push_back(percent(run.mean_queueing, greedy[i].mean_queueing));
    values[3].push_back(additional_jobs(greedy[i], run));
    values[4].push_back(static_cast<double>(run.completed));
  }
  Summary summary;
  summary.nodes = nodes;
  summary.allocator = allocator;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    summary.*kColumns[i].figure = figure_of(values[i]);
  }
  return summary;
}

}  // namespace

std::vector<Summary> compare(const Comparison& comparison,
                             const std::function<void(const std::string& what)>& progress) {
  std::vector<Summary> summaries;
  for (const int nodes : comparison.nodes) {
    const auto runs_of = [&](Allocator allocator) {
      std::vector<Run> runs;
      for (std::uint64_t i = 0; i < comparison.seeds; ++i) {
        Setting setting = comparison.setting;
        setting.nodes = nodes;
        setting.allocator = allocator;
        setting.seed = comparison.first_seed + i;
        if (progress) {
          progress(std::string(name(allocator)) + ", " + std::to_string(nodes) + " nodes, seed " +
                   std::to_string(setting.seed));
        }
        runs.push_back(run(comparison.jobs, setting));
      }
      return runs;
    };
    const std::vector<Run> greedy = runs_of(Allocator::greedy);
    for (const Allocator allocator : comparison.allocators) {
      summaries.push_back(summary_of(nodes, allocator, greedy,
                                     allocator == Allocator::greedy ? greedy : runs_of(allocator)));
    }
  }
  return summaries;
}

std::string render(const std::vector<Summary>& summaries, Format format) {
  std::vector<std::vector<Cell>> rows;
  for (const Summary& summary : summaries) {
    const std::string policy(name(summary.allocator));
    std::vector<Cell>& row = rows.emplace_back();
    row.push_back({"", "POLICY", policy});
    row.push_back({"nodes", "NODES", std::int64_t{summary.nodes}});
    row.push_back({"policy", "", policy});
    for (const Column& column : kColumns) {
      row.push_back({column.name, column.title, summary.*column.figure});
    }
  }
  return sim::render(rows, format);
}

}  // namespace flowcon::sim::elastic
