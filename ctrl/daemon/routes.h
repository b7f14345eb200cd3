// SPDX-License-Identifier: Apache-2.0
// What can be asked of one host (docs/api.md). For .cpp files only: it includes Asio.
#pragma once

#include <string>
#include <vector>

#include "cgroups/abilities.h"
#include "ctrl/api/routes.h"
#include "ctrl/daemon/carry_over.h"
#include "ctrl/daemon/commands.h"
#include "ctrl/daemon/records.h"
#include "ctrl/pool.h"

namespace flowcon::ctrl {

/// Who answers; all have to outlive the rows.
struct Answering {
  See see;
  Effects& effects;
  Containers& containers;
  Commands& commands;
  RecordReader& records;
  CarryOver& carry_over;
};

/// "engine": does flowcond reach it? `path`: of its socket.
[[nodiscard]] cgroups::Ability engine_ability(const EngineStatus& engine, const std::string& path);

/// The answer to GET /v1/doctor.
[[nodiscard]] api::Response abilities_of(const std::vector<cgroups::Ability>& abilities);

[[nodiscard]] api::Routes host_routes(const Answering& from);

}  // namespace flowcon::ctrl
