// SPDX-License-Identifier: Apache-2.0
// What hosts tell the coordinator, what it makes of that, and both as messages.
#include "cluster/queue/all_jobs.h"

#include <string>

#include "cluster/queue/orders.h"
#include "cluster/queue/promises.h"
#include "cluster/queue/task_json.h"
#include "tests/cluster/queue/reports.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::queue;
using namespace flowcon::cluster::test;

namespace {

HostJobs host(char digit, double cpu, double free_cpu) {
  return reported_host(digit, cpu, free_cpu, 8);
}

ReportedJob job(char letter, double cpu) {
  ReportedJob job;
  job.task.id = job_id(letter);
  job.task.since = 10;
  job.task.waited = 10;
  job.task.left = 100;
  job.task.request = amounts(cpu, 1);
  job.version = 3;
  return job;
}

ReportedJob running(char letter, double cpu, const std::string& on, const std::string& birth) {
  ReportedJob one = job(letter, cpu);
  one.places = {{TaskPlace{on, 1, 0}, birth}};
  return one;
}

AllJobs seen(const std::vector<HostJobs>& hosts) { return all_jobs(hosts, 1000, 1800); }

double idle(const AllJobs& all, std::size_t node) {
  return policy::amount_of(all.view.nodes.at(node).idle, "cpu");
}

policy::Placement on(std::size_t node) { return policy::whole_on(node, policy::WaitingTask()); }

policy::QueuePlan start_of(char letter, std::size_t node) {
  policy::QueuePlan plan;
  plan.starts.push_back({job_id(letter), on(node)});
  plan.standings.push_back({job_id(letter), 0.5, false});
  return plan;
}

const JobOrder& only(const std::map<std::string, std::vector<JobOrder>>& orders, char owner) {
  REQUIRE(orders.contains(host_id(owner)));
  REQUIRE(orders.at(host_id(owner)).size() == 1);
  return orders.at(host_id(owner)).front();
}

}  // namespace

TEST_CASE("jobs of all hosts stand in one queue, by when they came on the coordinator's clock") {
  HostJobs one = host('1', 4, 4), two = host('2', 2, 1);
  one.jobs = {job('a', 1)};
  two.jobs = {job('b', 1)};
  two.jobs[0].task.since = 30;
  const AllJobs all = seen({one, two});
  REQUIRE(all.view.jobs.size() == 2);
  CHECK(all.view.jobs[0].since == 990);
  CHECK(all.view.jobs[1].since == 970);
  CHECK(all.known[1].owner == host_id('2'));
  CHECK(all.view.nodes[1].id == "h2");
}

TEST_CASE("room that is promised and not yet counted by its host is not given twice") {
  const std::string birth(32, 'b');
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4);
  one.jobs = {running('a', 3, host_id('2'), birth)};
  CHECK(idle(seen({one, two}), 1) == 1);
  two.births = {birth};
  CHECK(idle(seen({one, two}), 1) == 4);
}

ReportedJob group(char letter, std::int64_t workers, double cpu, Span span) {
  ReportedJob one = job(letter, cpu);
  one.task.workers = workers;
  one.task.may_spread = span != Span::none;
  one.group = GroupShape{{workers, workers}, ctrl::Elastic::no, span, false};
  return one;
}

TEST_CASE("of the tasks of a job only those that their host does not count take room from it") {
  const std::string here(32, 'b'), there(32, 'c'), unborn(32, 'd');
  HostJobs one = host('1', 8, 8), two = host('2', 8, 3);
  two.births = {here, there};
  one.jobs = {group('a', 4, 1, Span::none)};
  for (const std::string& birth : {here, there, unborn, unborn}) {
    one.jobs[0].places.push_back({TaskPlace{host_id('2'), 1, 0}, birth});
  }
  const AllJobs all = seen({one, two});
  CHECK(idle(all, 1) == 1);
  REQUIRE(all.view.jobs[0].placed.workers.size() == 1);
  CHECK(all.view.jobs[0].placed.workers[0].count == 4);
}

TEST_CASE("a job that needs a network is decided for the hosts that have it") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4), three = host('3', 8, 8);
  one.swarm = two.swarm = {"manager"};
  one.jobs = {group('a', 6, 1, Span::overlay), job('b', 8)};
  for (const char* policy : {"left", "kod2", "fifo"}) {
    INFO(policy);
    const AllJobs all = seen({one, two, three});
    const auto plan = policy::find_queue_policy(policy)->decide(all.view);
    REQUIRE(plan.has_value());
    std::map<std::string, JobOrder> orders;
    for (const auto& [owner, some] : orders_of(all, *plan)) {
      for (const JobOrder& order : some) orders[order.job] = order;
    }
    REQUIRE(orders.at(job_id('a')).order);
    const std::vector<TaskPlace>& places = orders.at(job_id('a')).order->places;
    REQUIRE(places.size() == 2);
    CHECK(places[0].workers + places[1].workers == 6);
    CHECK(places[1].host == host_id('2'));
    REQUIRE(orders.at(job_id('b')).order);
    CHECK(orders.at(job_id('b')).order->host == host_id('3'));
  }
  // A host of its owner needs no peer's leave for its own network.
  one.jobs = {group('a', 6, 1, Span::host)};
  one.has_address = two.has_address = two.is_open = three.has_address = true;
  const AllJobs all = seen({one, two, three});
  CHECK(may_go(all, 0, 0));
  CHECK(may_go(all, 0, 1));
  CHECK_FALSE(may_go(all, 0, 2));
}

TEST_CASE("an image for some processors goes to hosts that have them, and to its own host") {
  HostJobs one = host('1', 1, 1), two = host('2', 4, 4), three = host('3', 4, 4);
  one.architecture = two.architecture = "amd64";
  three.architecture = "arm64";
  one.jobs = {job('a', 2), job('b', 1)};
  one.jobs[0].freight = Freight{"", 0, 0, {}, "arm64"};
  one.jobs[1].freight = Freight{"", 0, 0, {}, "riscv64"};
  for (const char* policy : {"left", "kod2", "fifo"}) {
    INFO(policy);
    const AllJobs all = seen({one, two, three});
    const auto plan = policy::find_queue_policy(policy)->decide(all.view);
    REQUIRE(plan.has_value());
    std::map<std::string, std::string> hosts;
    const auto orders = orders_of(all, *plan);
    for (const JobOrder& order : orders.at(host_id('1'))) {
      if (order.order) hosts[order.job] = order.order->host;
    }
    CHECK(hosts.at(job_id('a')) == host_id('3'));
    CHECK(hosts.at(job_id('b')) == host_id('1'));
  }
  policy::QueuePlan none;
  none.standings.push_back({job_id('a'), 0.5, false});
  one.jobs.pop_back();
  CHECK(only(orders_of(seen({one, two}), none), '1').obstacle ==
        "no reachable host could hold it: it requests 2 cores and 1 GiB of memory, and its image "
        "is for arm64");
  // Of a host that says nothing nobody knows.
  two.architecture.clear();
  CHECK(may_go(seen({one, two}), 0, 1));
}

TEST_CASE("servers may publish ports on each host that has an address") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4), three = host('3', 4, 4);
  one.jobs = {group('a', 6, 1, Span::ports)};
  one.has_address = two.has_address = true;
  const AllJobs all = seen({one, two, three});
  CHECK(may_go(all, 0, 0));
  CHECK(may_go(all, 0, 1));
  CHECK_FALSE(may_go(all, 0, 2));
}

TEST_CASE("a job on a host that is not heard runs, and takes no room of another") {
  HostJobs one = host('1', 4, 4);
  one.jobs = {running('a', 3, host_id('9'), std::string(32, 'b')), job('c', 1)};
  const AllJobs all = seen({one});
  REQUIRE(all.view.jobs.size() == 1);
  CHECK(all.view.jobs[0].id == job_id('c'));
  CHECK(idle(all, 0) == 4);
}

TEST_CASE("of two hosts that claim one job each has its own, and neither keeps the other's out") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4);
  one.jobs = {job('a', 1)};
  two.jobs = {job('a', 2)};
  for (const char* policy : {"left", "kod2", "fifo"}) {
    INFO(policy);
    const AllJobs all = seen({one, two});
    REQUIRE(all.known.size() == 2);
    CHECK(all.view.jobs[0].id != all.view.jobs[1].id);
    const auto plan = policy::find_queue_policy(policy)->decide(all.view);
    REQUIRE(plan.has_value());
    const auto orders = orders_of(all, *plan);
    for (const char owner : {'1', '2'}) {
      CHECK(only(orders, owner).job == job_id('a'));
      CHECK(only(orders, owner).order);
    }
  }
}

TEST_CASE("of another host's room a job has what it was given, or what that host says") {
  const std::string birth(32, 'b');
  HostJobs waits = host('1', 4, 4), one = host('1', 4, 4), two = host('2', 4, 4);
  waits.jobs = {job('a', 3)};
  one.jobs = {running('a', 3, host_id('2'), birth)};
  Promises promises(0);
  const auto view = [&] { return all_jobs({one, two}, 1000, 1800, &promises); };
  const auto is_left_out = [&] { return view().view.jobs.empty() && idle(view(), 1) == 4; };
  CHECK(is_left_out());
  one.jobs[0].places[0].birth.clear();
  CHECK(is_left_out());

  const AllJobs before = seen({waits, two});
  promises.note(1000, {waits, two}, before, orders_of(before, start_of('a', 1)));
  for (const std::string& said : {birth, std::string()}) {
    one.jobs[0].places[0].birth = said;
    CHECK(idle(view(), 1) == 1);
    CHECK(view().view.jobs.size() == 1);
  }
  // Not more, nor elsewhere, nor another job.
  one.jobs[0].task.request = amounts(40, 1);
  CHECK(idle(view(), 1) == 1);
  CHECK(view().view.jobs.empty());
  one.jobs = {running('c', 3, host_id('2'), birth)};
  CHECK(is_left_out());
  const HostJobs thief = [&] {
    HostJobs third = host('3', 4, 4);
    third.jobs = {running('a', 3, host_id('2'), birth)};
    return third;
  }();
  CHECK(idle(all_jobs({thief, two}, 1000, 1800, &promises), 1) == 4);

  // What its owner tells no more is forgotten.
  promises.note(1000, {one, two}, view(), {});
  one.jobs = {running('a', 3, host_id('2'), birth)};
  CHECK(is_left_out());
}

TEST_CASE("of the tasks of a job only those that were given hold room that nobody counts") {
  HostJobs waits = host('1', 4, 1), one = host('1', 4, 1), two = host('2', 8, 8);
  waits.jobs = {group('a', 3, 2, Span::none)};
  const AllJobs before = seen({waits, two});
  policy::QueuePlan plan;
  plan.starts.push_back({job_id('a'), policy::whole_on(1, before.view.jobs[0])});
  plan.standings.push_back({job_id('a'), 0.5, false});
  Promises promises(0);
  promises.note(1000, {waits, two}, before, orders_of(before, plan));
  one.jobs = waits.jobs;
  one.jobs[0].places.assign(3, {TaskPlace{host_id('2'), 1, 0}, std::string(32, 'd')});
  CHECK(idle(all_jobs({one, two}, 1000, 1800, &promises), 1) == 2);
  CHECK(all_jobs({one, two}, 1000, 1800, &promises).view.jobs.size() == 1);
  one.jobs[0].places.push_back(one.jobs[0].places[0]);
  CHECK(idle(all_jobs({one, two}, 1000, 1800, &promises), 1) == 2);
  CHECK(all_jobs({one, two}, 1000, 1800, &promises).view.jobs.empty());
}

TEST_CASE("a host says whose tasks it counts, and one that does not is believed") {
  const std::string birth(32, 'b');
  HostJobs one = host('1', 4, 4), two = host('2', 4, 1);
  one.jobs = {running('a', 3, host_id('2'), birth)};
  two.births = {birth};
  const Promises promises(0);
  const auto jobs = [&] { return all_jobs({one, two}, 1000, 1800, &promises).view.jobs.size(); };
  CHECK(jobs() == 1);
  two.owners = {{birth, host_id('1')}};
  CHECK(jobs() == 1);
  two.owners = {{birth, host_id('3')}};
  CHECK(jobs() == 0);
}

TEST_CASE("who has just begun to coordinate believes what was given before") {
  const Promises promises(1000);
  CHECK_FALSE(promises.knows_all(1000));
  CHECK_FALSE(promises.knows_all(1119));
  CHECK(promises.knows_all(1120));
}

TEST_CASE("what a coordinator before this one gave stays given though its host counts it later") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4);
  one.jobs = {running('a', 3, host_id('2'), std::string(32, 'b'))};
  Promises promises(1000);
  promises.note(1010, {one, two}, seen({one, two}), {});
  const AllJobs later = all_jobs({one, two}, 1130, 1800, &promises);
  CHECK(idle(later, 1) == 1);
  CHECK(later.view.jobs.size() == 1);
}

TEST_CASE("such a claim ends by the word of its owner or of its host, and else it stays") {
  const std::string there(32, 'c'), unborn(32, 'd');
  HostJobs one = host('1', 4, 4), two = host('2', 8, 8);
  one.jobs = {group('a', 2, 2, Span::none)};
  one.jobs[0].places = {{TaskPlace{host_id('2'), 1, 0}, there},
                        {TaskPlace{host_id('2'), 1, 0}, unborn}};
  two.births = {there};
  const HostJobs claims = one;
  Promises promises(1000);
  const auto note = [&](double now, const std::vector<HostJobs>& hosts) {
    promises.note(now, hosts, seen(hosts), {});
  };
  const auto is_held = [&] {
    const AllJobs all = all_jobs({claims, two}, 9000, 1800, &promises);
    CHECK(idle(all, 1) == (all.view.jobs.empty() ? 8 : 6));
    return !all.view.jobs.empty();
  };
  note(1010, {one, two});
  REQUIRE(is_held());
  SECTION("a host that has one task of the job may be asked for the other yet") {
    note(9000, {one, two});
    CHECK(is_held());
  }
  SECTION("what is silent says nothing") {
    note(1120, {one});
    note(1130, {two});
    CHECK(is_held());
  }
  SECTION("the owner does not claim it any more") {
    one.jobs[0].places.pop_back();
    note(1120, {one, two});
    CHECK_FALSE(is_held());
  }
  SECTION("the host has no task of the job any more") {
    two.births.clear();
    note(1120, {one, two});
    two.births = {there};
    CHECK_FALSE(is_held());
  }
  SECTION("the host has counted it, and counts it no more") {
    two.births = {there, unborn};
    note(1120, {one, two});
    two.births = {there};
    note(1130, {one, two});
    CHECK_FALSE(is_held());
  }
}

TEST_CASE("nothing is parkable while a job is being parked anywhere") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4);
  one.jobs = {running('a', 1, host_id('1'), "")};
  one.jobs[0].task.is_parkable = true;
  CHECK(seen({one, two}).view.jobs[0].is_parkable);
  two.jobs = {running('b', 1, host_id('2'), "")};
  two.jobs[0].is_parking = true;
  CHECK_FALSE(seen({one, two}).view.jobs[0].is_parkable);
  // Of a host that is silent nobody knows how long.
  two.jobs[0].places[0].host = host_id('3');
  CHECK(seen({one, two}).view.jobs[0].is_parkable);
}

TEST_CASE("to park a job costs what most hosts say, and something where none has tried") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4), three = host('3', 4, 4);
  CHECK(seen({one, two, three}).view.pause == 10);
  two.pause = 40;
  CHECK(seen({one, two, three}).view.pause == 40);
  one.pause = 2;
  three.pause = 30;
  CHECK(seen({one, two, three}).view.pause == 30);
  const auto told = parse_host_jobs(render(two));
  REQUIRE(told.has_value());
  CHECK(told->pause == 40);
  CHECK_FALSE(parse_host_jobs(render(host('4', 4, 4)))->pause);
  two.pause = -1;
  CHECK_FALSE(parse_host_jobs(render(two)).has_value());
}

TEST_CASE("an order goes to the owner, with the host and the version that it was made from") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4);
  two.jobs = {job('a', 1)};
  const AllJobs all = seen({one, two});
  const auto orders = orders_of(all, start_of('a', 0));
  const JobOrder& order = only(orders, '2');
  REQUIRE(order.order);
  CHECK(order.order->host == host_id('1'));
  CHECK(order.order->version == 3);
  CHECK(order.place == 1);
}

TEST_CASE("a host that has just refused a job is not asked again where another has room") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4);
  one.jobs = {job('a', 1)};
  one.jobs[0].avoided = {host_id('2')};
  const AllJobs all = seen({one, two});
  CHECK(only(orders_of(all, start_of('a', 1)), '1').order->host == host_id('1'));
  one.jobs[0].avoided = {host_id('1'), host_id('2')};
  const AllJobs none = seen({one, two});
  CHECK_FALSE(only(orders_of(none, start_of('a', 1)), '1').order);
}

TEST_CASE("a job that all hosts have just refused keeps none from those behind it") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4);
  one.jobs = {job('a', 3), job('b', 3), job('c', 3)};
  for (std::size_t i = 0; i < 3; ++i) one.jobs[i].task.since = 30 - static_cast<double>(i);
  one.jobs[0].avoided = {host_id('1'), host_id('2')};
  for (const char* policy : {"left", "kod2", "fifo"}) {
    INFO(policy);
    const AllJobs all = seen({one, two});
    const auto plan = policy::find_queue_policy(policy)->decide(all.view);
    REQUIRE(plan.has_value());
    std::map<std::string, JobOrder> orders;
    for (const auto& [owner, some] : orders_of(all, *plan)) {
      for (const JobOrder& order : some) orders[order.job] = order;
    }
    CHECK_FALSE(orders.at(job_id('a')).order);
    CHECK(orders.at(job_id('a')).obstacle == "waits until a host is asked again");
    CHECK(orders.at(job_id('b')).order);
  }
}

TEST_CASE("a start without room waits for it, and keeps it from those behind") {
  HostJobs one = host('1', 4, 2);
  one.jobs = {job('a', 3), job('b', 1)};
  policy::QueuePlan plan = start_of('a', 0);
  plan.starts.push_back({job_id('b'), on(0)});
  const AllJobs all = seen({one});
  const auto orders = orders_of(all, plan);
  REQUIRE(orders.at(host_id('1')).size() == 2);
  for (const JobOrder& order : orders.at(host_id('1'))) CHECK_FALSE(order.order);
}

TEST_CASE("who waits is told where it lacks least, or that no host could hold it") {
  HostJobs one = host('1', 4, 1), two = host('2', 4, 2);
  one.jobs = {job('a', 3)};
  policy::QueuePlan plan;
  plan.standings.push_back({job_id('a'), 0.5, false});
  const AllJobs all = seen({one, two});
  CHECK(only(orders_of(all, plan), '1').obstacle == "waits for 1 core on h2");
  one.jobs[0].task.request = amounts(5, 1);
  const AllJobs never = seen({one, two});
  CHECK(only(orders_of(never, plan), '1').obstacle.starts_with("no reachable host could"));
}

TEST_CASE("GPUs are waited for by name, on hosts that give them to others") {
  HostJobs one = host('1', 4, 4), two = host('2', 4, 4), three = host('3', 4, 4);
  for (HostJobs* gpus : {&two, &three}) {
    gpus->offer.emplace_back("gpu", 1);
    gpus->most.emplace_back("gpu", 1);
    gpus->free.emplace_back("gpu", gpus == &two ? 1 : 0);
  }
  three.accepts_gpus = true;
  one.jobs = {job('a', 1)};
  one.jobs[0].task.request.emplace_back("gpu", 1);
  policy::QueuePlan plan;
  plan.standings.push_back({job_id('a'), 0.5, false});
  const AllJobs all = seen({one, two, three});
  CHECK_FALSE(fits(all.view.jobs[0].request, all.view.nodes[0].cap));
  CHECK_FALSE(may_go(all, 0, 1));
  CHECK(may_go(all, 0, 2));
  CHECK(only(orders_of(all, plan), '1').obstacle == "waits for 1 GPU on h3");
  two.jobs = std::move(one.jobs);
  one.jobs.clear();
  CHECK(may_go(seen({one, two, three}), 0, 1));  // its own host
}

TEST_CASE("reports and orders are read as they were written") {
  HostJobs one = host('1', 4, -1);
  one.births = {std::string(32, 'b')};
  one.owners = {{std::string(32, 'b'), host_id('2')}};
  one.totals = {5, 7};
  one.jobs = {running('a', 2, host_id('2'), std::string(32, 'b')), job('c', 1)};
  one.jobs[1].avoided = {host_id('3')};
  one.jobs[1].task.left.reset();
  one.jobs.push_back(group('d', 3, 1, Span::host));
  one.jobs[2].group->is_bound = true;
  one.jobs[2].group->traffic = 2.5e6;
  one.jobs[2].task.ps = 2;
  one.jobs[2].task.ps_request = amounts(0.5, 1);
  one.jobs[2].places = {{TaskPlace{host_id('1'), 2, 0}, ""}, {TaskPlace{host_id('2'), 1, 2}, ""}};
  one.swarm = {"manager"};
  one.has_address = one.is_open = true;
  one.architecture = "arm64";
  one.jobs[1].freight = Freight{std::string(16, 'f'), 5, 7, {{"data", 3}}, "amd64", "a mount"};
  const Result<HostJobs> read = parse_host_jobs(render(one));
  REQUIRE(read.has_value());
  CHECK(render(*read) == render(one));
  CHECK(read->owners == one.owners);
  CHECK(read->jobs[1].avoided == one.jobs[1].avoided);
  CHECK_FALSE(read->jobs[1].task.left);

  CHECK(read->architecture == "arm64");
  REQUIRE(read->jobs[1].freight);
  CHECK(read->jobs[1].freight->architecture == "amd64");
  CHECK(read->jobs[1].freight->bound == "a mount");
  CHECK(read->jobs[2].group->span == Span::host);
  CHECK(read->jobs[2].places[1].ps == 2);
  CHECK(read->jobs[2].group->traffic == 2.5e6);
  one.jobs[2].group->traffic = 1e300;  // as a peer takes it
  CHECK(parse_host_jobs(render(one))->jobs[2].group->traffic == 1e15);

  Order start{Order::Op::start, 4, host_id('2'), ""};
  start.places = {{host_id('1'), 2, 1}, {host_id('2'), 1, 0}};
  start.is_early = true;
  const std::vector<JobOrder> orders{{job_id('a'), 0.5, true, 2, "waits", start},
                                     {job_id('b'), 0, false, 0, "", std::nullopt}};
  const auto again = parse_orders(render(orders));
  REQUIRE(again.has_value());
  CHECK(render(*again) == render(orders));
  CHECK((*again)[0].order->host == host_id('2'));
  CHECK((*again)[0].order->is_early);
  CHECK((*again)[0].order->places == start.places);
}

TEST_CASE("of more than a reader takes a report has as much as it takes") {
  HostJobs one = host('1', 4, 1);
  one.jobs = {job('a', 1)};
  for (int i = 1000; i < 2500; ++i) {
    one.births.insert(std::string(28, 'b') + std::to_string(i));
    one.jobs[0].avoided.push_back(std::string(28, 'a') + std::to_string(i));
  }
  const Result<HostJobs> read = parse_host_jobs(render(one));
  REQUIRE(read.has_value());
  CHECK(read->births.size() == 1000);
  CHECK(read->jobs[0].avoided.size() == 64);
}

TEST_CASE("a report is no longer than it may be, and begins with what comes first") {
  HostJobs one = host('1', 4, 1);
  for (int i = 1000; i < 1900; ++i) {
    one.jobs.push_back(job('a', 1));
    one.jobs.back().task.id = std::string(60, 'a') + std::to_string(i);
    one.jobs.back().avoided.assign(64, host_id('2'));
  }
  const Result<HostJobs> read = parse_host_jobs(render(one));
  REQUIRE(read.has_value());
  CHECK(read->jobs.size() > 100);
  CHECK(read->jobs.front().task.id == one.jobs.front().task.id);
}

TEST_CASE("what makes no sense in a report or an order is refused, and named") {
  const HostJobs good = [] {
    HostJobs one = host('1', 4, 4);
    one.jobs = {job('a', 1)};
    return one;
  }();
  const auto refused = [](const std::string& text) {
    const Result<HostJobs> read = parse_host_jobs(text);
    return read ? "" : read.error().what;
  };
  const auto replaced = [&](const std::string& what, const std::string& by) {
    std::string text = render(good);
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), by);
  };
  CHECK(refused("[]") != "");
  CHECK(refused(replaced(host_id('1'), "../etc")).find("id") != std::string::npos);
  CHECK(refused(replaced("\"priority\":1", "\"priority\":1e9")).find("priority") !=
        std::string::npos);
  CHECK(refused(replaced("\"age\":10", "\"age\":-1")).find("age") != std::string::npos);
  CHECK(refused(replaced(job_id('a'), "a")).find("id") != std::string::npos);
  HostJobs many = good;
  many.jobs[0].places = {{TaskPlace{host_id('1'), 192, 64}, ""}};
  CHECK(refused(render(many)) == "");
  many.jobs[0].places.push_back({TaskPlace{host_id('2'), 1, 0}, ""});
  CHECK(refused(render(many)).find("256 tasks") != std::string::npos);
  CHECK_FALSE(parse_orders(R"({"orders":[{"job":"x"}]})").has_value());
  CHECK_FALSE(parse_orders(std::string(2 << 20, ' ')).has_value());
}

TEST_CASE("calls about tasks and their answers are read as they were written") {
  TaskCall call;
  call.verb = TaskVerb::fetch;
  call.birth = std::string(32, 'b');
  call.key = std::string(32, 'c');
  call.is_early = true;
  const auto read = parse_task_call(render(call));
  REQUIRE(read.has_value());
  CHECK(render(*read) == render(call));
  call.key = "no id";
  CHECK_FALSE(parse_task_call(render(call)).has_value());
  CHECK_FALSE(parse_task_call(R"({"verb":"rm -rf","birth":"","key":""})").has_value());

  TaskView view;
  view.copy = TicketCopy::ended;
  view.life = "1800001.5";
  view.status = 137;
  view.was_killed_for_memory = true;
  view.memory = 5e9;
  view.left = 12.5;
  view.undone_back = std::string(32, 'd');
  const auto again = parse_task_view(render(view));
  REQUIRE(again.has_value());
  CHECK(render(*again) == render(view));
  CHECK(again->status == 137);
  CHECK_FALSE(parse_births(R"({"births":["x"]})").has_value());
  CHECK(parse_births(render_births({std::string(32, 'a')}))->size() == 1);
}
