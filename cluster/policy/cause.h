// SPDX-License-Identifier: Apache-2.0
// Why a container goes to another host.
#pragma once

#include <string>
#include <string_view>

namespace flowcon::cluster {

/// kPerson, kDrain, kQueue (a job's task), or the decision of a policy, by its name in
/// policy/algorithms.h.
using Cause = std::string;

inline constexpr const char* kPerson = "person";
inline constexpr const char* kDrain = "drain";
inline constexpr const char* kQueue = "queue";

[[nodiscard]] inline bool is_by_policy(const Cause& cause) {
  return cause != kPerson && cause != kDrain && cause != kQueue;
}

/// One that is written in a file or by another machine, whose policies may be newer; kPerson where
/// it is no word.
[[nodiscard]] inline Cause read_cause(std::string_view text) {
  const bool is_word = !text.empty() && text.size() <= 32 &&
                       text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == text.npos;
  return Cause(is_word ? text : kPerson);
}

}  // namespace flowcon::cluster
