// SPDX-License-Identifier: Apache-2.0
// The options of a job, on the command line of `run` and `adopt`. Labels flowcon.* and the members
// of the daemon's adopt call have the same names.
#pragma once

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <utility>
#include <vector>

namespace flowcon::plugin {

/// "" = not given.
struct JobOptions {
  std::string metric;
  std::string goal;       ///< min or max
  std::string pattern;    ///< RE2 with a group named `value`, or one group
  std::string weight;     ///< number above 0
  std::string floor;      ///< share above 0, at most 1: "0.1" or "10%"
  std::string ceiling;    ///< the same
  std::string only_grow;  ///< true or false
  std::string log;        ///< path in the container, "tfevents:" before it for TensorBoard's files
};

/// Declares --metric, --goal, --pattern, --weight, --floor, --ceiling, --only-grow and --log,
/// checks included.
void declare_job_options(CLI::App& app, JobOptions& options);

/// Checks the pattern's groups, and a floor above the ceiling. Returns a sentence that names the
/// option, or "".
[[nodiscard]] std::string check_job_options(const JobOptions& options);

/// Names of labels without their prefix, and values; "" = not given.
using LabelWords = std::vector<std::pair<std::string, std::string>>;

/// `flowcon.enable=true`, one `flowcon.NAME=VALUE` for each given option and each given one of
/// `more`, and the label that names them as the container's own.
[[nodiscard]] std::vector<std::string> job_labels(const JobOptions& options,
                                                  const LabelWords& more = {});

/// The body of the adopt call.
[[nodiscard]] boost::json::object job_body(const JobOptions& options);

}  // namespace flowcon::plugin
