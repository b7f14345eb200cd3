// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/leases.h"

#include <boost/asio/awaitable.hpp>
#include <utility>

#include "ctrl/log.h"

namespace flowcon::cluster::queue {
namespace {

using ctrl::api::failure;
using ctrl::api::Response;

// Seconds. What may take longer gets a connection of its own; who tries an endpoint waits for 3 s.
constexpr double kAnswerTime = 20;

std::vector<std::int64_t> ports_of(const std::vector<Endpoint>& endpoints) {
  std::vector<std::int64_t> ports;
  ports.reserve(endpoints.size());
  for (const Endpoint& one : endpoints) ports.push_back(one.port);
  return ports;
}

// What has the ports will go.
bool is_busy(const Error& error) {
  return error.code == boost::system::errc::resource_unavailable_try_again;
}

// The text of that code says no more.
std::string sentence_of(const Error& error) {
  return is_busy(error) ? error.what : error.message();
}

}  // namespace

bool Leases::has_address() const {
  return !interface_of(world_.host.config().queue.advertise).empty();
}

bool Leases::is_open() const {
  const ctrl::Accept& accept = world_.host.config().accept;
  return (accept.host_network || accept.host_namespaces) && has_address();
}

Async<Response> Leases::answer(std::string body, std::string speaker) {
  const Result<PortCall> call = parse_port_call(body);
  if (!call) co_return failure(422, call.error().what);
  if (call->verb == PortCall::Verb::lease && !call->is_published && !is_open()) {
    co_return failure(409,
                      "it does not let peers' tasks be in its network (accept-host-network "
                      "and advertise)");
  }
  if (call->verb == PortCall::Verb::hush) {
    ports_.hush(ports_of(call->endpoints), speaker);
    co_return Response{200, "{}"};
  }
  if (call->verb == PortCall::Verb::drop) {
    ports_.drop(ports_of(call->endpoints), speaker);
    co_return Response{200, "{}"};
  }
  if (!has_address()) co_return failure(409, "it has no address for tasks (advertise)");
  if (call->verb == PortCall::Verb::reach) {
    std::vector<Endpoint> endpoints = call->endpoints;
    const auto failures = co_await ports_.try_all(std::move(endpoints));
    co_return Response{200, render_failures(failures)};
  }
  const auto leased =
      co_await ports_.lease(static_cast<std::size_t>(call->count), std::move(speaker));
  if (!leased) co_return failure(leased.error().code ? 503 : 409, sentence_of(leased.error()));
  co_return Response{200, render(*leased)};
}

// Its refusals have no code.
Async<Result<std::string>> Leases::ask(std::string host, PortCall call) {
  const std::string shown = name_of_host(world_.network, host);
  const Result<Answer> answer = co_await world_.network.ask(
      std::move(host), "POST", "/v1/peer/queue/ports", render(call), kAnswerTime);
  if (!answer) co_return answer.error();
  if (answer->status == 200) co_return answer->body;
  const std::string why = shown + " refuses: " + refusal_of(*answer);
  if (answer->status == 503) co_return errno_error(EAGAIN, why);
  co_return bad_input(why);
}

Async<Result<std::vector<Endpoint>>> Leases::lease_on(std::string host, std::size_t count,
                                                      bool is_published) {
  if (host.empty()) {
    Result<std::vector<Endpoint>> leased = co_await ports_.lease(count, "");
    if (!leased) co_return wrap(leased.error(), "this host has no ports for its tasks");
    co_return leased;
  }
  PortCall call;
  call.count = static_cast<std::int64_t>(count);
  call.is_published = is_published;
  const std::string shown = name_of_host(world_.network, host);
  const Result<std::string> answer = co_await ask(std::move(host), std::move(call));
  if (!answer) co_return answer.error();
  Result<std::vector<Endpoint>> leased = parse_endpoints(*answer);
  if (leased && leased->size() != count) co_return bad_input(shown + " gives too few ports");
  co_return leased;
}

Async<Result<void>> Leases::reach_from(std::string host, Endpoint endpoint) {
  std::vector<Endpoint> endpoints{std::move(endpoint)};
  const std::string shown = name_of_host(world_.network, host);
  std::vector<std::string> failures;
  if (host.empty()) {
    failures = co_await ports_.try_all(std::move(endpoints));
  } else {
    PortCall call;
    call.verb = PortCall::Verb::reach;
    call.endpoints = std::move(endpoints);
    const Result<std::string> answer = co_await ask(std::move(host), std::move(call));
    if (!answer) co_return answer.error();
    const Result<std::vector<std::string>> said = parse_failures(*answer);
    if (!said) co_return said.error();
    failures = *said;
  }
  if (failures.empty()) co_return Result<void>();
  co_return bad_input((shown.empty() ? world_.network.own_name() : shown) + " does not reach " +
                      failures.front());
}

Async<Result<void>> Leases::end_on(std::string host, std::vector<Endpoint> endpoints,
                                   bool is_kept) {
  if (host.empty()) {
    const std::string own;
    is_kept ? ports_.hush(ports_of(endpoints), own) : ports_.drop(ports_of(endpoints), own);
    co_return Result<void>();
  }
  PortCall call;
  call.verb = is_kept ? PortCall::Verb::hush : PortCall::Verb::drop;
  call.endpoints = std::move(endpoints);
  const Result<std::string> answer = co_await ask(std::move(host), std::move(call));
  if (answer) co_return Result<void>();
  ctrl::log::debug(answer.error().message());
  co_return answer.error();
}

Async<Result<void>> Leases::give_back(std::string host, std::vector<Endpoint> endpoints) {
  co_return co_await end_on(std::move(host), std::move(endpoints), false);
}

// One port of each host stands for all of it. To blame is the one that is not reached, as long as
// that is another one.
Async<Leases::Outcome> Leases::try_each_other(std::vector<TaskPlace> hosts, Outcome leased) {
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (std::size_t to = 0; to < hosts.size(); ++to) {
      if (to == from || leased.endpoints[to].empty()) continue;
      std::string host = hosts[from].host;
      Endpoint there = leased.endpoints[to].front();
      const Result<void> reached = co_await reach_from(std::move(host), std::move(there));
      if (reached) continue;
      leased.why = sentence_of(reached.error());
      // One that only connects is not reached itself, so it is it that is shut out.
      const bool is_caller = leased.endpoints[from].empty() && !hosts[from].host.empty();
      leased.host = is_caller || hosts[to].host.empty() ? hosts[from].host : hosts[to].host;
      leased.is_refusal = !reached.error().code;
      co_return leased;
    }
  }
  co_return leased;
}

Async<Leases::Outcome> Leases::lease(std::vector<TaskPlace> hosts, bool is_published) {
  Outcome outcome;
  for (const TaskPlace& place : hosts) {
    std::string host = place.host;
    const auto count = static_cast<std::size_t>(place.workers + place.ps);
    Result<std::vector<Endpoint>> leased = std::vector<Endpoint>();
    if (count > 0) leased = co_await lease_on(std::move(host), count, is_published);
    if (!leased) {
      outcome.why = sentence_of(leased.error());
      outcome.host = place.host;
      outcome.is_busy = is_busy(leased.error());
      outcome.is_refusal = !leased.error().code;
      break;
    }
    outcome.endpoints.push_back(std::move(*leased));
  }
  if (outcome.why.empty()) {
    std::vector<TaskPlace> all = hosts;
    Outcome leased = outcome;
    outcome = co_await try_each_other(std::move(all), std::move(leased));
  }
  for (std::size_t i = 0; i < outcome.endpoints.size(); ++i) {
    if (outcome.endpoints[i].empty()) continue;
    std::string host = hosts[i].host;
    std::vector<Endpoint> endpoints = outcome.endpoints[i];
    const bool is_kept = outcome.why.empty();
    const Result<void> ended = co_await end_on(std::move(host), std::move(endpoints), is_kept);
    // Nobody answers there for longer than a minute in any case.
    if (!ended && !is_kept) outcome.owed[hosts[i].host] = outcome.endpoints[i];
  }
  co_return outcome;
}

}  // namespace flowcon::cluster::queue
