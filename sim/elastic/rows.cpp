// SPDX-License-Identifier: Apache-2.0
#include "sim/elastic/rows.h"

#include <string>
#include <string_view>
#include <utility>

#include "sim/elastic/modes.h"
#include "sim/elastic/summary.h"
#include "sim/table.h"

namespace flowcon::sim::elastic {
namespace {

constexpr std::uint64_t kSeeds = 8;  // of what is drawn
constexpr int kGoalNodes = 110;
constexpr double kMostQueueing = -32;  // percent
constexpr double kLeastAdditional = 17.4;
constexpr double kLeastHarsh = 15;
constexpr double kMostLostByNoise = 2.4;
constexpr double kMostLostByDelay = 2.2;

const std::vector<int>& all_nodes() {
  static const std::vector<int> kNodes{70, 90, 110, 130, 150, 170, 190};
  return kNodes;
}

// What the product adds to the published allocator.
struct Extras {
  bool allow_zero = false;
  bool decides_at_events = false;
};

using Summaries = std::vector<Summary>;

Summaries horizon(const std::vector<Job>& jobs, std::string_view mode,
                  const std::vector<int>& nodes, Extras extras = {}) {
  Comparison comparison;
  comparison.jobs = jobs;
  comparison.nodes = nodes;
  comparison.allocators = {Allocator::horizon};
  comparison.setting = with_mode({}, *find_mode(mode));
  comparison.setting.allow_zero = extras.allow_zero;
  comparison.setting.decides_at_events = extras.decides_at_events;
  const bool is_drawn = mode != "exact" && mode != "age" && mode != "delay";
  comparison.seeds = is_drawn ? kSeeds : 1;
  return compare(comparison);
}

class Rows {
 public:
  explicit Rows(std::size_t jobs) : jobs_(jobs) {}

  void add(const Summary& summary, const std::string& what, std::string published, std::string ours,
           std::string goal, bool is_met) {
    rows_.push_back({"elastic, " + std::to_string(jobs_) + " jobs, " +
                         std::to_string(summary.nodes) + " nodes: " + what,
                     std::move(published), std::move(ours), std::move(goal), is_met});
  }

  // Additional jobs that are to be `least` at least on kGoalNodes.
  void add_at_least(const Summaries& summaries, const std::string& what,
                    const std::string& published, double least) {
    for (const Summary& summary : summaries) {
      const bool has_goal = summary.nodes == kGoalNodes;
      const double ours = summary.additional_jobs.mean;
      add(summary, what, published, text_of(summary.additional_jobs),
          has_goal ? ">= " + fixed(least, 1) : "-", !has_goal || ours >= least);
    }
  }

  // Additional jobs that are to be at most `most` fewer than in `exact`.
  void add_fewer(const Summaries& summaries, const Summaries& exact, const std::string& what,
                 const std::string& published, double most) {
    for (std::size_t i = 0; i < summaries.size(); ++i) {
      const double fewer = exact[i].additional_jobs.mean - summaries[i].additional_jobs.mean;
      add(summaries[i], what, published,
          text_of(summaries[i].additional_jobs) + ", " + fixed(fewer, 1) + " fewer",
          "<= " + fixed(most, 1) + " fewer", fewer <= most);
    }
  }

  void add_ours(const Summaries& summaries, const std::string& what) {
    for (const Summary& summary : summaries) {
      add(summary, what, "-", text_of(summary.additional_jobs), "-", true);
    }
  }

  std::vector<PublishedRow> take() { return std::move(rows_); }

 private:
  std::size_t jobs_;
  std::vector<PublishedRow> rows_;
};

void add_published(const std::vector<Job>& jobs, const Summaries& exact, Rows& rows) {
  for (const Summary& summary : exact) {
    const double queueing = summary.queueing_percent.mean;
    rows.add(summary, "queueing time", "up to -32 % (150 nodes)", fixed(queueing, 1) + " %",
             "<= " + fixed(kMostQueueing, 0) + " %", queueing <= kMostQueueing);
  }
  rows.add_at_least(exact, "additional jobs per 100", "up to 17.4 (110 nodes)", kLeastAdditional);
  rows.add_fewer(horizon(jobs, "noise", all_nodes()), exact, "... work known to 10 %",
                 "0.6 to 2.4 fewer", kMostLostByNoise);
  rows.add_at_least(horizon(jobs, "harsh", all_nodes()), "... and 15 % fail, 10 % are killed",
                    "up to 15.0", kLeastHarsh);
  rows.add_fewer(horizon(jobs, "delay", all_nodes()), exact, "... 15 s to scale up",
                 "-0.9 to 1.8 fewer", kMostLostByDelay);
}

// What nobody published: worse estimates, and the product's extras.
void add_ours(const std::vector<Job>& jobs, Rows& rows) {
  const std::vector<int> nodes{kGoalNodes, 150};
  rows.add_ours(horizon(jobs, "factor2", nodes), "... work known to a factor of 2");
  rows.add_ours(horizon(jobs, "factor4", nodes), "... to a factor of 4");
  rows.add_ours(horizon(jobs, "age", nodes), "... work unknown, age alone");
  rows.add_ours(horizon(jobs, "exact", nodes, {true, false}), "... jobs may be parked");
  rows.add_ours(horizon(jobs, "factor2", nodes, {true, false}),
                "... jobs may be parked, work known to a factor of 2");
  rows.add_ours(horizon(jobs, "exact", nodes, {true, true}),
                "... jobs may be parked, decided when a job comes or ends");
}

}  // namespace

std::vector<PublishedRow> elastic_rows(const TraceJobs& jobs) {
  const bool has_more = !jobs.of_447.empty();
  const std::vector<Job>& of_447 = has_more ? jobs.of_447 : jobs.all;
  Rows rows(of_447.size());
  const Summaries exact = horizon(of_447, "exact", all_nodes());
  add_published(of_447, exact, rows);
  add_ours(of_447, rows);
  std::vector<PublishedRow> all = rows.take();
  if (!has_more) return all;
  Rows rows_of_all(jobs.all.size());
  const Summaries exact_of_all = horizon(jobs.all, "exact", all_nodes());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double few = exact[i].additional_jobs.mean;
    const double many = exact_of_all[i].additional_jobs.mean;
    rows_of_all.add(exact_of_all[i], "additional jobs per 100", "up to 24.1", fixed(many, 1),
                    "> " + fixed(few, 1) + " (of the " + std::to_string(of_447.size()) + ")",
                    many > few);
  }
  for (PublishedRow& row : rows_of_all.take()) all.push_back(std::move(row));
  return all;
}

}  // namespace flowcon::sim::elastic
