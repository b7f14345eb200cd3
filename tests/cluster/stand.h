// SPDX-License-Identifier: Apache-2.0
// A host with a balancer, whose containers and whose time the test sets. For .cpp files only: it
// includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>

#include "base/json.h"
#include "cluster/balancer.h"
#include "ctrl/spawn.h"
#include "tests/cluster/cluster_fakes.h"

namespace flowcon::cluster::test {

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
