// SPDX-License-Identifier: Apache-2.0
// A job of several containers as a state machine with a journal: workers, and parameter servers
// that serve them. Pure: no clock, no I/O, no logging. Driven as next_step() is (job.h).
//
//   waiting ──► placing ──► starting ──► running ──► returning ──► done, failed, cancelled, waiting
//                  │            │        │     │         ▲
//                  └────────────┴────────┼─────┼─────────┤
//                                        └► parking ─────┘
//
// The container that was submitted is its ticket: it is never started. Each attempt makes a
// container of its own for every task, which is a job (job.h) that belongs to the group. Tasks are
// ready one by one and start together or not at all: the commit point is the entry `starting`. The
// attempt is over when a task has come to another end than its own, or when all workers have ended.
// Then the others are stopped, or save themselves where it was their host that one went with; what
// all have written comes home, and only when each task is over it
// is decided what becomes of the group, by how all of them ended. Containers of an attempt that
// will be followed by another one are removed before that begins.
//
// Tasks of one attempt are on one host or on several, as it is ordered. Between hosts they need a
// network that all of these have; those that may join later have it from the beginning.
//
// Workers that may join come and go while their group runs: one that is added is made, placed and
// started by itself; one that is to go, that comes when another has done its part, or that fails or
// saves itself while enough others run, leaves the group, and its end counts for nothing. Not so
// the first one where it brings home the volumes, or where torchrun's agents meet, nor the first
// that is killed for memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/queue/job.h"

namespace flowcon::cluster::queue {

/// Tasks of one group.
inline constexpr std::int64_t kMostTasks = 256;

/// How many workers a group may have, by its labels or what a person has said since.
[[nodiscard]] ctrl::WorkerRange workers_of(const JobEntry& entry);
/// Workers may join it that it does not start with.
[[nodiscard]] bool may_grow(const JobEntry& entry);
/// A worker that joined it failed within 180 s of its start (torchrun's agent gives up after 60 s),
/// so that no other is to join yet: for 10 s after the first of them, and twice as long after each,
/// up to 600 s. `now`: seconds since the epoch.
[[nodiscard]] bool has_just_failed(const Group& group, double now);
/// A worker has done its part, so that the others will soon, and no more are needed.
[[nodiscard]] bool is_finishing(const Group& group);
/// A task that is of it now: has not left, nor come to its end.
[[nodiscard]] bool is_present(const JobEntry& task);
/// What its task of that number is called.
[[nodiscard]] inline std::string task_name(const JobEntry& entry, bool is_ps, std::int64_t number) {
  return entry.name + (is_ps ? "-s" : "-w") + std::to_string(number);
}
/// Has a task of it been called so, in this attempt or an earlier one?
[[nodiscard]] bool had_task(const JobEntry& entry, std::string_view name);
/// Is it to have a port of its host: in its network, or, if it is a server, published?
[[nodiscard]] bool listens(const Group& group, const JobEntry& task);
/// What the task of that name is called in an overlay, where another host's job may have a task of
/// the same name: "3f9a1c2b4d5e-w0". "" = its name is enough.
[[nodiscard]] inline std::string alias_of(const JobEntry& entry, const std::string& task) {
  const std::string& network = entry.group->network;
  if (network.empty() || network == kHostNetwork || network == kPublished) return "";
  return entry.id.substr(0, 12) + task.substr(entry.name.size());
}
/// Such tasks, workers or parameter servers.
[[nodiscard]] std::int64_t present(const Group& group, bool are_ps);
/// The same by their hosts, in the order of the tasks.
[[nodiscard]] std::vector<TaskPlace> places_of(const Group& group);
[[nodiscard]] std::int64_t workers_in(const std::vector<TaskPlace>& places);

/// All that a step is decided from besides the entry. Units: seconds since the epoch.
struct GroupFacts {
  double now = 0;
  TicketCopy copy = TicketCopy::unknown;
  std::string life;  ///< of the ticket; "" = it never ran
  std::optional<Order> order;
  std::string network;             ///< that it may have on several hosts; "" = none
  bool is_in_network = false;      ///< also on one: the user says so
  bool saves_itself = false;       ///< its labels say how
  bool has_volumes = false;        ///< into which what the first task writes elsewhere comes home
  std::vector<bool> ready;         ///< of each task: it would start at once
  std::string make_refusal;        ///< why a container could not be made
  bool may_be_made_later = false;  ///< that may be over the next time
};

enum class GroupAct {
  lease,   ///< endpoints for all tasks that have none
  make,    ///< its container
  place,   ///< has it made on its host
  start,   ///< on this host
  save,    ///< asks it to save itself and to end
  cancel,  ///< stops it
  remove,  ///< its container, with the task's entry
  halt,    ///< stops the ticket, which a person has started
};

struct GroupDeed {
  GroupAct act = GroupAct::make;
  std::size_t task = 0;
  bool operator==(const GroupDeed&) const = default;
};

struct GroupStep {
  std::optional<JobEntry> entry;  ///< to be written before; none: nothing changes
  /// Each may have been done already. What removes one leaves the places of those after it valid.
  std::vector<GroupDeed> deeds;
};

/// The next things to do. Same entry, same facts: same step. O(tasks).
[[nodiscard]] GroupStep group_step(const JobEntry& entry, const GroupFacts& facts);

}  // namespace flowcon::cluster::queue
