// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/rebalance.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace {

using flowcon::cluster::policy::Branch;
using flowcon::cluster::policy::decide_rebalance;
using flowcon::cluster::policy::is_rebalance_due;
using flowcon::cluster::policy::Move;
using flowcon::cluster::policy::RebalanceDecision;
using flowcon::cluster::policy::RebalanceState;
using flowcon::cluster::policy::Rounding;
using flowcon::cluster::policy::SettledContainer;
using flowcon::cluster::policy::WorkerLoad;

constexpr auto kNone = std::nullopt;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kNow = 1000;

// A host whose containers converged at these times: h1 has h1.0, h1.1 …
WorkerLoad host(const std::string& id, const std::vector<double>& converged_at) {
  WorkerLoad worker{id, {}};
  for (const double at : converged_at) {
    worker.containers.push_back(
        {id + '.' + std::to_string(worker.containers.size()), at, kNone, false});
  }
  return worker;
}

RebalanceState state_of(std::vector<WorkerLoad> workers) {
  RebalanceState state;
  state.now = kNow;
  state.workers = std::move(workers);
  return state;
}

// "h1.0>h2 h3.2>h4"
std::string shown(const RebalanceDecision& decision) {
  std::string text;
  for (const Move& move : decision.moves) {
    if (!text.empty()) text += ' ';
    text.append(move.container).append(">").append(move.to);
  }
  return text;
}

std::string moves_of(const RebalanceState& state) { return shown(decide_rebalance(state)); }

RebalanceState random_state(std::mt19937& random) {
  RebalanceState state = state_of({});
  state.guard = random() % 2 == 0;
  state.fill = random() % 2 == 0;
  state.rounding = random() % 2 == 0 ? Rounding::floor : Rounding::ceil;
  const bool idle_too = random() % 2 == 0;
  const auto size = 1 + random() % 7;
  for (unsigned i = 0; i < size; ++i) {
    WorkerLoad worker{"h" + std::to_string(i), {}};
    const unsigned most = random() % 3 == 0 ? 16 : 4;
    const auto count = (idle_too ? 0 : 1) + random() % most;
    for (unsigned k = 0; k < count; ++k) {
      // Few different times, so that there are ties.
      const auto time = [&random]() -> std::optional<double> {
        if (random() % 5 == 0) return kNone;
        return static_cast<double>(990 + random() % 15);
      };
      worker.containers.push_back(
          {worker.id + '.' + std::to_string(k), time(), time(), random() % 5 == 0});
    }
    state.workers.push_back(std::move(worker));
  }
  return state;
}

// Algorithm 5 as it is printed, word for word: each move looks at every container.
std::string moves_word_for_word(RebalanceState state) {
  std::vector<WorkerLoad>& workers = state.workers;
  std::size_t containers = 0;
  bool some_idle = false;
  for (const WorkerLoad& worker : workers) {
    containers += worker.containers.size();
    some_idle = some_idle || worker.containers.empty();
  }
  std::size_t factor = containers / workers.size();
  if (state.rounding == Rounding::ceil && containers % workers.size() != 0) ++factor;
  std::set<std::size_t> targets;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const std::size_t count = workers[i].containers.size();
    if (some_idle ? count == 0 : count + 1 < factor) targets.insert(i);
  }
  RebalanceDecision decision;
  for (const std::size_t target : targets) {
    auto& taking = workers[target].containers;
    while (taking.size() + (some_idle ? 0 : 1) < factor) {
      double least = std::numeric_limits<double>::infinity();
      std::vector<SettledContainer>* from = nullptr;
      std::size_t place = 0;
      for (std::size_t i = 0; i < workers.size(); ++i) {
        auto& giving = workers[i].containers;
        if (i == target || (!some_idle && targets.count(i) != 0)) continue;
        if (state.guard && giving.size() < taking.size() + 2) continue;
        for (std::size_t k = 0; k < giving.size(); ++k) {
          const auto at = giving[k].converged_at ? giving[k].converged_at : giving[k].migrated_at;
          if (giving[k].rebalanced || !at || !(state.now - *at < least)) continue;
          least = state.now - *at;
          from = &giving;
          place = k;
        }
      }
      if (!from) break;
      SettledContainer moved = (*from)[place];
      from->erase(from->begin() + static_cast<std::ptrdiff_t>(place));
      moved.rebalanced = true;
      decision.moves.push_back({moved.id, "", workers[target].id});
      taking.push_back(moved);
      if (!state.fill) break;
    }
  }
  return shown(decision);
}

}  // namespace

TEST_CASE("each idle worker takes the container that converged last") {
  const auto decision = decide_rebalance(state_of(
      {host("h1", {900, 940, 920}), host("h2", {}), host("h3", {930, 910, 901}), host("h4", {})}));
  CHECK(decision.balance_factor == 1);
  CHECK(decision.branch == Branch::idle);
  REQUIRE(decision.moves.size() == 2);
  CHECK(decision.moves[0].container == "h1.1");
  CHECK(decision.moves[0].from == "h1");
  CHECK(decision.moves[0].to == "h2");
  CHECK(decision.moves[1].container == "h3.0");
  CHECK(decision.moves[1].from == "h3");
  CHECK(decision.moves[1].to == "h4");
}

TEST_CASE("idle workers take nothing where there are fewer containers than workers") {
  const auto state = state_of({host("h1", {900, 940}), host("h2", {}), host("h3", {})});
  const auto decision = decide_rebalance(state);
  CHECK(decision.balance_factor == 0);
  CHECK(decision.branch == Branch::idle);
  CHECK(decision.moves.empty());
  RebalanceState ceil = state;
  ceil.rounding = Rounding::ceil;
  CHECK(decide_rebalance(ceil).balance_factor == 1);
  CHECK(moves_of(ceil) == "h1.1>h2 h1.0>h3");
}

TEST_CASE("with an idle worker the others are no targets, however uneven") {
  CHECK(moves_of(state_of({host("h1", {900}), host("h2", {901, 902, 903, 904, 905, 906, 907, 908}),
                           host("h3", {})})) == "h2.7>h3");
}

TEST_CASE("where none is idle, workers below the balance factor less one take from the others") {
  // 12 containers on 3 workers: 4; below 3 is h1 alone, 3 is enough.
  const auto state = state_of({host("h1", {990}), host("h2", {901, 902, 903}),
                               host("h3", {911, 912, 913, 914, 915, 916, 917, 918})});
  const auto decision = decide_rebalance(state);
  CHECK(decision.balance_factor == 4);
  CHECK(decision.branch == Branch::uneven);
  CHECK(shown(decision) == "h3.7>h1");
  RebalanceState fill = state;
  fill.fill = true;
  CHECK(moves_of(fill) == "h3.7>h1 h3.6>h1");
}

TEST_CASE("a target gives nothing to another target") {
  // 12 on 3: 4. h1 and h2 are both below 3; the container that converged last is on h1.
  CHECK(moves_of(state_of({host("h1", {990, 991}), host("h2", {980}),
                           host("h3", {911, 912, 913, 914, 915, 916, 917, 918, 919})})) ==
        "h3.8>h1 h3.7>h2");
}

TEST_CASE("even hosts stay as they are") {
  const auto decision = decide_rebalance(
      state_of({host("h1", {900, 901}), host("h2", {902, 903}), host("h3", {904})}));
  CHECK(decision.balance_factor == 1);
  CHECK(decision.branch == Branch::uneven);
  CHECK(decision.moves.empty());
}

TEST_CASE("a container counts from when it converged, otherwise from when it was migrated") {
  WorkerLoad busy{"h1",
                  {{"a", 900, 999, false},
                   {"b", kNone, 950, false},
                   {"c", kNone, kNone, false},
                   {"d", 960, kNone, true},
                   {"e", kNan, 940, false}}};
  CHECK(moves_of(state_of({busy, host("h2", {})})) == "b>h2");
  busy.containers[1].migrated_at = kNan;
  CHECK(moves_of(state_of({busy, host("h2", {})})) == "e>h2");
  busy.containers[4].rebalanced = true;
  CHECK(moves_of(state_of({busy, host("h2", {})})) == "a>h2");
  busy.containers[0].rebalanced = true;
  CHECK(moves_of(state_of({busy, host("h2", {})})).empty());
}

TEST_CASE("of equal times the first listed container is taken") {
  CHECK(moves_of(state_of({host("h1", {900, 950, 950}), host("h2", {950, 950}), host("h3", {}),
                           host("h4", {}), host("h5", {})})) == "h1.1>h3 h1.2>h4 h2.0>h5");
  SECTION("equal is what is equal after the subtraction") {
    // Doubles around 1e16 are 2 apart, so these are 1e16, 1e16 - 2 and 1e16 - 2 seconds ago.
    RebalanceState state = state_of({host("h1", {0, 2, 2.5}), host("h2", {})});
    state.now = 1e16;
    CHECK(moves_of(state) == "h1.1>h2");
  }
  SECTION("a time ahead of now is the youngest") {
    CHECK(moves_of(state_of({host("h1", {999, 1003, 1001}), host("h2", {})})) == "h1.1>h2");
  }
}

TEST_CASE("the published algorithm can swap which host idles, the guard cannot") {
  RebalanceState state = state_of({host("h1", {990}), host("h2", {}), host("h3", {900, 910})});
  CHECK(moves_of(state) == "h1.0>h2");
  state.guard = true;
  CHECK(moves_of(state) == "h3.1>h2");
  state.workers[2].containers.pop_back();
  state.rounding = Rounding::ceil;
  CHECK(moves_of(state).empty());
}

TEST_CASE("the guard compares counts as they are after each move") {
  RebalanceState state = state_of({host("h1", {990, 991}), host("h2", {}), host("h3", {}),
                                   host("h4", {900, 901, 902}), host("h5", {903})});
  state.guard = true;
  state.rounding = Rounding::ceil;
  // h1 gives one and has then one only.
  CHECK(moves_of(state) == "h1.1>h2 h4.2>h3");
  state.fill = true;
  // h2 with one container takes from the three on h4; h3 with one finds no three any more.
  CHECK(moves_of(state) == "h1.1>h2 h4.2>h2 h4.1>h3");
}

TEST_CASE("a source the guard refuses for one target may serve a later one") {
  // 20 on 4: 5, targets below 4. The youngest are on h1 with 4: too few for h2, enough for h3.
  RebalanceState state = state_of(
      {host("h1", {990, 991, 992, 993}), host("h2", {900, 901, 902}), host("h3", {903, 904}),
       host("h4", {911, 912, 913, 914, 915, 916, 917, 918, 919, 920, 921})});
  CHECK(moves_of(state) == "h1.3>h2 h1.2>h3");
  state.guard = true;
  CHECK(moves_of(state) == "h4.10>h2 h1.3>h3");
}

TEST_CASE("fill takes until there is no room or no candidate") {
  RebalanceState state = state_of(
      {host("h1", {901, 902, 903, 904, 905, 906, 907, 908, 909}), host("h2", {}), host("h3", {})});
  CHECK(moves_of(state) == "h1.8>h2 h1.7>h3");
  state.fill = true;
  CHECK(moves_of(state) == "h1.8>h2 h1.7>h2 h1.6>h2 h1.5>h3 h1.4>h3 h1.3>h3");
  for (std::size_t i = 0; i < 7; ++i) state.workers[0].containers[i].rebalanced = true;
  CHECK(moves_of(state) == "h1.8>h2 h1.7>h2");
}

TEST_CASE("without workers or containers there are no moves") {
  CHECK(decide_rebalance(state_of({})).moves.empty());
  CHECK(decide_rebalance(state_of({})).balance_factor == 0);
  const auto decision = decide_rebalance(state_of({host("h1", {}), host("h2", {})}));
  CHECK(decision.balance_factor == 0);
  CHECK(decision.branch == Branch::idle);
  CHECK(decision.moves.empty());
  CHECK(moves_of(state_of({host("h1", {901, 902})})).empty());
}

TEST_CASE("any state: the moves are those of the algorithm read word for word") {
  std::mt19937 random(31);
  std::map<std::size_t, int> seen;  // number of moves to number of states
  for (int i = 0; i < 20000; ++i) {
    const RebalanceState state = random_state(random);
    const RebalanceDecision decision = decide_rebalance(state);
    REQUIRE(shown(decision) == moves_word_for_word(state));
    ++seen[std::min<std::size_t>(decision.moves.size(), 3)];
  }
  for (std::size_t moves = 0; moves <= 3; ++moves) CHECK(seen[moves] > 500);
}

TEST_CASE("any state: with the guard no host ends idle that was not") {
  std::mt19937 random(32);
  for (int i = 0; i < 5000; ++i) {
    RebalanceState state = random_state(random);
    state.guard = true;
    std::map<std::string, std::size_t> counts;
    std::set<std::string> moved;
    for (const WorkerLoad& worker : state.workers) counts[worker.id] = worker.containers.size();
    for (const Move& move : decide_rebalance(state).moves) {
      CHECK(moved.insert(move.container).second);
      CHECK(counts[move.from] >= counts[move.to] + 2);
      --counts[move.from];
      ++counts[move.to];
      CHECK(counts[move.from] > 0);
    }
  }
}

TEST_CASE("it is time to rebalance when every container is in CC or migrated") {
  CHECK(is_rebalance_due({{3, 3}, {0, 0}, {1, 1}}, false));
  CHECK_FALSE(is_rebalance_due({{3, 3}, {2, 1}, {1, 1}}, false));
  CHECK_FALSE(is_rebalance_due({{0, 0}, {0, 0}}, false));
  CHECK_FALSE(is_rebalance_due({}, false));
  CHECK_FALSE(is_rebalance_due({}, true));
  SECTION("one host that claims too much speaks for itself alone") {
    CHECK_FALSE(is_rebalance_due({{1, 9}, {2, 0}}, false));
  }
  SECTION("ours: also when a host idles while another has two") {
    CHECK(is_rebalance_due({{2, 0}, {0, 0}}, true));
    CHECK_FALSE(is_rebalance_due({{2, 0}, {0, 0}}, false));
    CHECK_FALSE(is_rebalance_due({{1, 0}, {0, 0}}, true));
    CHECK_FALSE(is_rebalance_due({{2, 0}, {1, 0}}, true));
  }
}
