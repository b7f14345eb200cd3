// SPDX-License-Identifier: Apache-2.0
// Hosts whose key is right and whose word is not: what they cannot do to jobs of others.
#include <algorithm>

#include "ctrl/log.h"
#include "tests/cluster/queue/queue_fakes.h"

namespace flowcon::cluster::test {
namespace {

const std::string kOther(64, 'f');

// h2 is a peer of h1, which coordinates, and tells what it wants.
class LiarBench : public QueueBench {
 public:
  LiarBench() {
    ctrl::log::set_level(ctrl::log::Level::error);
    network.add("h2", '2', {}).state->runs_jobs = true;
  }
  ~LiarBench() { ctrl::log::set_level(ctrl::log::Level::info); }
  LiarBench(const LiarBench&) = delete;
  LiarBench& operator=(const LiarBench&) = delete;

  /// A host without room.
  void tells(const std::vector<queue::ReportedJob>& jobs, char digit = '2') {
    queue::HostJobs told;
    told.id = host_id(digit);
    told.name = std::string("h") + digit;
    told.offer = told.most = {{"cpu", 1}, {"mem", kGiB}};
    told.free = {{"cpu", 0}, {"mem", 0}};
    told.jobs = jobs;
    network.answers_[told.id + " GET /v1/peer/queue/jobs"] = {200, render(told)};
  }
  /// Of a job that is on this host.
  static queue::ReportedJob claim(const std::string& job, const std::string& birth) {
    queue::ReportedJob one;
    one.task.id = job;
    one.task.request = {{"cpu", 4}, {"mem", kGiB}};
    one.task.left = 1e6;
    one.places = {{queue::TaskPlace{host_id('1'), 1, 0}, birth}};
    return one;
  }
  /// What this host answers to what a peer asks.
  int answer(char speaker, const std::string& verb, const std::string& body) {
    ctrl::api::Request request;
    request.method = "POST";
    request.target = "/v1/peer/queue/" + verb;
    request.body = body;
    const auto status = std::make_shared<int>(0);
    ctrl::spawn(io, "peer", asked(queue.get(), std::move(request), host_id(speaker), status));
    run(1.5);
    return *status;
  }

 private:
  static Async<void> asked(queue::Queue* whose, ctrl::api::Request request, std::string speaker,
                           std::shared_ptr<int> status) {
    const ctrl::api::Routes verbs = whose->peer_routes();
    const ctrl::api::Response response =
        co_await ctrl::api::answer_peer(&verbs, std::move(request), std::move(speaker));
    *status = static_cast<int>(response.status);
  }
};

TEST_CASE("a host that claims another's room, which that has not given, keeps no job from it") {
  LiarBench bench;
  const std::string birth(32, 'b');
  bench.tells({LiarBench::claim(kOther, birth)});
  const std::string own = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(200);
  CHECK(bench.engine.runs(own));
}

TEST_CASE("a host that tells of another's job by its id keeps that from no room") {
  LiarBench bench;
  queue::ReportedJob same = LiarBench::claim(kOther, "");
  same.places[0].host = host_id('2');
  bench.tells({same});
  // Whose job it is answers later.
  bench.network.add("h3", '3', {}).state->runs_jobs = true;
  queue::ReportedJob waits = same;
  waits.places.clear();
  bench.tells({waits}, '3');
  bench.run(15);
  const auto& asked = bench.network.asked_;
  CHECK(std::any_of(asked.begin(), asked.end(), [](const FakeNetwork::Asked& one) {
    return one.id == host_id('3') && one.verb == "POST /v1/peer/queue/order" &&
           one.body.find(R"("op":"start")") != std::string::npos &&
           one.body.find(kOther) != std::string::npos;
  }));
}

TEST_CASE("nobody parks a job that may not be parked, and only who coordinates any") {
  LiarBench bench;
  bench.tells({});
  bench.host.config_.queue.park = GENERATE(true, false);
  const std::string id =
      bench.submit("vae", "cpu=1,mem=1G", {{"flowcon.checkpoint.signal", "SIGTERM"}});
  bench.run(3);
  REQUIRE(bench.state("vae") == "running");
  const auto park = [&](char speaker) {
    queue::JobOrder order;
    order.job = id;
    const auto entry = queue::parse_entry(bench.rows.rows_.at(id).entry);
    order.order = queue::Order{queue::Order::Op::park, entry->version};
    return bench.answer(speaker, "order", render(std::vector<queue::JobOrder>{order}));
  };
  CHECK(park('2') == 409);
  CHECK(bench.engine.lives(id) == 1);
  bench.network.neighbours_[0].state->name = "h0";
  // It has only just begun.
  CHECK(park('2') == 200);
  bench.run(5);
  CHECK(bench.state("vae") == "running");
  CHECK(bench.engine.lives(id) == 1);
  bench.run(60);
  CHECK(park('2') == 200);
  bench.run(5);
  CHECK((bench.state("vae") == "running") == !bench.host.config_.queue.park);
}

}  // namespace
}  // namespace flowcon::cluster::test
