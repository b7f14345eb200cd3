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

/// What did not find room: what asks for at least as much of each need is not tried again. A node
/// that gets room back is counted anew, alone. So a full cluster refuses a long queue at once.
class Refusals {
 public:
  /// Is it known that `count` tasks do not all find room, on whichever nodes? Always of one room.
  [[nodiscard]] bool covers(Room& room, const Needs& needs, std::int64_t count);
  /// `found`: how many of the `count` find room.
  void add(Room& room, const Needs& needs, std::int64_t count, std::int64_t found = 0);

 private:
  struct Refused {
    Needs needs;
    std::int64_t count = 0;
    std::int64_t room = 0;  ///< at most for so many, below count
  };
  void catch_up(Room& room);

  std::size_t seen_ = 0;  ///< of Room::given()
  std::vector<Refused> refused_;
};

/// The idlest node that holds the whole gang; where none does, the nodes in the order of idleness:
/// on each as many parameter servers as fit, then as many workers. Empty where they do not all find
/// room. Takes nothing from the room.
[[nodiscard]] std::optional<Placement> find_place(Room& room, const Gang& gang, Refusals& refusals);

/// All of the gang on one node.
[[nodiscard]] Placement whole_on(std::size_t node, const Gang& gang);

}  // namespace flowcon::cluster::policy
