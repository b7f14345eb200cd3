// SPDX-License-Identifier: Apache-2.0
// What this host has for jobs of the queue, its own and those of other hosts. For .cpp files only:
// it includes Asio.
#pragma once

#include <string>
#include <vector>

#include "cluster/queue/owner.h"
#include "cluster/queue/request.h"
#include "cluster/queue/tasks.h"

namespace flowcon::cluster::queue {

/// Does it have its room, here or elsewhere, or is it about to? The tasks of a group that waits for
/// the last of them have.
[[nodiscard]] bool holds_room(const Job& job);

class HostRoom {
 public:
  HostRoom(World& world, Owner& owner, Tasks& tasks);

  /// What is free for jobs now, and what would be if none ran.
  struct Room {
    policy::Amounts free;
    policy::Amounts most;
  };
  [[nodiscard]] Room room() const;
  /// Why one that asks for so much is not taken, in words; "" = it is.
  [[nodiscard]] std::string why_no_room(const policy::Amounts& request) const;

  /// May one begin before its cores are free, on what others leave?
  [[nodiscard]] bool takes_early() const;
  /// A job or a task, by its container's full id, begins so, as the only one. Why not, in words;
  /// "" = it does.
  std::string begin_early(const std::string& id, const policy::Amounts& request);
  /// Has one, and are its cores not free yet?
  [[nodiscard]] bool has_early() const;
  /// Is it this one, which has what others leave? For kMostEarly seconds at most.
  [[nodiscard]] bool is_early(const std::string& id) const;
  /// After each pass of the daemon: its cores may be free.
  void look();

 private:
  // Jobs and tasks that have their room here.
  [[nodiscard]] std::vector<Holder> holders() const;
  [[nodiscard]] bool is_overbooked() const;
  [[nodiscard]] bool has_weights() const;
  void keep() const;

  World& world_;
  Owner& owner_;
  Tasks& tasks_;
  // The next flowcond reads it from a file of the state's folder.
  struct Early {
    std::string id;        // "" = none has
    double since = 0;      // steady
    double sure_from = 0;  // steady; until then it is not known what the others ask for
  };
  Early early_;
};

}  // namespace flowcon::cluster::queue
