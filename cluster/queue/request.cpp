// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/request.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace flowcon::cluster::queue {
namespace {

constexpr std::array<const char*, 6> kSourceNames{"set",      "label",   "docker",
                                                  "estimate", "default", "doubled"};
constexpr double kOtherwiseCores = 1;
constexpr double kOtherwiseMemory = 1.0 / 8;  // of what is on offer

// What a host has of a resource for tasks of which nobody said how much they need.
struct Shared {
  double left = 0;
  std::int64_t tasks = 0;

  void take(const Amount& amount, std::int64_t count) {
    if (amount.is_said()) {
      left -= static_cast<double>(count) * amount.value;
    } else {
      tasks += count;
    }
  }
  [[nodiscard]] double share() const {
    return tasks > 0 ? left / static_cast<double>(tasks) : std::numeric_limits<double>::infinity();
  }
};

struct SharedHost {
  Shared cpu;
  Shared mem;

  [[nodiscard]] SharedHost with(const Request& task, std::int64_t count) const {
    SharedHost host = *this;
    host.cpu.take(task.cpu, count);
    host.mem.take(task.mem, count);
    return host;
  }
  // How much of what a task asks for it gets; not above 0: they have no room together.
  [[nodiscard]] double level(const Request& task) const {
    if (std::min(cpu.left, mem.left) < -policy::Room::kTolerance) return 0;
    return std::min(cpu.share() / task.cpu.value, mem.share() / task.mem.value);
  }
};

void bound(Amount& amount, double share) {
  if (!amount.is_said()) amount.value = std::min(amount.value, share);
}

// What nobody has said may be wrong, so it is no more than there is. Where there is none of it the
// job waits, or is refused.
double bounded(double amount, double most) { return most > 0 ? std::min(amount, most) : amount; }

Amount amount_of(const Said& said, double otherwise, double most) {
  if (said.set) return {*said.set, Source::set};
  if (said.label) return {*said.label, Source::label};
  if (said.docker) return {*said.docker, Source::docker};
  if (said.estimate) return {bounded(*said.estimate, most), Source::estimate};
  return {bounded(otherwise, most), Source::otherwise};
}

}  // namespace

// A kind that is not there is 0: what has nothing to do with GPUs looks as before.
policy::Amounts Request::amounts() const {
  policy::Amounts amounts{{"cpu", cpu.value}, {"mem", mem.value}};
  if (gpu.value > 0) amounts.emplace_back("gpu", gpu.value);
  return amounts;
}

policy::Amounts Offer::amounts() const {
  policy::Amounts amounts{{"cpu", cpu}, {"mem", mem}};
  if (gpu > 0) amounts.emplace_back("gpu", gpu);
  return amounts;
}

const char* name(Source source) { return kSourceNames.at(static_cast<std::size_t>(source)); }

Request request_of(const Said& cpu, const Said& mem, double least_memory, const Offer& offer,
                   const Offer& largest, const Said& gpu) {
  // A host that gives nothing itself may have jobs that others run.
  const double basis = offer.mem > 0 ? offer.mem : largest.mem;
  Request request{amount_of(cpu, kOtherwiseCores, largest.cpu),
                  amount_of(mem, kOtherwiseMemory * basis, largest.mem)};
  request.gpu = amount_of(gpu, 0, 0);
  if (largest.gpu <= 0) request.gpu.value = 0;
  const double least = bounded(least_memory, largest.mem);
  if (!mem.set && least > request.mem.value) request.mem = {least, Source::doubled};
  // Sums of whole bytes are exact: what is full stays full, in whatever order it was filled.
  request.mem.value = std::ceil(request.mem.value);
  return request;
}

void share_out(Request& worker, std::int64_t workers, Request& ps, std::int64_t servers,
               const std::vector<Offer>& hosts, bool may_spread) {
  std::vector<SharedHost> shared;
  for (const Offer& host : hosts) shared.push_back({{host.cpu, 0}, {host.mem, 0}});
  const std::int64_t all = servers + workers;
  for (std::int64_t i = 0; i < all; i += may_spread ? 1 : all) {
    const auto with = [&](const SharedHost& host) {
      return may_spread ? host.with(i < servers ? ps : worker, 1)
                        : host.with(ps, servers).with(worker, workers);
    };
    const auto best =
        std::max_element(shared.begin(), shared.end(), [&](const auto& a, const auto& b) {
          return with(a).level(worker) < with(b).level(worker);
        });
    if (best == shared.end() || with(*best).level(worker) <= 0) return;
    *best = with(*best);
  }
  for (const SharedHost& host : shared) {
    for (Request* request : {&worker, &ps}) {
      bound(request->cpu, host.cpu.share());
      bound(request->mem, std::floor(host.mem.share()));
    }
  }
}

void add_up(Request& all, const Request& worker, double workers, const Request& ps,
            double servers) {
  for (Amount Request::*kind : {&Request::cpu, &Request::mem, &Request::gpu}) {
    (all.*kind).value = workers * (worker.*kind).value + servers * (ps.*kind).value;
  }
}

policy::Amounts free_of(const Offer& offer, const std::vector<Holder>& holders,
                        const Others& others) {
  double cpu = offer.cpu - others.cpu;
  double mem = offer.mem - others.memory;
  double gpu = std::min(offer.gpu, others.gpus.value_or(offer.gpu));
  double kept = 0;
  for (const Holder& holder : holders) {
    const double asked = policy::amount_of(holder.request, "mem");
    cpu -= policy::amount_of(holder.request, "cpu");
    gpu -= policy::amount_of(holder.request, "gpu");
    mem -= std::max(asked, holder.memory);
    kept += std::max(0.0, asked - holder.memory);
  }
  if (others.available) mem = std::min(mem, *others.available - kept);
  policy::Amounts free{{"cpu", cpu}, {"mem", std::floor(mem)}};
  if (offer.gpu > 0) free.emplace_back("gpu", gpu);
  return free;
}

}  // namespace flowcon::cluster::queue
