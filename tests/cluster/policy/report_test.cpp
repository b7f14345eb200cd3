// SPDX-License-Identifier: Apache-2.0
// What hosts tell the coordinator, and what its policy asks Algorithm 5 and steer.
#include "cluster/policy/report.h"

#include "base/json.h"
#include "cluster/codec/decision_json.h"
#include "cluster/codec/report_json.h"
#include "cluster/policy/algorithms.h"
#include "cluster/policy/balance.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::policy {
namespace {

JobReport job(const std::string& id, Category category, std::optional<double> converged = {},
              bool movable = true) {
  JobReport out;
  out.id = id;
  out.name = "n" + id;
  out.category = category;
  out.converged_age = converged;
  out.movable = movable;
  return out;
}

HostReport host(const std::string& name, std::vector<JobReport> containers) {
  return {"id" + name, name, false, 0, std::move(containers), 1, {}};
}

bool nobody(const std::string&) { return false; }

using IsBarred = std::function<bool(const std::string&)>;

Result<RebalanceQuestion> rebalance_question(std::vector<HostReport> hosts, bool when_idle,
                                             IsBarred is_barred) {
  return policy::rebalance_question({std::move(hosts), std::move(is_barred), false}, when_idle);
}

Result<SteerState> steer_question(std::vector<HostReport> hosts, std::uint32_t max_moves,
                                  IsBarred is_barred) {
  return policy::steer_question({std::move(hosts), std::move(is_barred), false}, max_moves);
}

TEST_CASE("a report is read back as it was") {
  HostReport sent = host("h1", {job("a", Category::cc, 12.5), job("b", Category::pc, {}, false)});
  sent.draining = true;
  sent.moves = 2;
  sent.moves_here = 1;
  sent.containers[0].value = 0.5;
  sent.containers[0].migrated_age = 1;
  sent.containers[0].rebalanced = true;
  sent.containers[0].left = 300.5;
  sent.containers[0].width = 1.5;
  sent.containers[0].moves = 2;
  sent.containers[0].beginning = true;
  sent.containers[0].queued = sent.containers[0].saves_itself = true;
  sent.cores = 4;
  sent.move_seconds = 7.5;
  const Result<HostReport> read = parse_report(render_report(sent));
  REQUIRE(read.has_value());
  CHECK(render_report(*read) == render_report(sent));
  CHECK(read->containers[0].left == 300.5);
  CHECK(read->containers[0].width == 1.5);
  CHECK(read->containers[0].moves == 2);
  CHECK(read->containers[0].beginning);
  CHECK(read->containers[0].queued);
  CHECK(read->containers[0].saves_itself);
  CHECK_FALSE(read->containers[1].queued);
  CHECK_FALSE(read->containers[1].beginning);
  CHECK_FALSE(read->containers[1].left);
  CHECK(read->cores == 4);
  CHECK(read->move_seconds == 7.5);
}

TEST_CASE("members of a report that are not known are ignored, and none may be missing") {
  const std::string good = render_report(host("h2", {job("a", Category::pc)}));
  CHECK(parse_report("{\"later\":7," + good.substr(1)).has_value());
  HostReport older = host("h2", {});
  older.moves = 3;
  std::string told = render_report(older);
  const std::string newer = ",\"moves_here\":0";
  REQUIRE(told.find(newer) != std::string::npos);
  told.erase(told.find(newer), newer.size());
  CHECK(parse_report(told)->moves_here == 3);
  std::string unqueued = good;
  const std::string last = ",\"queued\":false,\"saves_itself\":false";
  REQUIRE(unqueued.find(last) != std::string::npos);
  unqueued.erase(unqueued.find(last), last.size());
  CHECK(parse_report(unqueued).has_value());
  for (const char* name : {"left", "width", "moves", "beginning", "cores", "move_seconds"}) {
    std::string text = good;
    const std::size_t at = text.find("\"" + std::string(name) + "\"");
    text.replace(at, 1, "\"no-");
    const Result<HostReport> read = parse_report(text);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().message().find(name) != std::string::npos);
  }
}

TEST_CASE("a report that makes no sense is refused, with the member's name") {
  const std::string good = render_report(host("h1", {job("a", Category::cc, 12.5)}));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const Result<HostReport> read = parse_report(text);
    return read ? std::string("good") : read.error().message();
  };
  CHECK(with("\"a\"", "\"a\\\"b\"").find("containers[0].id") != std::string::npos);
  CHECK(with("\"a\"", "\"../x\"").find("containers[0].id") != std::string::npos);
  CHECK(with("12.5", "-1").find("converged_age") != std::string::npos);
  CHECK(with("\"CC\"", "7").find("category") != std::string::npos);
  CHECK(with("\"moves\":0", "\"moves\":-1").find("moves") != std::string::npos);
  CHECK(with("\"containers\":[", "\"containers\":7,\"x\":[").find("containers") !=
        std::string::npos);
  CHECK(with("\"left\":null", "\"left\":0").find("containers[0].left") != std::string::npos);
  CHECK(with("\"left\":null", "\"left\":1e13").find("containers[0].left") != std::string::npos);
  CHECK(with("\"width\":null", "\"width\":-1").find("containers[0].width") != std::string::npos);
  CHECK(with("\"moves\":0,\"beg", "\"moves\":1e9,\"beg").find("containers[0].moves") !=
        std::string::npos);
  CHECK(with("\"moves\":0,\"beg", "\"moves\":0.5,\"beg").find("containers[0].moves") !=
        std::string::npos);
  CHECK(with("\"cores\":1", "\"cores\":0").find("cores") != std::string::npos);
  CHECK(with("\"cores\":1", "\"cores\":\"4\"").find("cores") != std::string::npos);
  CHECK(with("\"move_seconds\":null", "\"move_seconds\":-1").find("move_seconds") !=
        std::string::npos);
  CHECK(parse_report("{").has_value() == false);
  CHECK(parse_report(render_report(host("h1", {job("a", Category::cc), job("a", Category::cc)})))
            .has_value() == false);
}

TEST_CASE("rebalancing is due when all have converged or were moved") {
  JobReport moved = job("b", Category::pc);
  moved.migrated_age = 3;
  CHECK(rebalance_question({host("h1", {job("a", Category::cc, 1), moved}), host("h2", {})}, false,
                           nobody)
            ->is_due);
  CHECK_FALSE(rebalance_question(
                  {host("h1", {job("a", Category::cc, 1), job("b", Category::wc)}), host("h2", {})},
                  false, nobody)
                  ->is_due);
  CHECK(rebalance_question(
            {host("h1", {job("a", Category::cc, 1), job("b", Category::wc)}), host("h2", {})}, true,
            nobody)
            ->is_due);
}

TEST_CASE("ages become times on one clock, whatever the clocks of the hosts say") {
  const auto question = rebalance_question(
      {host("h2", {}), host("h1", {job("a", Category::cc, 100), job("b", Category::cc, 40),
                                   job("c", Category::cc, 70), job("d", Category::cc, 90)})},
      false, nobody);
  REQUIRE(question.has_value());
  CHECK(question->state.workers.front().id == "idh1");
  const RebalanceDecision decision = decide_rebalance(question->state);
  REQUIRE(decision.moves.size() == 1);
  CHECK(decision.moves.front().container == "b");
  CHECK(decision.moves.front().to == "idh2");
  const auto again = rebalance_state_from(to_json(question->state));
  CHECK(again.has_value());
}

TEST_CASE("what may not be moved counts and is no candidate; a draining host is no worker") {
  HostReport draining = host("h3", {job("x", Category::cc, 1)});
  draining.draining = true;
  const auto question =
      rebalance_question({host("h1", {job("a", Category::cc, 1, false), job("b", Category::cc, 5),
                                      job("c", Category::cc, 3)}),
                          host("h2", {}), draining},
                         false, [](const std::string& id) { return id == "c"; });
  REQUIRE(question.has_value());
  CHECK(question->state.workers.size() == 2);
  const RebalanceDecision decision = decide_rebalance(question->state);
  REQUIRE(decision.moves.size() == 1);
  CHECK(decision.moves.front().container == "b");
}

TEST_CASE("a container that two hosts claim to have stops all deciding") {
  CHECK_FALSE(rebalance_question({host("h1", {job("a", Category::cc, 1)}),
                                  host("h2", {job("a", Category::cc, 1)})},
                                 false, nobody)
                  .has_value());
}

// A host with one core and jobs "NAME0", "NAME1" … with so much left.
HostReport busy(const std::string& name, const std::vector<double>& lefts) {
  HostReport report = host(name, {});
  report.cores = 1;
  for (const double left : lefts) {
    JobReport one = job(name + std::to_string(report.containers.size()), Category::pc);
    one.left = left;
    report.containers.push_back(one);
  }
  return report;
}

TEST_CASE("steer is asked with hosts in order of name and what hosts measured") {
  HostReport h1 = busy("h1", {10});
  HostReport h2 = busy("h2", {300, 40});
  HostReport h3 = busy("h3", {});
  h1.move_seconds = 9;
  h2.move_seconds = 4;
  h3.move_seconds = 6;
  h2.containers[0].width = 0.5;
  h2.containers[0].moves = 1;
  const auto question = steer_question({h3, h2, h1}, 2, nobody);
  REQUIRE(question.has_value());
  CHECK(render_json(to_json(*question)) ==
        R"({"move_seconds":6,"max_moves":2,"gain":3,"hosts":[)"
        R"({"id":"idh1","cores":1,"containers":[)"
        R"({"id":"h10","left":10,"width":1,"moves":0,"may_move":true}]},)"
        R"({"id":"idh2","cores":1,"containers":[)"
        R"({"id":"h20","left":300,"width":0.5,"moves":1,"may_move":true},)"
        R"({"id":"h21","left":40,"width":1,"moves":0,"may_move":true}]},)"
        R"({"id":"idh3","cores":1,"containers":[]}]})");
  h1.move_seconds.reset();
  h2.move_seconds.reset();
  h3.move_seconds.reset();
  CHECK(steer_question({h1, h2, h3}, 2, nobody)->move_seconds == 5);
}

TEST_CASE("what may not be moved, has just begun, or of which nothing is known, counts and stays") {
  HostReport h1 = busy("h1", {100, 50, 60, 70, 65});
  h1.containers[4].beginning = true;
  h1.containers[0].movable = false;
  h1.containers[1].left.reset();
  HostReport draining = busy("h2", {1000});
  draining.draining = true;
  const auto question =
      steer_question({h1, draining}, 2, [](const std::string& id) { return id == "h12"; });
  REQUIRE(question.has_value());
  REQUIRE(question->hosts.size() == 1);
  std::string movable;
  for (const SteeredJob& one : question->hosts[0].jobs) movable += one.may_move ? "+" : "-";
  CHECK(movable == "---+-");
  CHECK(question->hosts[0].jobs[1].left == 70);  // the median of 60, 65, 70, 100 and 1000
  CHECK(question->hosts[0].jobs[4].left == 65);
}

TEST_CASE("steer is not asked of a container on two hosts, nor of a host with too many") {
  CHECK_FALSE(steer_question({busy("h1", {1}), busy("h1", {1})}, 2, nobody).has_value());
  const auto question =
      steer_question({busy("h1", std::vector<double>(1001, 5)), busy("h2", {})}, 2, nobody);
  REQUIRE_FALSE(question.has_value());
  CHECK(question.error().message().find("h1 has more than 1000 containers") == 0);
}

TEST_CASE("each round is told in a sentence") {
  const auto explain = [](const char* algorithm, const std::string& state, const char* id) {
    ctrl::policy::About about;
    about.id = id;
    about.host_name = [](const std::string& host) { return "host-" + host; };
    return ctrl::policy::sentence_about(*find_algorithm(algorithm), state, about);
  };
  const std::string categorise =
      R"({"alpha":0.01,"containers":[{"id":"a","category":"PC","value":0.5,"previous_value":0.504,)"
      R"("previous_growth":0.2,"migrated":false}]})";
  CHECK(explain("categorise", categorise, "a") ==
        "watched, was progressing: its value changed by 0.004, alpha is 0.01, before by 0.2");
  const std::string speculate =
      R"({"weights":{"pc":2,"wc":1.5,"cc":1},"container":"a","source":"1","workers":[)"
      R"({"id":"1","pc":2,"wc":0,"cc":1,"usage":0.9},{"id":"2","pc":1,"wc":0,"cc":0,"usage":0.1}]})";
  CHECK(explain("speculate", speculate, "a") ==
        "goes to host-2, whose score of 2 is the lowest (here: 5)");
  CHECK(explain("speculate", speculate, "b") == "a decision about another container");
  const std::string rebalance =
      R"({"now":0,"guard":true,"workers":[{"id":"1","containers":[)"
      R"({"id":"a","converged_at":-1,"migrated_at":null,"rebalanced":false},)"
      R"({"id":"b","converged_at":-9,"migrated_at":null,"rebalanced":false}]},)"
      R"({"id":"2","containers":[]}]})";
  CHECK(explain("rebalance", rebalance, "a") == "goes to host-2, which is idle; 1 a host is even");
  CHECK(explain("rebalance", rebalance, "b") == "stays: 1 others migrate; 1 a host is even");
  const std::string balance =
      R"({"move_seconds":4,"max_moves":2,"gain":3,"hosts":[{"id":"1","cores":1,"containers":[)"
      R"({"id":"a","left":300,"width":1,"moves":0,"may_move":true},)"
      R"({"id":"b","left":200,"width":1,"moves":2,"may_move":true},)"
      R"({"id":"c","left":100,"width":1,"moves":0,"may_move":false},)"
      R"({"id":"d","left":100,"width":1,"moves":0,"may_move":true}]},)"
      R"({"id":"2","cores":1,"containers":[{"id":"e","left":20,"width":1,"moves":0,)"
      R"("may_move":true}]}]})";
  CHECK(explain("balance", balance, "a") ==
        "goes to host-2, which has 20 CPU s of remaining work: here 700, 300 of it its own; a "
        "migration costs 4 s");
  CHECK(explain("balance", balance, "b") == "stays: it has migrated 2 times");
  CHECK(explain("balance", balance, "c") ==
        "stays: it may not migrate now, has just begun, or has no estimate");
  CHECK(explain("balance", balance, "e").find("stays: ") == 0);
  CHECK(explain("balance", balance, "f") == "the container is not in this decision");
  CHECK(explain("balance", "{}", "a") == "the recorded state is damaged");
  CHECK(explain("rebalance", "{}", "a") == "the recorded state is damaged");
}

TEST_CASE("an order is read as it was written, its state as it was recorded") {
  const std::string state = R"({"now":0,"workers":[{"id":"h1","containers":[]}]})";
  const std::string text = render_order({"c1", "h2", "rebalance", state});
  CHECK(text == R"({"container":"c1","target":"h2","cause":"rebalance","state":)" + state + "}");
  const Result<OrderedMove> order = parse_order(text, {"rebalance", "balance"});
  REQUIRE(order.has_value());
  CHECK(order->container == "c1");
  CHECK(order->target == "h2");
  CHECK(order->cause == "rebalance");
  CHECK(order->state == state);
  const std::string bare = render_order({"c1", "h2", "balance", ""});
  CHECK(bare == R"({"container":"c1","target":"h2","cause":"balance"})");
  CHECK(parse_order(bare, {"balance"})->state.empty());
}

TEST_CASE("an order that makes no sense is refused, with the member's name") {
  const auto complaint = [](const std::string& text) {
    const Result<OrderedMove> order = parse_order(text, {"rebalance", "balance"});
    return order ? std::string() : order.error().message();
  };
  CHECK_FALSE(complaint("{").empty());
  CHECK(complaint(R"({"target":"h2","cause":"balance"})").find("container") == 0);
  CHECK(complaint(R"({"container":"c1","target":7,"cause":"balance"})").find("target") == 0);
  CHECK(complaint(R"({"container":"c1","target":"h2","cause":"person"})") ==
        "cause: must be rebalance or balance");
}

}  // namespace
}  // namespace flowcon::cluster::policy
