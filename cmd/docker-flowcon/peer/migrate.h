// SPDX-License-Identifier: Apache-2.0
// `docker flowcon migrate`: migrates a container to another host and shows the progress.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct MigrateOptions {
  std::string container;
  std::string host;    ///< "" = the peer with the lowest score
  std::string method;  ///< app, criu; "" = as the label says
  bool dry_run = false;
  bool detach = false;
  bool cancel = false;
  bool take_back = false;
  bool keep = false;
};

void declare_migrate(CLI::App& app, MigrateOptions& options);
[[nodiscard]] std::string check_migrate(const MigrateOptions& options);
[[nodiscard]] int run_migrate(const Session& session, const MigrateOptions& options);

/// One line about a migration of GET /v1/moves: "save", "transfer: 12MiB of 80MiB, 9MB/s, 7 s
/// left".
[[nodiscard]] std::string move_text(const boost::json::value& move);

}  // namespace flowcon::plugin
