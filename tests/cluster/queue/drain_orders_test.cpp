// SPDX-License-Identifier: Apache-2.0
// What is ordered for the jobs of a host that drains.
#include <string>
#include <vector>

#include "cluster/queue/all_jobs.h"
#include "cluster/queue/next_host.h"
#include "cluster/queue/orders.h"
#include "tests/cluster/queue/reports.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::test {
namespace {

using queue::AllJobs;
using queue::HostJobs;
using queue::Order;
using queue::ReportedJob;

ReportedJob waiting(char letter) {
  ReportedJob job;
  job.task.id = job_id(letter);
  job.task.request = amounts(1, 1);
  job.task.left = 1000;
  job.version = 3;
  return job;
}

ReportedJob running(char letter, char on, bool is_parkable) {
  ReportedJob job = waiting(letter);
  job.places = {{queue::TaskPlace{host_id(on), 1, 0}, ""}};
  job.task.is_parkable = is_parkable;
  return job;
}

// It gives no room, as a host that drains reports.
HostJobs draining(char digit) {
  HostJobs host = reported_host(digit, 4, 0, 8);
  host.free = host.most = amounts(0, 0);
  host.is_draining = true;
  return host;
}

AllJobs seen(const std::vector<HostJobs>& hosts) { return queue::all_jobs(hosts, 1000, 1800); }

// The jobs that are ordered to be parked, by the last letter of their ids; the policy's name.
std::string parked(const std::vector<HostJobs>& hosts, const std::string& policy,
                   const queue::Allocation* allocation = nullptr) {
  const AllJobs all = seen(hosts);
  const auto plan = policy::find_queue_policy(policy)->decide(all.view);
  REQUIRE(plan.has_value());
  std::string letters;
  for (const auto& [owner, orders] : queue::orders_of(all, *plan, allocation)) {
    for (const queue::JobOrder& one : orders) {
      if (one.order && one.order->op == Order::Op::park) letters += one.job.back();
    }
  }
  return letters;
}

TEST_CASE("what may be parked leaves a host that drains, one after the other, whoever waits") {
  for (const char* policy : {"left", "kod2", "fifo"}) {
    INFO(policy);
    HostJobs one = draining('1'), two = reported_host('2', 4, 2, 8);
    // One cannot save itself; of the others one belongs to a peer, and one runs elsewhere.
    one.jobs = {running('a', '1', false), running('b', '1', true)};
    two.jobs = {running('c', '1', true), running('d', '2', true)};
    CHECK(parked({one, two}, policy) == "b");
    one.jobs[1].is_parking = true;
    CHECK(parked({one, two}, policy).empty());
    one.jobs[1] = waiting('b');
    CHECK(parked({one, two}, policy) == "c");
    two.jobs[0] = waiting('c');
    CHECK(parked({one, two}, policy).empty());
    one.jobs[1] = running('b', '1', true);
    one.is_draining = false;
    CHECK(parked({one, two}, policy).empty());
  }
}

TEST_CASE("nobody starts again for more workers beside what leaves, and that waits for nobody") {
  HostJobs one = draining('1'), two = reported_host('2', 4, 2, 8);
  one.jobs = {running('a', '1', true)};
  two.jobs = {running('b', '2', true)};
  two.jobs[0].task.left = 1e6;
  two.jobs[0].group = queue::GroupShape{{1, 3}, ctrl::Elastic::restart};
  CHECK(parked({one, two}, "left") == "a");
  queue::Allocation allocation;
  allocation.is_held = true;  // another one starts again and is away
  CHECK(parked({one, two}, "left", &allocation) == "a");
  one.is_draining = false;
  CHECK(parked({one, two}, "left") == "b");
}

TEST_CASE("the room of what leaves a host that drains is nobody's") {
  HostJobs one = draining('1'), two = reported_host('2', 1, 0, 8);
  one.jobs = {running('a', '1', true)};
  two.jobs = {waiting('b')};
  two.jobs[0].task.waited = 5000;
  const AllJobs all = seen({one, two});
  CHECK_FALSE(all.view.jobs[0].is_parkable);
  CHECK(all.known[0].is_to_leave);
  const auto plan = policy::find_queue_policy("left")->decide(all.view);
  REQUIRE(plan.has_value());
  CHECK(plan->starts.empty());
  CHECK_FALSE(queue::may_go(all, 1, 0));
  CHECK(queue::next_hosts(all, {1}, {amounts(0, 0), amounts(0, 8)}).empty());
}

TEST_CASE("a job of several hosts leaves as a whole, and its host is what it waits for") {
  HostJobs one = draining('1'), two = reported_host('2', 1, 0, 8);
  two.jobs = {running('a', '1', true)};
  two.jobs[0].places.push_back({queue::TaskPlace{host_id('2'), 1, 0}, ""});
  two.jobs[0].task.workers = 2;
  two.jobs[0].task.may_spread = true;
  two.jobs[0].group = queue::GroupShape{{2, 2}, ctrl::Elastic::no, queue::Span::host, false};
  CHECK(parked({one, two}, "left") == "a");

  const auto obstacle = [&] {
    const AllJobs all = seen({one, two});
    const auto plan = policy::find_queue_policy("left")->decide(all.view);
    REQUIRE(plan.has_value());
    return queue::orders_of(all, *plan).at(host_id('2')).front().obstacle;
  };
  two.jobs[0].places.clear();
  one.offer = amounts(1, 8);  // each has room for one of the two
  one.is_open = two.has_address = true;
  CHECK(obstacle() == "waits until h1 stops draining");
  one.is_open = false;
  CHECK(obstacle().starts_with("no reachable host could hold it"));

  one.offer = amounts(4, 8);
  two.jobs = {waiting('b')};
  two.jobs[0].task.request = amounts(2, 1);
  CHECK(obstacle() == "waits until h1 stops draining");
}

TEST_CASE("an older host's report says nothing of draining, and it does not drain") {
  std::string text = render(draining('1'));
  REQUIRE(queue::parse_host_jobs(text).has_value());
  CHECK(queue::parse_host_jobs(text)->is_draining);
  const std::string newer = "\"draining\":true,";
  REQUIRE(text.find(newer) != std::string::npos);
  text.erase(text.find(newer), newer.size());
  const Result<HostJobs> read = queue::parse_host_jobs(text);
  REQUIRE(read.has_value());
  CHECK_FALSE(read->is_draining);
}

}  // namespace
}  // namespace flowcon::cluster::test
