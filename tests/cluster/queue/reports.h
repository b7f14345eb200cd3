// SPDX-License-Identifier: Apache-2.0
// Names and amounts of the hosts and jobs that tests report.
#pragma once

#include <string>

#include "cluster/policy/room.h"
#include "cluster/queue/hosts_json.h"

namespace flowcon::cluster::test {

inline constexpr double kReportedGiB = 1024.0 * 1024 * 1024;

inline std::string host_id(char digit) { return std::string(32, digit); }
inline std::string job_id(char letter) { return std::string(64, letter); }
inline policy::Amounts amounts(double cpu, double gibibytes) {
  return {{"cpu", cpu}, {"mem", gibibytes * kReportedGiB}};
}
/// "h1" and so on, with as much memory free as it offers.
inline queue::HostJobs reported_host(char digit, double cpu, double free_cpu, double gibibytes) {
  queue::HostJobs host;
  host.id = host_id(digit);
  host.name = std::string("h") + digit;
  host.offer = amounts(cpu, gibibytes);
  host.free = amounts(free_cpu, gibibytes);
  host.most = host.offer;
  return host;
}

}  // namespace flowcon::cluster::test
