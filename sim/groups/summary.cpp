// SPDX-License-Identifier: Apache-2.0
#include "sim/groups/summary.h"

#include <array>

#include "sim/table.h"

namespace flowcon::sim::groups {
namespace {

struct Column {
  const char* name;
  const char* title;
  Figure GroupSummary::*figure;
  int decimals;
};

constexpr std::array<Column, 5> kColumns{{
    {"mean_completion_percent", "MEAN %", &GroupSummary::mean_completion_percent, 1},
    {"makespan_percent", "MAKESPAN %", &GroupSummary::makespan_percent, 1},
    {"cpu_use", "CPU USE", &GroupSummary::cpu_use, 2},
    {"stuck", "STUCK", &GroupSummary::stuck, 2},
    {"resizes", "RESIZES", &GroupSummary::resizes, 1},
}};

GroupSummary summary_of(const std::vector<GroupResult>& results,
                        const std::vector<GroupResult>& base) {
  GroupSummary summary;
  std::array<std::vector<double>, kColumns.size()> values;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const GroupResult& result = results[i];
    values[0].push_back(percent(result.mean_completion, base[i].mean_completion));
    values[1].push_back(percent(result.end, base[i].end));
    values[2].push_back(result.cpu_use);
    values[3].push_back(static_cast<double>(result.stuck));
    values[4].push_back(static_cast<double>(result.resizes));
    summary.mean_completion += result.mean_completion / static_cast<double>(results.size());
    summary.makespan += result.end / static_cast<double>(results.size());
  }
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    summary.*kColumns[i].figure = figure_of(values[i]);
  }
  return summary;
}

}  // namespace

std::vector<GroupSummary> run_experiment(
    const GroupExperiment& experiment,
    const std::function<void(const std::string& what)>& progress) {
  std::vector<std::string> models;
  for (const std::string_view model : experiment.schedule->models) models.emplace_back(model);
  if (!experiment.options.model.empty()) models = {experiment.options.model};
  if (models.empty()) models = {"mixed"};
  std::vector<GroupSummary> summaries;
  for (const std::string& model : models) {
    std::vector<GroupResult> base;
    for (const GroupPolicyKind* policy : experiment.policies) {
      std::vector<GroupResult> results;
      for (std::uint64_t i = 0; i < experiment.seeds; ++i) {
        GroupOptions options = experiment.options;
        options.model = model;
        options.seed = experiment.first_seed + i;
        if (progress) {
          progress(model + ", " + std::string(policy->name) + ", seed " +
                   std::to_string(options.seed));
        }
        results.push_back(run(experiment.schedule->make(options), *policy, experiment.parameters));
      }
      if (base.empty()) base = results;
      summaries.push_back(summary_of(results, base));
      summaries.back().model = model;
      summaries.back().policy = policy->name;
    }
  }
  return summaries;
}

std::string render(const std::vector<GroupSummary>& summaries, Format format) {
  std::vector<std::vector<Cell>> rows;
  for (const GroupSummary& summary : summaries) {
    std::vector<Cell>& row = rows.emplace_back();
    row.push_back({"model", "MODEL", summary.model});
    row.push_back({"policy", "POLICY", summary.policy});
    for (const Column& column : kColumns) {
      row.push_back({column.name, column.title, summary.*column.figure, column.decimals});
    }
    row.push_back({"mean_completion_seconds", "MEAN s", summary.mean_completion, 0});
    row.push_back({"makespan_seconds", "MAKESPAN s", summary.makespan, 0});
  }
  return sim::render(rows, format);
}

}  // namespace flowcon::sim::groups
