// SPDX-License-Identifier: Apache-2.0
// Owns the jobs of this host: finds their tickets by the engine's events, keeps their journal, has
// them started, saved and stopped, and sees their end. Decides nothing: job.h says what is next,
// the conductor who runs. For .cpp files only: it includes Asio.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/queue/engine_watch.h"
#include "cluster/queue/errands.h"
#include "cluster/queue/groups.h"
#include "cluster/queue/jobs.h"
#include "cluster/queue/parking.h"
#include "cluster/queue/sizing.h"
#include "cluster/queue/world.h"
#include "ctrl/events.h"

namespace flowcon::cluster::queue {

class Owner : public EngineWatch::Listener, private JobKeeper {
 public:
  using JobKeeper::Change;

  /// `changed`: called when a job came, changed its state or ended.
  Owner(World& world, EngineWatch& watch, Leases& leases,
        std::function<void(const Job& job)> changed);

  /// Reads the journal.
  Async<void> begin();
  /// After each pass of the daemon.
  void look();

  /// All jobs are known, and what those ask for that have room: their containers have been
  /// inspected, or the engine had a minute for it.
  [[nodiscard]] bool is_ready() const;
  [[nodiscard]] const Jobs& jobs() const { return jobs_; }
  [[nodiscard]] const Sizing& sizing() const { return sizing_; }
  /// What is to be done with a job next; forgotten where the job has changed since it was given.
  void give(const JobPtr& job, Order order);

  /// As JobKeeper::edit().
  Async<Result<void>> edit(JobPtr job, Change change) override;
  Async<Result<void>> amend(JobPtr job, Change change) override;

  /// Something is new of tasks on the host `speaker`, by their births; gives those that are no
  /// job's any more. Only once the journal is read.
  std::vector<std::string> hear_news(const std::vector<std::string>& births,
                                     const std::string& speaker);

  /// A birth or a return of a job of this host has come further.
  void hear_of_move(const std::string& id);

  /// Why the journal cannot be read, for people; "" = it can.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// Has the engine been heard lately?
  [[nodiscard]] bool hears_engine() const;
  /// All jobs are known, though not yet what becomes of those that ran.
  [[nodiscard]] bool is_read() const { return is_read_; }

 private:
  [[nodiscard]] double wanted_since(double now) const override;
  void connected() override;
  void hear(const ctrl::engine::EngineEvent& event) override;
  void lost() override;

  Async<void> begin_again();
  Async<void> list_tickets();
  /// `is_found`: nobody has heard of its making, now or when it was unseen.
  Async<void> enlist(std::string id, bool is_found);
  /// Of a container that is no job, or of one that ended before those that are remembered.
  void hear_of_other(const ctrl::engine::EngineEvent& event);
  void hear_of_ended(const JobPtr& job, const ctrl::engine::EngineEvent& event);
  /// The container of a job that has ended is removed: a group's `tasks` (ids) go with it where
  /// that was heard, and why it was refused is nobody's question any more.
  Async<void> clear_ended(JobPtr job, std::vector<std::string> tasks);
  Async<void> clear_forgotten(std::string id);
  Async<void> rename(JobPtr job, std::string name);
  void wake(const JobPtr& job) override;
  Async<void> drive(JobPtr job);
  Async<bool> take_step(JobPtr job);
  Async<std::optional<JobFacts>> facts(JobPtr job);
  /// Of a container that is there. False: they are known in a moment.
  bool add_life(Job& job, JobFacts& facts, const migration::Seen& seen, unsigned stream) const;
  /// `is_lasting`: the reason does not pass. A job that may wait for its own host asks others ever
  /// more rarely then.
  void avoid(Job& job, bool is_lasting) const;
  Async<void> hear_of_task(JobPtr job, std::shared_ptr<JobFacts> facts);
  void note_change(Job& job, const JobEntry& before);
  Async<Result<void>> write(JobPtr job, JobEntry entry);
  Async<bool> carry_out(JobPtr job, Act act);
  Async<bool> carry_out_elsewhere(JobPtr job, Act act);
  Async<bool> save(JobPtr job);
  Async<bool> start(JobPtr job);
  void tell(const Job& job);

  World& world_;
  EngineWatch& watch_;
  Errands errands_;
  Parking parking_;
  std::function<void(const Job& job)> changed_;
  Jobs jobs_;
  Groups groups_;
  Sizing sizing_;
  struct Unseen {
    double when = 0;         ///< steady; it is inspected again
    bool is_found = false;   ///< nobody has heard of its making
    bool is_beyond = false;  ///< it was inspected, but there are too many jobs
  };
  std::map<std::string, Unseen> unseen_;  ///< containers that may be jobs
  std::string trouble_;
  double deaf_since_ = 0;  ///< steady; 0: the engine is heard
  double read_at_ = 0;     ///< steady; when the journal is read again; 0: it is not
  double begun_ = 0;       ///< since the epoch; when the journal was read
  double listed_at_ = 0;   ///< steady; when the engine first listed its containers; 0: never
  double list_at_ = 0;     ///< steady; when the engine is asked for them again; 0: it has answered
  bool is_read_ = false;
  bool is_whole_ = true;  ///< each entry of the journal is there, and could be read
  bool is_lost_ = false;  ///< the journal has lost some
};

}  // namespace flowcon::cluster::queue
