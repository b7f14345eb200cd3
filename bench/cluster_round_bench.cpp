// SPDX-License-Identifier: Apache-2.0
// Time of the daemon's work per round beside the decisions, on one thread:
// cluster_round_bench [HOSTS] [CONTAINERS] [ROUNDS] (1000 hosts of 20 containers, 20 rounds, by
// default). One host's own round; the coordinator's, from unread reports; the messages of a star,
// as its centre reads and answers them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/codec/decision_json.h"
#include "cluster/codec/report_json.h"
#include "cluster/peers/ledger.h"
#include "cluster/peers/message.h"
#include "cluster/policy/specon.h"

namespace {

namespace peers = flowcon::cluster::peers;
namespace policy = flowcon::cluster::policy;
using Clock = std::chrono::steady_clock;

std::string id_of(std::size_t number, int digits) {
  char text[80];
  std::snprintf(text, sizeof text, "%0*zx", digits, number);
  return text;
}

struct Cluster {
  std::vector<policy::HostReport> reports;
  std::vector<std::string> texts;
  std::vector<std::string> states;
  std::vector<policy::Worker> workers;
};

// A third of the hosts nearly idle; all jobs have converged, so that all is decided.
Cluster make_cluster(std::size_t hosts, std::size_t containers) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0, 1);
  Cluster cluster;
  for (std::size_t h = 0; h < hosts; ++h) {
    policy::HostReport report;
    report.id = id_of(h, 32);
    report.name = "host-" + std::to_string(h);
    const std::size_t count = h % 3 == 0 ? 1 : containers + containers / 2;
    for (std::size_t c = 0; c < count; ++c) {
      policy::JobReport job;
      job.id = id_of(h * 10'000 + c, 64);
      job.name = "training-" + std::to_string(c);
      job.category = policy::Category::cc;
      job.value = share(random);
      job.converged_age = 1e4 * share(random);
      job.movable = true;
      report.containers.push_back(std::move(job));
    }
    peers::State state;
    state.id = report.id;
    state.name = report.name;
    state.incarnation = 1;
    state.sequence = 1;
    state.counts.cc = static_cast<std::int64_t>(count);
    state.usage = share(random);
    cluster.workers.push_back({report.id, state.counts, state.usage});
    cluster.states.push_back(peers::render(state));
    cluster.texts.push_back(policy::render_report(report));
    cluster.reports.push_back(std::move(report));
  }
  return cluster;
}

bool nobody(const std::string&) { return false; }

struct Series {
  const char* name;
  std::function<std::size_t()> run;  ///< how many results there were; 0: it failed
};

// False: it failed.
bool time(const Series& series, int rounds) {
  std::vector<double> times;
  std::size_t results = 0;
  double sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto from = Clock::now();
    results = series.run();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - from).count());
    sum += times.back();
  }
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  std::printf("%-30s %3d %9.3f %9.3f %9.3f  %zu\n", series.name, rounds, *least, sum / rounds,
              *most, results);
  return results > 0;
}

int measure(std::size_t hosts, std::size_t containers, int rounds) {
  const Cluster cluster = make_cluster(hosts, containers);
  policy::Categories categories;
  double now = 0;
  std::size_t bytes = 0;
  for (const std::string& text : cluster.texts) bytes += text.size();
  std::vector<policy::Observed> own;
  for (std::size_t c = 0; c < containers; ++c) own.push_back({id_of(c, 64), 0.5});
  std::int64_t sequence = 1;
  peers::Ledger ledger;
  const std::vector<Series> all{
      {"a host's own round",
       [&] {
         now += 30;
         return categories.take_round(own, 0.01, now, 30).decision.containers.size();
       }},
      {"one request among all hosts",
       [&] {
         policy::SpeculateState state;
         state.container = "a";
         state.source = cluster.workers[1].id;
         state.workers = cluster.workers;
         const auto decision = policy::decide_speculate(state);
         return flowcon::render_json(policy::to_json(state)).size() + decision.scores.size();
       }},
      {"a balance of all hosts",
       [&] {
         const auto question = policy::rebalance_question({cluster.reports, nobody, false}, false);
         return policy::decide_rebalance(question->state).moves.size();
       }},
      {"  with reading the reports",
       [&] {
         std::vector<policy::HostReport> reports;
         for (const std::string& text : cluster.texts) {
           reports.push_back(*policy::parse_report(text));
         }
         const auto question =
             policy::rebalance_question({std::move(reports), nobody, false}, false);
         return policy::decide_rebalance(question->state).moves.size();
       }},
      {"a state from and to each host",
       [&] {
         std::size_t answered = 0;
         ++sequence;
         for (const std::string& text : cluster.states) {
           auto state = peers::parse_state(text);
           ledger.take(state->id, 1, sequence, true);
           answered += peers::render(*state).empty() ? 0 : 1;
         }
         return answered;
       }},
  };
  std::printf("%zu hosts, %zu containers each on average, reports of %.1f MB\n", hosts, containers,
              static_cast<double>(bytes) / 1e6);
  std::printf("%-30s %3s %9s %9s %9s  ms, results\n", "what", "n", "min", "mean", "max");
  for (const Series& series : all) {
    if (!time(series, rounds)) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at, long standard) {
    return argc > at ? std::strtol(argv[at], nullptr, 10) : standard;
  };
  const long hosts = number(1, 1000), containers = number(2, 20), rounds = number(3, 20);
  if (hosts < 2 || containers < 1 || rounds < 1) {
    std::fprintf(stderr, "usage: cluster_round_bench [HOSTS] [CONTAINERS] [ROUNDS]\n");
    return 2;
  }
  return measure(static_cast<std::size_t>(hosts), static_cast<std::size_t>(containers),
                 static_cast<int>(rounds));
}
