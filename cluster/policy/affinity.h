// SPDX-License-Identifier: Apache-2.0
// Where the tasks of a job start: close together, on the idlest nodes (KOD2, 4.1). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/policy/room.h"

namespace flowcon::cluster::policy {

/// Tasks that start together or not at all: all parameter servers and the least workers of a job.
struct Gang {
  Needs ps_needs;      ///< of one parameter server
  Needs worker_needs;  ///< of one worker
  std::int64_t ps = 0;
  std::int64_t workers = 0;
  Needs whole;  ///< of all of them
};

/// `whole` of such a gang.
[[nodiscard]] Needs whole_of(const Gang& gang, std::size_t kinds);

/// What did not find room, kept while no node gets room back: what asks for at least as much of
/// each need not be tried. So a full cluster refuses a long queue at once.
class Refusals {
 public:
  /// Is it known that `count` tasks do not all find room, on whichever nodes?
  [[nodiscard]] bool covers(const Room& room, const Needs& needs, std::int64_t count);
  void add(const Room& room, const Needs& needs, std::int64_t count);

 private:
  struct Refused {
    Needs needs;
    std::int64_t count = 0;
  };
  void forget(const Room& room);

  std::uint64_t growth_ = 0;
  std::vector<Refused> refused_;
};

/// The idlest node that holds the whole gang; where none does, the nodes in the order of idleness:
/// on each as many parameter servers as fit, then as many workers. Empty where they do not all find
/// room. Takes nothing from the room.
[[nodiscard]] std::optional<Placement> find_place(Room& room, const Gang& gang, Refusals& refusals);

/// All of the gang on one node.
[[nodiscard]] Placement whole_on(std::size_t node, const Gang& gang);

}  // namespace flowcon::cluster::policy
