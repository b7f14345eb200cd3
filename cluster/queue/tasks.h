// SPDX-License-Identifier: Apache-2.0
// Tasks of other hosts' jobs that this host runs: finds the copies that births have made here, sees
// how they come to their end, and does with them what their owners ask. Decides nothing. For .cpp
// files only: it includes Asio.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cluster/queue/engine_watch.h"
#include "cluster/queue/parking.h"
#include "cluster/queue/task_json.h"
#include "cluster/queue/ticket.h"
#include "ctrl/api/server.h"

namespace flowcon::cluster::queue {

/// A copy that a birth made here, until it is removed.
struct HeldTask {
  std::string birth;      ///< id of the move
  std::string owner;      ///< id of the job's host
  std::string container;  ///< full id
  policy::Amounts request;
  Ticket ticket;
  LifeWatch watch;
  TicketCopy copy = TicketCopy::created;
  bool is_early = false;  ///< as MoveOrder::is_early
  std::string save_key;
  std::string save_failure;
  std::shared_ptr<Save> saving;  ///< while it is asked to save itself
  bool has_saved = false;
  bool is_given_up = false;  ///< it is being removed, with what was made for it
  double killed_at = 0;      ///< steady; in this life, by SIGKILL
  bool is_stopping = false;  ///< its engine was asked to end it, and has not answered
  std::string undone_back;   ///< as TaskView::undone_back
  std::string back;          ///< id of the return that began last; "" = none did
  std::string next_back;     ///< of the one that is asked for since
  double next_back_at = 0;   ///< steady; it does not begin before
  double back_wait = 0;      ///< seconds until then
};
using HeldTaskPtr = std::shared_ptr<HeldTask>;

class Tasks : public EngineWatch::Listener {
 public:
  /// Keeps room for a birth that was made early, and `is_early` begins while others have its cores.
  /// Why not, in words; "" = it does.
  using KeepRoom = std::function<std::string(const cluster::Passage& birth, bool is_early)>;

  /// `changed`: called when one came, ended or went.
  Tasks(World& world, EngineWatch& watch, std::function<void()> changed, KeepRoom keep_room);

  /// All that were here when flowcond started are held; how much room is left is known then.
  [[nodiscard]] bool is_ready() const;
  /// After each pass of the daemon.
  void look();
  /// By container.
  [[nodiscard]] const std::map<std::string, HeldTaskPtr>& held() const { return held_; }
  [[nodiscard]] bool is_saving(const std::string& container) const;
  /// As Queue::is_cut_short().
  [[nodiscard]] bool is_cut_short(const std::string& container) const;
  /// A task that has its room here, running or about to.
  struct Resident {
    std::string birth;
    std::string owner;      ///< id of the job's host
    std::string container;  ///< "" = there is none yet
    policy::Amounts request;
    std::string name;
    ctrl::GpuDevices gpus;
  };
  [[nodiscard]] std::vector<Resident> residents() const;

  /// POST /v1/peer/queue/task; `speaker` is the id of the host that asks.
  Async<ctrl::api::Response> answer(std::string body, std::string speaker);

  [[nodiscard]] double wanted_since(double now) const override;
  void connected() override;
  void hear(const ctrl::engine::EngineEvent& event) override;
  void lost() override;

 private:
  Async<void> list();
  Async<void> find_removed();
  Async<bool> lose_removed(migration::Removal removal);
  Async<void> take(std::string id);
  Async<bool> try_to_take(std::string id);
  Async<Result<TaskView>> view(HeldTaskPtr task);
  Async<void> see(HeldTaskPtr task);
  Async<ctrl::api::Response> answer_call(TaskCall call, HeldTaskPtr task);
  ctrl::api::Response answer_claim(const cluster::Passage& birth, bool is_early);
  Async<ctrl::api::Response> answer_absent(cluster::Passage birth);
  Async<Result<void>> carry_out(TaskCall call, HeldTaskPtr task);
  Async<void> save(HeldTaskPtr task);
  Async<std::string> why_not_yet(HeldTaskPtr task, std::string id);
  Async<Result<void>> fetch(HeldTaskPtr task, std::string id);
  Async<Result<void>> discard(HeldTaskPtr task);
  Async<void> clear(std::string birth);
  void lose(const HeldTask& task);
  [[nodiscard]] bool keeps_volumes(const HeldTask& task) const;
  Async<void> stop(HeldTaskPtr task);
  Async<void> tell_owner(std::string owner, std::vector<std::string> births);
  void tell_soon(const std::string& owner);
  [[nodiscard]] HeldTaskPtr find(const std::string& birth) const;

  World& world_;
  EngineWatch& watch_;
  Parking parking_;
  std::function<void()> changed_;
  KeepRoom keep_room_;
  std::map<std::string, HeldTaskPtr> held_;
  /// Births, by id, whose copies have gone, and what was made for them may not; their owners.
  std::map<std::string, std::string> left_;
  std::set<std::string> claimed_;  ///< births, made early, whose room is kept until they run
  std::set<std::string> telling_;  ///< owners that a report is on its way to
  std::set<std::string> due_;      ///< owners that need a report
  double next_telling_ = 0;        ///< steady; then all are
  std::set<std::string> unseen_;   ///< containers that may be tasks
  double next_look_ = 0;           ///< steady; at them
  double list_at_ = 0;             ///< steady; the engine is asked again; 0: it has answered
  double listed_at_ = 0;           ///< steady; when the engine first answered; 0: it has not
};

}  // namespace flowcon::cluster::queue
