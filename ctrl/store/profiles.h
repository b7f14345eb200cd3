// SPDX-License-Identifier: Apache-2.0
// Profiles: what runs that ended well needed, for estimates of later ones. Rows of text, written
// and read by ctrl/daemon; the host's peers may read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flowcon::ctrl::store {

/// Of rows as they are written now; others are not read. To be changed with what features or labels
/// mean.
inline constexpr std::int64_t kProfileFormat = 2;
inline constexpr std::size_t kMostProfilesOfKey = 5;
inline constexpr std::size_t kMostProfiles = 2000;

/// Units: ended in seconds since the epoch.
struct ProfileRow {
  std::string key;       ///< SHA-256 of image digest and exact command
  std::string family;    ///< image repository and command without numbers and values
  std::string features;  ///< {name:number|string} as JSON
  std::string labels;    ///< {name:number} as JSON
  double ended = 0;
};

/// `after` is the number of the last one.
struct ProfilePage {
  std::vector<ProfileRow> profiles;
  std::int64_t after = 0;
  bool has_more = false;
};

/// Units: seconds since the epoch, bytes.
struct SeenBefore {
  double began = 0;  ///< on its first host
  double until = 0;  ///< time of the last record of its use; `began` where there is none
  std::uint64_t memory = 0;
  std::optional<double> value_at;  ///< of the first value
};

}  // namespace flowcon::ctrl::store
