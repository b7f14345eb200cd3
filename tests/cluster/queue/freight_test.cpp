// SPDX-License-Identifier: Apache-2.0
// Jobs that only their own host may have: for good, or until it is known what they would take
// along.
#include "cluster/freight.h"

#include <string>

#include "cluster/queue/orders.h"
#include "tests/cluster/queue/reports.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::queue;
using namespace flowcon::cluster::test;

namespace {

ReportedJob job(char letter, double cpu) {
  ReportedJob job;
  job.task.id = job_id(letter);
  job.task.request = amounts(cpu, 1);
  return job;
}

ReportedJob running(char letter, double cpu) {
  ReportedJob one = job(letter, cpu);
  one.places = {{TaskPlace{host_id('1'), 1, 0}, ""}};
  return one;
}

AllJobs seen(const std::vector<HostJobs>& hosts) { return all_jobs(hosts, 1000, 1800); }

std::map<std::string, JobOrder> decided(const AllJobs& all, const char* policy) {
  const auto plan = policy::find_queue_policy(policy)->decide(all.view);
  REQUIRE(plan.has_value());
  std::map<std::string, JobOrder> by_job;
  for (const auto& [owner, orders] : orders_of(all, *plan)) {
    for (const JobOrder& order : orders) by_job[order.job] = order;
  }
  return by_job;
}

}  // namespace

TEST_CASE("a job that cannot leave its host waits for that, and is told why") {
  HostJobs one = reported_host('1', 4, 0, 8);
  const HostJobs two = reported_host('2', 4, 4, 8);
  one.jobs = {running('a', 4), job('b', 1)};
  one.jobs[1].freight = Freight{"", 0, 0, {}, "", "it mounts a folder"};
  for (const char* policy : {"left", "kod2", "fifo"}) {
    INFO(policy);
    const JobOrder order = decided(seen({one, two}), policy).at(job_id('b'));
    CHECK_FALSE(order.order);
    CHECK(order.obstacle == "waits for 1 core on h1; it runs on h1 only: it mounts a folder");
  }
  one.jobs[1].task.request = amounts(5, 1);
  CHECK(decided(seen({one, two}), "left").at(job_id('b')).obstacle ==
        "no reachable host could hold it: it requests 5 cores and 1 GiB of memory; it runs on h1 "
        "only: it mounts a folder");
}

TEST_CASE("a starved job that cannot leave its host keeps others from no other host") {
  HostJobs one = reported_host('1', 4, 1, 8);
  const HostJobs two = reported_host('2', 4, 4, 8);
  one.jobs = {running('a', 3), job('b', 4), job('c', 1)};
  one.jobs[1].freight = Freight{"", 0, 0, {}, "", "it mounts a folder"};
  one.jobs[1].task.waited = 2000;
  const auto order = decided(seen({one, two}), "left").at(job_id('c')).order;
  REQUIRE(order);
  CHECK(order->host == host_id('2'));
  one.jobs[1].freight.reset();  // it may have its room there, too
  one.jobs[1].task.request = amounts(4.5, 1);
  HostJobs larger = reported_host('2', 5, 4, 8);
  const auto orders = decided(seen({one, larger}), "left");
  REQUIRE(orders.at(job_id('c')).order);
  CHECK(orders.at(job_id('c')).order->host == host_id('1'));
}

TEST_CASE("a job that is being weighed may start at home, and makes nobody go there") {
  HostJobs one = reported_host('1', 4, 2, 8);
  const HostJobs two = reported_host('2', 4, 4, 8);
  one.jobs = {running('a', 2), job('b', 1), job('c', 3)};
  one.jobs[0].task.is_parkable = true;
  one.jobs[1].is_weighing = one.jobs[2].is_weighing = true;
  const AllJobs all = seen({one, two});
  REQUIRE(all.view.jobs.size() == 2);
  CHECK_FALSE(all.view.jobs[0].is_parkable);
  CHECK(may_go(all, 1, 0));
  CHECK_FALSE(may_go(all, 1, 1));
  for (const char* policy : {"left", "kod2", "fifo"}) {
    INFO(policy);
    const auto order = decided(all, policy).at(job_id('b')).order;
    REQUIRE(order);
    CHECK(order->host == host_id('1'));
  }
  // There is no other host that it could go to.
  CHECK(seen({one}).view.jobs.size() == 3);
  one.jobs[1].is_weighing = one.jobs[2].is_weighing = false;
  const AllJobs weighed = seen({one, two});
  CHECK(weighed.view.jobs.size() == 3);
  CHECK(weighed.view.jobs[0].is_parkable);
  CHECK(may_go(weighed, 2, 1));
}

TEST_CASE("of a host that says neither a job may leave, as far as anybody knows") {
  HostJobs one = reported_host('1', 4, 4, 8);
  one.jobs = {job('a', 1)};
  one.jobs[0].freight = Freight{std::string(16, 'f'), 5, 7, {}, "", "it mounts a folder"};
  one.jobs[0].is_weighing = true;
  std::string text = render(one);
  const auto told = parse_host_jobs(text);
  REQUIRE(told.has_value());
  CHECK(told->jobs[0].is_weighing);
  CHECK(told->jobs[0].freight->bound == "it mounts a folder");
  for (const std::string said : {R"(,"bound":"it mounts a folder")", R"(,"weighing":true)"}) {
    INFO(text);
    const std::size_t at = text.find(said);
    REQUIRE(at != std::string::npos);
    text.erase(at, said.size());
  }
  const auto older = parse_host_jobs(text);
  REQUIRE(older.has_value());
  CHECK_FALSE(older->jobs[0].is_weighing);
  CHECK(older->jobs[0].freight->bound.empty());
}
