// SPDX-License-Identifier: Apache-2.0
// What a job asks for beside what this host and the others have, and what the owner hears of them.
#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "cluster/queue/owner.h"

namespace flowcon::cluster::queue {
namespace {

constexpr double kOffered = 0.8;  // of a host's memory, where nobody says

}  // namespace

Offer Owner::offer() const {
  const ctrl::Offer& said = world_.host.config().queue.offer;
  const ctrl::HostView host = world_.host.view();
  if (said.is_none) return {0, 0};
  return {said.cpu.value_or(host.cores), std::floor(said.mem.value_or(kOffered * host.memory))};
}

bool Owner::size(Job& job, bool may_estimate) const { return size(job, may_estimate, offers()); }

bool Owner::size(Job& job, bool may_estimate, const Offers& offers) const {
  if (!job.ticket || job.group) return false;
  const std::uint64_t history = world_.history();
  const bool is_estimated = may_estimate && job.estimated_by != history;
  if (is_estimated) {
    job.estimates = world_.estimate(job.ticket->command);
    job.estimated_by = history;
  }
  const ctrl::QueueLabels& labels = job.ticket->labels;
  const Chosen& chosen = job.entry.chosen;
  const Said cpu{chosen.cpu, labels.cpu, job.ticket->docker_cpu, job.estimate("cpu").upper};
  const Said mem{chosen.mem, labels.mem, job.ticket->docker_mem, job.estimate("mem").upper};
  job.request = request_of(cpu, mem, job.entry.least_memory, offers.own, offers.largest);
  if (job.entry.group) groups_.size(job, offers.largest);
  return is_estimated;
}

// As far as the peers have told.
Offers Owner::offers() const {
  const Offer own = offer();
  Offer largest = own;
  for (const Neighbour& peer : world_.network.neighbours()) {
    if (!peer.state || !peer.state->runs_jobs) continue;
    largest.cpu = std::max(largest.cpu, peer.state->cores);
    largest.mem = std::max(largest.mem, kOffered * static_cast<double>(peer.state->memory));
  }
  return {own, largest};
}

// No host could ever hold it, nor several together where that may be, as far as its peers are
// known, or its tasks could not reach each other; "" = it may wait.
std::string Owner::why_hopeless(const Job& job) const {
  const bool is_in_host_network =
      job.entry.group && job.ticket && job.ticket->network == kHostNetwork;
  if (is_in_host_network && interface_of(world_.host.config().queue.advertise).empty()) {
    return "its workers are in the host's network, and need an address of this host there: "
           "advertise in flowcon.conf";
  }
  const Offer here = offer();
  std::vector<Offer> offers{here};
  for (const Neighbour& peer : world_.network.neighbours()) {
    if (!peer.state) return "";  // it has not told yet what it has
    if (!peer.state->runs_jobs) continue;
    offers.push_back({peer.state->cores, static_cast<double>(peer.state->memory)});
  }
  const auto is_within = [](const Request& request, const Offer& offer) {
    return request.cpu.value <= offer.cpu + policy::Room::kTolerance &&
           request.mem.value <= offer.mem + policy::Room::kTolerance;
  };
  const auto one_holds = [&](const Request& request) {
    return std::any_of(offers.begin(), offers.end(),
                       [&](const Offer& offer) { return is_within(request, offer); });
  };
  if (one_holds(job.request)) return "";
  Offer together;
  for (const Offer& one : offers) {
    together.cpu += one.cpu;
    together.mem += one.mem;
  }
  const bool may_spread = job.entry.group && !network_of(job, world_.host.config()).empty() &&
                          one_holds(job.worker_request) && one_holds(job.ps_request);
  if (may_spread && is_within(job.request, together)) return "";
  const std::string others = may_spread ? ", and all hosts together do not have as much"
                                        : ", and no other host has as much";
  return "it asks for " + render_number(job.request.cpu.value) + " cores and " +
         render_number(job.request.mem.value / 1048576) + " MiB of memory, and this host offers " +
         render_number(here.cpu) + " and " + render_number(here.mem / 1048576) + " MiB" +
         (offers.size() > 1 ? others : "") +
         "; docker rm it and submit it with a smaller --request, or raise option offer";
}

std::vector<std::string> Owner::hear_news(const std::vector<std::string>& births,
                                          const std::string& speaker) {
  std::vector<std::string> unknown;
  // One of them may be of a job whose entry cannot be read.
  if (!is_whole_) return unknown;
  for (const std::string& birth : births) {
    const auto& open = jobs_.open();
    const auto found = std::find_if(open.begin(), open.end(), [&](const auto& one) {
      const std::optional<Task>& task = one.second->entry.task;
      return task && task->birth == birth && task->host == speaker;
    });
    if (found == open.end()) {
      unknown.push_back(birth);
    } else {
      wake(found->second);
    }
  }
  return unknown;
}

void Owner::hear_of_move(const std::string& id) {
  for (const auto& [container, job] : jobs_.open()) {
    const std::optional<Task>& task = job->entry.task;
    if (!task || (task->birth != id && task->back != id)) continue;
    const JobPtr whose = job;
    return wake(whose);
  }
}

}  // namespace flowcon::cluster::queue
