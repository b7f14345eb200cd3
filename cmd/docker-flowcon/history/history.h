// SPDX-License-Identifier: Apache-2.0
// `docker flowcon history`: the records of a container, as a table, JSON or CSV; or the profiles of
// runs that ended well.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct HistoryOptions {
  std::string container;         ///< "" with `profiles`
  std::string format = "table";  ///< table, json or csv
  std::string since;             ///< as docker's --since; "" = from the start
  bool samples = false;
  bool usage = false;
  bool decisions = false;
  bool profiles = false;
};

void declare_history(CLI::App& app, HistoryOptions& options);
[[nodiscard]] std::string check_history(const HistoryOptions& options);

/// Prints decisions unless other rows are asked for; JSON has all of them unless some are asked
/// for. Of profiles, JSON is the `history` of what `flowcon-sim decide estimate` reads. Returns
/// kFailed if flowcond does not answer or has no records of the container.
[[nodiscard]] int run_history(const Session& session, const HistoryOptions& options);

/// Flowcond's answer to GET /v1/containers/NAME/history.
/// Errors: flowcond's, and a name that cannot be one.
[[nodiscard]] Result<boost::json::object> fetch_history(const Session& session,
                                                        const std::string& container,
                                                        const std::string& command);

}  // namespace flowcon::plugin
