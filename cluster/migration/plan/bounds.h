// SPDX-License-Identifier: Apache-2.0
// What a peer may take of this host, whatever [accept] allows it: so much that no job of a person
// needs more, and so little that one stolen key keeps nobody else out. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace flowcon::cluster::migration {

/// A plan as a peer offers it, in bytes.
inline constexpr std::size_t kMaxOfferBytes = 1U << 20;
inline constexpr std::size_t kMostPorts = 64;
inline constexpr std::size_t kMostMounts = 64;
inline constexpr std::size_t kMostDevices = 64;
/// Containers on their way here, of all peers and of one.
inline constexpr std::size_t kMostIncoming = 8;
inline constexpr std::size_t kMostOfPeer = 2;
/// Tasks of a peer whose all is here, and that wait for their partners to be started with them.
inline constexpr std::size_t kMostReady = 64;
/// Plans of one peer that are looked at, and parts of one move that come, at once. One or two are
/// usual; the others are left by connections that died.
inline constexpr std::size_t kMostPlans = 4;
inline constexpr std::size_t kMostBodies = 4;
/// Seconds from the request until a copy has all that it needs.
inline constexpr double kReservationAge = 24 * 3600;
/// Seconds without a word until a reservation ends.
inline constexpr double kReservationSilence = 600;

/// Why the plan that a peer offers is more than a host looks at; empty: it is not. In time that its
/// bounds limit, not its size.
[[nodiscard]] std::string beyond_bounds(const boost::json::value& plan);

/// Why nothing more can come from a peer that has `of_peer` containers on their way here, of `all`,
/// `open_of_peer` moves that are not over, and `ready` tasks beside these; empty: it can.
[[nodiscard]] std::string why_no_seat(std::size_t of_peer, std::size_t open_of_peer,
                                      std::size_t all, std::size_t ready = 0);

/// Why a reservation of this age ends that was not heard of for `silence`, in seconds; empty: it
/// stays. While a part `is_coming` its source is not silent.
[[nodiscard]] std::string why_reservation_ends(double age, double silence, bool is_coming);

/// Of a disk that moves never fill: 5 %, and 1 GiB at most.
[[nodiscard]] std::uint64_t spare_of(std::uint64_t disk_bytes);

/// How much is left; a file system without a fixed number of files has 0 of 0.
struct Disk {
  std::uint64_t bytes = 0, free_bytes = 0, files = 0, free_files = 0;
};

/// Is no more than the spare left, or one file in a hundred?
[[nodiscard]] bool is_full(const Disk& disk);

/// Bytes that all parts of one move may have together, unpacked.
class Budget {
 public:
  /// For what was announced: twice that, and 4 GiB for what no source can foresee.
  explicit Budget(std::uint64_t announced);
  /// A part comes, maybe once more: what came of it before is replaced.
  void begin(const std::string& part);
  /// Errors: EFBIG `bytes` more of `part` are more than is left.
  [[nodiscard]] Result<void> take(const std::string& part, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  std::uint64_t left_;
  std::map<std::string, std::uint64_t> taken_;
};

}  // namespace flowcon::cluster::migration
