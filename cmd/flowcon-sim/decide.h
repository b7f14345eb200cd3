// SPDX-License-Identifier: Apache-2.0
// `flowcon-sim decide`: bytes in, bytes out around the product's own decisions. The decisions and
// their JSON are in ctrl/policy, ctrl/codec, cluster/policy and cluster/codec.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace flowcon::sim {

/// One decision that can be called by name.
struct Algorithm {
  std::string_view name;
  std::string_view summary;  ///< for the help: what it decides
  /// State JSON to decision JSON without a newline. Errors: not JSON, or a field that is missing or
  /// ill-typed, named in the sentence.
  Result<std::string> (*decide)(std::string_view state);
};

/// All of them, in the order of the help.
[[nodiscard]] const std::vector<Algorithm>& algorithms();

/// The one of that name, or nullptr.
[[nodiscard]] const Algorithm* find_algorithm(std::string_view name);

/// Reads at most `size` bytes to `buffer`: how many, 0 at the end. Blocks until there are some.
using Source = std::function<Result<std::size_t>(char* buffer, std::size_t size)>;

/// Writes all of the bytes.
using Sink = std::function<Result<void>(std::string_view bytes)>;

/// Decides on the one state that all of `source` holds. Nothing is written on an error.
[[nodiscard]] Result<void> decide_one(const Algorithm& algorithm, const Source& source,
                                      const Sink& sink);

/// Decides on one state a line and writes one line for each: the decision or {"error":"…"}. Every
/// whole line that has arrived is answered before the next read, so a program can ask and wait.
/// Errors: reading or writing failed.
[[nodiscard]] Result<void> decide_lines(const Algorithm& algorithm, const Source& source,
                                        const Sink& sink);

}  // namespace flowcon::sim
