// SPDX-License-Identifier: Apache-2.0
// Time of a pass of the queue beside the same algorithm written plainly in the same run, which
// sorts the nodes for each job and tests each: queue_bench [HOSTS] [JOBS] [ROUNDS] (1000 hosts,
// 10000 jobs, 20 rounds, unless told otherwise). Both must decide the same. The states are made
// before. Decisions by what is left of the same states follow; the test of left_queue compares
// those with a plain form. Last come the decisions of flowcond on a host of its own where so many
// jobs wait, with the record of each, beside a tenth of the jobs.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/codec/left_json.h"
#include "cluster/codec/queue_json.h"
#include "cluster/policy/queue_policies.h"

namespace {

using namespace flowcon::cluster::policy;
using Clock = std::chrono::steady_clock;

double drawn(std::mt19937& random, unsigned below) { return static_cast<double>(random() % below); }

QueueJob job_of(std::mt19937& random, std::size_t number) {
  QueueJob job;
  job.id = "job-" + std::to_string(number);
  job.since = drawn(random, 1000);
  job.weight = 0.5 + drawn(random, 400) / 1000;
  job.min = 1 + static_cast<std::int64_t>(random() % 4);
  job.max = job.min + static_cast<std::int64_t>(random() % 4);
  job.ps = static_cast<std::int64_t>(random() % 2);
  job.worker_request = {{"cpu", 1 + drawn(random, 8) / 2}, {"mem", 1 + drawn(random, 16)}};
  job.ps_request = {{"cpu", 0.5}, {"mem", 1}};
  return job;
}

// `used`: how much of each node is taken, for each resource by itself.
QueueState make_state(std::size_t hosts, std::size_t jobs, double running,
                      const std::function<double(std::mt19937&)>& used) {
  std::mt19937 random(1);
  QueueState state;
  state.now = 1000;
  state.starve_limit = 900;
  for (std::size_t i = 0; i < hosts; ++i) {
    state.nodes.push_back({"host-" + std::to_string(i),
                           {{"cpu", 32}, {"mem", 128}},
                           {{"cpu", std::round(64 * (1 - used(random))) / 2},
                            {"mem", std::round(128 * (1 - used(random)))}}});
  }
  const auto first_waiting = static_cast<std::size_t>(running * static_cast<double>(jobs));
  for (std::size_t i = 0; i < jobs; ++i) {
    QueueJob job = job_of(random, i);
    if (i >= first_waiting) {
      state.waiting.push_back(std::move(job));
      continue;
    }
    job.placed.workers.push_back({random() % hosts, job.min});
    if (job.ps > 0) job.placed.ps.push_back({random() % hosts, job.ps});
    state.running.push_back(std::move(job));
  }
  if (!state.running.empty()) state.running[0].weight = 0.99;  // the branch `rest`
  return state;
}

// The branch `rest` and scale-out, word for word.
class Plain {
 public:
  explicit Plain(const QueueState& state) : state_(state) {}

  std::size_t starts = 0;
  std::size_t workers_added = 0;

  void run() {
    std::vector<QueueJob*> order = by_weight(state_.waiting);
    for (QueueJob* job : order) {
      if (!place(*job)) continue;
      ++starts;
      state_.running.push_back(*job);
    }
    for (QueueJob* job : by_weight(state_.running)) {
      std::int64_t workers = 0;
      for (const NodeCount& here : job->placed.workers) workers += here.count;
      for (QueueNode& node : state_.nodes) {
        for (; workers < job->max && fits(node.idle, job->worker_request); ++workers) {
          take(node.idle, job->worker_request);
          ++workers_added;
        }
      }
    }
  }

 private:
  static std::vector<QueueJob*> by_weight(std::vector<QueueJob>& jobs) {
    std::vector<QueueJob*> order;
    for (QueueJob& job : jobs) order.push_back(&job);
    std::sort(order.begin(), order.end(), [](const QueueJob* a, const QueueJob* b) {
      if (a->weight != b->weight) return a->weight > b->weight;
      return a->since != b->since ? a->since < b->since : a->id < b->id;
    });
    return order;
  }

  static bool fits(const Amounts& idle, const Amounts& request) {
    return std::all_of(request.begin(), request.end(), [&](const auto& each) {
      return each.second <= 0 || amount_of(idle, each.first) >= each.second - 1e-9;
    });
  }

  static void take(Amounts& idle, const Amounts& request) {
    for (auto& [kind, amount] : idle) amount -= amount_of(request, kind);
  }

  static double idleness(const QueueNode& node) {
    double sum = 0;
    for (const auto& [kind, cap] : node.cap) sum += amount_of(node.idle, kind) / cap;
    return std::floor(sum * 1e9 + 0.5);
  }

  bool place(QueueJob& job) {
    std::vector<std::pair<double, QueueNode*>> order;
    for (QueueNode& node : state_.nodes) order.emplace_back(idleness(node), &node);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    Amounts whole = job.worker_request;
    for (auto& [kind, amount] : whole) {
      amount = static_cast<double>(job.min) * amount +
               static_cast<double>(job.ps) * amount_of(job.ps_request, kind);
    }
    for (const auto& [key, node] : order) {
      if (!fits(node->idle, whole)) continue;
      take(node->idle, whole);
      job.placed.workers = {{0, job.min}};
      return true;
    }
    std::vector<Amounts> idle;
    std::int64_t ps = job.ps;
    std::int64_t workers = job.min;
    for (const auto& [key, node] : order) {
      idle.push_back(node->idle);
      for (; ps > 0 && fits(idle.back(), job.ps_request); --ps) take(idle.back(), job.ps_request);
      for (; workers > 0 && fits(idle.back(), job.worker_request); --workers) {
        take(idle.back(), job.worker_request);
      }
    }
    if (ps > 0 || workers > 0) return false;
    for (std::size_t i = 0; i < order.size(); ++i) order[i].second->idle = idle[i];
    job.placed.workers = {{0, job.min}};
    return true;
  }

  QueueState state_;
};

struct Times {
  std::vector<double> milliseconds;

  template <class Run>
  void measure(Run run) {
    const auto from = Clock::now();
    run();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - from).count());
  }
  double median() {
    std::sort(milliseconds.begin(), milliseconds.end());
    return milliseconds[milliseconds.size() / 2];
  }
  void print(const char* name, const char* what) {
    const double middle = median();
    std::printf("%-12s %-18s %3zu %9.2f %9.2f %9.2f", name, what, milliseconds.size(),
                milliseconds.front(), middle, milliseconds.back());
  }
};

// Whether both decided the same.
bool compare(const char* name, const QueueState& state, int rounds) {
  Times ours;
  Times plain;
  std::size_t starts = 0;
  std::size_t added = 0;
  for (int round = 0; round < rounds; ++round) {
    ours.measure([&] {
      const auto decision = decide_queue(state);
      starts = added = 0;
      for (const QueueAction& action : decision->actions) {
        starts += action.op == QueueAction::Op::start ? 1 : 0;
        added += action.op == QueueAction::Op::add_worker ? 1 : 0;
      }
    });
  }
  Plain word_for_word(state);
  plain.measure([&] { word_for_word.run(); });
  ours.print(name, "a pass");
  std::printf("  %zu start, %zu workers added\n", starts, added);
  plain.print(name, "written plainly");
  std::printf("  %.0f times as long\n", plain.median() / ours.median());
  return starts == word_for_word.starts && added == word_for_word.workers_added;
}

// The same jobs, with what is left of most of them; where `pause` is 0 each may move for nothing.
LeftState left_of(const QueueState& state, double pause) {
  std::mt19937 random(2);
  LeftState left;
  left.starve_limit = 900;
  left.pause = pause;
  left.nodes = state.nodes;
  for (const auto* jobs : {&state.running, &state.waiting}) {
    for (const QueueJob& job : *jobs) {
      LeftJob known;
      known.job = job;
      known.waited = drawn(random, 1000);
      known.served = job.placed.workers.empty() ? 0 : drawn(random, 5000);
      if (random() % 4 != 0) known.left = drawn(random, 10000);
      left.jobs.push_back(std::move(known));
    }
  }
  return left;
}

void measure_left(const char* name, const LeftState& state, int rounds) {
  Times times;
  std::map<std::string, int> changes;
  for (int round = 0; round < rounds; ++round) {
    changes.clear();
    times.measure([&] {
      const auto decision = decide_left(state);
      for (const LeftPlace& place : decision->jobs)
        ++changes[flowcon::cluster::policy::name(place.change)];
    });
  }
  times.print(name, "by what is left");
  for (const auto& [change, count] : changes) std::printf("  %d %s", count, change.c_str());
  std::printf("\n");
}

// A full host on which jobs wait, one of two for longer than they should.
QueueView waiting_on_a_host(std::size_t jobs) {
  std::mt19937 random(3);
  QueueView view;
  view.now = 1000;
  view.pause = 10;
  view.nodes.push_back({"host", {{"cpu", 32}, {"mem", 128}}, {{"cpu", 1}, {"mem", 2}}});
  for (std::size_t i = 0; i < jobs; ++i) {
    WaitingTask task;
    task.id = "job-" + std::to_string(i);
    task.since = drawn(random, 1000);
    task.waited = drawn(random, 3600);
    if (random() % 4 != 0) task.left = drawn(random, 10000);
    task.request = {{"cpu", 1 + drawn(random, 8) / 2}, {"mem", 1 + drawn(random, 16)}};
    if (i < 8) task.placed = whole_on(0, task), task.is_parkable = true;
    view.jobs.push_back(std::move(task));
  }
  return view;
}

void measure_waiting(std::size_t jobs, int rounds) {
  for (const QueuePolicyKind& kind : queue_policies()) {
    Times few;
    Times many;
    const QueueView tenth = waiting_on_a_host(jobs / 10 + 1);
    const QueueView all = waiting_on_a_host(jobs);
    for (int round = 0; round < rounds; ++round) {
      few.measure([&] { (void)kind.decide(tenth); });
      many.measure([&] { (void)kind.decide(all); });
    }
    many.print(kind.name.c_str(), "jobs that wait");
    std::printf("  %.1f times a tenth of them\n", many.median() / few.median());
  }
}

int measure(std::size_t hosts, std::size_t jobs, int rounds) {
  const auto share = [](std::mt19937& random) { return drawn(random, 1000) / 1000; };
  const auto uneven = [](std::mt19937& random) { return random() % 2 == 0 ? 1.0 : 0.6; };
  std::printf("%zu hosts, %zu jobs\n%-31s %3s %9s %9s %9s  ms\n", hosts, jobs, "", "n", "min",
              "median", "max");
  bool agree = true;
  const auto full = [](std::mt19937& random) { return 1 - drawn(random, 4) / 64; };
  agree &= compare("full", make_state(hosts, jobs, 0.2, full), rounds);
  agree &= compare("half full", make_state(hosts, jobs, 0.2, share), rounds);
  agree &= compare("fragmented", make_state(hosts, jobs, 0.2, uneven), rounds);
  agree &= compare("empty", make_state(hosts, jobs, 0.0002, [](auto&) { return 0.0; }), rounds);
  QueueState growing = make_state(hosts, jobs, 0.9, share);
  growing.waiting.resize(growing.waiting.size() / 10);
  for (QueueJob& job : growing.running) job.max += 4;
  agree &= compare("growing", growing, rounds);
  QueueState preempting = make_state(hosts, jobs, 0.5, full);
  preempting.running[0].weight = 0.5;
  preempting.waiting[0].weight = 1;
  preempting.waiting[0].min = 8;
  const std::string text = flowcon::render_json(to_json(preempting));
  Times scale_in;
  Times reading;
  for (int round = 0; round < rounds; ++round) {
    scale_in.measure([&] { (void)decide_queue(preempting); });
    reading.measure([&] { (void)queue_state_from(*flowcon::parse_json(text)); });
  }
  for (const double pause : {0.0, 30.0}) {
    measure_left("full", left_of(make_state(hosts, jobs, 0.2, full), pause), rounds);
    measure_left("half full", left_of(make_state(hosts, jobs, 0.2, share), pause), rounds);
    measure_left("fragmented", left_of(make_state(hosts, jobs, 0.2, uneven), pause), rounds);
    measure_left("empty", left_of(make_state(hosts, jobs, 0, [](auto&) { return 0.0; }), pause),
                 rounds);
    measure_left("growing", left_of(growing, pause), rounds);
  }
  scale_in.print("preempting", "a pass");
  std::printf("\n");
  reading.print("", "reading its state");
  std::printf("\n");
  measure_waiting(jobs, rounds);
  std::printf("aim: each decision under 100 ms for 1000 hosts and 10000 jobs\n");
  if (!agree) std::fprintf(stderr, "queue_bench: the two do not decide the same\n");
  return agree ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const long hosts = argc > 1 ? std::atol(argv[1]) : 1000;
  const long jobs = argc > 2 ? std::atol(argv[2]) : 10000;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 20;
  if (hosts < 1 || jobs < 1 || rounds < 1) {
    std::fprintf(stderr, "usage: queue_bench [HOSTS] [JOBS] [ROUNDS]\n");
    return 2;
  }
  return measure(static_cast<std::size_t>(hosts), static_cast<std::size_t>(jobs), rounds);
}
