// SPDX-License-Identifier: Apache-2.0
// Which GPUs of a host its containers have, and which the next one may have. Docker alone decides
// which a container of --gpus N gets: the first ones. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ctrl/gpus.h"

namespace flowcon::cluster::queue {

/// A container that has GPUs, or is about to.
struct GpuHolder {
  std::string name;          ///< for people
  double amount = 0;         ///< GPUs; of several devices each has the same share
  ctrl::GpuDevices devices;  ///< none: nobody knows which
};

class GpuLedger {
 public:
  GpuLedger(const std::vector<ctrl::HostGpu>& gpus, const std::vector<GpuHolder>& holders);

  /// GPUs that nobody has, of the first `offered`.
  [[nodiscard]] double free(double offered) const;
  /// Why one that asks for so much, and is given these, has to wait, in words; "" = it has not.
  [[nodiscard]] std::string why_taken(const ctrl::GpuDevices& devices, double amount) const;
  /// For one of which flowcond says which it gets, of the first `offered`: as policy::decide_share
  /// does. Numbers; empty: there is no room.
  [[nodiscard]] std::vector<std::string> choose(double amount, double offered) const;

 private:
  // So much of each of `devices` that are here comes to what one has that asks for `amount`.
  [[nodiscard]] double share_of(const ctrl::GpuDevices& devices, double amount) const;

  std::vector<ctrl::HostGpu> gpus_;
  std::vector<double> used_;           // of each, 1: all of it
  std::vector<std::string> first_of_;  // who has it; "" = nobody
};

}  // namespace flowcon::cluster::queue
