// SPDX-License-Identifier: Apache-2.0
// Which call of docs/api.md a request is. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace flowcon::ctrl::api {

/// The longest body that a request may have, in bytes.
constexpr std::uint64_t kMaxBody = 64U << 10;

struct Call {
  std::string verb;                      ///< method and last part of the path: "POST pause"
  std::optional<std::string> container;  ///< id or name, decoded; none where the call is about all
  std::size_t last = 1;                  ///< N of "explain?last=N"
};

/// Takes "/v1/VERB" and "/v1/containers/NAME/VERB" apart; whether there is such a verb is for the
/// caller to say. What follows a ? counts for `explain` only. Errors: ENOENT another address; a %
/// without two hexadecimal digits, a question other than last=N with N from 1 to 1000.
[[nodiscard]] Result<Call> parse_call(const std::string& method, const std::string& target);

}  // namespace flowcon::ctrl::api
