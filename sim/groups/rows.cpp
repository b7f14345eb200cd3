// SPDX-License-Identifier: Apache-2.0
#include "sim/groups/rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "sim/groups/summary.h"
#include "sim/table.h"

namespace flowcon::sim::groups {
namespace {

using Summaries = std::map<std::pair<std::string, std::string>, GroupSummary>;  // model, policy

Summaries summaries_of(std::string_view schedule, std::uint64_t seeds, const Progress& progress) {
  GroupExperiment experiment;
  experiment.schedule = find_group_schedule(schedule);
  for (const std::string_view name : experiment.schedule->policies) {
    experiment.policies.push_back(find_group_policy(name));
  }
  experiment.seeds = seeds;
  Summaries all;
  for (GroupSummary& summary : run_experiment(experiment, progress)) {
    all[{summary.model, summary.policy}] = std::move(summary);
  }
  return all;
}

std::string percent_text(double value) { return fixed(value, 1) + " %"; }

// KOD2's rows as an independent simulation has them.
struct Kod2Row {
  const char* model;
  const char* published;
  double percent;  // mean JCT against tf-operator
};

constexpr std::array<Kod2Row, 4> kKod2{{
    {"cnn-rand", "-", -4},
    {"vgg-16", "up to -84 %", -22},
    {"resnet-50", "-", -11},
    {"resnext-110", "-", -6},
}};

const GroupSummary& of_policy(const Summaries& all, const char* policy) {
  return all.at({"mixed", policy});
}

std::vector<PublishedRow> rows_of_size(const std::string& size, const Summaries& all) {
  const auto of = [&](const char* policy) -> const GroupSummary& { return of_policy(all, policy); };
  const auto mean = [&](const char* policy) { return of(policy).mean_completion_percent.mean; };
  const auto span = [&](const char* policy) { return of(policy).makespan_percent.mean; };
  const std::string name = "Liquid, " + size + " nodes: ";
  std::vector<PublishedRow> rows;
  rows.push_back({name + "best-fit as printed, mean JCT against random", "-14 %",
                  percent_text(mean("best-fit")), "as printed: worse", mean("best-fit") > 0});
  const auto add = [&](const char* what, const char* published, double ours, double goal) {
    rows.push_back(
        {name + what, published, percent_text(ours), "<= " + fixed(goal, 0) + " %", ours <= goal});
  };
  add("seeded, mean JCT against random", "-14 %", mean("seeded"), -22);
  add("seeded, mean JCT against even", "-32 %",
      percent(of("seeded").mean_completion, of("even").mean_completion), -32);
  add("genetic, mean JCT against random", "-25 ... -18 %", mean("genetic"), -25);
  add("genetic, mean JCT against even", "-25 ... -18 %",
      percent(of("genetic").mean_completion, of("even").mean_completion), -25);
  add("genetic, makespan against random", "-24 ... -18 %", span("genetic"), -24);
  add("genetic, makespan against even", "-24 ... -18 %",
      percent(of("genetic").makespan, of("even").makespan), -24);
  return rows;
}

}  // namespace

std::vector<PublishedRow> kod2_rows(std::uint64_t seeds, const Progress& progress) {
  const Summaries all = summaries_of("kod2", seeds, progress);
  const auto mean = [&](const char* model, const char* policy) {
    return all.at({model, policy}).mean_completion_percent.mean;
  };
  std::vector<PublishedRow> rows;
  for (const Kod2Row& row : kKod2) {
    const double ours = mean(row.model, "kod2");
    rows.push_back({"KOD2 " + std::string(row.model) + ": kod2, mean JCT against tf-operator",
                    row.published, percent_text(ours), fixed(row.percent, 0) + " % +-3",
                    std::fabs(ours - row.percent) <= 3});
  }
  double sum = 0;
  for (const char* model : {"vgg-16", "resnet-50", "resnext-110"}) {
    const double better = mean(model, "kod2") - mean(model, "queue");
    sum += better;
    rows.push_back({"KOD2 " + std::string(model) + ": queue, points better than kod2", "-",
                    fixed(better, 1), ">= 6", better >= 6});
  }
  rows.push_back({"KOD2 these three on average: queue, points better than kod2", "-",
                  fixed(sum / 3, 1), ">= 8", sum / 3 >= 8});
  double stuck = 0;
  double blocked = 0;
  for (const Kod2Row& row : kKod2) {
    for (const char* policy : {"kod2", "kod2-repeat", "queue"}) {
      stuck = std::max(stuck, all.at({row.model, policy}).stuck.mean);
    }
    blocked = std::max(blocked, all.at({row.model, "tf-operator-whole"}).stuck.mean);
  }
  rows.push_back({"KOD2 all models: jobs of 10 that never end, kod2 and queue", "-",
                  fixed(stuck, 1) + " (tf-operator-whole: up to " + fixed(blocked, 1) + ")", "0",
                  !(stuck > 0)});
  const double use = all.at({"vgg-16", "kod2"}).cpu_use.mean;
  const double base = all.at({"vgg-16", "tf-operator-whole"}).cpu_use.mean;
  const double more = percent(use, base);
  rows.push_back({"KOD2 vgg-16: CPU use against tf-operator-whole", "up to +92 %",
                  "+" + percent_text(more), ">= +50 %", more >= 50});
  return rows;
}

PublishedRow growth_row(const std::string& what, double few, double many, double random_few,
                        double random_many) {
  const double ours = many - few;
  const double base = random_many - random_few;
  return {what, "flat", fixed(ours, 0) + " s of " + fixed(base, 0) + " s", "<= 10 %",
          base > 0 && ours <= base / 10};
}

std::vector<PublishedRow> liquid_rows(const std::vector<LiquidSize>& sizes,
                                      const Progress& progress) {
  std::vector<PublishedRow> rows;
  std::vector<Summaries> all;
  for (const LiquidSize& size : sizes) {
    const std::string nodes = std::to_string(size.nodes);
    all.push_back(summaries_of("liquid-" + nodes, size.seeds, progress));
    for (PublishedRow& row : rows_of_size(nodes, all.back())) rows.push_back(std::move(row));
  }
  if (sizes.size() < 2) return rows;
  const auto mean = [](const Summaries& of_size, const char* policy) {
    return of_policy(of_size, policy).mean_completion;
  };
  for (const char* policy : {"seeded", "genetic"}) {
    rows.push_back(growth_row("Liquid, " + std::to_string(sizes.front().nodes) + " to " +
                                  std::to_string(sizes.back().nodes) + " nodes: " + policy +
                                  ", growth of mean JCT against that of random",
                              mean(all.front(), policy), mean(all.back(), policy),
                              mean(all.front(), "random"), mean(all.back(), "random")));
  }
  return rows;
}

}  // namespace flowcon::sim::groups
