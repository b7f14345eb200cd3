// SPDX-License-Identifier: Apache-2.0
// Which GPUs jobs get and wait for: the ledger alone, and through the real queue.
#include "cluster/queue/gpus.h"

#include <algorithm>
#include <string>
#include <vector>

#include "ctrl/log.h"
#include "tests/cluster/queue/group_tasks.h"
#include "tests/cluster/queue/kill_bench.h"
#include "tests/cluster/queue/two_queues.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::test {
namespace {

using ctrl::GpuDevices;
using queue::GpuHolder;
using queue::GpuLedger;
using Ids = std::vector<std::string>;

const std::vector<ctrl::HostGpu> kOne{{0, "GPU-a"}};
const std::vector<ctrl::HostGpu> kTwo{{0, "GPU-a"}, {1, "GPU-b"}};

// --gpus COUNT, or device=ID.
boost::json::object asking(const std::string& count, const std::string& ids = "null") {
  return parse_json(R"({"DeviceRequests":[{"Driver":"","Count":)" + count + R"(,"DeviceIDs":)" +
                    ids + R"(,"Capabilities":[["gpu"]],"Options":{}}]})")
      ->get_object();
}

std::string create(QueueBench& bench, const std::string& name, const boost::json::object& config,
                   const std::string& request = "cpu=1,mem=1G") {
  return bench.engine.create(name, {{"flowcon.queue", "true"}, {"flowcon.request", request}},
                             config);
}

double number(const boost::json::value& value, const char* name) {
  return member(value, name).to_number<double>();
}

GpuDevices gpus_of(const QueueEngine& engine, const std::string& id) {
  return ctrl::gpus_in(member(boost::json::value(engine.inspects_.at(id)), "HostConfig"));
}

TEST_CASE("docker gives the first GPUs, and who has them is waited for") {
  const GpuLedger ledger(kTwo, {{"vae", 1, {1, {}}}});
  CHECK(ledger.free(2) == 1);
  CHECK(ledger.why_taken({1, {}}, 1) ==
        "waits for GPU 0, which vae has; docker gives --gpus 1 the first one: see --gpus device=1 "
        "in docker-flowcon-submit(1)");
  CHECK(ledger.why_taken({GpuDevices::kAll, {}}, 2) == "waits for GPU 0, which vae has");
  CHECK(ledger.why_taken({0, {"GPU-a"}}, 1) == "waits for GPU 0, which vae has");
  CHECK(ledger.why_taken({0, {"1"}}, 1).empty());
  CHECK(ledger.why_taken({0, {"MIG-7"}}, 1).empty());  // nobody knows which that is
  CHECK(ledger.choose(1, 2) == Ids{"1"});
  CHECK(ledger.choose(2, 2).empty());
  CHECK(ledger.choose(1, 1).empty());  // the second one is not on offer
  CHECK(ledger.free(1) == 0);
}

TEST_CASE("shares of a GPU go together on the fullest one that has room") {
  const GpuLedger ledger(kTwo, {{"a", 0.5, {1, {}}}});
  CHECK(ledger.why_taken({1, {}}, 0.5).empty());
  CHECK(ledger.why_taken({1, {}}, 0.6) != "");
  CHECK(ledger.choose(0.5, 2) == Ids{"0"});
  CHECK(ledger.choose(0.6, 2) == Ids{"1"});
  CHECK(ledger.choose(1, 2) == Ids{"1"});
  CHECK(GpuLedger(kTwo, {{"a", 1, {GpuDevices::kAll, {}}}}).free(2) == 1);
  CHECK(GpuLedger(kTwo, {{"a", 1, {}}}).free(2) == 2);
  CHECK(GpuLedger({}, {{"a", 1, {1, {}}}}).choose(1, 1).empty());
}

TEST_CASE("reports of GPUs are read as they were written, those without have none") {
  queue::HostJobs one;
  one.id = host_id('1');
  one.name = "h1";
  one.offer = one.free = one.most = {{"cpu", 4}, {"mem", 8e9}};
  const auto plain = queue::parse_host_jobs(render(one));
  REQUIRE(plain.has_value());
  CHECK((plain->offer.size() == 2 && !plain->accepts_gpus));
  one.offer.emplace_back("gpu", 2);
  one.free.emplace_back("gpu", 0);
  one.accepts_gpus = true;
  queue::ReportedJob job;
  job.task.id = std::string(64, 'a');
  job.task.request = {{"cpu", 1}, {"mem", 1e9}, {"gpu", 0.5}};
  one.jobs = {job};
  const auto read = queue::parse_host_jobs(render(one));
  REQUIRE(read.has_value());
  CHECK((read->offer == one.offer && read->free == one.free && read->accepts_gpus));
  CHECK(policy::amount_of(read->jobs[0].task.request, "gpu") == 0.5);
  one.jobs[0].task.request.back().second = -1;
  CHECK_FALSE(queue::parse_host_jobs(render(one)).has_value());
}

TEST_CASE("jobs for all GPUs of a host with one run one after the other") {
  QueueBench bench;
  bench.host.view_.gpus = kOne;
  const std::string first = create(bench, "first", asking("-1"));
  bench.run(3);
  REQUIRE(bench.engine.runs(first));
  const std::string second = create(bench, "second", asking("-1"));
  const std::string third = create(bench, "third", asking("-1"));
  bench.run(5);
  CHECK_FALSE((bench.engine.runs(second) || bench.engine.runs(third)));
  CHECK(bench.note("second") == "waits for GPU 0, which first has");
  CHECK(number(member(bench.job("second"), "request"), "gpu") == 1);
  CHECK(text_of(member(bench.job("second"), "request"), "gpu_from") == "docker");
  const boost::json::value queue = bench.call("GET", "/v1/queue").body;
  CHECK((number(member(queue, "offer"), "gpu") == 1 && number(member(queue, "free"), "gpu") == 0));
  bench.engine.end_with(first, 0);
  bench.run(5);
  CHECK((bench.engine.runs(second) && !bench.engine.runs(third)));
}

TEST_CASE("two jobs that docker would give the same GPU run one after the other, others beside") {
  QueueBench bench;
  bench.host.view_.gpus = kTwo;
  create(bench, "first", asking("1"));
  create(bench, "second", asking("1"));
  bench.run(5);
  const bool is_first = bench.state("first") == "running";
  const std::string runs = is_first ? "first" : "second", waits = is_first ? "second" : "first";
  REQUIRE(bench.state(runs) == "running");
  CHECK(bench.state(waits) == "waiting");
  CHECK(bench.note(waits).starts_with("waits for GPU 0, which " + runs + " has; docker gives"));
  create(bench, "other", asking("0", R"(["1"])"));
  bench.run(5);
  CHECK(bench.state("other") == "running");
}

TEST_CASE("jobs that ask for half a GPU share it") {
  QueueBench bench;
  bench.host.view_.gpus = kOne;
  for (const char* name : {"a", "b", "c"}) {
    create(bench, name, asking("1"), "cpu=1,mem=1G,gpu=0.5");
    bench.run(3);
  }
  CHECK((bench.state("a") == "running" && bench.state("b") == "running"));
  CHECK(bench.note("c") == "waits for GPU 0, which a has");
}

TEST_CASE("where nobody knows of GPUs they are not counted") {
  QueueBench bench;
  for (const char* name : {"a", "b", "c"}) create(bench, name, asking("2"));
  bench.run(5);
  for (const char* name : {"a", "b", "c"}) CHECK(bench.state(name) == "running");
}

TEST_CASE("while it is not known yet what GPUs there are, jobs for them wait and others do not") {
  QueueBench bench;
  bench.host.view_.is_seeking_gpus = true;
  create(bench, "a", asking("1"));
  create(bench, "plain", {});
  bench.run(5);
  CHECK(bench.state("a") == "waiting");
  CHECK(bench.state("plain") == "running");
  bench.host.view_.is_seeking_gpus = false;
  bench.run(5);
  CHECK(bench.state("a") == "running");
}

TEST_CASE("while a host has not told yet whether it has GPUs, jobs for them wait, for a minute") {
  QueueBench bench;
  bench.network.add("h2", '2', {}).state.reset();
  bench.restart();
  create(bench, "a", asking("1"));
  create(bench, "plain", {});
  bench.run(5);
  CHECK(bench.state("a") == "waiting");
  CHECK(bench.state("plain") == "running");
  SECTION("it has none") {
    bench.network.neighbours_.front().state.emplace();
    bench.run(5);
  }
  SECTION("it is silent") { bench.run(65); }
  CHECK(bench.state("a") == "running");
}

TEST_CASE("what has a GPU that is not on offer takes none from those that are") {
  QueueBench bench;
  bench.host.view_.gpus = kTwo;
  bench.host.config_.queue.offer.gpu = 1;
  bench.host.view_.jobs = {"lab"};
  bench.host.uses_["lab"] = {0, 0, {0, {"0"}}};
  const auto free = [&] {
    return number(member(bench.call("GET", "/v1/queue").body, "free"), "gpu");
  };
  CHECK(free() == 0);
  bench.host.uses_["lab"] = {0, 0, {0, {"1"}}};
  CHECK(free() == 1);
}

TEST_CASE("a job for more GPUs than any host has is refused") {
  QueueBench bench;
  bench.host.view_.gpus = kOne;
  create(bench, "big", asking("2"));
  bench.run(3);
  CHECK(bench.state("big") == "refused");
  CHECK(bench.note("big").find("MiB of memory and 2 GPUs, and this host offers 4 and 8192 MiB "
                               "and 1 GPU;") != std::string::npos);
}

TEST_CASE("a container of docker run has its GPUs, too") {
  QueueBench bench;
  bench.host.view_.gpus = kOne;
  bench.host.view_.jobs = {"lab"};
  bench.host.uses_["lab"] = {0, 0, {1, {}}};
  create(bench, "vae", asking("1"));
  bench.run(5);
  CHECK(bench.note("vae") == "waits for GPU 0, which name-lab has");
  bench.host.view_.jobs.clear();
  bench.run(65);
  CHECK(bench.state("vae") == "running");
}

TEST_CASE("a person may say how much of a GPU a job needs") {
  QueueBench bench;
  bench.host.view_.gpus = kOne;
  create(bench, "a", asking("1"));
  bench.run(3);
  create(bench, "b", asking("1"), "cpu=1,mem=1G,gpu=0.5");
  bench.run(3);
  CHECK(bench.state("b") == "waiting");
  CHECK(bench.call("POST", "/v1/queue/a/set", R"({"request":"gpu=0.5"})").status == 200);
  bench.run(5);
  const boost::json::value request = member(bench.job("a"), "request");
  CHECK((number(request, "gpu") == 0.5 && number(request, "cpu") == 1));
  CHECK(text_of(request, "gpu_from") == "set");
  CHECK(bench.state("b") == "running");
}

TEST_CASE("each worker gets a GPU of its own, and a parameter server none") {
  QueueBench bench;
  bench.host.view_.gpus = kTwo;
  bench.engine.create("net",
                      {{"flowcon.queue", "true"},
                       {"flowcon.request", "cpu=1,mem=1G"},
                       {"flowcon.workers", "2"},
                       {"flowcon.ps", "1"}},
                      asking("1"));
  bench.run(8);
  REQUIRE(bench.state("net") == "running");
  const auto tasks = tasks_of(bench.engine);
  CHECK(gpus_of(bench.engine, tasks.at("net-w0")->id).ids == Ids{"0"});
  CHECK(gpus_of(bench.engine, tasks.at("net-w1")->id).ids == Ids{"1"});
  CHECK(gpus_of(bench.engine, tasks.at("net-s0")->id).is_none());
  CHECK(number(member(bench.job("net"), "request"), "gpu") == 2);
  create(bench, "vae", asking("1"));
  bench.run(5);
  CHECK(bench.note("vae") == "waits for GPU 0, which net-w0 has");
}

TEST_CASE("a group for which it is said which GPU it gets waits for that") {
  QueueBench bench;
  bench.host.view_.gpus = kTwo;
  const std::string vae = create(bench, "vae", asking("1"));
  bench.run(3);
  bench.engine.create("net",
                      {{"flowcon.queue", "true"},
                       {"flowcon.request", "cpu=1,mem=1G,gpu=0.5"},
                       {"flowcon.workers", "2"}},
                      asking("0", R"(["0"])"));
  bench.run(5);
  CHECK(bench.state("net") == "waiting");
  CHECK(bench.note("net") == "waits for GPU 0, which vae has");
  bench.engine.end_with(vae, 0);
  bench.run(12);
  CHECK(bench.state("net") == "running");
}

TEST_CASE("workers have GPUs of their own, whatever fails") {
  at_each_wait([](KillBench& bench) {
    bench.host.view_.gpus = kTwo;
    bench.engine.create(
        "vae",
        {{"flowcon.queue", "true"}, {"flowcon.request", "cpu=1,mem=1G"}, {"flowcon.workers", "2"}},
        asking("1"));
    for (int turn = 0; turn < 200 && running(bench.engine) < 2; ++turn) bench.run(1);
    REQUIRE(running(bench.engine) == 2);
    Ids ids;
    for (const auto& [name, box] : tasks_of(bench.engine)) {
      if (box->copy != Copy::running) continue;
      for (const std::string& id : gpus_of(bench.engine, box->id).ids) ids.push_back(id);
    }
    std::sort(ids.begin(), ids.end());
    REQUIRE(ids == Ids{"0", "1"});
  });
}

TEST_CASE("a group's GPUs are free when it has ended, however soon") {
  QueueBench bench;
  bench.host.view_.gpus = kOne;
  bench.engine.create("net",
                      {{"flowcon.queue", "true"},
                       {"flowcon.request", "cpu=1,mem=1G"},
                       {"flowcon.workers", "1"},
                       {"flowcon.ps", "1"}},
                      asking("1"));
  bench.run(8);
  REQUIRE(bench.state("net") == "running");
  CHECK(bench.call("POST", "/v1/queue/net/cancel", "{}").status == 200);
  bench.run(8);
  REQUIRE(bench.state("net") == "cancelled");
  create(bench, "vae", asking("1"));
  bench.run(5);
  CHECK(bench.state("vae") == "running");
}

TEST_CASE("jobs on another host get GPUs that nobody has there, if it gives any") {
  ctrl::log::set_level(ctrl::log::Level::error);
  TwoQueues hosts;
  hosts.h1.host.view_.gpus = kTwo;
  hosts.h1.host.config_.accept.devices = {"gpu"};
  hosts.h2.network.neighbours_.front().state->offer_gpu = 2;
  const auto submit = [&](const std::string& name) {
    hosts.h2.engine.create(name, {{"flowcon.queue", "true"}, {"flowcon.request", "cpu=1,mem=512M"}},
                           asking("1"));
  };
  const auto copies = [&] {
    std::vector<std::string> ids;
    for (const auto& [id, box] : hosts.h1.engine.boxes_) {
      if (box.copy != Copy::running) continue;
      const GpuDevices gpus = gpus_of(hosts.h1.engine, id);
      ids.insert(ids.end(), gpus.ids.begin(), gpus.ids.end());
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  submit("first");
  submit("second");
  REQUIRE(hosts.until([&] { return copies().size() == 2; }, 60));
  CHECK(copies() == Ids{"0", "1"});
  submit("third");
  hosts.run(15);
  CHECK(hosts.state("third") == "waiting");
  CHECK(text_of(hosts.job("third"), "note") == "waits for 1 GPU on h1");
  ctrl::log::set_level(ctrl::log::Level::info);
}

}  // namespace
}  // namespace flowcon::cluster::test
