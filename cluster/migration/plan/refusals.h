// SPDX-License-Identifier: Apache-2.0
// Why a target turns a move down that it may take a moment later. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace flowcon::cluster::migration {

inline constexpr const char* kUnfinished = "another migration of that name is not finished";
inline constexpr const char* kNoRoomNow = "it has no room for that job now";
inline constexpr const char* kDraining = "this host is being drained";
inline constexpr const char* kStopping = "flowcond is being stopped there";

inline constexpr const char* kWrittenTo = " is written to by container ";
inline constexpr const char* kDataGone = "its data was removed there meanwhile";

/// How a name begins to be taken there: what has it may go.
inline constexpr const char* kNameTaken = "a container is called ";

/// Of a refusal as its source keeps it: is the reason one of these?
[[nodiscard]] inline bool is_passing_refusal(std::string_view reason) {
  constexpr std::array kPassing{kUnfinished, kNoRoomNow, kDraining, kStopping,
                                kNameTaken,  kWrittenTo, kDataGone};
  return std::any_of(kPassing.begin(), kPassing.end(),
                     [&](const char* one) { return reason.find(one) != std::string_view::npos; });
}

}  // namespace flowcon::cluster::migration
