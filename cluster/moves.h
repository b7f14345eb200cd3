// SPDX-License-Identifier: Apache-2.0
// The moves of containers, as those who decide about them see them. cluster/migration is behind it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/freight.h"
#include "cluster/migration/plan/journal.h"
#include "cluster/policy/categories.h"
#include "cluster/policy/cause.h"
#include "cluster/policy/room.h"
#include "ctrl/async.h"
#include "ctrl/gpus.h"

namespace flowcon::cluster {

/// A container of this host is to go to another.
struct MoveOrder {
  std::string container;                    ///< name or id, of this host
  std::string target;                       ///< id of a host
  std::optional<migration::Method> method;  ///< empty: as its label flowcon.migrate says
  Cause cause = kPerson;
  /// Births and returns: of the move, as random_id() makes them; chosen by the job's owner, and
  /// never used before. "" = a new one.
  std::string id;
  std::string birth;        ///< of a return: the birth whose copy goes home
  policy::Amounts request;  ///< of a birth: what the task asks for there; cores, bytes, GPUs
  bool is_early = false;    ///< of a birth: its host is not asked for room yet
  bool is_first = false;    ///< of a birth: its job has not run yet
};

/// A birth or a return as the journal of this host has it.
struct Passage {
  migration::Entry entry;      ///< as written
  policy::Amounts request;     ///< of a birth
  bool is_early = false;       ///< of a birth: as MoveOrder::is_early
  bool is_ready = false;       ///< source: the target has all of it
  std::string trouble;         ///< what went wrong last, for people
  ctrl::GpuDevices gpus = {};  ///< of a birth: what its copy asks docker for
};

/// What is known of a job beside its container: history, category state, what people decided. Times
/// in it are ages, so that no clock is compared. cluster/cluster.cpp puts it together.
class Lives {
 public:
  virtual ~Lives() = default;
  /// JSON, at most kMaxLifeBytes. `id` is of a container of this host.
  virtual Async<Result<std::string>> export_life(std::string id) = 0;
  /// Before the copy `id` is started for the first time. What makes no sense is left out: a job
  /// without a past is better than none. Errors: the store's.
  virtual Async<Result<void>> import_life(std::string id, std::string text, Cause cause) = 0;
  /// The copy `id` will not be started.
  virtual Async<Result<void>> forget_life(std::string id) = 0;
};

inline constexpr std::size_t kMaxLifeBytes = 16U << 20;

/// What the policy remembers of a container, and what goes with it to another host.
class Memory {
 public:
  virtual ~Memory() = default;
  /// The category state of a container of this host (full id), on a clock that is 0 now. Empty:
  /// nothing is known.
  [[nodiscard]] virtual std::optional<policy::CategoryState> export_state(
      const std::string& id) const = 0;
  /// Takes what came with a copy (its full id here), as export_state() gives it, and as it is after
  /// a move for `cause`. Empty: nothing came.
  virtual void import_state(const std::string& id,
                            const std::optional<policy::CategoryState>& state,
                            const Cause& cause) = 0;
  /// The copy will not be started.
  virtual void forget_state(const std::string& id) = 0;
};

/// A move of a container from or to this host, as it is shown. Units: bytes as sent, bytes a
/// second, seconds.
struct MoveView {
  std::string id;
  std::string container;  ///< id here; "" while there is no copy
  std::string name;
  migration::Side side = migration::Side::source;
  std::string source, target;            ///< ids of hosts
  std::string source_name, target_name;  ///< as they are called here
  migration::Method method = migration::Method::app;
  Cause cause = kPerson;
  migration::Step step = migration::Step::reserve;
  std::string error;  ///< why it is undone, or what went wrong last
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> bytes_total;
  double rate = 0;
  double seconds = 0;                   ///< since it began
  std::map<std::string, double> steps;  ///< when each was reached, since it began
  std::optional<double> stopped_seconds;
  bool has_ended = false;
  std::optional<double> ended_age;  ///< how long ago
};

/// A move that has been done or is under way, as calls about its container need it.
struct Way {
  std::string container;  ///< id here; "" while there is no copy
  std::string name;
  std::string source, target;  ///< ids of hosts
  bool is_open = false;        ///< it is under way
};

class Moves {
 public:
  virtual ~Moves() = default;
  /// Begins a move; returns its id once the journal has it. The rest is done beside. Errors: no
  /// such container, it cannot be moved (all reasons), it is on the move, no such host.
  virtual Async<Result<std::string>> begin(MoveOrder order) = 0;
  /// Of a container of this host that does not run. Errors: no such container, it cannot be
  /// measured.
  virtual Async<Result<Freight>> weigh(std::string container) = 0;
  /// Names of the volumes here that tasks of other hosts only read, as Freight::shared has them.
  /// Errors: the engine or the disk does not answer.
  virtual Async<Result<std::set<std::string>>> shared_volumes() = 0;
  /// May the policy move it: does its label say how, and is it no job of the queue?
  [[nodiscard]] virtual bool is_movable(const std::string& id) const = 0;
  /// Is this container of this host (full id) on the move, from here or to here?
  [[nodiscard]] virtual bool is_moving(const std::string& id) const = 0;
  /// Is this container of this host (full id) asked to save itself, or was it, and has not gone?
  [[nodiscard]] virtual bool is_saving(const std::string& id) const = 0;
  /// Copies that are reserved here and do not run yet: they count as containers of this host.
  [[nodiscard]] virtual std::int64_t reserved() const = 0;
  /// Those under way, then those that have ended, newest first, at most `most`.
  [[nodiscard]] virtual std::vector<MoveView> list(std::size_t most) const = 0;
  /// Those under way, then of each name the last from here and the last to here that was done,
  /// newest first; a bounded number.
  [[nodiscard]] virtual std::vector<Way> ways() const = 0;

  /// A birth that this host is the source of may be handed over from now on; forgotten when
  /// flowcond ends.
  virtual void release(const std::string& id) = 0;
  /// Turned back where it was not handed over yet.
  virtual void turn_back(const std::string& id, const std::string& why) = 0;
  /// A person answers for it that the target of this birth, which was handed over, will never run
  /// it: as docker flowcon migrate --take-back does.
  virtual void take_back(const std::string& id) = 0;
  /// This host takes the return `id` of its birth `birth` when that comes; forgotten when flowcond
  /// ends.
  virtual void expect(const std::string& id, const std::string& birth) = 0;
  /// Open or ended. Empty: the journal has no such move. Errors: the journal cannot be read.
  virtual Async<Result<std::optional<Passage>>> passage(std::string id) = 0;
  /// Births to here whose copy has not been started yet.
  [[nodiscard]] virtual std::vector<Passage> expected_births() const = 0;
};

}  // namespace flowcon::cluster
