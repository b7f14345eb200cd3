// SPDX-License-Identifier: Apache-2.0
// A job of the queue as a state machine with a journal. Pure: no clock, no I/O, no logging. Whoever
// drives it gathers facts, asks next_step(), writes the entry it names, then carries the act out,
// and begins anew.
//
//   waiting ──► starting ──► running ──► done, failed
//      ▲            │         │   │
//      ├────────────┘         │   └─► stopping ──► cancelled
//      └────── parking ◄──────┘
//
//   waiting ──► placing ──► starting ──► running ──► returning ──► done, failed, cancelled, waiting
//                                                                             on another host
//
// The job's container is its ticket: created and not started, it waits. The commit point of a start
// is the entry `starting`, which names the life (the engine's time of the start) that the container
// had before. It has been started where it has another life than that, whoever hears of the answer:
// so a start that was asked for is never lost and never made twice. What saves itself in `parking`
// has another chance, however it ends: that it ends there is no end of the job. Nothing is asked
// for again, and no end counts, while a request that nobody heard the answer of may come yet.
//
// On another host the job has a task: a container that a birth (cluster/moves.h) makes there of the
// ticket. The birth is handed over only once `starting` is written, and what the task has written
// comes home into the ticket before the job is over or waits again. So the ticket is all there is
// of a job that does not run, and its next run may be anywhere. What a host that is silent does is
// unknown, and its task counts as running: nothing but its word, or a person's, ends it.
//
// A task of a group (group.h) is such a job too: it starts when its group says so, and is over when
// it has ended, however that was.
//
// What this needs: that a written entry survives a loss of power, and that nobody but its owner
// writes it; of the moves, that one which is undone has started nothing and never will.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/queue_labels.h"

namespace flowcon::cluster::queue {

enum class JobState {
  waiting,   ///< for room, or for its release
  placing,   ///< another host makes its task
  starting,  ///< the engine is asked to start it
  running,
  parking,    ///< it is asked to save itself and to end, and waits again then
  returning,  ///< its task has ended, and what it has written comes home
  stopping,   ///< it is cancelled: it is stopped, or its ticket removed
  done,       ///< it ended with status 0
  failed,
  cancelled,
  refused,  ///< it cannot be a job of the queue
};

/// "waiting", "starting", …
[[nodiscard]] const char* name(JobState state);
/// Empty where there is no such state.
[[nodiscard]] std::optional<JobState> parse_job_state(const std::string& word);

/// Is there nothing left to do?
[[nodiscard]] bool is_closed(JobState state);

/// When it came to a state. Units: seconds since the epoch.
struct JobStep {
  JobState state = JobState::waiting;
  double time = 0;
  std::string note = {};
  std::string host = {};  ///< id of the one that its task was on; "" = it had none
};
inline constexpr std::size_t kKeptSteps = 50;
inline constexpr std::size_t kKeptTaskSteps = 8;  ///< of a group's task

/// What `queue set` and `queue scale` put in the place of labels. Units: cores, bytes, GPUs.
struct Chosen {
  std::optional<double> cpu;
  std::optional<double> mem;
  std::optional<double> priority;
  std::optional<std::int64_t> workers = {};
  std::optional<double> gpu = {};
  bool operator==(const Chosen&) const = default;
};

/// A job's container on another host. One that waits has it where it will run: image and data go
/// there before there is room, and the move stays ready until it is ordered to start.
struct Task {
  std::string host;   ///< its id
  std::string birth;  ///< id of the move that makes it there
  std::string back;   ///< id of the move that brings home what it has written; "" = none has begun
  std::string life;   ///< returning: in which it ended
  std::optional<JobState> then;  ///< what the job is once all is here
  std::string why;               ///< and its note then
  bool is_early = false;         ///< it was made while its host had no room for it yet
  bool operator==(const Task&) const = default;
};

/// The hosts' own network, as docker calls it.
inline constexpr const char* kHostNetwork = "host";
/// Networks of one host each, and a published port of each task.
inline constexpr const char* kPublished = "ports";

/// How a task of a group came to its end.
enum class TaskEnd {
  none,         ///< it has not, or it was not needed any more
  done,         ///< with status 0
  failed,       ///< with another one
  memory,       ///< it was killed for it
  interrupted,  ///< its engine or its host stopped
  saved,        ///< when it was asked to save itself
  unsaved,      ///< when it was asked to, and it did not
  stopped,      ///< by a person
  lost,         ///< a person answers for it that it will never run again
};

/// "", "done", "failed", …
[[nodiscard]] const char* name(TaskEnd end);
/// Empty where there is no such end.
[[nodiscard]] std::optional<TaskEnd> parse_task_end(const std::string& word);

/// Where a task that is in its host's network, or has a published port, can be reached.
struct Endpoint {
  std::string address;
  std::int64_t port = 0;
  std::string interface;  ///< of its host, that has the address
  bool operator==(const Endpoint&) const = default;
};

/// A port that is no task's any more, until its host has said that it knows.
struct OwedPort {
  std::string host;  ///< its id; "" = the owner's
  Endpoint endpoint;
};
/// Of one group; the first of more have come free by themselves.
inline constexpr std::size_t kMostOwed = 256;

struct JobEntry;

/// Containers that are one job: group.h.
struct Group {
  ctrl::WorkerRange workers;  ///< that it may have
  std::int64_t ps = 0;        ///< parameter servers
  ctrl::Elastic elastic = ctrl::Elastic::no;
  std::int64_t next_worker = 0;  ///< numbers of tasks are never used twice
  std::int64_t next_ps = 0;
  /// That all its hosts have: an overlay's name, kHostNetwork or kPublished. "" = one of its host,
  /// or the user's.
  std::string network;
  std::optional<JobState> then;  ///< returning: what it is once all have ended; none: as they ended
  std::string why;               ///< and its note then
  std::vector<JobEntry> tasks;   ///< of this attempt; the workers by their rank
  std::vector<OwedPort> owed;    ///< of any attempt
};

/// Since when a job is where it is. Units: seconds.
struct JobTimes {
  double submitted = 0;  ///< since the epoch
  double since = 0;      ///< since the epoch; when it came to its state
  double waited = 0;     ///< before `since`
  double served = 0;     ///< before `since`
};

/// Whether its run can be cut in two, and was.
struct JobSaves {
  bool was_asked_to_save = false;  ///< in this life
  bool is_unparkable = false;      ///< it did not save when it was asked to; cleared by a new try
  bool has_parked = false;         ///< its run has several parts
  bool has_saved = false;          ///< its last part ended so, and no other has begun
};

/// What a job is in a group.
struct GroupMember {
  std::string task_of;               ///< id of its group; "" = it is in none
  TaskEnd end = TaskEnd::none;       ///< of such a one, which:
  std::string at;                    ///< is to run on the host of this id; "" = this one
  std::optional<Endpoint> endpoint;  ///< where it listens on its host
  std::string alias;                 ///< what the others call it; "" = its name
  bool is_ps = false;                ///< is a parameter server, no worker
  bool has_left = false;             ///< leaves its group, which goes on; or is to
};

/// One line of the journal. Units: seconds; bytes.
struct JobEntry : JobTimes, JobSaves, GroupMember {
  std::string id;  ///< of the container; of a group's task "" until it is made
  std::string name;
  std::string image;    ///< as it was asked for
  std::string command;  ///< its beginning
  JobState state = JobState::waiting;
  bool is_held = false;
  std::string note;           ///< why it is held, refused or failed, or what went wrong last
  std::int64_t version = 0;   ///< grows with each entry that is written; an order names one
  std::int64_t attempt = 0;   ///< starts so far
  std::int64_t retries = 0;   ///< that are left
  std::int64_t refusals = 0;  ///< starts in a row that the engine refused
  /// starting: the life it had before; afterwards that of its run. "" = it never ran.
  std::string life;
  bool has_doubled = false;     ///< it was killed for memory once
  double least_memory = 0;      ///< that it asks for since then
  std::optional<double> cores;  ///< that it was promised at its last start
  Chosen chosen;
  double weight = 0;        ///< of KOD2's queue; 0 = not computed yet
  bool is_starved = false;  ///< it has waited longer than allowed, and is so until it ends
  std::optional<std::int64_t> status;  ///< with which it ended last
  std::optional<Task> task;            ///< none: its ticket is what runs
  std::vector<JobStep> steps;          ///< the last kKeptSteps, newest last
  std::optional<Group> group;          ///< its container never runs, those of its tasks do
};

/// It is parking and was asked to save itself: however it ends now, it goes on later.
[[nodiscard]] bool is_saving(const JobEntry& entry);

/// Units: seconds; never below 0, whatever the clock does.
[[nodiscard]] double waited(const JobEntry& entry, double now);
[[nodiscard]] double served(const JobEntry& entry, double now);

/// What the engine says of the ticket.
enum class TicketCopy {
  unknown,  ///< it does not answer
  absent,
  created,  ///< has never run
  running,  ///< or frozen
  ended,
};

/// Tasks of a group on one host.
struct TaskPlace {
  std::string host;  ///< its id; "" = the owner's
  std::int64_t workers = 0;
  std::int64_t ps = 0;
  bool operator==(const TaskPlace&) const = default;
};

struct Order {
  /// `send`: what it needs goes to the host that it will get. `resize`: of a group, to `places`.
  enum class Op { start, park, send, resize };
  Op op = Op::start;
  std::int64_t version = 0;         ///< of the entry that it was made from
  std::string host{};               ///< start, send: its id; "" = this one
  std::string birth{};              ///< on another host: the id of the move, which was never used
  std::vector<TaskPlace> places{};  ///< start, resize: where the tasks of a group are to be
  std::int64_t workers = 0;         ///< park: with so many it is to start again; 0: nobody says
  bool is_early = false;            ///< start: others have its cores until they end
};

/// How far a move of a job's task has come, as the journal of this host has it.
enum class Stage {
  unknown,      ///< the journal is not read
  none,         ///< there is no such move
  under_way,    ///< it can still be turned back
  ready,        ///< the same, and the other host has all of it
  handed_over,  ///< what the other host does is its own
  done,
  undone,  ///< nothing is left of it there, and it never started anything
};

/// What is known of a task besides the entry. Unit: bytes.
struct TaskFacts {
  Stage birth = Stage::unknown;
  std::string failure;  ///< why the birth is undone, for people
  /// Its host turned it down, or it cannot be begun, which may be so for ever, and its own host can
  /// never hold it.
  bool was_refused = false;
  Stage back = Stage::unknown;
  TicketCopy copy = TicketCopy::unknown;  ///< unknown: its host is not heard, or does not know
  std::string life;
  std::int64_t status = 0;  ///< of one that has ended, and how it did:
  bool was_killed_for_memory = false;
  bool was_stopped = false;
  bool was_interrupted = false;
  double memory = 0;
  std::string next_id;  ///< for a move to come
  /// A task of its group runs here, with the volumes that this one's are to replace.
  bool is_awaited_here = false;
  /// Of one that was made early: its host keeps room for it now. What it says against that is
  /// JobFacts::start_refusal.
  bool has_room = false;
};

/// All that a step is decided from besides the entry. Units: seconds since the epoch; bytes.
struct JobFacts {
  double now = 0;
  TicketCopy copy = TicketCopy::unknown;
  std::string life;         ///< "" = it never ran
  std::int64_t status = 0;  ///< of one that has ended
  bool was_killed_for_memory = false;
  bool was_stopped = false;      ///< in this life, by a person or, where it is stopping, by us
  bool was_interrupted = false;  ///< its engine or its host stopped, and with it this life
  double memory = 0;             ///< what it asked for or used, the greater
  std::optional<double> cores;   ///< that it asks for; empty: nobody says
  std::optional<Order> order;
  std::string start_refusal;  ///< the engine's answer to the start that was asked for last
  std::string save_failure;   ///< why it has not saved; "" = nobody knows yet
  bool has_saved = false;     ///< whatever the status with which it was made to end then
  /// The engine answers, and what was asked of it before, by this process or one that died, cannot
  /// be carried out any more.
  bool is_quiet = true;
  bool may_start = true;  ///< not of a group's task unless its group starts or runs
  TaskFacts task;         ///< of an entry that has one; what is said of a save is said of it then
};

enum class Act {
  none,
  start,
  save,    ///< asks it to save itself and to end
  stop,    ///< stops its container
  remove,  ///< removes its container, which never ran
  // Of a job with a task `save` and `stop` are asked of its host, and these come on top:
  bear,      ///< begins the birth
  claim,     ///< asks for its room, of one that was made early
  release,   ///< lets the birth be handed over
  withdraw,  ///< turns the birth back
  fetch,     ///< has its host bring home what it has written
  discard,   ///< has its host remove it: nobody is there to take what it has written
  halt,      ///< stops the ticket, which a person has started beside the task
};

/// "none", "start", …
[[nodiscard]] const char* name(Act act);

struct Step {
  Act act = Act::none;
  std::optional<JobEntry> entry;  ///< to be written before; none: nothing changes
};

/// Starts that the engine may refuse in a row before the job is held.
inline constexpr std::int64_t kMostRefusals = 3;

/// The next thing to do. Same entry, same facts: same step. O(1) but for the entry's copy.
[[nodiscard]] Step next_step(const JobEntry& entry, const JobFacts& facts);

// What people decide. Each gives the entry to be written. Errors: it cannot be, in a sentence.

[[nodiscard]] Result<JobEntry> hold(const JobEntry& entry, double now);
[[nodiscard]] Result<JobEntry> release(const JobEntry& entry, double now);
[[nodiscard]] Result<JobEntry> cancel(const JobEntry& entry, double now);
/// A person answers for it that its task will never run again: it waits without it.
[[nodiscard]] Result<JobEntry> abandon(const JobEntry& entry, double now);
/// It is held until it is released.
[[nodiscard]] Result<JobEntry> park(const JobEntry& entry, double now);

}  // namespace flowcon::cluster::queue
