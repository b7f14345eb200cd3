// SPDX-License-Identifier: Apache-2.0
// What people (docs/api.md) and peers (docs/peers.md) ask the balancer.
#include <algorithm>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/balancer.h"
#include "cluster/balancer_json.h"
#include "cluster/codec/report_json.h"
#include "cluster/policy/algorithms.h"

namespace flowcon::cluster {

using ctrl::api::failure;
using ctrl::api::Request;
using ctrl::api::Response;

namespace {

constexpr std::size_t kMovesShown = 50;
constexpr double kForwardTime = 60;  // seconds; the coordinator asks all others in turn

const policy::ClusterPolicyKind* kind_of(const Cause& cause) {
  const auto& kinds = policy::cluster_policies();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const auto& kind) { return kind.cause == cause; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace

ctrl::api::Routes Balancer::routes() {
  using ctrl::api::Call, ctrl::api::get, ctrl::api::post;
  return {get("/v1/cluster", "All hosts, their containers and the migrations.",
              [this](const Call&) { return show_cluster(); }),
          post("/v1/rebalance", "Rebalances the cluster now.",
               [this](Call call) { return rebalance_for_person(std::move(call.body)); })};
}

ctrl::api::Routes Balancer::peer_routes() {
  using ctrl::api::at_once, ctrl::api::Call, ctrl::api::get, ctrl::api::post;
  return {
      get("/v1/peer/jobs", "The containers of this host.",
          [this](const Call&) {
            return at_once({200, policy::render_report(reports_.own(clock_().steady))});
          }),
      post("/v1/peer/move", "The coordinator asks this host to migrate one of its containers.",
           [this](Call call) { return take_order(std::move(call.body), std::move(call.peer)); }),
      post("/v1/peer/rebalance", "Rebalances the cluster for a person on another host.",
           [this](Call call) { return rebalance_here(std::move(call.body)); })};
}

// --- the cluster as people see it

std::vector<HostShown> Balancer::hosts_shown() const {
  std::vector<HostShown> hosts;
  const ctrl::HostSnapshot view = host_.view();
  const policy::Counts own = counts();
  const ctrl::Offer& offer = host_.config().queue.offer;
  HostShown here;
  here.name = network_.own_name();
  here.id = network_.own_id();
  here.state = "here";
  here.load = {own, view.usage, view.cores, own.pc + own.wc + own.cc, network_.is_draining()};
  here.offer = {offer.cores_of(view.cores), offer.memory_of(view.memory)};
  hosts.push_back(std::move(here));
  for (const Neighbour& neighbour : network_.neighbours()) {
    HostShown one;
    one.name = neighbour.name;
    one.id = neighbour.id;
    one.state = neighbour.is_reachable ? "reachable" : "unknown";
    one.error = neighbour.error;
    if (neighbour.state) {
      const peers::State& state = *neighbour.state;
      one.load = {state.counts, state.usage, state.cores, state.containers, state.draining};
      // An older flowcond takes no jobs, or does not say how many.
      const double memory = ctrl::Offer::kMemory * static_cast<double>(state.memory);
      if (state.runs_jobs) {
        one.offer = {state.offer_cpu.value_or(state.cores), state.offer_mem.value_or(memory)};
        one.queue_waits = state.queue_waits;
      }
    }
    hosts.push_back(std::move(one));
  }
  return hosts;
}

Async<Response> Balancer::show_cluster() {
  const GatheringPtr gathering = co_await reports_.gather(clock_().steady);
  ClusterShown shown{hosts_shown(), coordinator(network_), gathering->hosts,
                     moves_.list(kMovesShown)};
  // Of a host that does not answer now they are not known.
  for (const policy::HostReport& report : shown.reports) {
    for (HostShown& host : shown.hosts) {
      if (host.id == report.id) host.moves = report.moves_here;
    }
  }
  co_return ctrl::api::answer_with(to_json(shown));
}

// --- evening out because somebody asks for it

Async<Response> Balancer::rebalance_for_person(std::string body) {
  const Member who = coordinator(network_);
  if (who.id == network_.own_id() || who.id.empty()) {
    co_return co_await rebalance_here(std::move(body));
  }
  std::string id = who.id, target = "/v1/peer/rebalance";
  const Result<Answer> answer = co_await network_.ask(std::move(id), "POST", std::move(target),
                                                      std::move(body), kForwardTime);
  if (!answer) {
    co_return failure(502, printable(who.name, 80) +
                               " coordinates and cannot be asked: " + answer.error().message());
  }
  // Another machine's words go on only as JSON that we wrote.
  const Result<json::value> said = parse_json(answer->body);
  if (!said || !said->is_object()) {
    co_return failure(502, printable(who.name, 80) + " coordinates and sent an unusable answer");
  }
  co_return Response{answer->status, render_json(*said)};
}

Async<Response> Balancer::rebalance_here(std::string body) {
  bool is_dry = false;
  if (!body.empty()) {
    const Result<json::value> parsed = parse_json(body);
    if (!parsed) co_return failure(422, parsed.error().message());
    FieldReader reader(*parsed, "");
    is_dry = reader.optional_bool("dry_run");
    if (reader.failed()) co_return failure(422, reader.error().message());
  }
  const Rebalancing done = co_await rebalance(true, is_dry);
  if (!done.error.empty()) co_return failure(409, done.error);
  std::map<std::string, std::string> containers;
  for (const policy::HostReport& report : done.gathering->hosts) {
    for (const policy::JobReport& job : report.containers) containers[job.id] = job.name;
  }
  RebalanceShown shown{network_.own_name(), is_dry, done.policy_name, done.plan.is_due,
                       done.plan.evenness,  {}};
  std::map<std::string, std::string>& names = done.gathering->names;
  for (const Outcome& one : done.outcomes) {
    shown.moves.push_back({one.container, containers[one.container], one.from, names[one.from],
                           one.to, names[one.to], one.state, one.error});
  }
  co_return ctrl::api::answer_with(to_json(shown));
}

// Decided again here, so that what is recorded is right whoever sent it.
void Balancer::record_order(const policy::OrderedMove& order) {
  const ctrl::policy::Algorithm* algorithm = policy::find_algorithm(order.cause);
  if (order.state.empty() || algorithm == nullptr) return;
  Result<std::string> decision = algorithm->decide(order.state);
  if (decision) record({{order.cause, {}, order.state, std::move(*decision)}});
}

// What a coordinator decided about a container of this host. Whether it may is looked at here once
// more: the coordinator's picture may be old, or it is none.
Async<Response> Balancer::take_order(std::string body, std::string id) {
  std::vector<Cause> causes;
  for (const auto& one : policy::cluster_policies()) causes.push_back(one.cause);
  const Result<policy::OrderedMove> order = policy::parse_order(body, causes);
  if (!order) co_return failure(422, order.error().message());
  if (!host_.config().balance.rebalance)
    co_return failure(409, "this host has the option rebalance off");
  if (!follows(network_, id)) {
    co_return failure(
        409, "for this host " + printable(coordinator(network_).name, 80) + " coordinates");
  }
  if (kind_of(order->cause)->name != host_.config().balance.policy) {
    co_return failure(409, "cluster-policy is " + host_.config().balance.policy +
                               " on this host and another on the one that coordinates: set the " +
                               "same on all hosts");
  }
  const std::vector<std::string> jobs = host_.view().jobs;
  if (std::find(jobs.begin(), jobs.end(), order->container) == jobs.end()) {
    co_return failure(404, "No such container: it is not under control any more");
  }
  const std::vector<Neighbour> all = network_.neighbours();
  const bool is_there = std::any_of(all.begin(), all.end(), [&](const Neighbour& neighbour) {
    return neighbour.id == order->target && neighbour.is_reachable && neighbour.state &&
           !neighbour.state->draining;
  });
  if (!is_there) co_return failure(409, "this host does not reach the target, or that one drains");
  if (const char* why = obstacle(order->container); why != nullptr) co_return failure(409, why);
  record_order(*order);
  Begun move{order->container, order->target, false};
  const Result<std::string> begun = co_await send_away(std::move(move), order->cause);
  if (!begun) co_return failure(409, begun.error().message());
  Response response;
  response.body = render_json(json::object{{"id", *begun}});
  co_return response;
}

}  // namespace flowcon::cluster
