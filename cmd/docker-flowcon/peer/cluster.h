// SPDX-License-Identifier: Apache-2.0
// `docker flowcon cluster`, `rebalance`: all hosts together, as flowcond sees them.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "base/result.h"
#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct ClusterOptions {
  std::string format;
  bool quiet = false;
};

void declare_cluster(CLI::App& app, ClusterOptions& options);
[[nodiscard]] int run_cluster(const Session& session, const ClusterOptions& options);

struct RebalanceOptions {
  std::string format;
  bool dry_run = false;
};

void declare_rebalance(CLI::App& app, RebalanceOptions& options);
[[nodiscard]] int run_rebalance(const Session& session, const RebalanceOptions& options);

}  // namespace flowcon::plugin
