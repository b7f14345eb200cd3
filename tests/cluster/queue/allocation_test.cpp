// SPDX-License-Identifier: Apache-2.0
// How many workers jobs are to have, of what all hosts tell, and the orders that come of it.
#include "cluster/queue/allocation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <string>

#include "cluster/codec/allocate_json.h"
#include "cluster/queue/group.h"
#include "cluster/queue/orders.h"
#include "tests/cluster/queue/reports.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::queue;
using namespace flowcon::cluster::test;

namespace {

HostJobs host(char digit, double cpu, double free_cpu) {
  HostJobs host = reported_host(digit, cpu, free_cpu, 64);
  host.swarm = {"manager"};
  return host;
}

ReportedJob job(char letter, double cpu, double left) {
  ReportedJob job;
  job.task.id = job_id(letter);
  job.task.since = job.task.waited = 10;
  job.task.left = left;
  job.task.request = amounts(cpu, 1);
  job.version = 3;
  return job;
}

ReportedJob group(char letter, ctrl::WorkerRange range, double cpu, double left,
                  ctrl::Elastic elastic = ctrl::Elastic::join, Span span = Span::none) {
  ReportedJob one = job(letter, cpu, left);
  one.task.workers = range.least;
  one.task.may_spread = span != Span::none;
  one.group = GroupShape{};
  one.group->range = range;
  one.group->elastic = elastic;
  one.group->span = span;
  return one;
}

ReportedJob running(ReportedJob job, std::vector<std::pair<char, std::int64_t>> places) {
  job.task.workers = 0;
  for (const auto& [digit, workers] : places) {
    job.places.push_back({TaskPlace{host_id(digit), workers, 0}, ""});
    job.task.workers += workers;
  }
  job.task.served = 100;
  job.task.waited = 0;
  return job;
}

struct Decided {
  Allocation allocation;
  std::map<std::string, Order> orders;

  [[nodiscard]] std::int64_t workers(char letter) const {
    const auto found = allocation.workers.find(job_id(letter));
    return found == allocation.workers.end() ? 0 : found->second;
  }
  [[nodiscard]] std::int64_t ordered(char letter) const {
    const auto found = orders.find(job_id(letter));
    return found == orders.end() ? -1 : workers_in(found->second.places);
  }
};

Decided decided(const std::vector<HostJobs>& hosts, const std::string& policy = "horizon",
                const std::string& queue = "left") {
  const AllJobs all = all_jobs(hosts, 1000, 1800);
  const auto plan = policy::find_queue_policy(queue)->decide(all.view);
  REQUIRE(plan.has_value());
  const auto allocation = allocate(all, *plan, {policy, 300});
  REQUIRE(allocation);
  Decided found{*allocation, {}};
  for (const auto& [owner, orders] : orders_of(all, *plan, &*allocation)) {
    for (const JobOrder& one : orders) {
      if (one.order) found.orders.emplace(one.job, *one.order);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("of two jobs that may grow each has what its remaining time is worth") {
  HostJobs one = host('1', 8, 6);
  one.jobs = {running(group('a', {1, 8}, 1, 10), {{'1', 1}}),
              running(group('b', {1, 8}, 1, 4000), {{'1', 1}})};
  const Decided found = decided({one});
  // Any number ends the short one in the first step, so all that is worth anything is the other's.
  CHECK(found.workers('b') == 4);
  CHECK(found.workers('a') + found.workers('b') <= 8);
  CHECK(found.ordered('b') == 4);
}

TEST_CASE("a job that waits has its room from one that can do without it, and nobody is parked") {
  HostJobs one = host('1', 4, 0);
  one.jobs = {running(group('a', {1, 4}, 1, 4000), {{'1', 4}}), job('b', 2, 60)};
  for (const char* policy : {"horizon", "greedy"}) {
    for (const bool is_parkable : {false, true}) {
      INFO(policy << is_parkable);
      one.jobs[0].task.is_parkable = is_parkable;
      const Decided found = decided({one}, policy);
      CHECK(found.allocation.admitted.contains(job_id('b')));
      CHECK(found.workers('a') == 2);
      REQUIRE(found.orders.contains(job_id('a')));
      CHECK(found.orders.at(job_id('a')).op == Order::Op::resize);
      CHECK(found.ordered('a') == 2);
      CHECK_FALSE(found.orders.contains(job_id('b')));
    }
  }
}

TEST_CASE("while workers leave no others are asked to") {
  HostJobs one = host('1', 4, 0);
  one.jobs = {running(group('a', {1, 4}, 1, 4000), {{'1', 2}}), job('b', 2, 60)};
  one.jobs[0].group->is_leaving = true;
  CHECK(decided({one}).orders.empty());
}

TEST_CASE("workers go where the one that waits needs them to") {
  HostJobs one = host('1', 4, 0), two = host('2', 2, 0);
  one.jobs = {running(group('a', {1, 8}, 1, 4000, ctrl::Elastic::join, Span::overlay),
                      {{'1', 4}, {'2', 2}}),
              job('b', 3, 60)};
  const Decided found = decided({one, two});
  REQUIRE(found.allocation.admitted.contains(job_id('b')));
  REQUIRE(found.orders.contains(job_id('a')));
  for (const TaskPlace& place : found.orders.at(job_id('a')).places) {
    if (place.host == host_id('1')) CHECK(place.workers == 1);
  }
  CHECK(found.ordered('a') <= 3);
  CHECK(found.ordered('a') >= 1);
}

TEST_CASE("where room is in pieces more go than were to") {
  // Two workers would be enough to go, but no host had two cores then.
  HostJobs one = host('1', 2, 0), two = host('2', 2, 0);
  one.jobs = {running(group('a', {2, 2}, 1, 4000, ctrl::Elastic::join, Span::overlay),
                      {{'1', 1}, {'2', 1}}),
              running(group('c', {1, 2}, 1, 4000, ctrl::Elastic::join, Span::overlay),
                      {{'2', 1}, {'1', 1}}),
              job('b', 2, 60)};
  const Decided found = decided({one, two});
  CHECK_FALSE(found.orders.contains(job_id('b')));  // and what cannot be is not tried
}

TEST_CASE("a worker of more cores is more nodes") {
  HostJobs one = host('1', 8, 0);
  one.jobs = {running(group('a', {1, 8}, 1, 4000), {{'1', 4}}),
              running(group('b', {1, 8}, 2, 4000), {{'1', 2}})};
  const Decided found = decided({one});
  CHECK(found.workers('a') + 2 * found.workers('b') <= 8);
  const auto state = policy::allocate_state_from(*parse_json(found.allocation.rounds.back().state));
  REQUIRE(state.has_value());
  const auto& horizon = std::get<policy::HorizonState>(*state);
  CHECK(horizon.nodes == 8);
  CHECK(horizon.jobs[1].n_min == 2);
  CHECK(horizon.jobs[1].n_max == 8);
}

TEST_CASE("requests are compared by what there is least of") {
  HostJobs one = host('1', 8, 7);
  one.free = amounts(7, 63);
  one.jobs = {running(group('a', {1, 8}, 1, 4000), {{'1', 1}}), group('b', {1, 8}, 0.1, 4000)};
  one.jobs[1].task.request = amounts(0.1, 16);
  const Decided found = decided({one});
  CHECK(found.workers('a') == 4);
  CHECK(found.workers('b') == 2);
}

TEST_CASE("a job that waits has room by what it asks for, not by powers of two") {
  HostJobs one = host('1', 2, 0);
  one.jobs = {running(group('a', {1, 4}, 0.5, 4000), {{'1', 4}}), job('b', 1.5, 60)};
  const Decided found = decided({one});
  CHECK(found.allocation.admitted.contains(job_id('b')));
  CHECK(found.ordered('a') == 1);
}

TEST_CASE("one that comes first has its room from others where nothing is allocated to it") {
  HostJobs one = host('1', 4, 0);
  one.jobs = {running(group('a', {1, 4}, 1, 4000), {{'1', 4}}), job('b', 3, 60)};
  const Decided found = decided({one}, "greedy");
  CHECK(found.ordered('a') == 1);
  one.jobs[0].group->is_leaving = true;
  one.jobs[0].places[0].workers = one.jobs[0].task.workers = 1;
  one.free = amounts(2, 64);  // one of the three has gone
  CHECK(decided({one}, "greedy").orders.empty());
}

TEST_CASE("a moment's use by others takes no workers away") {
  HostJobs one = host('1', 8, -0.2);
  one.jobs = {running(group('a', {1, 8}, 1, 4000), {{'1', 8}})};
  CHECK(decided({one}).orders.empty());
  one.jobs = {running(group('a', {1, 8}, 1, 4000, ctrl::Elastic::restart), {{'1', 8}})};
  one.jobs[0].task.is_parkable = true;
  CHECK(decided({one}).orders.empty());
}

TEST_CASE("a job that ends soon in any case keeps what nobody else could use") {
  HostJobs one = host('1', 8, 0);
  one.jobs = {running(group('a', {1, 4}, 1, 200), {{'1', 4}}),
              running(group('b', {1, 4}, 1, 40000), {{'1', 4}})};
  CHECK(decided({one}).orders.empty());
  one.free = amounts(4, 64);
  one.jobs = {group('a', {1, 4}, 1, 200), running(group('b', {1, 4}, 1, 40000), {{'1', 4}})};
  CHECK(decided({one}).ordered('a') == 4);
}

TEST_CASE("who cannot be placed keeps nobody from growing") {
  HostJobs one = host('1', 8, 0), two = host('2', 8, 4);
  one.jobs = {running(group('a', {1, 8}, 1, 4000), {{'1', 8}}),
              running(group('b', {1, 8}, 1, 4000), {{'2', 4}}), job('c', 8, 60)};
  one.jobs[0].group->elastic = one.jobs[1].group->elastic = ctrl::Elastic::join;
  const Decided found = decided({one, two});
  CHECK(found.ordered('b') == 8);
  CHECK_FALSE(found.orders.contains(job_id('a')));
}

TEST_CASE("nobody gives up workers for one that their least leaves no room for") {
  HostJobs one = host('1', 8, 0), two = host('2', 8, 0);
  one.jobs = {running(group('a', {4, 8}, 1, 4000), {{'1', 8}}),
              running(group('b', {4, 8}, 1, 4000), {{'2', 8}}), job('c', 6, 60)};
  CHECK(decided({one, two}).orders.empty());
}

TEST_CASE("for a job on several hosts workers leave where its own fit") {
  HostJobs one = host('1', 4, 0), two = host('2', 4, 0);
  one.jobs = {running(group('a', {1, 8}, 1, 4000, ctrl::Elastic::join, Span::overlay),
                      {{'1', 4}, {'2', 4}}),
              group('b', {2, 2}, 3, 60, ctrl::Elastic::no, Span::overlay)};
  const Decided found = decided({one, two});
  REQUIRE(found.orders.contains(job_id('a')));
  const std::vector<TaskPlace>& places = found.orders.at(job_id('a')).places;
  for (const TaskPlace& place : places) CHECK(place.workers <= 1);
  CHECK(found.ordered('a') >= 1);
}

TEST_CASE("parameter servers are room, too, and a job may need workers of several hosts") {
  HostJobs one = host('1', 4, 0), two = host('2', 4, 0);
  one.jobs = {running(group('a', {1, 8}, 1, 4000, ctrl::Elastic::join, Span::overlay),
                      {{'1', 4}, {'2', 4}}),
              group('b', {4, 4}, 1, 60, ctrl::Elastic::no, Span::overlay)};
  one.jobs[1].task.ps = 2;
  one.jobs[1].task.ps_request = amounts(1, 1);
  const Decided found = decided({one, two});
  CHECK(found.allocation.admitted.contains(job_id('b')));
  CHECK(found.ordered('a') == 2);
}

TEST_CASE("a job that starts again grows only where it is, and one at a time") {
  HostJobs one = host('1', 4, 0), two = host('2', 16, 0);
  one.jobs = {running(group('a', {1, 16}, 1, 400, ctrl::Elastic::restart), {{'1', 4}}),
              running(group('b', {1, 16}, 1, 4000), {{'2', 16}})};
  one.jobs[0].task.is_parkable = true;
  CHECK(decided({one, two}).orders.empty());
  one = host('1', 8, 6);
  one.jobs = {running(group('a', {1, 4}, 1, 40000, ctrl::Elastic::restart), {{'1', 1}}),
              running(group('b', {1, 4}, 1, 40000, ctrl::Elastic::restart), {{'1', 1}})};
  one.jobs[0].task.is_parkable = one.jobs[1].task.is_parkable = true;
  const Decided found = decided({one});
  CHECK(found.workers('a') == 4);
  CHECK(found.workers('b') == 4);
  CHECK(found.orders.size() == 1);
}

TEST_CASE("an allocation that is older than a range is held to it") {
  HostJobs one = host('1', 8, 8);
  one.jobs = {group('a', {2, 2}, 1, 4000)};
  const AllJobs all = all_jobs({one}, 1000, 1800);
  const auto plan = policy::find_queue_policy("left")->decide(all.view);
  REQUIRE(plan.has_value());
  Allocation allocation;
  allocation.workers[job_id('a')] = 8;
  const auto orders = orders_of(all, *plan, &allocation);
  CHECK(workers_in(orders.at(host_id('1')).at(0).order->places) == 2);
}

TEST_CASE("what a host tells that cannot be is no harm") {
  HostJobs one = host('1', 8, 5);
  one.pause = 1e12;
  one.jobs = {running(group('a', {1, 8}, 5e-324, 1e12), {{'1', 1}}),
              running(group('b', {4, 8}, 0.7, 1e-9, ctrl::Elastic::restart), {{'1', 4}}),
              job('c', 4.9, 60)};
  one.jobs[0].task.request = {{"cpu", 5e-324}, {"mem", 0.0}};
  one.jobs[1].task.is_parkable = true;
  one.jobs[1].group->open = 0;
  one.jobs[1].group->paces = {{192, 1e-12}, {1, 1e18}};
  decided({one});
  decided({one}, "greedy");
  one.jobs[0].task.request = amounts(1e18, 1e9);
  decided({one});
  HostJobs large = host('1', 2000, 1);
  large.jobs = {running(group('a', {1, 4}, 0.01, 4000), {{'1', 1}}),
                running(group('b', {8, 8}, 128, 4000), {{'1', 8}})};
  decided({large});
  decided({large}, "greedy");
}

TEST_CASE("an allocation of a job that is no group any more changes nothing") {
  HostJobs one = host('1', 8, 7);
  one.jobs = {running(job('a', 1, 4000), {{'1', 1}})};
  const AllJobs all = all_jobs({one}, 1000, 1800);
  const auto plan = policy::find_queue_policy("left")->decide(all.view);
  REQUIRE(plan.has_value());
  Allocation allocation;
  allocation.workers[job_id('a')] = allocation.workers[job_id('z')] = 8;
  for (const auto& [owner, orders] : orders_of(all, *plan, &allocation)) {
    for (const JobOrder& order : orders) CHECK_FALSE(order.order);
  }
}

TEST_CASE("a request of nothing is no job that is decided about") {
  HostJobs one = host('1', 4, 3);
  one.jobs = {running(group('a', {1, 4}, 0, 4000), {{'1', 1}}),
              running(group('b', {1, 4}, 1, 4000), {{'1', 1}})};
  one.jobs[0].task.request = amounts(0, 0);
  const Decided found = decided({one});
  CHECK(found.workers('a') == 0);
  CHECK(found.workers('b') == 4);
}

TEST_CASE("what more workers have brought is known, and by it what is left") {
  HostJobs one = host('1', 8, 5);
  one.jobs = {running(group('a', {1, 4}, 1, 500), {{'1', 2}}),
              running(group('b', {1, 4}, 1, 500), {{'1', 1}})};
  one.jobs[0].group->open = 0.5;
  one.jobs[0].group->paces = {{1, 0.001}, {2, 0.001}};  // two do no more than one
  one.jobs[1].group->open = 0.5;
  one.jobs[1].group->paces = {{1, 0.001}, {2, 0.002}};
  const Decided found = decided({one});
  CHECK(found.workers('b') == 4);
  const auto state = policy::allocate_state_from(*parse_json(found.allocation.rounds.back().state));
  REQUIRE(state.has_value());
  const auto& jobs = std::get<policy::HorizonState>(*state).jobs;
  for (const policy::HorizonJob& job : jobs) {
    for (std::size_t i = 1; i < job.speed.size(); ++i) {
      const double before = job.speed[i - 1].second / static_cast<double>(job.speed[i - 1].first);
      CHECK(job.speed[i].second / static_cast<double>(job.speed[i].first) <= before + 1e-12);
    }
  }
  CHECK(jobs[1].left == Approx(500 / 3600.0).epsilon(0.2));
}

TEST_CASE("a job gets no worker on a host that has just refused it one") {
  HostJobs one = host('1', 8, 6);
  one.jobs = {running(group('a', {1, 8}, 1, 4000), {{'1', 1}})};
  for (const char* policy : {"horizon", "greedy"}) {
    INFO(policy);
    one.jobs[0].avoided.clear();
    CHECK(decided({one}, policy).ordered('a') > 1);
    one.jobs[0].avoided = {host_id('1')};
    CHECK(decided({one}, policy).orders.empty());
  }
}

TEST_CASE("a job that has to start again for it is not resized for little") {
  HostJobs one = host('1', 4, 3);
  one.pause = 60;
  one.jobs = {running(group('a', {1, 4}, 1, 70, ctrl::Elastic::restart), {{'1', 1}})};
  one.jobs[0].task.is_parkable = true;
  CHECK(decided({one}).orders.empty());
  one.jobs[0].task.left = 4000;
  const Decided found = decided({one});
  REQUIRE(found.orders.contains(job_id('a')));
  CHECK(found.orders.at(job_id('a')).op == Order::Op::park);
  CHECK(found.orders.at(job_id('a')).workers == 4);
  one.jobs[0].task.is_parkable = false;  // it has just begun
  CHECK(decided({one}).orders.empty());
}

TEST_CASE("greedy gives what is idle to the job that has run shortest") {
  HostJobs one = host('1', 8, 5);
  one.jobs = {running(group('a', {1, 8}, 1, 10), {{'1', 2}}),
              running(group('b', {1, 8}, 1, 4000), {{'1', 1}})};
  one.jobs[0].task.served = 5;
  const Decided found = decided({one}, "greedy");
  CHECK(found.workers('a') == 4);
  CHECK(found.workers('b') == 4);
}

TEST_CASE("a job that could never be placed holds up nobody") {
  HostJobs one = host('1', 4, 3);
  one.jobs = {running(group('a', {1, 4}, 1, 4000), {{'1', 1}}), job('b', 16, 60)};
  for (const char* policy : {"horizon", "greedy"}) {
    const Decided found = decided({one}, policy);
    CHECK(found.workers('a') == 4);
    CHECK(found.ordered('a') == 4);
  }
}

TEST_CASE("a job whose range has no power of two has what nobody waits for") {
  HostJobs one = host('1', 8, 5);
  one.jobs = {running(group('a', {3, 3}, 1, 4000), {{'1', 3}}),
              running(group('b', {5, 7}, 1, 4000), {{'1', 5}})};
  one.free = amounts(2, 64);
  one.offer = amounts(10, 64);
  const Decided found = decided({one});
  CHECK(found.workers('a') == 0);
  CHECK(found.ordered('b') == 7);
}

TEST_CASE("kod2 allocates nothing, and orders are KOD2's") {
  const AllJobs all = all_jobs({host('1', 4, 4)}, 1000, 1800);
  CHECK_FALSE(allocate(all, {}, {"kod2", 300}));
}

TEST_CASE("a situation is another one when a job, a range or a host is") {
  HostJobs one = host('1', 4, 0), two = host('2', 4, 0);
  one.jobs = {running(group('a', {1, 4}, 1, 4000), {{'1', 4}})};
  const auto of = [](const std::vector<HostJobs>& hosts) {
    return situation_of(all_jobs(hosts, 1000, 1800));
  };
  const std::string before = of({one});
  CHECK(of({one, two}) != before);
  HostJobs other = one;
  other.jobs[0].group->range.most = 2;
  CHECK(of({other}) != before);
  other = one;
  other.jobs.push_back(job('b', 1, 60));
  CHECK(of({other}) != before);
  other = one;
  other.free = amounts(1, 1);
  other.jobs[0].task.left = 30;
  CHECK(of({other}) == before);
}

// Whatever hosts tell: numbers are powers of two within the ranges, together no more than there is,
// orders keep to them, and what is recorded is read back as a state of the same decision.
TEST_CASE("any state") {
  std::mt19937 random(7);
  const auto upto = [&](int most) { return static_cast<int>(random() % (most + 1)); };
  for (int round = 0; round < 1500; ++round) {
    std::vector<HostJobs> hosts;
    const int count = 1 + upto(2);
    for (int i = 0; i < count; ++i) hosts.push_back(host(static_cast<char>('1' + i), 16, 16));
    char letter = 'a';
    for (int i = upto(5); i >= 0; --i, ++letter) {
      const int least = 1 + upto(3);
      const ctrl::WorkerRange range{least, least + upto(6)};
      const double cpu = 0.5 * (1 + upto(5));
      const bool is_group = upto(3) > 0;
      ReportedJob one =
          is_group ? group(letter, range, cpu, 1 + upto(5000), static_cast<ctrl::Elastic>(upto(2)),
                           upto(1) == 0 ? Span::none : Span::overlay)
                   : job(letter, cpu, 1 + upto(5000));
      if (upto(5) == 0) one.task.left.reset();
      one.task.is_parkable = upto(1) == 0;
      one.task.is_starved = upto(9) == 0;
      if (upto(1) == 0) {
        std::vector<std::pair<char, std::int64_t>> places;
        const std::int64_t all = is_group ? range.least + upto(2) : 1;
        for (std::int64_t k = 0; k < all; ++k) {
          const int at = one.task.may_spread ? upto(count - 1) : 0;
          const double left = policy::amount_of(hosts[static_cast<std::size_t>(at)].free, "cpu");
          if (left < cpu) continue;
          places.emplace_back(static_cast<char>('1' + at), 1);
          hosts[static_cast<std::size_t>(at)].free = amounts(left - cpu, 64);
        }
        if (!places.empty()) one = running(std::move(one), places);
        if (is_group && upto(1) == 0) {
          one.group->open = 0.5;
          one.group->paces = {{1 + upto(3), 0.001 * (1 + upto(9))}};
          one.group->paces.push_back({5, 0.004});
        }
      }
      hosts[static_cast<std::size_t>(upto(count - 1))].jobs.push_back(std::move(one));
    }
    const std::string policy = upto(1) == 0 ? "horizon" : "greedy";
    const char* queue = std::array{"left", "kod2", "fifo"}[static_cast<std::size_t>(upto(2))];
    const AllJobs all = all_jobs(hosts, 1000, 1800);
    const Decided found = decided(hosts, policy, queue);
    for (std::size_t i = 0; i < all.known.size(); ++i) {
      const std::string& id = all.view.jobs[i].id;
      const auto workers = found.allocation.workers.find(id);
      if (workers == found.allocation.workers.end()) continue;
      INFO(round << ' ' << id.front() << ' ' << workers->second);
      const ctrl::WorkerRange range = all.known[i].group->range;
      const bool is_kept = workers->second == policy::count_of(all.view.jobs[i].placed.workers);
      CHECK((is_kept || std::has_single_bit(static_cast<std::uint64_t>(workers->second))));
      CHECK((is_kept || workers->second >= range.least));
      CHECK((is_kept || workers->second <= range.most));
    }
    // What comes somewhere finds room there.
    std::vector<double> idle;
    for (const policy::QueueNode& node : all.view.nodes) {
      idle.push_back(policy::amount_of(node.idle, "cpu"));
    }
    const auto node_of = [&](const std::string& host) {
      const auto at = std::find(all.hosts.begin(), all.hosts.end(), host);
      return static_cast<std::size_t>(at - all.hosts.begin());
    };
    for (std::size_t i = 0; i < all.known.size(); ++i) {
      const policy::WaitingTask& task = all.view.jobs[i];
      const auto found_order = found.orders.find(task.id);
      if (found_order == found.orders.end()) continue;
      const Order& order = found_order->second;
      if (order.op != Order::Op::start && order.op != Order::Op::resize) continue;
      const double cores = policy::amount_of(task.request, "cpu");
      if (!all.known[i].group) idle[node_of(order.host)] -= cores;
      CHECK((!all.known[i].group || workers_in(order.places) >= 1));
      for (const TaskPlace& place : order.places) {
        const std::size_t node = node_of(place.host);
        std::int64_t more = place.workers;
        for (const policy::NodeCount& one : task.placed.workers) {
          if (one.node == node) more -= one.count;
        }
        if (more > 0) idle[node] -= static_cast<double>(more) * cores;
      }
    }
    for (const double left : idle) CHECK(left >= -1e-6);
    if (found.allocation.rounds.empty()) continue;
    const auto json = parse_json(found.allocation.rounds.back().state);
    REQUIRE(json.has_value());
    const auto state = policy::allocate_state_from(*json);
    REQUIRE(state.has_value());
    CHECK(render_json(policy::to_json(policy::decide_allocate(*state))) ==
          found.allocation.rounds.back().decision);
  }
}
