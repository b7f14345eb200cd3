// SPDX-License-Identifier: Apache-2.0
// Calls about containers that migrated to other hosts.
#include "cluster/elsewhere.h"

#include <boost/asio/steady_timer.hpp>

#include "base/json_reader.h"
#include "ctrl/await.h"
#include "ctrl/spawn.h"
#include "tests/cluster/cluster_fakes.h"
#include "tests/support/catch.h"

namespace flowcon::cluster {
namespace {

using ctrl::api::Request;
using ctrl::api::Response;
using test::host_id;

constexpr const char* kCall = " POST /v1/peer/call";

class ListedMoves : public test::FakeMoves {
 public:
  [[nodiscard]] std::vector<MoveView> list(std::size_t) const override { return views_; }
  std::vector<MoveView> views_;
};

MoveView moved(const std::string& name, char source, char target) {
  MoveView view;
  view.name = name;
  view.container = name + "-id";
  view.source = host_id(source);
  view.target = host_id(target);
  view.step = migration::Step::done;
  view.has_ended = true;
  return view;
}

// The host 1, which gave "vae" to the host 2.
struct ElsewhereStand {
  ElsewhereStand() {
    network.add("gpu2", '2', {});
    network.add("gpu3", '3', {});
    moves.views_ = {moved("vae", '1', '2')};
    network.answers_[host_id('2') + kCall] = {200, R"({"id":"x","name":"vae"})"};
  }
  std::optional<Response> ask(const std::string& method, const std::string& target,
                              const std::string& body = "") {
    std::optional<Response> out;
    Request request{method, target, body, 0, ""};
    auto work = [this, &out](Request wanted) -> Async<void> {
      out = co_await elsewhere.answer(std::move(wanted));
    };
    ctrl::spawn(io, "test", work(std::move(request)));
    io.restart();
    io.run();
    return out;
  }
  Response take(const std::string& body, char speaker) {
    Response out;
    auto work = [this, &out](std::string said, std::string who) -> Async<void> {
      out = co_await elsewhere.take(std::move(said), std::move(who));
    };
    ctrl::spawn(io, "test", work(body, host_id(speaker)));
    io.restart();
    io.run();
    return out;
  }
  static std::string call(const std::string& method, const std::string& target, int hops = 1) {
    return R"({"method":")" + method + R"(","target":")" + target + R"(","body":"{}","hops":)" +
           std::to_string(hops) + "}";
  }

  boost::asio::io_context io;
  test::FakeHost host{io};
  test::FakeNetwork network;
  ListedMoves moves;
  Elsewhere elsewhere{host, network, moves};
};

TEST_CASE_METHOD(ElsewhereStand, "what migrated is pinned where it is, and the host is named") {
  const auto answer = ask("POST", "/v1/containers/vae/pin", R"({"cpu":0.5})");
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(text_in(answer->body, "forwarded_to") == "gpu2");
  CHECK(text_in(answer->body, "name") == "vae");
  REQUIRE(network.asked_.size() == 1);
  CHECK(text_in(network.asked_[0].body, "target") == "/v1/containers/vae/pin");
  CHECK(text_in(network.asked_[0].body, "body") == R"({"cpu":0.5})");
}

TEST_CASE_METHOD(ElsewhereStand, "this host answers for what it has, and for what is nowhere") {
  CHECK_FALSE(ask("POST", "/v1/containers/gru/pin"));
  CHECK_FALSE(ask("GET", "/v1/status"));
  CHECK_FALSE(ask("POST", "/v1/containers/vae/adopt"));
  CHECK_FALSE(ask("GET", "/v1/containers/vae/pin"));
  host.ids_["vae"] = "vae-2";  // one of that name was started here since
  CHECK_FALSE(ask("POST", "/v1/containers/vae/pin"));
  host.ids_.clear();
  moves.views_[0].has_ended = false;
  CHECK_FALSE(ask("POST", "/v1/containers/vae/pin"));
  moves.views_[0].has_ended = true;
  moves.views_[0].step = migration::Step::undone;
  CHECK_FALSE(ask("POST", "/v1/containers/vae/pin"));
  CHECK(network.asked_.empty());
}

TEST_CASE_METHOD(ElsewhereStand,
                 "a host that cannot be reached: what it knows is shown, no change is lost") {
  network.answers_.clear();
  const auto change = ask("POST", "/v1/containers/vae/pin");
  REQUIRE(change);
  CHECK(change->status == 502);
  CHECK(text_in(change->body, "error").find("vae migrated to gpu2: no answer") == 0);
  CHECK_FALSE(ask("GET", "/v1/containers/vae/history?since=5"));
}

TEST_CASE_METHOD(ElsewhereStand, "of a host that is busy, too, is shown what is known here") {
  network.answers_[host_id('2') + kCall] = {503, R"({"error":"ask again later"})"};
  CHECK_FALSE(ask("GET", "/v1/containers/vae/history?since=5"));
  CHECK_FALSE(ask("GET", "/v1/containers/vae/explain"));
  for (const auto& [method, verb] : {std::pair("GET", "log?tail=5"), std::pair("POST", "pin")}) {
    CAPTURE(verb);
    const auto answer = ask(method, std::string("/v1/containers/vae/") + verb);
    REQUIRE(answer);
    CHECK(answer->status == 503);
  }
}

TEST_CASE_METHOD(ElsewhereStand, "the status of a peer is that peer's answer") {
  network.answers_[host_id('2') + kCall] = {200, R"({"host":"gpu2","containers":[]})"};
  const ctrl::api::Routes routes = elsewhere.routes();
  const auto status = [&](const std::string& name) {
    Response out;
    auto work = [&](Request wanted) -> Async<void> {
      out = co_await ctrl::api::answer(&routes, std::move(wanted));
    };
    Request request{"GET", "/v1/peers/" + name + "/status", "", 0, ""};
    ctrl::spawn(io, "test", work(std::move(request)));
    io.restart();
    io.run();
    return out;
  };
  CHECK(status("gpu2").body == R"({"host":"gpu2","containers":[]})");
  CHECK(status("gpu9").status == 404);
  network.neighbours_[1].is_reachable = false;
  network.neighbours_[1].error = "it fell silent";
  CHECK(status("gpu3").status == 502);
}

// How long it was asked to wait.
class TimedNetwork : public test::FakeNetwork {
 public:
  Async<Result<Answer>> ask(std::string id, std::string method, std::string target,
                            std::string body, double seconds) override {
    seconds_.push_back(seconds);
    return FakeNetwork::ask(std::move(id), std::move(method), std::move(target), std::move(body),
                            seconds);
  }
  std::vector<double> seconds_;
};

TEST_CASE_METHOD(ElsewhereStand, "only what takes long is passed on by a connection of its own") {
  TimedNetwork timed;
  timed.add("gpu2", '2', {});
  Elsewhere passing{host, timed, moves};
  for (const char* one : {"explain", "log", "migrate"}) {
    const std::string verb = one;
    Request request{verb == "migrate" ? "POST" : "GET", "/v1/containers/vae/" + verb, "", 0, ""};
    auto work = [&passing](Request wanted) -> Async<void> {
      (void)co_await passing.answer(std::move(wanted));
    };
    ctrl::spawn(io, "test", work(std::move(request)));
    io.restart();
    io.run();
  }
  REQUIRE(timed.seconds_.size() == 3);
  for (const std::size_t look : {0, 1}) {
    CHECK(timed.seconds_[look] > Elsewhere::kAnswerTime);
    CHECK(timed.seconds_[look] < 10);
  }
  CHECK(timed.seconds_[2] > 600);
}

TEST_CASE_METHOD(ElsewhereStand, "a host that is known not to be reachable is not asked") {
  network.neighbours_[0].is_reachable = false;
  network.neighbours_[0].error = "gpu2 fell silent";
  CHECK_FALSE(ask("GET", "/v1/containers/vae/explain"));
  const auto change = ask("POST", "/v1/containers/vae/pin");
  REQUIRE(change);
  CHECK(change->status == 502);
  CHECK(text_in(change->body, "error") ==
        "vae migrated to gpu2: gpu2 cannot be asked: gpu2 fell silent");
  CHECK(network.asked_.empty());
}

// They answer once they are let.
class SlowHost : public test::FakeHost {
 public:
  explicit SlowHost(boost::asio::io_context& context) : FakeHost(context) {}
  Async<Response> answer(Request) override {
    (void)co_await let_.async_wait(kAwait);
    co_return answer_;
  }
  boost::asio::steady_timer let_{io_, boost::asio::steady_timer::time_point::max()};
};

TEST_CASE_METHOD(ElsewhereStand, "a peer that calls does not wait for ever for an answer") {
  SlowHost slow(io);
  Elsewhere there{slow, network, moves, 0};
  Response out;
  const std::string body = call("GET", "/v1/status");
  auto work = [&]() -> Async<void> {
    out = co_await there.take(body, host_id('3'));
    slow.let_.cancel();
  };
  ctrl::spawn(io, "test", work);
  io.run();
  CHECK(out.status == 502);
  CHECK(text_in(out.body, "error") == "it takes too long to answer");
}

TEST_CASE_METHOD(ElsewhereStand, "a peer whose calls go on after their time has no more of them") {
  SlowHost slow(io);
  Elsewhere there{slow, network, moves, 0};
  std::vector<unsigned> statuses;
  const auto ask = [&](char speaker, const std::string& target) {
    auto work = [&](std::string body, std::string who) -> Async<void> {
      const Response response = co_await there.take(std::move(body), std::move(who));
      statuses.push_back(response.status);
    };
    const std::size_t before = statuses.size();
    ctrl::spawn(io, "test", work(call("GET", target), host_id(speaker)));
    io.restart();
    while (statuses.size() == before) io.run_one();
  };
  const std::string explain = "/v1/containers/own/explain";
  for (int i = 0; i < 4; ++i) ask('3', explain);
  CHECK(statuses == std::vector<unsigned>(4, 502));
  ask('3', explain);
  CHECK(statuses.back() == 503);
  ask('3', "/v1/status");
  CHECK(statuses.back() == 502);  // it waits in this test alone
  ask('2', explain);
  CHECK(statuses.back() == 502);
  slow.let_.cancel();
  io.restart();
  io.run();
  // They have ended.
  slow.let_.expires_at(boost::asio::steady_timer::time_point::min());
  ask('3', explain);
  CHECK(statuses.back() != 503);
  io.run();
}

TEST_CASE_METHOD(ElsewhereStand, "a refusal there is told with the host's name") {
  network.answers_[host_id('2') + kCall] = {422, R"({"error":"cpu is too large\u001b[2J"})"};
  const auto answer = ask("POST", "/v1/containers/vae/pin");
  REQUIRE(answer);
  CHECK(answer->status == 422);
  CHECK(text_in(answer->body, "error").find("gpu2: cpu is too large") == 0);
  CHECK(text_in(answer->body, "error").find('\033') == std::string::npos);
}

TEST_CASE_METHOD(ElsewhereStand, "a peer looks at everything, and changes what came from it") {
  moves.views_ = {moved("vae", '2', '1')};
  host.ids_ = {{"vae", "vae-id"}, {"own", "own-id"}};

  CHECK(take(call("GET", "/v1/status"), '3').status == 200);
  CHECK(take(call("GET", "/v1/profiles?since=5&after=1"), '3').status == 200);
  CHECK(take(call("GET", "/v1/containers/own/explain"), '3').status == 200);
  CHECK(take(call("POST", "/v1/containers/vae/pin"), '2').status == 200);
  CHECK(host.calls_ == std::vector<std::string>{"GET /v1/status {}",
                                                "GET /v1/profiles?since=5&after=1 {}",
                                                "GET /v1/containers/own/explain {}",
                                                "POST /v1/containers/vae-id/pin {}"});
  host.calls_.clear();
  CHECK(take(call("POST", "/v1/containers/vae/pin"), '3').status == 403);
  CHECK(take(call("POST", "/v1/containers/own/pin"), '2').status == 403);
  CHECK(take(call("POST", "/v1/containers/gone/migrate"), '2').status == 404);
  for (const char* target :
       {"/v1/pause", "/v1/peers", "/v1/profiles/1", "/v1/containers/vae/release", "/metrics",
        "/v1/containers/vae/adopt", "/v1/containers//pin/../adopt"}) {
    CAPTURE(target);
    CHECK(take(call("POST", target), '2').status == 403);
    CHECK(take(call("GET", target), '2').status == 403);
  }
  CHECK(host.calls_.empty());
}

TEST_CASE_METHOD(ElsewhereStand, "a migration is ended by the host that the container is on") {
  const auto answer = ask("POST", "/v1/containers/vae/cancel-move");
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(text_in(answer->body, "forwarded_to") == "gpu2");
  // The person would have to see both hosts.
  for (const char* verb : {"take-back", "keep"}) {
    CHECK_FALSE(ask("POST", std::string("/v1/containers/vae/") + verb));
    CHECK(take(call("POST", std::string("/v1/containers/vae/") + verb), '2').status == 403);
  }
  // The host 1 is the one that has it, and sends it on: it is stopped.
  moves.views_ = {moved("vae", '1', '3'), moved("vae", '2', '1')};
  moves.views_[0].has_ended = false;
  moves.views_[0].step = migration::Step::transfer;
  CHECK(take(call("POST", "/v1/containers/vae/cancel-move"), '2').status == 200);
  CHECK(host.calls_ == std::vector<std::string>{"POST /v1/containers/vae-id/cancel-move {}"});
  CHECK(take(call("POST", "/v1/containers/vae/cancel-move"), '3').status == 403);
}

TEST_CASE_METHOD(ElsewhereStand, "a peer reads the migrations of this host") {
  CHECK(take(call("GET", "/v1/moves"), '3').status == 200);
  CHECK(take(call("POST", "/v1/moves"), '3').status == 403);
  CHECK(host.calls_ == std::vector<std::string>{"GET /v1/moves {}"});
}

TEST_CASE_METHOD(ElsewhereStand, "with estimate-share off no peer reads profiles") {
  host.config_.queue.estimate_share = false;
  const Response answer = take(call("GET", "/v1/profiles?since=5&after=1"), '3');
  CHECK(answer.status == 403);
  CHECK(text_in(answer.body, "error") == "this host shares no profiles: estimate-share is off");
  CHECK(host.calls_.empty());
  CHECK(take(call("GET", "/v1/status"), '3').status == 200);
}

TEST_CASE_METHOD(ElsewhereStand, "what a container prints is told to the host that it came from") {
  moves.views_ = {moved("vae", '2', '1')};
  host.ids_ = {{"vae", "vae-id"}, {"own", "own-id"}};
  CHECK(take(call("GET", "/v1/containers/vae/log?tail=5"), '2').status == 200);
  // Whatever else the engine knows by that name.
  CHECK(host.calls_ == std::vector<std::string>{"GET /v1/containers/vae-id/log?tail=5 {}"});
  host.calls_.clear();
  CHECK(take(call("GET", "/v1/containers/vae/log?tail=5"), '3').status == 403);
  CHECK(take(call("GET", "/v1/containers/own/log"), '2').status == 403);
  CHECK(take(call("GET", "/v1/containers/vae/log/../explain"), '3').status == 403);
  CHECK(take(call("GET", "/v1/containers/own/log?x=/explain"), '2').status == 403);
  CHECK(host.calls_.empty());
}

TEST_CASE_METHOD(ElsewhereStand,
                 "a call follows a container over several hosts, and not for ever") {
  moves.views_ = {moved("vae", '1', '2'), moved("vae", '3', '1')};
  network.answers_[host_id('2') + kCall] = {200, R"({"name":"vae","forwarded_to":"gpu7"})"};
  const Response answer = take(call("POST", "/v1/containers/vae/pin"), '3');
  CHECK(answer.status == 200);
  CHECK(text_in(answer.body, "forwarded_to") == "gpu7");
  CHECK(take(call("POST", "/v1/containers/vae/pin", 4), '3').status == 404);
  CHECK(take(call("POST", "/v1/containers/vae/pin", 5), '3').status == 422);
  CHECK(network.asked_.size() == 1);
}

TEST_CASE_METHOD(ElsewhereStand, "no call is passed on about a container that came from others") {
  moves.views_ = {moved("vae", '1', '2')};
  for (const char from : {'1', '4'}) {
    if (from == '4') moves.views_.push_back(moved("vae", from, '1'));
    CHECK(take(call("POST", "/v1/containers/vae/pin"), '3').status == 403);
    CHECK(take(call("GET", "/v1/containers/vae/log"), '3').status == 403);
    CHECK(network.asked_.empty());
  }
  CHECK(take(call("GET", "/v1/containers/vae/explain"), '3').status == 200);
  CHECK(take(call("GET", "/v1/containers/vae/log"), '4').status == 200);
}

TEST_CASE_METHOD(ElsewhereStand,
                 "what peers say is checked, and no answer is longer than they take") {
  for (const char* wrong :
       {"", "7", "{}", R"({"method":7})", R"({"method":"GET","target":"/v1/status"})"}) {
    CAPTURE(wrong);
    CHECK(take(wrong, '2').status == 422);
  }
  host.answer_.body = "{\"a\":\"" + std::string(1'000'000, 'x') + "\"}";
  CHECK(take(call("GET", "/v1/status"), '2').status == 413);
}

}  // namespace
}  // namespace flowcon::cluster
