// SPDX-License-Identifier: Apache-2.0
// What people (docs/api.md) and peers (docs/peers.md) ask the balancer.
#include <algorithm>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/balancer.h"
#include "cluster/codec/report_json.h"
#include "cluster/migration/run/view_json.h"
#include "cluster/policy/algorithms.h"

namespace flowcon::cluster {

using ctrl::api::failure;
using ctrl::api::Request;
using ctrl::api::Response;

namespace {

constexpr std::size_t kMovesShown = 50;
constexpr double kForwardTime = 60;  // seconds; the coordinator asks all others in turn

json::object host_shown(const std::string& name, const std::string& id, const char* state) {
  json::object out;
  out["name"] = valid_utf8(name);
  out["id"] = id;
  out["state"] = state;
  for (const char* member : {"pc", "wc", "cc", "score", "usage", "cores", "containers", "offer_cpu",
                             "offer_mem", "queue_waits"}) {
    out[member] = nullptr;
  }
  out["draining"] = nullptr;
  out["moves"] = nullptr;
  out["error"] = "";
  return out;
}

void show_load(json::object& out, const policy::Counts& counts, double usage, double cores,
               std::int64_t containers, bool is_draining) {
  out["pc"] = counts.pc;
  out["wc"] = counts.wc;
  out["cc"] = counts.cc;
  out["score"] = policy::score_of(counts, {});
  out["usage"] = usage;
  out["cores"] = cores;
  out["containers"] = containers;
  out["draining"] = is_draining;
}

// What it gives to jobs of the queue, all in all.
void show_offer(json::object& out, double cores, double memory) {
  out["offer_cpu"] = cores;
  out["offer_mem"] = memory;
}

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

json::array Balancer::hosts_shown() const {
  json::array hosts;
  const ctrl::HostView view = host_.view();
  json::object here = host_shown(network_.own_name(), network_.own_id(), "here");
  const policy::Counts own = counts();
  show_load(here, own, view.usage, view.cores, own.pc + own.wc + own.cc, network_.is_draining());
  const ctrl::Offer& offer = host_.config().queue.offer;
  show_offer(here, offer.cores_of(view.cores), offer.memory_of(view.memory));
  hosts.push_back(std::move(here));
  for (const Neighbour& neighbour : network_.neighbours()) {
    json::object one =
        host_shown(neighbour.name, neighbour.id, neighbour.is_reachable ? "reachable" : "unknown");
    if (neighbour.state) {
      const peers::State& state = *neighbour.state;
      show_load(one, state.counts, state.usage, state.cores, state.containers, state.draining);
      // An older flowcond takes no jobs, or does not say how many.
      const double memory = ctrl::Offer::kMemory * static_cast<double>(state.memory);
      if (state.runs_jobs) {
        show_offer(one, state.offer_cpu.value_or(state.cores), state.offer_mem.value_or(memory));
        one["queue_waits"] = state.queue_waits;
      }
    }
    one["error"] = valid_utf8(neighbour.error);
    hosts.push_back(std::move(one));
  }
  return hosts;
}

Async<Response> Balancer::show_cluster() {
  const GatheringPtr gathering = co_await reports_.gather(clock_().steady);
  json::array hosts = hosts_shown();
  std::map<std::string, json::value> names;
  for (const json::value& host : hosts) {
    names[std::string(host.at("id").as_string())] = host.at("name");
  }
  // Of a host that does not answer now they are not known.
  for (const policy::HostReport& report : gathering->hosts) {
    for (json::value& host : hosts) {
      if (text_of(host, "id") == report.id) host.as_object()["moves"] = report.moves_here;
    }
  }
  json::array containers;
  for (const policy::HostReport& report : gathering->hosts) {
    for (const policy::JobReport& job : report.containers) {
      json::object one;
      one["host"] = names.count(report.id) > 0 ? names[report.id] : json::value(report.name);
      one["host_id"] = report.id;
      one["id"] = job.id;
      one["name"] = valid_utf8(job.name);
      one["category"] = policy::name(job.category);
      one["value"] = number_or_null(job.value);
      one["converged_age"] = number_or_null(job.converged_age);
      one["migrated"] = job.migrated_age.has_value();
      one["rebalanced"] = job.rebalanced;
      one["movable"] = job.movable;
      one["queued"] = job.queued;
      one["saves_itself"] = job.saves_itself;
      one["left"] = number_or_null(job.left);
      one["moves"] = job.moves;
      containers.push_back(std::move(one));
    }
  }
  json::object body;
  body["here"] = hosts.front();
  const Member who = coordinator(network_);
  body["coordinator"] = valid_utf8(who.name);
  body["coordinator_id"] = who.id;
  body["hosts"] = std::move(hosts);
  body["containers"] = std::move(containers);
  body["moves"] = migration::to_json(moves_.list(kMovesShown));
  Response response;
  response.body = render_json(body);
  co_return response;
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
  json::array moves;
  for (const Outcome& outcome : done.outcomes) {
    moves.push_back(json::object{{"container", outcome.container},
                                 {"name", valid_utf8(containers[outcome.container])},
                                 {"from", outcome.from},
                                 {"from_name", valid_utf8(done.gathering->names[outcome.from])},
                                 {"to", outcome.to},
                                 {"to_name", valid_utf8(done.gathering->names[outcome.to])},
                                 {"state", outcome.state},
                                 {"error", valid_utf8(outcome.error)}});
  }
  json::object out;
  out["coordinator"] = valid_utf8(network_.own_name());
  out["dry_run"] = is_dry;
  out["policy"] = done.policy_name;
  out["due"] = done.plan.is_due;
  // Where the policy decided by such numbers.
  const Result<json::value> decision =
      parse_json(done.decided.empty() ? "{}" : done.decided.back().decision);
  for (const char* member : {"balance_factor", "branch"}) {
    const json::value* said = decision->as_object().if_contains(member);
    out[member] = said != nullptr ? *said : json::value();
  }
  out["moves"] = std::move(moves);
  Response response;
  response.body = render_json(out);
  co_return response;
}

// Decided again here, so that what is recorded is right whoever sent it.
void Balancer::record_order(const Cause& cause, const json::value& said) {
  const ctrl::policy::Algorithm* algorithm = policy::find_algorithm(cause);
  if (algorithm == nullptr) return;
  ctrl::policy::Round round{cause, {}, render_json(said), ""};
  Result<std::string> decision = algorithm->decide(round.state);
  if (!decision) return;
  round.decision = std::move(*decision);
  record({std::move(round)});
}

// What a coordinator decided about a container of this host. Whether it may is looked at here once
// more: the coordinator's picture may be old, or it is none.
Async<Response> Balancer::take_order(std::string body, std::string id) {
  const Result<json::value> parsed = parse_json(body);
  if (!parsed) co_return failure(422, parsed.error().message());
  FieldReader reader(*parsed, "");
  const std::string container = reader.text("container");
  const std::string target = reader.text("target");
  Cause cause = reader.text("cause");
  const policy::ClusterPolicyKind* kind = kind_of(cause);
  if (kind == nullptr) {
    std::string causes;
    for (const auto& one : policy::cluster_policies()) {
      causes += (causes.empty() ? "" : " or ") + one.cause;
    }
    reader.complain("cause", "must be " + causes);
  }
  if (reader.failed()) co_return failure(422, reader.error().message());
  if (!host_.config().balance.rebalance)
    co_return failure(409, "this host has the option rebalance off");
  if (!follows(network_, id)) {
    co_return failure(
        409, "for this host " + printable(coordinator(network_).name, 80) + " coordinates");
  }
  if (kind->name != host_.config().balance.policy) {
    co_return failure(409, "cluster-policy is " + host_.config().balance.policy +
                               " on this host and another on the one that coordinates: set the " +
                               "same on all hosts");
  }
  const std::vector<std::string> jobs = host_.view().jobs;
  if (std::find(jobs.begin(), jobs.end(), container) == jobs.end()) {
    co_return failure(404, "No such container: it is not under control any more");
  }
  const std::vector<Neighbour> all = network_.neighbours();
  const bool is_there = std::any_of(all.begin(), all.end(), [&](const Neighbour& neighbour) {
    return neighbour.id == target && neighbour.is_reachable && neighbour.state &&
           !neighbour.state->draining;
  });
  if (!is_there) co_return failure(409, "this host does not reach the target, or that one drains");
  if (const char* why = obstacle(container); why != nullptr) co_return failure(409, why);
  if (const json::value* said = reader.find("state")) record_order(cause, *said);
  Begun move{container, target, false};
  const Result<std::string> begun = co_await send_away(std::move(move), std::move(cause));
  if (!begun) co_return failure(409, begun.error().message());
  Response response;
  response.body = render_json(json::object{{"id", *begun}});
  co_return response;
}

}  // namespace flowcon::cluster
