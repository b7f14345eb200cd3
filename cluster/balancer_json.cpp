// SPDX-License-Identifier: Apache-2.0
#include "cluster/balancer_json.h"

#include <boost/json/array.hpp>
#include <map>

#include "base/json.h"
#include "base/json_arrays.h"
#include "base/text.h"
#include "cluster/migration/run/view_json.h"
#include "cluster/policy/speculate.h"

namespace flowcon::cluster {
namespace {

json::object host_json(const HostShown& host) {
  json::object out;
  out["name"] = valid_utf8(host.name);
  out["id"] = host.id;
  out["state"] = host.state;
  for (const char* member : {"pc", "wc", "cc", "score", "usage", "cores", "containers", "offer_cpu",
                             "offer_mem", "queue_waits", "draining", "moves"}) {
    out[member] = nullptr;
  }
  if (host.load) {
    out["pc"] = host.load->counts.pc;
    out["wc"] = host.load->counts.wc;
    out["cc"] = host.load->counts.cc;
    out["score"] = policy::score_of(host.load->counts, {});
    out["usage"] = host.load->usage;
    out["cores"] = host.load->cores;
    out["containers"] = host.load->containers;
    out["draining"] = host.load->is_draining;
  }
  if (host.offer) {
    out["offer_cpu"] = host.offer->cores;
    out["offer_mem"] = host.offer->memory;
  }
  if (host.queue_waits) out["queue_waits"] = *host.queue_waits;
  if (host.moves) out["moves"] = *host.moves;
  out["error"] = valid_utf8(host.error);
  return out;
}

json::object container_json(const policy::JobReport& job, const std::string& host,
                            const std::string& host_id) {
  json::object one;
  one["host"] = host;
  one["host_id"] = host_id;
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
  return one;
}

json::object move_json(const PlannedMove& move) {
  return {{"container", move.container},
          {"name", valid_utf8(move.name)},
          {"from", move.from},
          {"from_name", valid_utf8(move.from_name)},
          {"to", move.to},
          {"to_name", valid_utf8(move.to_name)},
          {"state", move.state},
          {"error", valid_utf8(move.error)}};
}

}  // namespace

json::object to_json(const ClusterShown& shown) {
  std::map<std::string, std::string> names;
  for (const HostShown& host : shown.hosts) names[host.id] = host.name;
  json::array containers;
  for (const policy::HostReport& report : shown.reports) {
    const auto known = names.find(report.id);
    const std::string host = valid_utf8(known == names.end() ? report.name : known->second);
    for (const policy::JobReport& job : report.containers) {
      containers.push_back(container_json(job, host, report.id));
    }
  }
  json::object body;
  body["here"] = host_json(shown.hosts.front());
  body["coordinator"] = valid_utf8(shown.coordinator.name);
  body["coordinator_id"] = shown.coordinator.id;
  body["hosts"] = rendered(shown.hosts, host_json);
  body["containers"] = std::move(containers);
  body["moves"] = migration::to_json(shown.moves);
  return body;
}

json::object to_json(const RebalanceShown& shown) {
  json::object out;
  out["coordinator"] = valid_utf8(shown.coordinator);
  out["dry_run"] = shown.is_dry;
  out["policy"] = shown.policy;
  out["due"] = shown.is_due;
  out["balance_factor"] = nullptr;
  out["branch"] = nullptr;
  if (shown.evenness) {
    out["balance_factor"] = shown.evenness->balance_factor;
    out["branch"] = policy::name(shown.evenness->branch);
  }
  out["moves"] = rendered(shown.moves, move_json);
  return out;
}

}  // namespace flowcon::cluster
