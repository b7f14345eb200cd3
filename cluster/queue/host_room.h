// SPDX-License-Identifier: Apache-2.0
// What this host has for jobs of the queue, its own and those of other hosts. For .cpp files only:
// it includes Asio.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <vector>

#include "cluster/moves.h"
#include "cluster/queue/gpus.h"
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
  /// The same of one whose copy is here.
  [[nodiscard]] std::string why_no_room(const cluster::Passage& birth) const;

  /// Has the container that is about to be made for a group's task here ask docker for GPUs that
  /// nobody has. Why there are none now, in words; "" = it does, or it asks for none, or says
  /// which.
  std::string give_gpus(boost::json::object& body, const Job& group, std::size_t task);
  /// The same of a copy. One that is made early gets what will be free.
  [[nodiscard]] std::string give_gpus(boost::json::object& body,
                                      const cluster::Passage& birth) const;
  /// Which GPUs docker would give the container of this job here that others have, in words; "" =
  /// none.
  [[nodiscard]] std::string why_gpus_taken(const Job& job) const;

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
  struct Given {
    GpuHolder holder;
    double until = 0;   // steady
    std::string group;  // id of its ticket
  };
  // Jobs and tasks that have their room here.
  [[nodiscard]] std::vector<Holder> holders() const;
  [[nodiscard]] std::vector<GpuHolder> gpu_holders(const std::string& but) const;
  [[nodiscard]] bool is_wanted(const Given& given) const;
  [[nodiscard]] bool knows_holders() const;
  [[nodiscard]] GpuLedger gpus_without(const std::string& name) const;
  [[nodiscard]] ctrl::GpuDevices choose(const boost::json::object& body, const std::string& name,
                                        double gpus, bool is_early, std::string& why) const;
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
  // GPUs of containers, by name, until they are looked at.
  std::map<std::string, Given> given_;
};

}  // namespace flowcon::cluster::queue
