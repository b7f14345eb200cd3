// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/sizing.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "cluster/policy/room.h"

namespace flowcon::cluster::queue {
namespace {

// What a peer gives; of one that does not say all its cores, and so much of its memory.
Offer offer_of(const peers::State& peer, double share) {
  return {peer.offer_cpu.value_or(peer.cores),
          peer.offer_mem.value_or(share * static_cast<double>(peer.memory)),
          peer.offer_gpu.value_or(0)};
}

// What is only estimated may be wrong, and refuses no job.
Request without_estimates(Request request) {
  for (Amount* amount : {&request.cpu, &request.mem}) {
    if (amount->source == Source::estimate) amount->value = 0;
  }
  return request;
}

// Could hosts that offer this hold all tasks of the group?
bool could_hold(const std::vector<Offer>& offers, const Job& group) {
  std::vector<policy::Amounts> hosts;
  for (const Offer& one : offers) hosts.push_back(one.amounts());
  std::vector<const policy::Amounts*> all;
  for (const policy::Amounts& host : hosts) all.push_back(&host);
  const policy::Amounts of_worker = without_estimates(group.worker_request).amounts();
  const policy::Amounts of_ps = without_estimates(group.ps_request).amounts();
  return policy::could_hold(all, {of_worker, workers_of(group.entry).least},
                            {of_ps, group.entry.group->ps});
}

// What docker gives it there, in GPUs.
std::optional<double> docker_gpus(const Ticket& ticket, const ctrl::LocalHost& host) {
  if (ticket.gpus.is_none()) return std::nullopt;
  const std::size_t count = ticket.gpus.size(host.view().gpus.size());
  return static_cast<double>(std::max<std::size_t>(count, 1));
}

// " and 2 GPUs", if any are asked for.
std::string and_gpus(const Request& request, double gpus) {
  if (request.gpu.value <= 0) return "";
  return " and " + render_number(gpus) + (gpus == 1 ? " GPU" : " GPUs");
}

}  // namespace

Offer Sizing::offer() const {
  const ctrl::Offer& said = world_.host.config().queue.offer;
  const ctrl::HostSnapshot host = world_.host.view();
  return {said.cores_of(host.cores), said.memory_of(host.memory), said.gpus_of(host.gpus.size())};
}

bool Sizing::may_run_here(const Job& job) const {
  const Offer own = offer();
  return !job.group && job.request.cpu.value <= own.cpu && job.request.mem.value <= own.mem;
}

bool Sizing::size(Job& job, bool may_estimate) const { return size(job, may_estimate, offers()); }

bool Sizing::size(Job& job, bool may_estimate, const Offers& offers) const {
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
  const Said gpu{chosen.gpu, labels.gpu, docker_gpus(*job.ticket, world_.host), {}};
  job.request = request_of(cpu, mem, job.entry.least_memory, offers.own, offers.largest, gpu);
  if (job.entry.group) groups_.size(job, offers);
  return is_estimated;
}

// As far as the peers have told.
Offers Sizing::offers() const {
  const Offer own = offer();
  Offers offers{own, own, {own}};
  for (const Neighbour& peer : world_.network.neighbours()) {
    if (!peer.state || !peer.state->runs_jobs) continue;
    const Offer there = offer_of(*peer.state, ctrl::Offer::kMemory);
    offers.largest.cpu = std::max(offers.largest.cpu, there.cpu);
    offers.largest.mem = std::max(offers.largest.mem, there.mem);
    offers.largest.gpu = std::max(offers.largest.gpu, there.gpu);
    offers.all.push_back(there);
  }
  return offers;
}

// No host could ever hold it, nor several together where that may be, as far as its peers are
// known, or its tasks could not reach each other; "" = it may wait.
std::string Sizing::why_hopeless(const Job& job, const char* advice) const {
  const bool is_in_host_network =
      job.entry.group && job.ticket && job.ticket->network == kHostNetwork;
  if (is_in_host_network && interface_of(world_.host.config().queue.advertise).empty()) {
    return "its workers are in the host's network, and need an address of this host there: "
           "advertise in flowcon.conf";
  }
  const Offer here = offer();
  std::vector<Offer> offers{here};
  for (const Neighbour& peer : world_.network.neighbours()) {
    // It has not told yet what it has, or is older, and will when it is up to date.
    if (!peer.state || !peer.state->runs_jobs) return "";
    offers.push_back(offer_of(*peer.state, 1));
  }
  const auto is_within = [](const Request& whole, const Offer& offer) {
    const Request request = without_estimates(whole);
    return request.cpu.value <= offer.cpu + policy::Room::kTolerance &&
           request.mem.value <= offer.mem + policy::Room::kTolerance &&
           request.gpu.value <= offer.gpu + policy::Room::kTolerance;
  };
  const auto one_holds = [&](const Request& request) {
    return std::any_of(offers.begin(), offers.end(),
                       [&](const Offer& offer) { return is_within(request, offer); });
  };
  if (one_holds(job.request)) return "";
  const bool may_spread = job.entry.group && !network_of(job, world_.host.config()).empty() &&
                          one_holds(job.worker_request) && one_holds(job.ps_request);
  if (may_spread && could_hold(offers, job)) return "";
  const std::string others =
      may_spread ? ", and all hosts together could not hold it" : ", and no other host has as much";
  return "it asks for " + render_number(job.request.cpu.value) + " cores and " +
         render_number(job.request.mem.value / 1048576) + " MiB of memory" +
         and_gpus(job.request, job.request.gpu.value) + ", and this host offers " +
         render_number(here.cpu) + " and " + render_number(here.mem / 1048576) + " MiB" +
         and_gpus(job.request, here.gpu) + (offers.size() > 1 ? others : "") + "; " + advice +
         ", or raise option offer";
}

std::string Sizing::why_hopeless(const Job& job, JobEntry changed) const {
  // With as many workers as it needs at least; those that it has keep what they ask for.
  if (changed.group) changed.group->tasks.clear();
  Job whole(world_.host.io(), std::move(changed));
  whole.ticket = job.ticket;
  whole.estimates = job.estimates;
  size(whole, false);
  return whole.ticket ? why_hopeless(whole, "request less") : "";
}

}  // namespace flowcon::cluster::queue
