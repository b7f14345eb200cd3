// SPDX-License-Identifier: Apache-2.0
// Which host a job that waits gets next, when what it lacks there is sent, and where it starts.
#include "cluster/queue/next_host.h"

#include <string>

#include "cluster/queue/orders.h"
#include "tests/cluster/queue/reports.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::queue;
using namespace flowcon::cluster::test;

namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;
const std::string kImage = "0123456789abcdef";

policy::Amounts cores(double cpu) { return amounts(cpu, cpu); }

HostJobs host(char digit, double free) {
  HostJobs host = reported_host(digit, 4, 0, 4);
  host.free = cores(free);
  return host;
}

ReportedJob waiting(char letter, double cpu, std::uint64_t image_megabytes = 100) {
  ReportedJob job;
  job.task.id = job_id(letter);
  job.task.request = cores(cpu);
  job.version = 3;
  job.freight = Freight{kImage, image_megabytes * kMegabyte, 0, {}};
  return job;
}

ReportedJob running(char letter, char host, double cpu, std::optional<double> left) {
  ReportedJob job = waiting(letter, cpu);
  job.task.left = left;
  job.places = {{TaskPlace{host_id(host), 1, 0}, ""}};
  job.freight.reset();
  return job;
}

AllJobs seen(const std::vector<HostJobs>& hosts) { return all_jobs(hosts, 1000, 1800); }

// The jobs stand as they are reported, and those named start there.
std::map<std::string, JobOrder> ordered(const std::vector<HostJobs>& hosts,
                                        const std::vector<policy::QueuePlan::Start>& starts = {}) {
  policy::QueuePlan plan;
  plan.starts = starts;
  const AllJobs all = seen(hosts);
  for (const policy::WaitingTask& job : all.view.jobs) plan.standings.push_back({job.id, 0, false});
  std::map<std::string, JobOrder> by_job;
  for (const auto& [owner, orders] : orders_of(all, plan)) {
    for (const JobOrder& order : orders) by_job[order.job] = order;
  }
  return by_job;
}

policy::QueuePlan::Start start_on(std::size_t node) {
  return {job_id('w'), policy::whole_on(node, policy::WaitingTask())};
}

// Decided as the coordinator does.
std::map<std::string, JobOrder> decided(const std::vector<HostJobs>& hosts,
                                        const char* policy = "left") {
  AllJobs all = seen(hosts);
  const Result<policy::QueuePlan> plan = decide_near(all, *policy::find_queue_policy(policy));
  REQUIRE(plan.has_value());
  std::map<std::string, JobOrder> by_job;
  for (const auto& [owner, orders] : orders_of(all, *plan)) {
    for (const JobOrder& order : orders) by_job[order.job] = order;
  }
  return by_job;
}

std::string started_on(const JobOrder& order) {
  return order.order && order.order->op == Order::Op::start ? order.order->host : "";
}

std::optional<std::string> sent_to(const JobOrder& order) {
  if (!order.order || order.order->op != Order::Op::send) return std::nullopt;
  return order.order->host;
}

}  // namespace

TEST_CASE("a job that waits is told which host it gets next, and when") {
  HostJobs home = host('1', 0), other = host('2', 0);
  home.jobs = {running('a', '1', 4, 600), waiting('w', 2)};
  other.jobs = {running('b', '2', 4, 150)};
  const auto orders = ordered({home, other});
  CHECK(orders.at(job_id('w')).obstacle == "next on h2 in about 3 min");
  CHECK_FALSE(orders.at(job_id('w')).order);
}

TEST_CASE("a job that waits is told where nothing has to be sent to its next host") {
  HostJobs home = host('1', 0), other = host('2', 0);
  home.jobs = {running('a', '1', 4, 600), waiting('w', 2)};
  other.jobs = {running('b', '2', 4, 150)};
  other.images = {kImage};
  CHECK(ordered({home, other}).at(job_id('w')).obstacle ==
        "next on h2 in about 3 min; image and data are there");
  home.jobs[1].freight->data_bytes = kMegabyte;
  CHECK(ordered({home, other}).at(job_id('w')).obstacle == "next on h2 in about 3 min");
  // Nor is it said of home, where all is in any case.
  home.jobs[0].task.left = 60;
  CHECK(ordered({home, other}).at(job_id('w')).obstacle == "next on h1 in about 60 s");
}

TEST_CASE("what a job lacks is sent once its way takes as long as the room there") {
  HostJobs home = host('1', 0), other = host('2', 0);
  home.jobs = {running('a', '1', 4, 600), waiting('w', 2, 100)};
  home.rates = {{host_id('2'), 10.0 * kMegabyte}};  // 10 s for the image
  other.jobs = {running('b', '2', 4, 26)};
  CHECK_FALSE(sent_to(ordered({home, other}).at(job_id('w'))));
  other.jobs[0].task.left = 25;
  CHECK(sent_to(ordered({home, other}).at(job_id('w'))) == host_id('2'));
  other.images = {kImage};
  CHECK_FALSE(sent_to(ordered({home, other}).at(job_id('w'))));
  other.jobs[0].task.left = 10;
  CHECK(sent_to(ordered({home, other}).at(job_id('w'))) == host_id('2'));
}

TEST_CASE("nothing is sent home, nor twice, nor for two jobs to one host, nor on a guess") {
  HostJobs home = host('1', 0), other = host('2', 0);
  other.jobs = {running('b', '2', 4, 5)};
  home.jobs = {waiting('v', 2), waiting('w', 2)};
  auto orders = ordered({home, other});
  CHECK(sent_to(orders.at(job_id('v'))) == host_id('2'));
  CHECK_FALSE(sent_to(orders.at(job_id('w'))));
  CHECK(orders.at(job_id('w')).obstacle.starts_with("next on h2"));

  home.jobs[0].sent_to = host_id('2');
  orders = ordered({home, other});
  CHECK_FALSE(sent_to(orders.at(job_id('v'))));
  CHECK_FALSE(sent_to(orders.at(job_id('w'))));

  home.jobs = {running('b', '1', 4, 5), waiting('w', 2)};
  other.jobs.clear();
  CHECK_FALSE(sent_to(ordered({home, other}).at(job_id('w'))));

  home.jobs = {waiting('w', 2)};
  other.jobs = {running('b', '2', 4, std::nullopt)};
  CHECK(ordered({home, other}).at(job_id('w')).obstacle.starts_with("waits for"));
  other.jobs[0].task.left = 5;
  home.jobs[0].freight.reset();
  CHECK_FALSE(sent_to(ordered({home, other}).at(job_id('w'))));
}

TEST_CASE("a job waits for a host near its data that comes free before that would be elsewhere") {
  HostJobs home = host('1', 0);
  const HostJobs other = host('2', 4);
  home.jobs = {running('a', '1', 4, 20), waiting('v', 2, 1000)};  // 80 s for the image
  SECTION("and others have the room elsewhere") {
    home.jobs.push_back(waiting('w', 4, 0));
    const auto orders = decided({home, other});
    CHECK_FALSE(orders.at(job_id('v')).order);
    CHECK(orders.at(job_id('v')).obstacle == "next on h1 in about 20 s");
    CHECK(started_on(orders.at(job_id('w'))) == host_id('2'));
  }
  SECTION("but not where another one has that room") {
    home.jobs.push_back(waiting('w', 3, 1000));
    const auto orders = decided({home, other});
    CHECK_FALSE(orders.at(job_id('v')).order);
    CHECK(started_on(orders.at(job_id('w'))) == host_id('2'));
  }
  SECTION("but not where that comes free later") {
    home.jobs[0].task.left = 90;
    CHECK(started_on(decided({home, other}).at(job_id('v'))) == host_id('2'));
  }
  SECTION("but not where nobody knows when") {
    home.jobs[0].task.left.reset();
    CHECK(started_on(decided({home, other}).at(job_id('v'))) == host_id('2'));
  }
  SECTION("and nobody is parked for it") {
    home.jobs[0].task.left = 60;
    home.jobs[0].task.is_parkable = true;
    home.jobs[1].task.left = 1;
    const auto orders = decided({home, other});
    CHECK_FALSE(orders.at(job_id('v')).order);
    CHECK_FALSE(orders.at(job_id('a')).order);
  }
  SECTION("but not where one that cannot leave gets that") {
    home.jobs.push_back(waiting('w', 4));
    home.jobs[2].freight->bound = "it mounts a folder";
    CHECK(started_on(decided({home, other}).at(job_id('v'))) == host_id('2'));
  }
  SECTION("but not where others would wait with it") {
    CHECK(started_on(decided({home, other}, "fifo").at(job_id('v'))) == host_id('2'));
  }
  SECTION("but not once it has waited longer than allowed") {
    home.jobs[1].task.waited = 1801;
    CHECK(started_on(decided({home, other}).at(job_id('v'))) == host_id('2'));
  }
}

// One job has all cores of h1, and another waits for them; there is memory for both.
HostJobs at_its_end(double left) {
  HostJobs home = host('1', 0);
  home.free = amounts(0, 2);
  home.takes_early = true;
  home.jobs = {running('a', '1', 4, left), waiting('w', 4)};
  home.jobs[1].task.request = amounts(4, 2);
  home.jobs[1].launch = 0;
  return home;
}

bool begins_early(const std::vector<HostJobs>& hosts, char job = 'w') {
  const auto orders = ordered(hosts);
  const std::optional<Order>& order = orders.at(job_id(job)).order;
  return order && order->op == Order::Op::start && order->is_early;
}

TEST_CASE(
    "a job begins beside the one whose cores it gets, once that has no more left than it takes "
    "to begin") {
  HostJobs home = at_its_end(9);
  CHECK_FALSE(begins_early({home}));
  CHECK(ordered({home}).at(job_id('w')).early_in == 6);
  home.jobs[1].launch = 8.5;
  CHECK_FALSE(begins_early({home}));
  home.jobs[1].launch = 9;
  CHECK(begins_early({home}));
  CHECK(ordered({home}).at(job_id('w')).order->host == host_id('1'));
  home = at_its_end(3);
  CHECK(begins_early({home}));
  // Whatever an estimate says.
  home = at_its_end(121);
  home.jobs[1].launch = 1e6;
  CHECK_FALSE(begins_early({home}));
}

TEST_CASE(
    "no job begins early without its memory, beside another one, before its turn, nor a group") {
  HostJobs home = at_its_end(1);
  home.free = amounts(0, 1.9);
  CHECK_FALSE(begins_early({home}));
  home.free = amounts(-1, 2);
  home.jobs[1].task.request = amounts(3, 2);
  CHECK_FALSE(begins_early({home}));

  home = at_its_end(1);
  home.takes_early = false;
  CHECK_FALSE(begins_early({home}));

  home = at_its_end(1);
  home.jobs[1].launch.reset();
  CHECK_FALSE(begins_early({home}));

  // Room for both comes free at once, and for the first one alone before.
  home = at_its_end(1);
  home.free = amounts(0, 4);
  home.jobs[1].task.request = amounts(2, 1);
  home.jobs.push_back(home.jobs[1]);
  home.jobs[2].task.id = job_id('x');
  CHECK(begins_early({home}, 'w'));
  CHECK_FALSE(begins_early({home}, 'x'));
  // The first one finds no room in sight, or on no host at all.
  home.jobs[1].task.request = amounts(2, 9);
  home.most = amounts(4, 10);
  CHECK_FALSE(begins_early({home}, 'x'));
  home.most = amounts(4, 4);
  CHECK(begins_early({home}, 'x'));
  // It waits for memory, and what comes free is to be its own.
  home = at_its_end(1);
  home.jobs[0].task.request = amounts(2, 2);
  home.jobs[1].task.request = amounts(2, 3);
  home.jobs.push_back(running('b', '1', 2, 2));
  home.jobs.push_back(home.jobs[1]);
  home.jobs[3].task.id = job_id('x');
  home.jobs[3].task.request = amounts(2, 1);
  home.jobs[3].launch = 60;
  CHECK_FALSE(begins_early({home}, 'w'));
  CHECK_FALSE(begins_early({home}, 'x'));
}

TEST_CASE("a starved job is not passed by one that would begin early elsewhere") {
  HostJobs home = at_its_end(50), other = at_its_end(40);
  other.id = host_id('2');
  other.jobs[0].task.id = job_id('b');
  other.jobs[0].places[0].host = other.id;
  ReportedJob first = home.jobs[1];
  first.task.id = job_id('f');
  first.sent_to = other.id;
  other.jobs[1] = first;
  home.jobs[1].launch = 60;
  std::swap(home.jobs[1], other.jobs[1]);
  home.jobs[1].avoided = {home.id};
  other.jobs[1].sent_to = home.id;
  other.jobs[1].avoided = {other.id};
  CHECK(begins_early({home, other}));
  home.jobs[1].task.is_starved = true;
  CHECK_FALSE(begins_early({home, other}));
}

TEST_CASE("on another host only what is there begins early") {
  HostJobs home = host('1', 0), other = at_its_end(1);
  other.id = host_id('2');
  other.jobs.erase(other.jobs.begin() + 1);
  other.jobs[0].places[0].host = other.id;
  home.jobs = {waiting('w', 4)};
  home.jobs[0].task.request = amounts(4, 2);
  home.jobs[0].launch = 0;
  CHECK(sent_to(ordered({home, other}).at(job_id('w'))) == host_id('2'));
  home.jobs[0].sent_to = host_id('2');
  CHECK(begins_early({home, other}));
  CHECK(ordered({home, other}).at(job_id('w')).order->host == host_id('2'));
}

TEST_CASE("beside a job that has begun early nobody is parked") {
  HostJobs home = at_its_end(1);
  for (ReportedJob& job : home.jobs) {
    job.task.is_parkable = true;
    job.places = {{TaskPlace{host_id('1'), 1, 0}, ""}};
  }
  home.free = amounts(-4, 0);
  CHECK(seen({home}).view.jobs[0].is_parkable);
  home.has_early = true;
  CHECK_FALSE(seen({home}).view.jobs[0].is_parkable);
  CHECK_FALSE(seen({home}).view.jobs[1].is_parkable);
  home.free = amounts(0, 0);
  CHECK(seen({home}).view.jobs[0].is_parkable);
}

TEST_CASE("a job starts where its image is, unless that saves it less than a second") {
  HostJobs home = host('1', 0), two = host('2', 4), three = host('3', 4);
  home.jobs = {waiting('w', 2, 100)};
  home.rates = {{host_id('2'), 10.0 * kMegabyte}, {host_id('3'), 10.0 * kMegabyte}};
  const std::vector<policy::QueuePlan::Start> start{start_on(1)};
  CHECK(ordered({home, two, three}, start).at(job_id('w')).order->host == host_id('2'));
  three.images = {kImage};
  CHECK(ordered({home, two, three}, start).at(job_id('w')).order->host == host_id('3'));
  home.rates.clear();
  home.jobs[0].freight->image_bytes = 12 * kMegabyte;
  CHECK(ordered({home, two, three}, start).at(job_id('w')).order->host == host_id('2'));
}

TEST_CASE("a link that was not measured is taken for the slowest one") {
  HostJobs home = host('1', 4), two = host('2', 4);
  home.jobs = {waiting('w', 2, 100)};
  two.rates = {{host_id('1'), 2.0 * kMegabyte}};
  CHECK(seconds_to(seen({home, two}), 0, 1) == 50);
  two.rates.clear();
  CHECK(seconds_to(seen({home, two}), 0, 1) == 8);
  CHECK(seconds_to(seen({home, two}), 0, 0) == 0);
}

TEST_CASE("data that a host has need not be brought there") {
  HostJobs home = host('1', 4), two = host('2', 4);
  home.jobs = {waiting('w', 2)};
  Freight& freight = *home.jobs[0].freight;
  freight.data_bytes += 500 * kMegabyte;
  freight.shared = {{"flowcon-data-a", 300 * kMegabyte}, {"flowcon-data-b", 200 * kMegabyte}};
  const double all = seconds_to(seen({home, two}), 0, 1);
  two.shared = {"flowcon-data-b", "flowcon-data-c"};
  const double some = seconds_to(seen({home, two}), 0, 1);
  CHECK(all - some == Approx(200e6 / 12.5e6));
  two.shared.insert("flowcon-data-a");
  CHECK(some - seconds_to(seen({home, two}), 0, 1) == Approx(300e6 / 12.5e6));
}

TEST_CASE("a job starts where it was sent, although there is room elsewhere") {
  HostJobs home = host('1', 4), two = host('2', 4);
  home.jobs = {waiting('w', 2)};
  home.jobs[0].sent_to = host_id('2');
  const std::vector<policy::QueuePlan::Start> start{start_on(0)};
  CHECK(ordered({home, two}, start).at(job_id('w')).order->host == host_id('2'));
  two.free = cores(1);
  CHECK(ordered({home, two}, start).at(job_id('w')).order->host == host_id('1'));
}

TEST_CASE("freight, images and rates are read as they were written, and checked") {
  HostJobs home = host('1', 4);
  home.jobs = {waiting('a', 2), waiting('b', 1)};
  home.jobs[1].freight.reset();
  home.images = {kImage};
  home.shared = {"flowcon-data-a"};
  home.jobs[0].freight->shared = {{"flowcon-data-b", 5}};
  home.rates = {{host_id('2'), 1e6}};
  home.jobs[0].launch = 4.5;
  home.takes_early = home.has_early = true;
  const auto read = parse_host_jobs(render(home));
  INFO((read ? "" : read.error().message()));
  REQUIRE(read.has_value());
  CHECK(render(*read) == render(home));
  CHECK(read->jobs[0].freight->image_bytes == 100 * kMegabyte);
  CHECK_FALSE(read->jobs[1].freight);
  CHECK(read->jobs[0].freight->shared.at("flowcon-data-b") == 5);
  CHECK(read->shared.contains("flowcon-data-a"));
  CHECK(read->jobs[0].launch == 4.5);
  CHECK_FALSE(read->jobs[1].launch);
  CHECK(read->takes_early);
  CHECK(read->has_early);
  const auto refused = [&](const std::string& what, const std::string& by) {
    std::string text = render(home);
    text.replace(text.find(what), what.size(), by);
    const Result<HostJobs> wrong = parse_host_jobs(text);
    return wrong ? "" : wrong.error().what;
  };
  CHECK(refused("\"image_bytes\":100000000", "\"image_bytes\":-1").find("image_bytes") !=
        std::string::npos);
  CHECK(refused("\"bytes_per_s\":1000000", "\"bytes_per_s\":0").find("bytes_per_s") !=
        std::string::npos);
  CHECK(refused("[\"" + kImage, "[\"../../etc/passwd").find("images") != std::string::npos);
  CHECK(refused("[\"flowcon-data-a", "[\"").find("shared") != std::string::npos);
  CHECK(refused("\"launch\":4.5", "\"launch\":-1").find("launch") != std::string::npos);
  CHECK(refused("\"bytes\":5", "\"bytes\":-5").find("bytes") != std::string::npos);
}
