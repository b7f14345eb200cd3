// SPDX-License-Identifier: Apache-2.0
// What is told of the queue's jobs beside their list: metrics, and the decisions about them.
#include "ctrl/exposition.h"
#include "tests/cluster/queue/group_tasks.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::test {
namespace {

std::string metrics_of(const queue::Queue& queue) {
  ctrl::Exposition out;
  queue.add_metrics(out);
  return out.text() + "\n";
}

// The value of a metric; "" = it is not told.
std::string metric(const QueueBench& bench, const std::string& name) {
  const std::string text = metrics_of(*bench.queue);
  const std::size_t at = text.find("\n" + name + " ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size() + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

// Where the decisions of another host are asked for.
std::vector<std::string> asked_of_others(const FakeNetwork& network) {
  std::vector<std::string> all;
  for (const FakeNetwork::Asked& asked : network.asked_) {
    if (asked.verb != "POST /v1/peer/call") continue;
    all.push_back(text_of(*parse_json(asked.body), "target"));
  }
  return all;
}

}  // namespace

TEST_CASE("metrics count the jobs by state, the longest wait and the workers of groups") {
  QueueBench bench;
  CHECK(metrics_of(*bench.queue) == "\n");
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(30);
  REQUIRE(running(bench.engine) == 2);
  bench.submit("large", "cpu=4,mem=1G");
  bench.run(20);
  bench.submit("late", "cpu=4,mem=1G");
  CHECK(metric(bench, R"(flowcon_queue_jobs{state="running"})") == "1");
  CHECK(metric(bench, R"(flowcon_queue_jobs{state="waiting"})") == "2");
  CHECK(metric(bench, R"(flowcon_queue_jobs{state="parking"})") == "0");
  CHECK(metric(bench, R"(flowcon_job_workers{job="net"})") == "2");
  CHECK(metric(bench, R"(flowcon_job_workers{job="large"})").empty());
  CHECK(metric(bench, "flowcon_job_resizes_total") == "0");
  const double longest = std::stod(metric(bench, "flowcon_queue_wait_seconds"));
  CHECK(longest == member(bench.job("large"), "waited").to_number<double>());
}

TEST_CASE("the list says whether jobs of several containers can span hosts, or why not") {
  QueueBench bench;
  ctrl::QueueOptions& options = bench.host.config_.queue;
  const auto why = [&](const std::string& network, const std::string& address) {
    options.group_network = network;
    options.advertise = address;
    const auto groups = member(bench.call("GET", "/v1/queue").body, "groups");
    CHECK(text_of(groups, "network") == network);
    return text_of(groups, "why");
  };
  CHECK(why("none", "") == "jobs of several containers stay on one host");
  CHECK(why("auto", "") == "it needs advertise, an address of this host");
  CHECK(why("ports", "192.0.2.1") == "advertise is no address of this host");
  CHECK(why("ports", "127.0.0.1").empty());
  CHECK(why("host", "127.0.0.1") ==
        "accept-host-network is off: other hosts' jobs cannot span to this one");
  bench.host.config_.accept.host_network = true;
  CHECK(why("host", "127.0.0.1").empty());
  // No other host is known, so the engine was not asked.
  CHECK(why("team", "").empty());
  bench.network.add("h0", '0', {}).state->runs_jobs = true;
  bench.run(3);
  CHECK(why("team", "") == "an overlay network, but this host is in no Docker Swarm");
}

TEST_CASE("a job is explained by what was decided since it came, also before it ran") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.host.answer_ = {200, R"({"decisions":[{"sentence":"starts"}]})"};
  const auto answer = bench.call("GET", "/v1/queue/vae/explain?last=7");
  CHECK(answer.status == 200);
  CHECK(list_of(answer.body, "decisions").size() == 1);
  REQUIRE(bench.host.calls_.size() == 1);
  const std::string call = bench.host.calls_.front();
  const std::string before = "GET /v1/containers/" + id + "/explain?since=";
  REQUIRE(call.starts_with(before));
  CHECK(call.ends_with("&last=7 "));
  const double since = std::stod(call.substr(before.size()));
  CHECK(since == member(bench.job("vae"), "submitted").to_number<double>() - 60);
  CHECK(bench.call("GET", "/v1/queue/nobody/explain").status == 404);
}

TEST_CASE("the coordinator is asked why, for less where that is more than peers tell at a time") {
  QueueBench bench;
  Neighbour& other = bench.network.add("h0", '0', {});
  other.state->runs_jobs = true;
  bench.submit("vae", "cpu=1,mem=1G");
  const auto tell = [&](unsigned status, const std::string& body) {
    bench.network.asked_.clear();
    bench.network.answers_[host_id('0') + " POST /v1/peer/call"] = {status, body};
    return bench.call("GET", "/v1/queue/vae/explain?last=5");
  };
  auto answer = tell(200, R"({"decisions":[{"sentence":"starts there"}]})");
  CHECK(answer.status == 200);
  CHECK(text_of(list_of(answer.body, "decisions").at(0), "sentence") == "starts there");
  CHECK(asked_of_others(bench.network).size() == 1);

  answer = tell(413, R"({"error":"too long"})");
  CHECK(answer.status == 413);
  CHECK(text_of(answer.body, "error") == "h0: too long");
  const std::vector<std::string> asked = asked_of_others(bench.network);
  REQUIRE(asked.size() == 3);
  CHECK(asked[0].ends_with("&last=5"));
  CHECK(asked[1].ends_with("&last=2"));
  CHECK(asked[2].ends_with("&last=1"));

  for (const char* body : {"", "[]", "7"}) CHECK(tell(200, body).status == 502);
}

}  // namespace flowcon::cluster::test
