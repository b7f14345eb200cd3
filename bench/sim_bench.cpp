// SPDX-License-Identifier: Apache-2.0
// Speed of the simulator, policy by policy: sim_bench [JOBS] [HOSTS] [POLICY...] (10000 jobs on 100
// hosts, all policies but the oracles, by default). Beside each run stand as many events
// through a plain queue, and a run of a tenth of the jobs on a tenth of the hosts. CPU seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "sim/engine.h"

namespace {

using namespace flowcon::sim;
constexpr double kLoad = 0.8;           // of all cores
constexpr double kMedian = 1100;        // seconds alone; as the Philly trace has it
constexpr double kSpread = 1.5;         // of the logarithm
constexpr double kSecondsPerLine = 30;  // as for tables, at most 200 lines

/// CPU seconds of this program so far: what else runs on the machine is not in it.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Jobs of one to four cores that keep the hosts busy to the load, however many they are.
Schedule table(std::size_t jobs, std::size_t hosts) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::exponential_distribution<double> apart(1);
  Schedule schedule;
  schedule.hosts.assign(hosts, {});
  schedule.start = Start::least;
  double work = 0;
  double arrival = 0;
  for (std::size_t i = 0; i < jobs; ++i) {
    JobSpec job;
    job.id = std::to_string(i);
    job.model = "model-" + std::to_string(random() % 40);
    job.parallelism = static_cast<double>(1 + random() % 4);
    const double seconds = kMedian * std::exp(kSpread * normal(random));
    job.work = seconds * job.parallelism;
    job.lines = static_cast<std::uint32_t>(std::clamp(seconds / kSecondsPerLine, 10.0, 200.0));
    job.warmup = 0.02;
    job.noise = 0.02;
    job.noise_seed = i;
    job.has_counter = true;
    job.curve = std::make_shared<const Curve>(Curve::formula(Shape::exponential, 2, 0.1, 6));
    job.arrival = arrival += apart(random);
    work += job.work;
    schedule.jobs.push_back(std::move(job));
  }
  const double span = work / (kLoad * 8 * static_cast<double>(hosts));
  for (JobSpec& job : schedule.jobs) job.arrival *= span / arrival;
  return schedule;
}

struct Measured {
  double seconds = 0;
  RunResult result;
};

Measured measure(const PolicyKind& kind, const Schedule& schedule) {
  PolicySet set = kind.make(schedule, {});
  Measured measured;
  const double start = cpu_seconds();
  measured.result = run(schedule, set, {});
  measured.seconds = cpu_seconds() - start;
  return measured;
}

/// CPU seconds for an event in a queue that holds `size` of them and does nothing else.
double queue_seconds(std::size_t size) {
  constexpr int kEvents = 2'000'000;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> ahead(0, 1);
  std::priority_queue<double, std::vector<double>, std::greater<>> queue;
  for (std::size_t i = 0; i < size; ++i) queue.push(ahead(random));
  const double start = cpu_seconds();
  for (int i = 0; i < kEvents; ++i) {
    const double now = queue.top();
    queue.pop();
    queue.push(now + ahead(random));
  }
  return (cpu_seconds() - start) / kEvents;
}

/// All work done, all jobs ended.
bool is_whole(const Schedule& schedule, const RunResult& result) {
  double work = 0;
  for (const JobSpec& job : schedule.jobs) work += job.work;
  bool is_ended = true;
  for (const Outcome& job : result.jobs) is_ended = is_ended && job.end == Outcome::End::complete;
  return is_ended && std::fabs(result.worked - work) <= 1e-9 * work;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t jobs = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10000;
  const std::size_t hosts = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100;
  if (jobs < 10 || hosts == 0) {
    std::fprintf(stderr, "usage: sim_bench [JOBS (10 or more)] [HOSTS] [POLICY...]\n");
    return 1;
  }
  std::vector<const PolicyKind*> kinds;
  for (int i = 3; i < argc; ++i) {
    const auto kind = find_policy(argv[i]);
    if (!kind) {
      std::fprintf(stderr, "%s\n", kind.error().message().c_str());
      return 1;
    }
    kinds.push_back(*kind);
  }
  for (const PolicyKind& kind : policies()) {
    if (argc <= 3 && !kind.is_oracle) kinds.push_back(&kind);
  }
  const Schedule many = table(jobs, hosts);
  const Schedule few = table(jobs / 10, std::max<std::size_t>(1, hosts / 10));
  std::printf("%zu jobs on %zu hosts, load %.1f\n", jobs, hosts, kLoad);
  std::printf("%-15s %9s %12s %12s %14s %16s\n", "policy", "CPU s", "decisions", "us/decision",
              "x plain queue", "x tenth, per job");
  const double queue = queue_seconds(hosts);
  bool is_all_whole = true;
  for (const PolicyKind* kind : kinds) {
    const Measured small = measure(*kind, few);
    const Measured large = measure(*kind, many);
    const double per_job = large.seconds / static_cast<double>(many.jobs.size());
    const double small_per_job = small.seconds / static_cast<double>(few.jobs.size());
    std::printf("%-15s %9.2f %12llu %12.2f %14.1f %16.2f\n", std::string(kind->name).c_str(),
                large.seconds, static_cast<unsigned long long>(large.result.decisions),
                1e6 * large.seconds / static_cast<double>(large.result.decisions),
                large.seconds / (queue * static_cast<double>(large.result.events)),
                per_job / small_per_job);
    std::fflush(stdout);
    is_all_whole = is_all_whole && is_whole(many, large.result) && is_whole(few, small.result);
  }
  std::printf("every job ended with all of its work done: %s\n", is_all_whole ? "yes" : "NO");
  return is_all_whole ? 0 : 1;
}
