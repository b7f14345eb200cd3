// SPDX-License-Identifier: Apache-2.0
// On which hosts the tasks of jobs start, by each policy.
#include "cluster/queue/places.h"

#include <string>

#include "base/json.h"
#include "cluster/codec/place_json.h"
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

// Each task asks for one core.
ReportedJob group(char letter, std::int64_t workers, std::int64_t ps = 0) {
  ReportedJob one;
  one.task.id = job_id(letter);
  one.task.left = 100;
  one.task.request = one.task.ps_request = amounts(1, 1);
  one.task.workers = workers;
  one.task.ps = ps;
  one.task.may_spread = true;
  one.group = GroupShape{{workers, workers}, ctrl::Elastic::no, Span::overlay, true};
  return one;
}

ReportedJob single(char letter) {
  ReportedJob one = group(letter, 1);
  one.task.may_spread = false;
  one.group.reset();
  return one;
}

// Both ways.
void link(HostJobs& a, HostJobs& b, double megabytes_per_s) {
  a.rates[b.id] = b.rates[a.id] = megabytes_per_s * 1e6;
}

struct Ordered {
  std::map<std::string, JobOrder> orders;  // by job
  std::vector<PlaceRound> rounds;
};

Ordered ordered(const std::vector<HostJobs>& hosts, const char* place, const char* queue = "left") {
  const AllJobs all = all_jobs(hosts, 1000, 1800);
  const auto plan = policy::find_queue_policy(queue)->decide(all.view);
  REQUIRE(plan.has_value());
  Ordered ordered;
  for (const auto& [owner, some] :
       orders_of(all, *plan, nullptr, *find_place_policy(place), &ordered.rounds)) {
    for (const JobOrder& order : some) ordered.orders[order.job] = order;
  }
  return ordered;
}

// "h1:1+2 h3:0+1", parameter servers and workers.
std::string places_of(const Ordered& ordered, char letter) {
  const JobOrder& order = ordered.orders.at(job_id(letter));
  if (!order.order) return order.obstacle;
  std::string text;
  for (const TaskPlace& place : order.order->places) {
    text += (text.empty() ? "h" : " h") + place.host.substr(0, 1) + ':' + std::to_string(place.ps) +
            '+' + std::to_string(place.workers);
  }
  return text;
}

std::string host_of(const Ordered& ordered, char letter) {
  const JobOrder& order = ordered.orders.at(job_id(letter));
  return order.order ? order.order->host.substr(0, 1) : order.obstacle;
}

}  // namespace

TEST_CASE("a job whose tasks no hosts could hold together says so, and keeps no other waiting") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4);
  ReportedJob wide = group('a', 3);
  wide.task.request = wide.task.ps_request = amounts(2.5, 1);
  wide.task.since = wide.task.waited = 4000;
  one.jobs = {wide, single('b')};
  for (const char* queue : {"left", "kod2", "fifo"}) {
    INFO(queue);
    const Ordered all = ordered({one, two}, "seeded", queue);
    CHECK(places_of(all, 'a') ==
          "no reachable host could hold it, nor several together: it requests 7.5 cores and 3 GiB "
          "of memory");
    CHECK(all.orders.at(job_id('b')).order);
  }
}

TEST_CASE("a job that needs two hosts goes to those with the fastest link") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4), three = host('3', 8, 4);
  one.jobs = {group('a', 4, 1)};
  CHECK(places_of(ordered({one, two, three}, "seeded"), 'a') == "h1:1+3 h2:0+1");
  link(one, two, 1);
  link(one, three, 10);
  link(two, three, 100);
  for (const char* queue : {"left", "kod2", "fifo"}) {
    INFO(queue);
    CHECK(places_of(ordered({one, two, three}, "seeded", queue), 'a') == "h2:1+3 h3:0+1");
  }
  // One way alone was measured: it counts for both.
  two.rates.erase(one.id);
  three.rates.clear();
  CHECK(places_of(ordered({one, two, three}, "seeded"), 'a') == "h2:1+3 h3:0+1");
}

TEST_CASE("workers without parameter servers meet at the first one") {
  HostJobs one = host('1', 2, 2), two = host('2', 2, 2), three = host('3', 2, 2);
  one.jobs = {group('a', 4)};
  link(one, two, 1);
  link(one, three, 10);
  link(two, three, 100);
  CHECK(places_of(ordered({one, two, three}, "seeded"), 'a') == "h2:0+2 h3:0+2");
}

TEST_CASE("the first worker is where the others meet, whatever the order of the hosts") {
  HostJobs one = host('1', 4, 2), two = host('2', 8, 6);
  one.jobs = {group('a', 7)};
  CHECK(places_of(ordered({one, two}, "seeded"), 'a') == "h2:0+6 h1:0+1");
}

TEST_CASE("a worker that comes later goes to the nearest host") {
  HostJobs one = host('1', 2, 0), two = host('2', 2, 2), three = host('3', 2, 2);
  one.jobs = {group('a', 2)};
  one.jobs[0].places = {{TaskPlace{one.id, 2, 0}, ""}};
  one.jobs[0].group->range = {1, 3};
  one.jobs[0].group->elastic = ctrl::Elastic::join;
  link(one, two, 1);
  link(one, three, 10);
  CHECK(places_of(ordered({one, two, three}, "seeded"), 'a') == "h1:0+2 h3:0+1");
}

TEST_CASE("each host is tried as the first, as published only the idlest is") {
  HostJobs one = host('1', 2, 2), two = host('2', 8, 6);
  one.jobs = {group('a', 6, 1)};
  CHECK(places_of(ordered({one, two}, "best-fit"), 'a') == "h1:1+1 h2:0+5");
  CHECK(places_of(ordered({one, two}, "seeded"), 'a') == "h1:0+1 h2:1+5");
}

TEST_CASE("what a job sends is weighed with the link") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4);
  one.jobs = {group('a', 6, 2)};
  link(one, two, 10);
  const auto score = [&] {
    const Ordered placed = ordered({one, two}, "seeded");
    REQUIRE(placed.rounds.size() == 1);
    const auto state = policy::place_state_from(*parse_json(placed.rounds[0].round.state));
    REQUIRE(state.has_value());
    return state->traffic.at(0).bytes_per_s;
  };
  CHECK(score() == 5e6);
  one.jobs[0].group->traffic = 3e6;
  CHECK(score() == 1.5e6);
}

TEST_CASE("three jobs that start at once are packed together where that is asked for") {
  HostJobs one = host('1', 4, 3), two = host('2', 4, 4), three = host('3', 4, 4);
  one.jobs = {single('a'), single('b'), single('c')};
  const Ordered apart = ordered({one, two, three}, "seeded");
  CHECK(host_of(apart, 'a') + host_of(apart, 'b') + host_of(apart, 'c') == "231");
  CHECK(apart.rounds.empty());
  const Ordered together = ordered({one, two, three}, "genetic");
  CHECK(host_of(together, 'a') == host_of(together, 'b'));
  CHECK(host_of(together, 'a') == host_of(together, 'c'));
  REQUIRE(together.rounds.size() == 1);
  CHECK(together.rounds[0].jobs.size() == 3);
  one.jobs.pop_back();
  const Ordered few = ordered({one, two, three}, "genetic");
  CHECK(host_of(few, 'a') + host_of(few, 'b') == "23");
}

TEST_CASE("what is placed together is ordered so, also on several hosts") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4), three = host('3', 4, 4);
  one.jobs = {group('a', 5, 1), single('b'), single('c')};
  link(one, two, 1);
  link(one, three, 1);
  link(two, three, 100);
  const Ordered together = ordered({one, two, three}, "genetic");
  REQUIRE(together.rounds.size() == 1);
  CHECK(places_of(together, 'a').starts_with("h2:"));
  CHECK(places_of(together, 'a').find(" h3:") != std::string::npos);
  CHECK(host_of(together, 'b') != "1");
  CHECK(host_of(together, 'c') != "1");
}

TEST_CASE("jobs beyond those that are placed together keep their room") {
  HostJobs one = host('1', 33, 33), two = host('2', 8, 8);
  for (char letter = 'A'; letter < 'A' + 32; ++letter) one.jobs.push_back(single(letter));
  one.jobs.push_back(single('z'));
  one.jobs.back().task.request = amounts(8, 1);
  one.jobs.back().task.left = 1000;
  const Ordered together = ordered({one, two}, "genetic", "fifo");
  REQUIRE(together.rounds.size() == 1);
  CHECK(together.rounds[0].jobs.size() == 32);
  for (const auto& [id, order] : together.orders) CHECK(order.order.has_value());
}

TEST_CASE("a job that is placed together with others goes only where it may") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4);
  one.jobs = {single('a'), single('b'), single('c'), group('d', 3)};
  one.jobs[0].avoided = {one.id};
  one.jobs[2].avoided = {two.id};
  const Ordered together = ordered({one, two}, "genetic");
  CHECK(host_of(together, 'a') == "2");
  CHECK(host_of(together, 'c') == "1");
  CHECK(together.orders.at(job_id('b')).order);
  REQUIRE(together.orders.at(job_id('d')).order);
  REQUIRE(together.rounds.size() == 1);
  CHECK(together.rounds[0].jobs.size() == 4);
  CHECK(together.rounds[0].sentences.at(0).starts_with("goes to h2"));
}

TEST_CASE("a placement is recorded as decide reads it, and decides the same again") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 3);
  link(one, two, 20);
  one.jobs = {group('a', 6)};
  const char* const place = GENERATE("seeded", "best-fit", "genetic");
  INFO(place);
  if (std::string(place) == "genetic") {
    one.jobs = {group('a', 2), single('b'), single('c')};
    one.jobs[1].avoided = {two.id};
  }
  const Ordered placed = ordered({one, two}, place);
  REQUIRE(placed.rounds.size() == 1);
  const ctrl::policy::Round& round = placed.rounds[0].round;
  CHECK(round.algorithm == "place");
  const auto state = policy::place_state_from(*parse_json(round.state));
  REQUIRE(state.has_value());
  const auto again = policy::decide_place(*state);
  REQUIRE(again.has_value());
  CHECK(render_json(policy::to_json(*again)) == round.decision);
}

TEST_CASE("room that a start waits for is not taken by one that starts now") {
  HostJobs one = host('1', 4, 2), two = host('2', 4, 4), three = host('3', 4, 2);
  one.jobs = {group('a', 6), single('b')};
  one.jobs[1].task.request = amounts(4, 1);
  link(one, two, 100);
  link(two, three, 1);
  policy::Placement spread;
  spread.workers = {{1, 4}, {2, 2}};
  policy::QueuePlan plan;
  plan.starts = {{job_id('a'), spread}, {job_id('b'), policy::whole_on(0, one.jobs[1].task)}};
  for (const char letter : {'a', 'b'}) plan.standings.push_back({job_id(letter), 0.5, false});
  const AllJobs all = all_jobs({one, two, three}, 1000, 1800);
  for (const char* place : {"seeded", "genetic"}) {
    INFO(place);
    std::map<std::string, JobOrder> orders;
    for (const auto& [owner, some] : orders_of(all, plan, nullptr, *find_place_policy(place))) {
      for (const JobOrder& order : some) orders[order.job] = order;
    }
    REQUIRE(orders.at(job_id('a')).order);
    for (const TaskPlace& at : orders.at(job_id('a')).order->places) CHECK(at.host != one.id);
    CHECK(orders.at(job_id('b')).obstacle == "waits for a job that is being parked");
  }
}

TEST_CASE("of jobs that start at once none takes what is planned for another") {
  HostJobs one = host('1', 4, 3), two = host('2', 4, 4);
  one.jobs = {single('a'), single('b')};
  one.jobs[0].task.request = amounts(3, 1);
  one.jobs[1].task.request = amounts(4, 1);
  one.jobs[0].freight = Freight{std::string(16, 'f'), 1 << 30, 0, {}, ""};
  one.images = {};
  two.images = {std::string(16, 'f')};
  one.jobs[0].freight->data_bytes = 0;
  policy::QueuePlan plan;
  plan.starts = {{job_id('a'), policy::whole_on(0, one.jobs[0].task)},
                 {job_id('b'), policy::whole_on(1, one.jobs[1].task)}};
  for (const char letter : {'a', 'b'}) plan.standings.push_back({job_id(letter), 0.5, false});
  HostJobs owner = host('3', 1, 0);
  std::swap(owner.jobs, one.jobs);
  const AllJobs all = all_jobs({one, two, owner}, 1000, 1800);
  std::map<std::string, std::string> hosts;
  for (const auto& [name, some] : orders_of(all, plan)) {
    for (const JobOrder& order : some) hosts[order.job] = order.order ? order.order->host : "";
  }
  CHECK(hosts[job_id('a')] == one.id);
  CHECK(hosts[job_id('b')] == two.id);
}

TEST_CASE("jobs whose data is nearer to one host go by that, and not together") {
  HostJobs one = host('1', 4, 3), two = host('2', 4, 4), three = host('3', 4, 4);
  three.jobs = {single('a'), single('b'), single('c')};
  const auto is_together = [&] { return !ordered({one, two, three}, "genetic").rounds.empty(); };
  CHECK(is_together());
  for (ReportedJob& job : three.jobs)
    job.freight = Freight{std::string(16, 'f'), 1 << 30, 0, {}, ""};
  CHECK_FALSE(is_together());
  one.images = two.images = {std::string(16, 'f')};
  CHECK(is_together());
  three.jobs[1].sent_to = one.id;
  CHECK_FALSE(is_together());
}

TEST_CASE("there is a limit to what is decided at a time, and beyond it jobs start as planned") {
  HostJobs one = host('1', 64, 64), two = host('2', 64, 64);
  for (auto* offer : {&one.offer, &two.offer}) *offer = amounts(400, 400);
  one.free = one.most = two.free = two.most = amounts(400, 400);
  policy::QueuePlan plan;
  for (int i = 0; i < 20; ++i) {
    one.jobs.push_back(group(static_cast<char>('a' + i), 2));
    policy::Placement placed;
    placed.workers = {{0, 1}, {1, 1}};
    plan.starts.push_back({one.jobs.back().task.id, placed});
    plan.standings.push_back({one.jobs.back().task.id, 0.5, false});
  }
  const AllJobs all = all_jobs({one, two}, 1000, 1800);
  std::vector<PlaceRound> rounds;
  std::size_t started = 0;
  for (const auto& [owner, some] :
       orders_of(all, plan, nullptr, place_policies().front(), &rounds)) {
    for (const JobOrder& order : some) started += order.order ? 1 : 0;
  }
  CHECK(rounds.size() == 16);
  CHECK(started == 20);
}

TEST_CASE("a job whose planned room another one has taken starts elsewhere at once") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4);
  one.jobs = {single('a'), single('b')};
  for (ReportedJob& job : one.jobs) job.task.request = amounts(3, 1);
  one.jobs[0].sent_to = two.id;
  policy::QueuePlan plan;
  const AllJobs all = all_jobs({one, two}, 1000, 1800);
  for (std::size_t node = 0; node < 2; ++node) {
    plan.starts.push_back({one.jobs[node].task.id, policy::whole_on(node, all.view.jobs[node])});
    plan.standings.push_back({one.jobs[node].task.id, 0.5, false});
  }
  std::map<std::string, std::string> hosts;
  for (const auto& [owner, some] : orders_of(all, plan)) {
    for (const JobOrder& order : some) hosts[order.job] = order.order ? order.order->host : "";
  }
  CHECK(hosts[job_id('a')] == two.id);
  CHECK(hosts[job_id('b')] == one.id);
}
