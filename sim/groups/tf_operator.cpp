// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/random.h"
#include "sim/groups/queue_policies.h"
#include "sim/groups/tasks.h"

namespace flowcon::sim::groups {
namespace {

struct Task {
  std::size_t at = 0;  // of the job in the view
  bool is_ps = false;
};

class TfOperator : public GroupPolicy {
 public:
  TfOperator(std::uint64_t seed, bool is_shuffled)
      : random_(mix(seed, 0x7f0)), is_shuffled_(is_shuffled) {}

  GroupPlan decide(const GroupView& view) override {
    std::vector<Task> tasks;
    std::vector<Placement> placed;
    for (std::size_t i = 0; i < view.jobs.size(); ++i) {
      const KnownJob& job = view.jobs[i];
      placed.push_back(job.placed);
      for (std::int64_t n = count_of(job.placed.ps); n < job.ps; ++n) tasks.push_back({i, true});
      for (std::int64_t n = count_of(job.placed.workers); n < job.max; ++n) {
        tasks.push_back({i, false});
      }
    }
    if (is_shuffled_) shuffle(tasks, random_);
    std::vector<PlaceNode> nodes = view.nodes;
    GroupPlan plan;
    std::vector<bool> has_changed(view.jobs.size(), false);
    for (const Task& task : tasks) {
      const KnownJob& job = view.jobs[task.at];
      const Amounts& request = task.is_ps ? *job.ps_request : *job.worker_request;
      const std::vector<std::size_t> fitting = fitting_nodes(nodes, request);
      if (fitting.empty()) continue;
      const std::size_t node = fitting[random_.below(fitting.size())];
      use(nodes[node], request);
      put_one(task.is_ps ? placed[task.at].ps : placed[task.at].workers, node);
      has_changed[task.at] = true;
    }
    for (std::size_t i = 0; i < view.jobs.size(); ++i) {
      if (has_changed[i]) plan.changes.push_back({view.jobs[i].number, std::move(placed[i])});
    }
    return plan;
  }

 private:
  Random random_;
  bool is_shuffled_;
};

}  // namespace

std::unique_ptr<GroupPolicy> make_tf_operator(std::uint64_t seed) {
  return std::make_unique<TfOperator>(seed, false);
}

std::unique_ptr<GroupPolicy> make_tf_operator_whole(std::uint64_t seed) {
  return std::make_unique<TfOperator>(seed, true);
}

}  // namespace flowcon::sim::groups
