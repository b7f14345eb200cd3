// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/balance.h"

#include "cluster/codec/decision_json.h"

namespace flowcon::cluster::policy {
namespace {

// Steer looks at all pairs of a host's containers.
constexpr std::size_t kMostSteered = 1000;
constexpr double kMoveSeconds = 5;  // where none was measured

}  // namespace

std::vector<std::string> Balance::observe(const std::vector<Observed>& containers, double now,
                                          Rounds* rounds) {
  (void)Specon::observe(containers, now, rounds);
  return {};
}

Result<Plan> Balance::plan(const ClusterView& view, Rounds* rounds) {
  const Result<SteerState> state = steer_question(view, options().max_moves);
  if (!state) return state.error();
  SteerDecision decision = decide_steer(*state);
  ctrl::policy::add_round(rounds, *state, decision);
  return Plan{true, std::move(decision.moves)};
}

const char* Balance::objection(const JobReport& container) const {
  return container.moves >= options().max_moves
             ? "the container has migrated as often as max-moves allows"
         : container.beginning ? "the container has just begun"
                               : nullptr;
}

Result<SteerState> steer_question(const ClusterView& view, std::uint32_t max_moves) {
  SteerState state;
  state.max_moves = max_moves;
  std::vector<double> works;
  std::vector<double> costs;
  for (const HostReport& host : view.hosts) {
    for (const JobReport& job : host.containers) {
      if (job.left) works.push_back(*job.left);
    }
    if (host.move_seconds) costs.push_back(*host.move_seconds);
  }
  state.move_seconds = median(std::move(costs)).value_or(kMoveSeconds);
  const double usual = median(std::move(works)).value_or(SteeredJob().left);
  const Result<std::vector<const HostReport*>> hosts = in_order(view.hosts);
  if (!hosts) return hosts.error();
  for (const HostReport* host : *hosts) {
    if (host->containers.size() > kMostSteered) {
      return bad_input(host->name + " has more than " + std::to_string(kMostSteered) +
                       " containers: cluster-policy = balance is for fewer");
    }
    SteeredHost steered{host->id, host->cores, {}};
    for (const JobReport& job : host->containers) {
      const bool may_move = job.movable && job.left && !job.beginning && !view.is_barred(job.id);
      steered.jobs.push_back(
          {job.id, job.left.value_or(usual), job.width.value_or(host->cores), job.moves, may_move});
    }
    state.hosts.push_back(std::move(steered));
  }
  return state;
}

}  // namespace flowcon::cluster::policy
