// SPDX-License-Identifier: Apache-2.0
// Why a target turns a move down that it may take a moment later. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace flowcon::cluster::migration {

inline constexpr const char* kUnderWay = "it is migrating already";
inline constexpr const char* kUnfinished = "another migration of that name is not finished";
inline constexpr const char* kNoRoomNow = "it has no room for that job now";
inline constexpr const char* kDraining = "this host is being drained";
inline constexpr const char* kStopping = "flowcond is being stopped";
inline constexpr const char* kRestarted = "flowcond was restarted meanwhile";
inline constexpr const char* kSilentSource = "nothing was heard of the source for a long time";
inline constexpr const char* kSilentEngine = "its engine does not answer: ";

/// Of a disk: its own check, and the engine's.
inline constexpr const char* kDiskFull = "not enough room on its disk";
inline constexpr const char* kNoSpace = "no space left on device";

inline constexpr const char* kWrittenTo = " is written to by container ";
inline constexpr const char* kUsedBy = " is used by container ";
inline constexpr const char* kDataGone = "its data was removed there meanwhile";

/// How many of a host's are here, or come.
inline constexpr const char* kTasksWait = " tasks of that host wait here to be started";
inline constexpr const char* kOnTheirWay = " containers of that host are on their way here already";
inline constexpr const char* kNotOver = " migrations from that host are not over here";
inline constexpr const char* kTooMany = "too many containers are on their way here";

/// Of one that was a peer, and has not been greeted yet, or is silent.
inline constexpr const char* kNoPeer = "there is no peer ";
inline constexpr const char* kNotReachable = " is not reachable";
inline constexpr const char* kUnreached = "this host cannot reach the host that it comes from";

/// How a name begins to be taken there: what has it may go.
inline constexpr const char* kNameTaken = "a container is called ";

/// Of two hosts that exchange no files: a job runs at home, or on other hosts.
inline constexpr const char* kOtherUsers =
    "its engine maps users otherwise (userns-remap, rootless): files would have other owners there";

/// Of a refusal as its source keeps it: is the reason one of these?
[[nodiscard]] inline bool is_passing_refusal(std::string_view reason) {
  constexpr std::array kPassing{
      kDiskFull,   kNoSpace,      kUnderWay,     kUnfinished, kNoRoomNow, kDraining,
      kStopping,   kNameTaken,    kWrittenTo,    kUsedBy,     kDataGone,  kTasksWait,
      kOnTheirWay, kNotOver,      kTooMany,      kUnreached,  kNoPeer,    kNotReachable,
      kRestarted,  kSilentSource, kSilentEngine, kOtherUsers};
  return std::any_of(kPassing.begin(), kPassing.end(),
                     [&](const char* one) { return reason.find(one) != std::string_view::npos; });
}

}  // namespace flowcon::cluster::migration
