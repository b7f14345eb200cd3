// SPDX-License-Identifier: Apache-2.0
// What can be asked of one host (docs/api.md). For .cpp files only: it includes Asio.
#pragma once

#include "ctrl/api/routes.h"
#include "ctrl/daemon/carry_over.h"
#include "ctrl/daemon/commands.h"
#include "ctrl/daemon/records.h"

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

[[nodiscard]] api::Routes host_routes(const Answering& from);

}  // namespace flowcon::ctrl
