// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "ctrl/extension.h"

namespace flowcon::ctrl {

/// Label beside kMovedLabel: a job's task that was made here for the first run of its job.
inline constexpr const char* kFirstRunLabel = "org.flowcon.first-run";

/// Label of a task of a group that goes on with what another container began.
inline constexpr const char* kGoesOnLabel = "org.flowcon.goes-on";

/// By a container's labels: was another one, or another host, the first to do what it does?
[[nodiscard]] inline bool began_elsewhere(const std::map<std::string, std::string>& labels) {
  return labels.contains(kGoesOnLabel) ||
         (labels.contains(kMovedLabel) && !labels.contains(kFirstRunLabel));
}

}  // namespace flowcon::ctrl
