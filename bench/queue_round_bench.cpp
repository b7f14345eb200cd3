// SPDX-License-Identifier: Apache-2.0
// Processor time of the coordinator's work beside the decision about the queue, on one thread:
// queue_round_bench [JOBS] [ROUNDS] (10000 jobs that wait, 10 rounds, by default), with 4 and with
// 100 hosts, from their reports as JSON to the orders as JSON. Each part stands beside the reading
// of those reports, and beside itself with a tenth of the jobs: what grows faster than they do
// shows there.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cluster/policy/report.h"
#include "cluster/queue/orders.h"
#include "cluster/queue/promises.h"

namespace {

using namespace flowcon::cluster::queue;
namespace policy = flowcon::cluster::policy;

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kStarveLimit = 1800;
constexpr std::size_t kRunning = 8;  // on each host
constexpr unsigned kImages = 50;

double drawn(std::mt19937& random, unsigned below) { return static_cast<double>(random() % below); }

std::string id_of(std::size_t number, int digits) {
  char text[80];
  std::snprintf(text, sizeof text, "%0*zx", digits, number);
  return text;
}

// One of ten is a group that may be on several hosts.
ReportedJob job_of(std::mt19937& random, std::size_t number) {
  ReportedJob job;
  job.task.id = id_of(number, 64);
  job.task.since = drawn(random, 10'000);
  job.task.waited = drawn(random, 3600);
  job.task.is_starved = job.task.waited > kStarveLimit;
  job.task.weight = 0.5 + drawn(random, 400) / 1000;
  job.task.request = {{"cpu", 1 + drawn(random, 8) / 2}, {"mem", (1 + drawn(random, 16)) * kGiB}};
  if (random() % 4 != 0) job.task.left = 1 + drawn(random, 10'000);
  job.version = 3;
  flowcon::cluster::Freight freight;
  freight.image = id_of(random() % kImages, 16);
  freight.image_bytes = 1'000'000'000;
  freight.data_bytes = random() % 1'000'000'000;
  freight.architecture = "amd64";
  job.freight = freight;
  job.launch = 5;
  if (random() % 10 == 0) {
    job.task.workers = 2;
    job.task.may_spread = true;
    job.task.ps_request = {{"cpu", 0.5}, {"mem", kGiB}};
    job.group = GroupShape{{2, 4}, flowcon::ctrl::Elastic::join, Span::overlay};
  }
  return job;
}

// All full. The coordinator, which is the first one, has the jobs that others may not tell of.
std::vector<HostJobs> make_hosts(std::size_t count, std::size_t jobs) {
  std::mt19937 random(1);
  std::vector<HostJobs> hosts(count);
  const std::size_t each = std::min(jobs / count, kMostReported - kRunning);
  std::size_t number = 0;
  for (std::size_t h = 0; h < count; ++h) {
    HostJobs& host = hosts[h];
    host.id = id_of(h + 1, 32);
    host.name = "host-" + std::to_string(h);
    host.offer = host.most = {{"cpu", 32}, {"mem", 128 * kGiB}};
    host.free = {{"cpu", 1}, {"mem", 2 * kGiB}};
    host.takes_early = true;
    host.pause = 10;
    host.swarm = {"manager"};
    host.architecture = "amd64";
    for (unsigned i = 0; i < kImages / 2; ++i) host.images.insert(id_of(random() % kImages, 16));
    for (int i = 0; i < 8; ++i)
      host.rates[id_of(1 + random() % count, 32)] = 1e7 + drawn(random, 9);
    const std::size_t waiting = h == 0 ? jobs - each * (count - 1) : each;
    for (std::size_t i = 0; i < kRunning + waiting; ++i) {
      ReportedJob job = job_of(random, ++number);
      if (i < kRunning) {
        job.places = {{TaskPlace{host.id, job.task.workers, 0}, ""}};
        job.freight.reset();
        job.task.is_parkable = random() % 2 == 0;
      }
      host.jobs.push_back(std::move(job));
    }
  }
  return hosts;
}

// What the parts of one decision have made, for the next part.
struct Decision {
  explicit Decision(std::vector<HostJobs> reported) : hosts(std::move(reported)) {
    for (std::size_t i = 1; i < hosts.size(); ++i) texts.push_back(render(hosts[i]));
  }
  std::vector<HostJobs> hosts;
  std::vector<std::string> texts;  // of the others
  AllJobs all;
  policy::QueuePlan plan;
  std::optional<Allocation> allocation;
  std::map<std::string, std::vector<JobOrder>> orders;
  Promises promises{0};
  std::size_t bytes = 0;
};

struct Part {
  const char* name;
  std::function<bool(Decision&)> run;
};

const std::vector<Part>& parts() {
  static const std::vector<Part> all{
      {"reading the reports",
       [](Decision& one) {
         for (std::size_t i = 0; i < one.texts.size(); ++i) {
           auto report = parse_host_jobs(one.texts[i]);
           if (!report) return false;
           one.hosts[i + 1] = std::move(*report);
         }
         return true;
       }},
      {"all their jobs",
       [](Decision& one) {
         one.all = all_jobs(one.hosts, 1e6, kStarveLimit, &one.promises);
         return true;
       }},
      {"who is next",
       [](Decision& one) {
         auto plan = policy::queue_policies().front().decide(one.all.view);
         if (plan) one.plan = std::move(*plan);
         return plan.has_value();
       }},
      {"workers of elastic jobs",
       [](Decision& one) {
         const std::string horizon = allocate_policies().front().name;
         one.allocation = allocate(one.all, one.plan, {horizon, 300});
         return one.allocation.has_value();
       }},
      {"orders",
       [](Decision& one) {
         one.orders = orders_of(one.all, one.plan, &*one.allocation);
         return !one.orders.empty();
       }},
      {"promises",
       [](Decision& one) {
         one.promises.note(0, one.hosts, one.all, one.orders);
         return true;
       }},
      {"writing the orders",
       [](Decision& one) {
         one.bytes = 0;
         for (const auto& [owner, orders] : one.orders) {
           for (std::size_t i = 0; i < orders.size(); i += kMostOrders) {
             const auto from = orders.begin() + static_cast<std::ptrdiff_t>(i);
             const auto count = std::min(kMostOrders, orders.size() - i);
             one.bytes += render({from, from + static_cast<std::ptrdiff_t>(count)}).size();
           }
         }
         return one.bytes > 0;
       }},
  };
  return all;
}

double milliseconds(std::clock_t ticks) {
  return 1e3 * static_cast<double>(ticks) / CLOCKS_PER_SEC;
}

// Processor time of each part, and of all of them at the end, in milliseconds; none where one
// failed.
std::vector<double> measure(Decision& decision, int rounds) {
  std::vector<std::vector<double>> times(parts().size() + 1);
  for (int round = 0; round < rounds; ++round) {
    const std::clock_t began = std::clock();
    std::clock_t from = began;
    for (std::size_t i = 0; i < parts().size(); ++i) {
      if (!parts()[i].run(decision)) {
        std::fprintf(stderr, "queue_round_bench: %s failed\n", parts()[i].name);
        return {};
      }
      const std::clock_t until = std::clock();
      times[i].push_back(milliseconds(until - from));
      from = until;
    }
    times.back().push_back(milliseconds(from - began));
  }
  std::vector<double> medians;
  for (auto& one : times) medians.push_back(policy::median(std::move(one)).value_or(0));
  return medians;
}

bool compare(std::size_t hosts, std::size_t jobs, int rounds) {
  Decision all(make_hosts(hosts, jobs));
  Decision tenth(make_hosts(hosts, jobs / 10));
  const std::vector<double> many = measure(all, rounds);
  const std::vector<double> few = measure(tenth, rounds);
  if (many.empty() || few.empty()) return false;
  std::size_t read = 0;
  for (const std::string& text : all.texts) read += text.size();
  std::printf("%zu hosts, %zu jobs wait: reports of %.1f MB, orders of %.1f MB\n", hosts, jobs,
              static_cast<double>(read) / 1e6, static_cast<double>(all.bytes) / 1e6);
  std::printf("%-26s %10s %16s %14s\n", "", "median, ms", "reading = 1", "a tenth = 1");
  for (std::size_t i = 0; i < many.size(); ++i) {
    const char* name = i < parts().size() ? parts()[i].name : "all";
    std::printf("%-26s %10.2f %16.2f %14.1f\n", name, many[i], many[i] / many[0], many[i] / few[i]);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const long jobs = argc > 1 ? std::atol(argv[1]) : 10'000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 10;
  if (jobs < 1000 || rounds < 1) {
    std::fprintf(stderr, "usage: queue_round_bench [JOBS] [ROUNDS], 1000 jobs or more\n");
    return 2;
  }
  for (const std::size_t hosts : {std::size_t{4}, std::size_t{100}}) {
    if (!compare(hosts, static_cast<std::size_t>(jobs), rounds)) return 1;
  }
  std::printf("aim: all of it in less than a second, the time between two decisions\n");
  return 0;
}
