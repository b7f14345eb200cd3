// SPDX-License-Identifier: Apache-2.0
// `docker flowcon estimate`: time and resources of a job, estimated from earlier runs.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct EstimateOptions {
  std::vector<std::string> words;        ///< image, command, arguments
  std::vector<std::string> environment;  ///< NAME=VALUE, or NAME with this environment's value
  std::string format;                    ///< json; else a table
  bool check = false;                    ///< how good the estimates were
};

void declare_estimate(CLI::App& app, EstimateOptions& options);
[[nodiscard]] std::string check_estimate(const EstimateOptions& options);
[[nodiscard]] int run_estimate(const Session& session, const EstimateOptions& options);

/// The body of the call, as docs/api.md has it.
[[nodiscard]] boost::json::object estimate_body(const EstimateOptions& options,
                                                const Environment& environment);

}  // namespace flowcon::plugin
