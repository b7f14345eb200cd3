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
  std::optional<std::string> peer;       ///< name, decoded; none where the call is about none
  std::size_t last = 1;                  ///< N of "explain?last=N"
  std::uint64_t from = 0;                ///< N of "past-log?from=N"
  std::size_t recent = 0;                ///< N of "status?recent=N"
  std::optional<double> since;           ///< T of "?since=T", seconds since the epoch
  std::int64_t after = 0;                ///< N of "changes?since=T&after=N"
};

/// Takes "/v1/VERB", "/v1/containers/NAME/VERB" and "/v1/peers/NAME/VERB" apart; whether there is
/// such a verb is for the caller to say. What follows a ? counts where docs/api.md has it.
/// Errors: ENOENT another address; a % without two hexadecimal digits, a question that is not as
/// docs/api.md has it.
[[nodiscard]] Result<Call> parse_call(const std::string& method, const std::string& target);

}  // namespace flowcon::ctrl::api
