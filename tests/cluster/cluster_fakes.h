// SPDX-License-Identifier: Apache-2.0
// A host, a network and moves of the test's own, with a clock that the test turns.
// For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/balancer.h"
#include "cluster/codec/report_json.h"
#include "ctrl/effects.h"
#include "ctrl/spawn.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::cluster::test {

inline std::string host_id(char digit) { return std::string(32, digit); }

class FakeHost : public ctrl::LocalHost {
 public:
  explicit FakeHost(boost::asio::io_context& io) : io_(io) {
    std::string notice;
    auto opened = ctrl::store::Store::open(folder_.path() + "/db", &notice);
    REQUIRE(opened.has_value());
    store_ = std::move(*opened);
    config_.state_dir = folder_.path();
    config_.balance.categorise_interval = 10;
    config_.queue.allocate = "kod2";  // whole hosts, one by one
    view_.name = "h1";
  }
  ~FakeHost() override { effects_.finish(); }
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  boost::asio::io_context& io() override { return io_; }
  ctrl::Effects& effects() override { return effects_; }
  ctrl::store::Store& store() override { return *store_; }
  [[nodiscard]] const ctrl::Config& config() const override { return config_; }
  [[nodiscard]] ctrl::HostView view() const override { return view_; }
  [[nodiscard]] std::optional<double> value_of(const std::string& id) const override {
    const auto found = values_.find(id);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::optional<ctrl::JobForecast> forecast(const std::string& id) const override {
    const auto found = lefts_.find(id);
    if (found == lefts_.end()) return std::nullopt;
    ctrl::JobForecast forecast{found->second, std::nullopt};
    if (dones_.contains(id)) forecast.done = dones_.at(id);
    return forecast;
  }
  [[nodiscard]] std::optional<ctrl::Settings> settings_of(const std::string&) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::string name_of(const std::string& id) const override { return "name-" + id; }
  [[nodiscard]] std::string find(const std::string& name) const override {
    const auto found = ids_.find(name);
    return found == ids_.end() ? "" : found->second;
  }
  Async<ctrl::api::Response> answer(ctrl::api::Request request) override {
    calls_.push_back(request.method + " " + request.target + " " + request.body);
    co_return answer_;
  }
  void warn(const std::string& sentence) override { warnings_.push_back(sentence); }
  Async<Result<std::string>> export_history(std::string) override { co_return std::string("{}"); }
  Async<Result<void>> import_history(std::string, std::string, std::string) override {
    co_return Result<void>();
  }
  Async<Result<void>> forget_history(std::string) override { co_return Result<void>(); }

  flowcon::test::TempFolder folder_;
  boost::asio::io_context& io_;
  std::unique_ptr<ctrl::store::Store> store_;
  ctrl::Effects effects_;
  ctrl::Config config_;
  ctrl::HostView view_;
  std::map<std::string, double> values_;
  std::map<std::string, double> dones_;  // share by the counter, with lefts_
  std::map<std::string, double> lefts_;
  std::vector<std::string> warnings_;
  std::map<std::string, std::string> ids_;  // of containers, by name
  std::vector<std::string> calls_;
  ctrl::api::Response answer_{200, R"({"id":"x","name":"vae"})"};
};

class FakeNetwork : public Network {
 public:
  struct Asked {
    std::string id, verb, body;
  };

  [[nodiscard]] const std::string& own_id() const override { return own_id_; }
  [[nodiscard]] std::string own_name() const override { return own_name_; }
  [[nodiscard]] bool is_draining() const override { return is_draining_; }
  [[nodiscard]] std::optional<std::vector<std::string>> leaders() const override {
    return leaders_;
  }
  [[nodiscard]] std::vector<Neighbour> neighbours() const override { return neighbours_; }
  Async<Result<Answer>> ask(std::string id, std::string method, std::string target,
                            std::string body, double) override {
    asked_.push_back({id, method + " " + target, body});
    const auto found = answers_.find(id + " " + method + " " + target);
    if (found == answers_.end()) co_return bad_input("no answer from " + id.substr(0, 1));
    co_return found->second;
  }
  [[nodiscard]] Result<std::vector<std::string>> dial(const std::string&) const override {
    return bad_input("not in this test");
  }
  void tell() override { ++told_; }

  // A peer with containers by category, as it tells them.
  Neighbour& add(const std::string& name, char digit, policy::Counts counts, double usage = 0.5) {
    Neighbour one;
    one.id = host_id(digit);
    one.name = name;
    one.is_reachable = true;
    peers::State state;
    state.id = one.id;
    state.name = name;
    state.counts = counts;
    state.usage = usage;
    state.containers = counts.pc + counts.wc + counts.cc;
    one.state = state;
    neighbours_.push_back(one);
    return neighbours_.back();
  }
  void report(char digit, const policy::HostReport& report) {
    answers_[host_id(digit) + " GET /v1/peer/jobs"] = {200, policy::render_report(report)};
  }
  [[nodiscard]] std::vector<std::string> orders() const {
    std::vector<std::string> bodies;
    for (const Asked& asked : asked_) {
      if (asked.verb == "POST /v1/peer/move") bodies.push_back(asked.id.substr(0, 1) + asked.body);
    }
    return bodies;
  }

  std::string own_id_ = host_id('1');
  std::string own_name_ = "h1";
  bool is_draining_ = false;
  std::optional<std::vector<std::string>> leaders_;
  std::vector<Neighbour> neighbours_;
  std::map<std::string, Answer> answers_;  ///< by "ID METHOD TARGET"
  std::vector<Asked> asked_;
  int told_ = 0;
};

class FakeMoves : public Moves {
 public:
  Async<Result<std::string>> begin(MoveOrder order) override {
    orders_.push_back(order.container + ">" + order.target.substr(0, 1) + " " + order.cause);
    if (!refusal_.empty()) co_return bad_input(refusal_);
    const std::string id = "m" + std::to_string(orders_.size());
    moves_.push_back({id, order.container, order.cause, migration::Step::transfer, false, {}});
    co_return id;
  }
  Async<Result<Freight>> weigh(std::string) override { co_return freight_; }
  Async<Result<std::set<std::string>>> shared_volumes() override { co_return shared_; }
  [[nodiscard]] bool is_movable(const std::string& id) const override {
    return fixed_.count(id) == 0;
  }
  [[nodiscard]] bool is_moving(const std::string& id) const override {
    for (const Move& move : moves_) {
      if (move.container == id && !move.ended) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_saving(const std::string&) const override { return false; }
  [[nodiscard]] std::int64_t reserved() const override { return reserved_; }
  [[nodiscard]] std::vector<MoveView> list(std::size_t) const override {
    std::vector<MoveView> all;
    for (const Move& move : moves_) {
      MoveView view;
      view.id = move.id;
      view.container = move.container;
      view.cause = move.cause;
      view.step = move.step;
      view.method = move.method;
      view.source = move.source;
      view.target = move.target;
      view.error = "the disk is full";
      view.stopped_seconds = move.stopped;
      view.has_ended = move.ended;
      all.push_back(std::move(view));
    }
    return all;
  }
  [[nodiscard]] std::vector<Way> ways() const override {
    std::vector<Way> all;
    for (const MoveView& view : list(1000)) {
      const bool is_over = view.has_ended && view.step != migration::Step::done;
      if (is_over) continue;
      all.push_back({view.container, view.name, view.source, view.target, !view.has_ended});
    }
    return all;
  }
  void release(const std::string& id) override { released_.insert(id); }
  void turn_back(const std::string& id, const std::string&) override { turned_back_.insert(id); }
  void take_back(const std::string& id) override { taken_back_.insert(id); }
  void expect(const std::string& id, const std::string& birth) override { expected_[id] = birth; }
  Async<Result<std::optional<Passage>>> passage(std::string id) override {
    const auto found = passages_.find(id);
    if (found == passages_.end()) co_return std::optional<Passage>();
    co_return found->second;
  }
  [[nodiscard]] std::vector<Passage> expected_births() const override { return births_; }

  // The last one that was begun ends: "done" or "undone".
  void end(const std::string& step) {
    moves_.back().step = *migration::parse_step(migration::Side::source, step);
    moves_.back().ended = true;
  }

  struct Move {
    std::string id, container;
    Cause cause = kPerson;
    migration::Step step = migration::Step::transfer;
    bool ended = false;
    std::optional<double> stopped = std::nullopt;
    migration::Method method = migration::Method::app;
    std::string source = {}, target = {};
  };
  std::vector<std::string> orders_;
  std::vector<Move> moves_;
  std::set<std::string> fixed_;
  std::string refusal_;
  std::int64_t reserved_ = 0;
  std::set<std::string> released_, turned_back_, taken_back_;
  std::map<std::string, std::string> expected_;  ///< returns and their births
  std::map<std::string, Passage> passages_;
  std::vector<Passage> births_;
  Freight freight_;
  std::set<std::string> shared_;
};

/// One host with a balancer. Containers "a", "b" … whose values the test sets.
struct Stand {
  Stand() : host(io), balancer(std::make_unique<Balancer>(host, network, moves, clock())) {
    begin();
  }
  Balancer::Clock clock() {
    return [this] { return peers::Instant{now, 1e9 + now}; };
  }
  void run() {
    io.restart();
    io.run();
  }
  void begin() {
    ctrl::spawn(io, "test", balancer->begin());
    run();
  }
  // flowcond starts again, `seconds` later.
  void restart(double seconds) {
    auto nothing = [] {};
    ctrl::spawn(io, "test", host.effects_.run(nothing));
    run();
    now += seconds;
    balancer = std::make_unique<Balancer>(host, network, moves, clock());
    begin();
  }
  void look(double seconds = 0) {
    now += seconds;
    balancer->look();
    run();
  }
  // A round, an interval after the one before.
  void round(const std::map<std::string, double>& values) {
    host.view_.jobs.clear();
    for (const auto& [id, value] : values) {
      host.view_.jobs.push_back(id);
      host.values_[id] = value;
    }
    look(10);
  }
  // Brings `id` to CC beside two that learn; the next round has it ask to move.
  void converge(const std::string& id) {
    double other = 100;
    for (const double value : {1.0, 0.5, 0.496, 0.494}) {
      round({{id, value}, {"x", other}, {"y", other}});
      other -= 10;
    }
  }
  // The round in which a converged container asks to move.
  void ask(const std::string& id) { round({{id, 0.493}, {"x", 55}, {"y", 55}}); }

  // The state of the last decision of `algorithm` that concerned the container "a".
  std::string explained(const std::string& algorithm) {
    std::string last;
    auto read = [&] {
      // Only of what has run something is explained.
      ctrl::store::History history;
      history.run.id = history.run.name = "a";
      if (!host.store_->import_history(history, std::nullopt)) return;
      auto found = host.store_->explained("a", 1000);
      if (!found) return;
      for (const auto& one : found->rounds) {
        if (one.round.algorithm == algorithm) last = one.round.state;
      }
    };
    ctrl::spawn(io, "test", host.effects_.run(read));
    run();
    return last;
  }
  ctrl::api::Response call(Async<ctrl::api::Response> asked) {
    ctrl::api::Response response;
    auto life = [&response, &asked]() -> Async<void> { response = co_await std::move(asked); };
    ctrl::spawn(io, "test", life);
    run();
    return response;
  }
  /// `call_of`: "GET cluster".
  boost::json::value person(const std::string& call_of, const std::string& body = "") {
    ctrl::api::Request request;
    request.method = call_of.substr(0, call_of.find(' '));
    request.target = "/v1/" + call_of.substr(call_of.find(' ') + 1);
    request.body = body;
    const ctrl::api::Routes routes = balancer->routes();
    const ctrl::api::Response response = call(ctrl::api::answer(&routes, request));
    status = response.status;
    return *parse_json(response.body);
  }
  boost::json::value peer(char digit, const std::string& method, const std::string& target,
                          const std::string& body = "") {
    ctrl::api::Request request;
    request.method = method;
    request.target = target;
    request.body = body;
    const ctrl::api::Routes verbs = balancer->peer_routes();
    const ctrl::api::Response response =
        call(ctrl::api::answer_peer(&verbs, request, host_id(digit)));
    status = response.status;
    return *parse_json(response.body);
  }

  boost::asio::io_context io{1};
  double now = 1000;
  FakeHost host;
  FakeNetwork network;
  FakeMoves moves;
  std::unique_ptr<Balancer> balancer;
  unsigned status = 0;
};

inline std::string counted(const policy::Counts& counts) {
  return std::to_string(counts.pc) + "/" + std::to_string(counts.wc) + "/" +
         std::to_string(counts.cc);
}

}  // namespace flowcon::cluster::test
