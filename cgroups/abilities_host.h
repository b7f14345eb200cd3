// SPDX-License-Identifier: Apache-2.0
// The abilities that are not a controller's: pressure, systemd, rights, and where flowcond runs.
#pragma once

#include "cgroups/abilities.h"

namespace flowcon::cgroups {

/// The host's pressure stall information.
[[nodiscard]] Ability probe_pressure(const ProbePlaces& places);

/// Whether systemd runs and answers, so that limits of scopes can be told to it.
[[nodiscard]] Ability probe_systemd(const ProbePlaces& places);

/// Whether we are root of the whole host, not only of a user namespace.
[[nodiscard]] Ability probe_root(const ProbePlaces& places);

/// Whether we see the host's own groups and processes, not a container's.
[[nodiscard]] Ability probe_host(const ProbePlaces& places);

/// Whether limits may be written at all: by root everywhere, by others below a group that was
/// delegated to them with the controllers cpu, memory and io.
[[nodiscard]] Ability probe_delegation(const CgroupFs& fs, const ProbePlaces& places);

}  // namespace flowcon::cgroups
