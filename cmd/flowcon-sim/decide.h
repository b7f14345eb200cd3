// SPDX-License-Identifier: Apache-2.0
// `flowcon-sim decide`: bytes in, bytes out around the product's own decisions. They are listed
// in cluster/policy/algorithms.h.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/policy/algorithms.h"

namespace flowcon::sim {

using cluster::policy::algorithms;
using cluster::policy::find_algorithm;
using ctrl::policy::Algorithm;

/// State JSON to decision JSON: Algorithm::decide, or what with_cbc() makes.
using Decide = std::function<Result<std::string>(std::string_view state)>;

/// Decides on nodes for jobs (`allocate`); where the plan of the rolling horizon may be bettered,
/// CBC goes on from it for at most `seconds`. Errors: of the state; of CBC (cluster/solver/cbc.h).
[[nodiscard]] Decide with_cbc(int seconds);

/// Reads at most `size` bytes to `buffer`: how many, 0 at the end. Blocks until there are some.
using Source = std::function<Result<std::size_t>(char* buffer, std::size_t size)>;

/// Writes all of the bytes.
using Sink = std::function<Result<void>(std::string_view bytes)>;

/// Decides on the one state that all of `source` holds. Nothing is written on an error.
[[nodiscard]] Result<void> decide_one(const Decide& decide, const Source& source, const Sink& sink);

/// Reads one state a line and writes one line for each: the decision or {"error":"…"}. It answers
/// every whole line before the next read, so a program can ask and wait.
/// Errors: reading or writing failed.
[[nodiscard]] Result<void> decide_lines(const Decide& decide, const Source& source,
                                        const Sink& sink);

}  // namespace flowcon::sim
