// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/place.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/codec/place_json.h"
#include "cluster/policy/best_fit.h"
#include "tests/cluster/policy/place_states.h"
#include "tests/support/catch.h"

namespace {

using namespace flowcon::test;
using flowcon::cluster::policy::amount_of;
using policy::PlaceMode;
using policy::PlaceState;
using policy::TaskRole;

std::size_t number_of(const PlaceState& state, const std::string& node) {
  const auto at = std::find_if(state.nodes.begin(), state.nodes.end(),
                               [&](const auto& each) { return each.id == node; });
  return static_cast<std::size_t>(at - state.nodes.begin());
}

// Bytes a second between two nodes as links tell: their own, else the slowest within their rack,
// else the slowest.
double bytes_per_s(const PlaceState& state, const policy::PlaceNode& one,
                   const policy::PlaceNode& other) {
  const auto node = [&](const std::string& id) { return state.nodes[number_of(state, id)]; };
  const auto rack = [](const policy::PlaceNode& of) { return std::pair(of.domain, of.rack); };
  std::optional<double> of_rack;
  std::optional<double> of_all;
  for (const policy::PlaceLink& link : state.links) {
    const bool is_same = link.a == one.id && link.b == other.id;
    const bool is_reverse = link.b == one.id && link.a == other.id;
    if (is_same || is_reverse) return link.bytes_per_s;
    of_all = std::min(of_all.value_or(link.bytes_per_s), link.bytes_per_s);
    const bool is_near = rack(one) == rack(other) && rack(node(link.a)) == rack(one) &&
                         rack(node(link.b)) == rack(one);
    if (is_near) of_rack = std::min(of_rack.value_or(link.bytes_per_s), link.bytes_per_s);
  }
  return of_rack.value_or(of_all.value_or(0));
}

double traffic_of(const PlaceState& state, const std::string& job) {
  for (const policy::JobTraffic& of_job : state.traffic) {
    if (of_job.job == job) return of_job.bytes_per_s;
  }
  return 0;
}

using Nodes = std::vector<std::optional<std::size_t>>;  // by task

struct Worth {
  double score = 0;
  double fitness = 0;
};

// Equations 2, 4, 5, 6 and 8, pair by pair; empty where a node is exceeded or a job in two domains.
std::optional<Worth> worth(const PlaceState& state, const Nodes& node_of) {
  const auto& tasks = state.tasks;
  std::vector<std::map<std::string, double>> put(state.nodes.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (!node_of[t]) continue;
    for (const auto& [kind, amount] : tasks[t].request) put[*node_of[t]][kind] += amount;
  }
  for (std::size_t n = 0; n < state.nodes.size(); ++n) {
    for (const auto& [kind, amount] : put[n]) {
      const double room = amount_of(state.nodes[n].cap, kind) + 1e-9;
      if (amount > 0 && amount_of(state.nodes[n].used, kind) + amount > room) return std::nullopt;
    }
  }
  const auto size = [&](const policy::PlaceNode& of, bool of_rack) {
    return static_cast<double>(
        std::count_if(state.nodes.begin(), state.nodes.end(), [&](const auto& node) {
          return node.domain == of.domain && (!of_rack || node.rack == of.rack);
        }));
  };
  double cost = 0;
  double fitness = 0;
  std::set<std::pair<std::string, std::size_t>> pairs;  // job, node
  std::set<std::size_t> used;
  for (std::size_t a = 0; a < tasks.size(); ++a) {
    for (std::size_t b = 0; b < tasks.size() && node_of[a]; ++b) {
      if (!node_of[b] || tasks[a].job != tasks[b].job) continue;
      const auto& one = state.nodes[*node_of[a]];
      const auto& other = state.nodes[*node_of[b]];
      if (one.domain != other.domain) return std::nullopt;
      if (tasks[a].role != TaskRole::ps || tasks[b].role != TaskRole::worker) continue;
      if (one.id == other.id) continue;
      cost += state.links.empty()
                  ? size(one, one.rack == other.rack)
                  : traffic_of(state, tasks[a].job) / bytes_per_s(state, one, other);
    }
    if (!node_of[a]) continue;
    const std::size_t n = *node_of[a];
    used.insert(n);
    const double gpus = amount_of(state.nodes[n].cap, "gpu");
    if (!pairs.emplace(tasks[a].job, n).second || gpus == 0) continue;
    fitness -= (put[n]["gpu"] + amount_of(state.nodes[n].used, "gpu")) / gpus;
  }
  const double score = state.lambda * cost + (1 - state.lambda) * fitness;
  return Worth{score, -score - static_cast<double>(used.size())};
}

Nodes nodes_of(const PlaceState& state, const policy::PlaceDecision& decision) {
  Nodes nodes(state.tasks.size());
  for (const auto& [id, node] : decision.placement) {
    const auto at = std::find_if(state.tasks.begin(), state.tasks.end(),
                                 [&id = id](const auto& each) { return each.id == id; });
    nodes[static_cast<std::size_t>(at - state.tasks.begin())] = number_of(state, node);
  }
  return nodes;
}

// The best of all plans for the tasks that `decision` has places for.
double best_fitness(const PlaceState& state, const Nodes& placed) {
  Nodes plan(placed.size());
  std::optional<double> best;
  for (bool goes_on = true; goes_on;) {
    for (std::size_t t = 0; t < plan.size(); ++t) {
      if (placed[t] && !plan[t]) plan[t] = 0;
    }
    const auto found = worth(state, plan);
    if (found && (!best || found->fitness > *best)) best = found->fitness;
    goes_on = false;
    for (std::size_t t = 0; t < plan.size() && !goes_on; ++t) {
      if (!placed[t]) continue;
      goes_on = ++*plan[t] < state.nodes.size();
      if (!goes_on) plan[t] = 0;
    }
  }
  return best.value_or(0);
}

std::set<std::string> unplaced_of(const policy::PlaceDecision& decision) {
  return {decision.unplaced.begin(), decision.unplaced.end()};
}

}  // namespace

TEST_CASE("a task goes to the node of the least score, the fullest one at first") {
  CHECK(places(place_state({host("n1", "d/r", 4), host("n2", "d/r", 4, 2), host("n3", "d/r", 4, 2)},
                           {task("a-0", 1), task("b-0", 2)})) == "a-0=n2 b-0=n3");
  // The cost of a rack, 3, against a half of a GPU: the pair stays together.
  CHECK(places(place_state({host("n1", "d/r", 4), host("n2", "d/r", 4, 2), host("n3", "d/r", 4, 4)},
                           {task("a-0", 1), task("a-ps", 0)})) == "a-0=n2 a-ps=n2");
  // With the network for nothing, as full as possible.
  PlaceState state = place_state({host("n1", "d/r", 4), host("n2", "d/r", 4, 4)},
                                 {task("a-0", 1), task("a-ps", 0)});
  state.lambda = 0;
  CHECK(places(state) == "a-0=n1 a-ps=n2");
}

TEST_CASE("a pair in one rack costs the nodes of the rack, across racks those of the domain") {
  PlaceState state = place_state(
      {host("n1", "d/r1", 1), host("n2", "d/r2", 1), host("n3", "d/r1", 1), host("n4", "e/r1", 1)},
      {task("a-ps", 1), task("a-0", 1), task("a-1", 1)});
  state.lambda = 1;
  const auto decision = placed(state);
  REQUIRE(decision.trace.size() == 3);
  CHECK(decision.trace[0].score == 0);
  CHECK(decision.trace[1].place.node == "n3");
  CHECK(decision.trace[1].score == 2);
  CHECK(decision.trace[2].place.node == "n2");
  CHECK(decision.trace[2].score == 5);
}

TEST_CASE("with links a pair costs its traffic by what its wire carries, or the slowest near it") {
  PlaceState state = place_state(
      {host("n1", "d/r1", 1), host("n2", "d/r1", 1), host("n3", "d/r1", 1), host("n4", "d/r2", 1),
       host("n5", "d/r2", 1)},
      {task("a-ps", 1), task("a-0", 1), task("a-1", 1), task("a-2", 1), task("a-3", 1)});
  state.lambda = 1;
  state.links = {{"n1", "n2", 1000}, {"n4", "n1", 500}, {"n3", "n2", 400}};
  state.traffic = {{"a", 200}};
  const auto decision = placed(state);
  REQUIRE(decision.trace.size() == 5);
  CHECK(decision.trace[0].place.node == "n1");
  CHECK(decision.trace[1].place.node == "n2");  // 200 / 1000
  CHECK(decision.trace[1].score == Approx(0.2));
  CHECK(decision.trace[2].place.node == "n4");  // 200 / 500
  CHECK(decision.trace[2].score == Approx(0.6));
  CHECK(decision.trace[3].place.node == "n3");  // not known: 400, the slowest of the rack
  CHECK(decision.trace[3].score == Approx(1.1));
  CHECK(decision.trace[4].place.node == "n5");  // nor in another rack: the slowest of all
  CHECK(decision.trace[4].score == Approx(1.6));
  // In r2 no link is known: n4 and n5, too, have the slowest of all.
  state.tasks = {task("a-ps", 1), task("a-0", 1)};
  state.nodes = {state.nodes[3], state.nodes[4]};
  state.nodes.push_back(host("n1", "e/r1", 0));
  state.nodes.push_back(host("n2", "e/r1", 0));
  state.links = {{"n1", "n2", 800}};
  CHECK(placed(state).trace[1].score == Approx(0.25));
}

TEST_CASE("a slow wire is avoided, in each mode") {
  // The fast pair is h2 and h3; as printed the first task goes to h1, which is as full.
  PlaceState state = place_state({host("h1", "d/r", 2), host("h2", "d/r", 2), host("h3", "d/r", 2)},
                                 {task("a-ps", 2), task("a-0", 2)});
  state.links = {{"h1", "h2", 10}, {"h1", "h3", 10}, {"h2", "h3", 1000}};
  state.traffic = {{"a", 10}};
  CHECK(places(state) == "a-ps=h1 a-0=h2");
  state.seeded = true;
  CHECK(places(state) == "a-ps=h2 a-0=h3");
  state.mode = PlaceMode::batch;
  CHECK(placed(state).score == Approx(0.5 * 0.01 - 1));
  state.traffic.clear();  // of a job without it 0
  state.mode = PlaceMode::immediate;
  CHECK(places(state) == "a-ps=h1 a-0=h2");
}

TEST_CASE("a hub is the first task of a job without parameter servers, in each mode") {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    PlaceState state = random_state(random, 6, 10);
    if (round % 2 == 1) add_links(state, random);
    state.seeded = round % 3 == 0;
    state.mode = round % 5 == 0 ? PlaceMode::batch : PlaceMode::immediate;
    PlaceState said = state;
    state.hub = true;
    std::set<std::string> served, seen;
    for (const policy::PlaceTask& each : said.tasks) {
      if (each.role == policy::TaskRole::ps) served.insert(each.job);
    }
    for (policy::PlaceTask& each : said.tasks) {
      const bool is_hub = seen.insert(each.job).second && !served.contains(each.job);
      if (is_hub) each.role = policy::TaskRole::ps;
    }
    CHECK(flowcon::render_json(to_json(placed(state))) ==
          flowcon::render_json(to_json(placed(said))));
  }
}

TEST_CASE("a batch that fits in the order of its tasks, and in no other by a rounding, is placed") {
  PlaceState state;
  state.mode = PlaceMode::batch;
  state.nodes = {{"n", "", "", {{"mem", 151118267716.1298}}, {}}};
  for (const double amount : {26838315095.65172, 43833411871.17568, 80446540749.3024}) {
    const std::string id = std::to_string(state.tasks.size());
    state.tasks.push_back({id, id, TaskRole::worker, {{"mem", amount}}});
  }
  CHECK(placed(state).placement.size() == 3);
}

TEST_CASE("a job that does not fit into the domain of its first task begins again without it") {
  CHECK(places(place_state({host("n1", "d/r", 2, 1), host("n2", "e/r", 4)},
                           {task("a-0", 1), task("a-1", 1)})) == "a-0=n2 a-1=n2");
  CHECK(places(place_state({host("n1", "d/r", 1), host("n2", "e/r", 1)},
                           {task("a-0", 1), task("a-1", 1), task("b-0", 1)})) == "b-0=n1 !a");
}

TEST_CASE("a node fits up to 1e-9, and what is not requested does not count") {
  CHECK(places(place_state({host("n1", "d/r", 2, 2)}, {task("a-0", 5e-10)})) == "a-0=n1");
  CHECK(places(place_state({host("n1", "d/r", 2, 2)}, {task("a-0", 2e-9)})) == "!a");
  CHECK(places(place_state({host("n1", "d/r", 2, 5)}, {task("a-0", 0)})) == "a-0=n1");
  CHECK(places(place_state({}, {task("a-0", 0)})) == "!a");
  CHECK(places(place_state({host("n1", "d/r", 2)}, {})).empty());
}

TEST_CASE("as printed, a node gets one task of a job") {
  PlaceState state = place_state({host("n1", "d/r", 4), host("n2", "d/r", 4)},
                                 {task("a-0", 1), task("a-1", 1), task("b-0", 1)});
  CHECK(places(state) == "a-0=n1 a-1=n1 b-0=n1");
  state.remove_used = true;
  CHECK(places(state) == "a-0=n1 a-1=n2 b-0=n1");
}

TEST_CASE("seeded, a parameter server is not lost on the fullest node") {
  PlaceState state = place_state({host("n1", "d/r", 4, 4), host("n2", "d/r", 4)},
                                 {task("a-ps", 0), task("a-0", 1), task("a-1", 1)});
  CHECK(places(state) == "a-ps=n1 a-0=n2 a-1=n2");
  state.seeded = true;
  CHECK(places(state) == "a-ps=n2 a-0=n2 a-1=n2");
}

TEST_CASE(
    "whatever the state, jobs are placed as a whole and each score is that of the equations") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    PlaceState state = random_state(random, 8, 12);
    if (round % 2 == 1) add_links(state, random);
    const double literal = [&] {
      const auto decision = placed(state);
      return decision.unplaced.empty() && !decision.trace.empty() ? decision.trace.back().score : 0;
    }();
    state.seeded = random() % 2 == 0;
    const auto decision = placed(state);
    const auto unplaced = unplaced_of(decision);
    std::map<std::string, std::size_t> placed_tasks;
    for (const auto& each : state.tasks) placed_tasks[each.job] += 0;
    CHECK(decision.trace.size() == decision.placement.size());
    Nodes nodes(state.tasks.size());
    std::string job;
    PlaceState before = state;  // with the GPUs of the jobs before as used
    for (const auto& step : decision.trace) {
      const auto at = std::find_if(state.tasks.begin(), state.tasks.end(),
                                   [&](const auto& each) { return each.id == step.place.task; });
      if (at->job != job) {
        for (std::size_t t = 0; t < nodes.size(); ++t) {
          if (!nodes[t]) continue;
          auto& used = before.nodes[*nodes[t]].used;
          for (const auto& [kind, amount] : state.tasks[t].request) {
            const auto same = std::find_if(used.begin(), used.end(),
                                           [&kind = kind](auto& of) { return of.first == kind; });
            if (same == used.end())
              used.emplace_back(kind, amount);
            else
              same->second += amount;
          }
        }
        std::fill(nodes.begin(), nodes.end(), std::nullopt);
        job = at->job;
      }
      nodes[static_cast<std::size_t>(at - state.tasks.begin())] = number_of(state, step.place.node);
      ++placed_tasks[job];
      const auto found = worth(before, nodes);
      REQUIRE(found.has_value());
      CHECK(step.score == Approx(found->score).margin(1e-9));
    }
    for (const auto& each : state.tasks) {
      const auto all = std::count_if(state.tasks.begin(), state.tasks.end(),
                                     [&](const auto& other) { return other.job == each.job; });
      const auto expected = unplaced.count(each.job) != 0 ? 0 : static_cast<std::size_t>(all);
      CHECK(placed_tasks[each.job] == expected);
    }
    // One job alone is never worse for being tried from every node.
    if (state.seeded && placed_tasks.size() == 1 && unplaced.empty()) {
      CHECK(decision.trace.back().score <= literal + 1e-9);
    }
  }
}

TEST_CASE("a batch gets the best of all plans, where these can be counted") {
  std::mt19937 random(11);
  for (int round = 0; round < 150; ++round) {
    PlaceState state = random_state(random, 4, 5);
    if (round % 2 == 1) add_links(state, random);
    state.mode = PlaceMode::batch;
    const auto decision = placed(state);
    const Nodes nodes = nodes_of(state, decision);
    const auto found = worth(state, nodes);
    REQUIRE(found.has_value());
    CHECK(decision.score == Approx(found->score).margin(1e-9));
    CHECK(decision.fitness == Approx(found->fitness).margin(1e-9));
    CHECK(decision.fitness == Approx(best_fitness(state, nodes)).margin(1e-9));
  }
}

TEST_CASE("what two nodes just hold is divided in the best way") {
  PlaceState state = place_state({host("n0", "d/r1", 21), host("n1", "d/r0", 27, 2)}, {});
  state.nodes[0].cap = {{"cpu", 24}, {"gpu", 21}, {"mem", 20}};
  state.nodes[1].cap = {{"cpu", 31}, {"gpu", 27}, {"mem", 23}};
  state.nodes[1].used = {{"cpu", 2}, {"gpu", 2}, {"mem", 1}};
  struct Ask {
    const char* id;
    double cpu, gpu, mem;
  };
  const Ask asks[] = {{"c0-ps", 3, 2, 5}, {"c1-ps", 1, 3, 2}, {"c-0", 7, 5, 3},
                      {"c2-ps", 5, 1, 3}, {"b-0", 2, 5, 5},   {"c3-ps", 2, 3, 5},
                      {"a-0", 1, 5, 2},   {"b0-ps", 8, 0, 2}, {"b1-ps", 2, 3, 0},
                      {"b-1", 8, 0, 0},   {"c4-ps", 6, 6, 8}, {"a0-ps", 1, 0, 0},
                      {"b-2", 1, 7, 2},   {"c5-ps", 2, 3, 5}, {"c6-ps", 4, 3, 0}};
  for (const Ask& ask : asks) {
    state.tasks.push_back(task(ask.id, ask.gpu, ask.cpu));
    state.tasks.back().job = std::string(1, ask.id[0]);
    state.tasks.back().request.emplace_back("mem", ask.mem);
  }
  state.mode = PlaceMode::batch;
  CHECK(placed(state).fitness == Approx(-6.0));
}

TEST_CASE("of a batch that does not fit the last jobs are left out") {
  PlaceState state =
      place_state({host("n1", "d/r", 2), host("n2", "d/r", 2)},
                  {task("a-0", 1), task("c-0", 1), task("b-0", 3), task("a-1", 2), task("e-0", 1)});
  state.mode = PlaceMode::batch;
  CHECK(placed(state).placement.size() == 3);
  CHECK(placed(state).unplaced == std::vector<std::string>{"b", "e"});
  state.tasks = {task("a-0", 3)};
  const auto decision = placed(state);
  CHECK(decision.unplaced == std::vector<std::string>{"a"});
  CHECK(decision.score == 0);
  CHECK(decision.fitness == 0);
}

TEST_CASE("a batch that fits in one way alone is placed") {
  // Ten nodes of unlike size, each filled by one big and one small task; first-fit finds no plan.
  PlaceState state;
  state.mode = PlaceMode::batch;
  for (int i = 0; i < 10; ++i) {
    state.nodes.push_back(host("n" + std::to_string(i), "d/r", 8));
    state.nodes.back().cap[0].second = 20 + i;
  }
  for (int i = 0; i < 10; ++i) {
    state.tasks.push_back(task("s" + std::to_string(i) + "-0", 0, 3 + 0.5 * i));
    state.tasks.push_back(task("b" + std::to_string(i) + "-0", 0, 17 + 0.5 * i));
  }
  CHECK(placed(state).unplaced.empty());
}

TEST_CASE(
    "a larger batch has a valid plan, the same each time, and no task that moves betters it") {
  std::mt19937 random(23);
  for (int round = 0; round < 4; ++round) {
    PlaceState state = random_state(random, 12, 24);
    state.nodes.resize(8, state.nodes[0]);
    for (std::size_t i = 0; i < 8; ++i) state.nodes[i].id = "h" + std::to_string(i);
    if (round % 2 == 1) add_links(state, random);
    state.mode = PlaceMode::batch;
    const auto decision = placed(state);
    CHECK(flowcon::render_json(to_json(decision)) == flowcon::render_json(to_json(placed(state))));
    Nodes nodes = nodes_of(state, decision);
    const auto found = worth(state, nodes);
    REQUIRE(found.has_value());
    CHECK(decision.fitness == Approx(found->fitness).margin(1e-9));
    for (std::size_t t = 0; t < nodes.size(); ++t) {
      const auto own = nodes[t];
      for (std::size_t n = 0; own && n < 8; ++n) {
        nodes[t] = n;
        if (const auto other = worth(state, nodes)) CHECK(other->fitness <= found->fitness + 1e-6);
      }
      nodes[t] = own;
    }
  }
}

TEST_CASE("best-fit ends after so many looks at nodes, and places nothing more") {
  const PlaceState state = place_state({host("n1", "d/r", 4), host("n2", "d/r", 4)},
                                       {task("a-0", 1), task("b-0", 1), task("c-0", 1)});
  const policy::PlaceModel model(state);
  policy::BestFit best_fit(model, false, false, 5);
  CHECK(best_fit.place(0).has_value());
  CHECK_FALSE(best_fit.is_exhausted());
  CHECK_FALSE(best_fit.place(1).has_value());
  CHECK(best_fit.is_exhausted());
  CHECK_FALSE(best_fit.place(2).has_value());
}
