// SPDX-License-Identifier: Apache-2.0
// The registry: nobody else knows the policies' names.
#include "sim/groups/place_policies.h"
#include "sim/groups/policy.h"
#include "sim/groups/queue_policies.h"

namespace flowcon::sim::groups {

const std::vector<GroupPolicyKind>& group_policies() {
  static const std::vector<GroupPolicyKind> kPolicies{
      {"tf-operator", "task by task to random hosts; a job works with the workers it has",
       Works::any, false, make_tf_operator},
      {"tf-operator-whole", "the same; a job works only with all its tasks and can block others",
       Works::whole, false, make_tf_operator_whole},
      {"fifo", "in order of arrival, whole jobs by affinity", Works::gang, false, make_fifo},
      {"kod2", "KOD2's weighted queue, as published", Works::gang, false, make_kod2},
      {"kod2-repeat", "the same with prune and repeat", Works::gang, false, make_kod2_repeat},
      {"queue", "ours: least left first, most workers that fit", Works::gang, true, make_left},
      {"random", "each task to a random host with room", Works::gang, false, make_random},
      {"even", "to the host with the fewest tasks of its job", Works::gang, false, make_even},
      {"least-loaded", "to the host with the least of its GPUs in use", Works::gang, false,
       make_least_loaded},
      {"best-fit", "Liquid's best-fit, as published", Works::gang, false, make_best_fit},
      {"seeded", "ours: best-fit, begun from each host", Works::gang, false, make_seeded},
      {"genetic", "Liquid's grouping genetic algorithm over all waiting jobs", Works::gang, false,
       make_genetic},
  };
  return kPolicies;
}

const GroupPolicyKind* find_group_policy(std::string_view name) {
  for (const GroupPolicyKind& known : group_policies()) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

}  // namespace flowcon::sim::groups
