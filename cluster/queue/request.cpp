// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/request.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace flowcon::cluster::queue {
namespace {

constexpr std::array<const char*, 6> kSourceNames{"set",      "label",   "docker",
                                                  "estimate", "default", "doubled"};
constexpr double kOtherwiseCores = 1;
constexpr double kOtherwiseMemory = 1.0 / 8;  // of what is on offer

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

const char* name(Source source) { return kSourceNames.at(static_cast<std::size_t>(source)); }

Request request_of(const Said& cpu, const Said& mem, double least_memory, const Offer& offer,
                   const Offer& largest) {
  // A host that gives nothing itself may have jobs that others run.
  const double basis = offer.mem > 0 ? offer.mem : largest.mem;
  Request request{amount_of(cpu, kOtherwiseCores, largest.cpu),
                  amount_of(mem, kOtherwiseMemory * basis, largest.mem)};
  const double least = bounded(least_memory, largest.mem);
  if (!mem.set && least > request.mem.value) request.mem = {least, Source::doubled};
  // Sums of whole bytes are exact: what is full stays full, in whatever order it was filled.
  request.mem.value = std::ceil(request.mem.value);
  return request;
}

policy::Amounts free_of(const Offer& offer, const std::vector<Holder>& holders,
                        const Others& others) {
  double cpu = offer.cpu - others.cpu;
  double mem = offer.mem - others.memory;
  double kept = 0;
  for (const Holder& holder : holders) {
    const double asked = policy::amount_of(holder.request, "mem");
    cpu -= policy::amount_of(holder.request, "cpu");
    mem -= std::max(asked, holder.memory);
    kept += std::max(0.0, asked - holder.memory);
  }
  if (others.available) mem = std::min(mem, *others.available - kept);
  return {{"cpu", cpu}, {"mem", std::floor(mem)}};
}

}  // namespace flowcon::cluster::queue
