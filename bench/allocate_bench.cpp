// SPDX-License-Identifier: Apache-2.0
// Decisions of the rolling horizon in a simulated week, beside CBC on the same states in the same
// run: allocate_bench [TRACE.csv|-] [DECISIONS] [CBC_SECONDS]. The trace has a header and then
// "id,arrival in s,duration in s on one node,…", and is repeated for a week; - (and without
// arguments) makes jobs of the same kind. 100 decisions on 70 to 190 nodes and 5 to 110 jobs x 5
// steps, 20 s for CBC at most on each of both formulations (0: none).
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/codec/horizon_lp.h"
#include "cluster/policy/horizon.h"
#include "cluster/solver/cbc.h"

namespace {

namespace policy = flowcon::cluster::policy;
using flowcon::render_number;
using policy::HorizonJob;
using policy::HorizonState;

constexpr double kWeekHours = 168;

struct Arrival {
  std::string id;
  double at = 0;    // hours
  double work = 0;  // node hours
};

std::vector<Arrival> read_trace(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  std::vector<Arrival> jobs;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string id;
    std::string at;
    std::string work;
    if (!std::getline(fields, id, ',') || !std::getline(fields, at, ',') ||
        !std::getline(fields, work, ',')) {
      continue;
    }
    jobs.push_back({id, std::atof(at.c_str()) / 3600, std::atof(work.c_str()) / 3600});
  }
  return jobs;
}

// About 450 jobs in 50 hours of 4 hours on average, in bursts of nearly the same work.
std::vector<Arrival> make_trace() {
  std::mt19937 random(1);
  const auto share = [&] { return static_cast<double>(random() % 1'000'000) / 1e6; };
  std::vector<Arrival> jobs;
  for (double now = 0; now < 50;) {
    now += -0.45 * std::log(1 - share());
    const double kind = share();
    const double work = kind < 0.25 ? 0.17 + 2 * share() : kind < 0.9 ? 2.5 + 3 * share() : 16;
    const std::size_t burst = 1 + static_cast<std::size_t>(7 * share());
    for (std::size_t i = 0; i < burst; ++i) {
      jobs.push_back({"job", now, work * (0.98 + 0.04 * share())});
    }
  }
  return jobs;
}

std::vector<Arrival> week_of(const std::vector<Arrival>& trace) {
  std::vector<Arrival> week;
  const double span = trace.back().at + 1.0 / 12;
  for (double from = 0; from < kWeekHours; from += span) {
    for (const Arrival& job : trace) {
      week.push_back({"j" + std::to_string(week.size()), from + job.at, job.work});
    }
  }
  return week;
}

// The states of one week on so many nodes, decided every 5 minutes.
std::vector<HorizonState> states_of(const std::vector<Arrival>& week, int nodes) {
  std::vector<HorizonState> states;
  HorizonState state;
  state.nodes = nodes;
  std::size_t next = 0;
  for (int tick = 0; tick < kWeekHours * 12; ++tick) {
    for (; next < week.size() && week[next].at <= tick / 12.0; ++next) {
      state.jobs.push_back({week[next].id, week[next].work, 1, 16, {}, {}});
    }
    if (state.jobs.size() >= 5 && state.jobs.size() <= 110) states.push_back(state);
    const auto decision = decide_horizon(state, policy::HorizonEffort::plan);
    for (std::size_t i = 0; i < decision.plan.size(); ++i) {
      state.jobs[i].left -= speed_of(state.jobs[i], decision.plan[i].nodes[0]) / 12;
    }
    std::erase_if(state.jobs, [](const HorizonJob& job) { return job.left < 1e-9; });
  }
  return states;
}

// As published: numbers of nodes as integers, and the lesser of two by a binary and a large number.
std::string published_lp(const HorizonState& state) {
  std::string objective = "Maximize\n value:\n";
  std::string rules = "Subject To\n";
  std::string bounds = "Bounds\n";
  std::string integers = "Generals\n";
  std::string binaries = "Binaries\n";
  std::vector<std::string> nodes(static_cast<std::size_t>(state.steps));
  const double hours = state.minutes / 60;
  for (std::size_t i = 0; i < state.jobs.size(); ++i) {
    const HorizonJob& job = state.jobs[i];
    const std::vector<int> numbers = legal_numbers(state, job);
    const double large = job.left + hours * state.steps * speed_of(job, numbers.back());
    const std::string left = render_number(job.left);
    for (int t = 0; t < state.steps; ++t) {
      const std::string at = std::to_string(i) + '_' + std::to_string(t);
      const std::string before =
          t > 0 ? " - s" + std::to_string(i) + '_' + std::to_string(t - 1) : "";
      std::string one;
      std::string count = " n" + at;
      std::string gain;
      for (const int n : numbers) {
        const std::string y = " y" + at + '_' + std::to_string(n);
        one += " +" + y;
        count += " - " + std::to_string(n) + y;
        gain += " - " + render_number(hours * speed_of(job, n)) + y;
        binaries += y + '\n';
      }
      objective += " + " + render_number(1 / job.left) + " s" + at + '\n';
      const std::string most = render_number(large);
      rules += one + " = 1\n" + count + " = 0\n s" + at + before + gain + " <= 0\n" + " s" + at +
               " + " + most + " z" + at + " >= " + left + "\n s" + at + before + gain + " - " +
               most + " z" + at + " >= -" + most + '\n';
      bounds += " s" + at + " <= " + left + '\n';
      integers += " n" + at + '\n';
      binaries += " z" + at + '\n';
      nodes[static_cast<std::size_t>(t)] += " + n" + at + '\n';
    }
  }
  for (const std::string& step : nodes) rules += step + " <= " + std::to_string(state.nodes) + '\n';
  return objective + rules + bounds + integers + binaries + "End\n";
}

// Whether the decision keeps to the nodes and has the objective that it claims.
bool holds(const HorizonState& state, const policy::HorizonDecision& decision) {
  std::vector<std::int64_t> used(static_cast<std::size_t>(state.steps), 0);
  double objective = 0;
  for (std::size_t i = 0; i < decision.plan.size(); ++i) {
    const HorizonJob& job = state.jobs[i];
    double served = 0;
    for (std::size_t t = 0; t < used.size(); ++t) {
      const int nodes = decision.plan[i].nodes[t];
      used[t] += nodes;
      served = std::min(job.left, served + state.minutes / 60 * speed_of(job, nodes));
      objective += served / job.left;
    }
  }
  return std::abs(objective - decision.objective) < 1e-9 * objective &&
         *std::max_element(used.begin(), used.end()) <= state.nodes;
}

struct Solved {
  double objective = -1;  // -1: none
  bool is_optimal = false;
  double seconds = 0;
};

// CPU of the children that have ended.
double children_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

Solved solve(const std::string& lp, int seconds) {
  Solved solved;
  const double before = children_seconds();
  const auto solution = flowcon::cluster::solver::run_cbc(lp, "", seconds);
  if (!solution) return solved;
  solved.objective = solution->objective;
  solved.is_optimal = solution->is_optimal;
  solved.seconds = children_seconds() - before;
  return solved;
}

void print_series(const char* what, const char* unit, std::vector<double> values) {
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  std::printf("%-34s %4zu %10.4f %10.4f %10.4f %10.4f  %s\n", what, values.size(), values.front(),
              values[values.size() / 2], values[values.size() * 95 / 100], values.back(), unit);
}

// CBC's side of the comparison on one formulation.
struct Rival {
  const char* name;
  std::string (*write)(const HorizonState&);
  std::vector<double> seconds;
  std::vector<double> below;  // of ours, in percent, where it has the optimum
  int same = 0;
  int better = 0;  // ours, than what it had when its time was up

  void meet(const HorizonState& state, double ours, int limit) {
    const Solved solved = solve(write(state), limit);
    if (solved.objective < 0) return;
    seconds.push_back(solved.seconds);
    if (ours > solved.objective * (1 + 1e-6)) ++better;
    if (std::abs(ours - solved.objective) <= 1e-6 * solved.objective) ++same;
    if (solved.is_optimal) below.push_back(100 * (1 - ours / solved.objective));
  }

  void print() const {
    if (seconds.empty()) return;
    print_series((std::string("CBC, ") + name).c_str(), "s of CPU", seconds);
    print_series("  decision below its optimum", "%", below);
    std::printf("  of %zu: same objective to 1e-6 %d, ours better %d, optimal by CBC %zu\n",
                seconds.size(), same, better, below.size());
  }
};

double cpu_milliseconds() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int measure(const std::vector<Arrival>& trace, int decisions, int cbc_seconds) {
  const std::vector<Arrival> week = week_of(trace);
  std::vector<HorizonState> states;
  constexpr int kSizes = 7;
  for (int size = 0; size < kSizes; ++size) {
    const std::vector<HorizonState> all = states_of(week, 70 + 20 * size);
    const int wanted = decisions / kSizes + (size < decisions % kSizes ? 1 : 0);
    for (int i = 0; i < wanted && !all.empty(); ++i) {
      states.push_back(all[all.size() * static_cast<std::size_t>(2 * i + 1) /
                           static_cast<std::size_t>(2 * wanted)]);
    }
  }
  const bool has_cbc = cbc_seconds > 0 && std::system("command -v cbc > /dev/null") == 0;
  if (!has_cbc)
    std::printf("no CBC beside it%s\n", cbc_seconds > 0 ? ": cbc is not installed" : "");
  Rival rivals[] = {{"tight", policy::horizon_lp, {}, {}}, {"as published", published_lp, {}, {}}};
  std::vector<double> plan_ms;
  std::vector<double> full_ms;
  std::vector<double> gaps;
  int proven = 0;
  for (const HorizonState& state : states) {
    const double from = cpu_milliseconds();
    const auto plan = decide_horizon(state, policy::HorizonEffort::plan);
    const double middle = cpu_milliseconds();
    const auto decision = decide_horizon(state);
    full_ms.push_back(cpu_milliseconds() - middle);
    plan_ms.push_back(middle - from);
    if (!holds(state, decision)) {
      std::fprintf(stderr, "a decision breaks the rules\n");
      return 1;
    }
    gaps.push_back(100 * (decision.bound / decision.objective - 1));
    if (gaps.back() < 1e-7) ++proven;
    for (Rival& rival : rivals) {
      if (has_cbc) rival.meet(state, decision.objective, cbc_seconds);
    }
  }
  std::printf("%-34s %4s %10s %10s %10s %10s\n", "what", "n", "min", "median", "95 %", "max");
  print_series("plan alone (aim: median 5)", "ms of CPU", plan_ms);
  print_series("with bound (aim: 20, 95 % 100, 250)", "ms of CPU", full_ms);
  print_series("bound above objective", "%", gaps);
  std::printf("proven optimal: %d of %zu\n", proven, states.size());
  for (const Rival& rival : rivals) rival.print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool has_trace = argc > 1 && std::string(argv[1]) != "-";
  const int decisions = argc > 2 ? std::atoi(argv[2]) : 100;
  const int seconds = argc > 3 ? std::atoi(argv[3]) : 20;
  const std::vector<Arrival> trace = has_trace ? read_trace(argv[1]) : make_trace();
  if (trace.empty() || decisions < 1 || seconds < 0) {
    std::fprintf(stderr, "usage: allocate_bench [TRACE.csv|-] [DECISIONS] [CBC_SECONDS]\n");
    return 2;
  }
  return measure(trace, decisions, seconds);
}
