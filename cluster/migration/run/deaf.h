// SPDX-License-Identifier: Apache-2.0
// Who of a container's processes hears a signal.
#pragma once

#include <cstdint>
#include <string>

namespace flowcon::cluster::migration {

/// Why the process `pid` of a container would not hear `signal`, in words; empty: it may.
[[nodiscard]] std::string why_deaf(std::int64_t pid, int signal);

}  // namespace flowcon::cluster::migration
