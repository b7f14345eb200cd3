// SPDX-License-Identifier: Apache-2.0
// The queue of this host, put together from its parts, and what people ask of it (docs/api.md). For
// .cpp files only: it includes Asio.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cluster/queue/conductor.h"
#include "cluster/queue/engine_watch.h"
#include "cluster/queue/owner.h"
#include "cluster/queue/tasks.h"
#include "cluster/queue/world.h"
#include "ctrl/api/routes.h"

namespace flowcon::ctrl {
class Exposition;
}  // namespace flowcon::ctrl

namespace flowcon::cluster::queue {

class Queue {
 public:
  /// `ended`: called when a job has ended.
  explicit Queue(
      World world, std::function<void()> ended = [] {});

  Async<void> begin();
  /// After each pass of the daemon.
  void look();
  void end() { world_.is_ended = true; }

  [[nodiscard]] ctrl::api::Routes routes();
  /// What peers ask (docs/peers.md).
  [[nodiscard]] ctrl::api::Routes peer_routes();
  /// A birth or a return has come further.
  void hear_of_move(const std::string& id) {
    if (!world_.is_ended) owner_.hear_of_move(id);
  }
  /// Why a task of another host's job that asks for so much is not taken, in words; "" = it is.
  [[nodiscard]] std::string why_no_room(const policy::Amounts& request) const {
    return room_.why_no_room(request);
  }
  /// As migration::World::give_gpus.
  [[nodiscard]] std::string give_gpus(boost::json::object& body,
                                      const cluster::Passage& birth) const {
    return room_.give_gpus(body, birth);
  }
  void add_metrics(ctrl::Exposition& out) const;

  /// What runs on this host is known.
  [[nodiscard]] bool is_ready() const { return owner_.is_ready() && tasks_.is_ready(); }
  /// Is a container (full id) asked to save itself?
  [[nodiscard]] bool is_saving(const std::string& id) const;
  /// Has a container (full id) begun before its cores were free, and are they not yet?
  [[nodiscard]] bool is_early(const std::string& id) const;
  /// It is parked, or about to be: its run goes on later.
  [[nodiscard]] bool goes_on(const std::string& id) const;
  /// If it has ended, it had not done what it was to do, whatever its status: it was asked to save
  /// itself, it was stopped, by a person or by us, or its engine ended it.
  [[nodiscard]] bool is_cut_short(const std::string& id) const;
  /// The cores that a running job asked for; empty where nobody said, or it is no job.
  [[nodiscard]] std::optional<double> cores_of(const std::string& id) const;
  /// Jobs that wait and jobs that run; empty where there are none and never were any.
  [[nodiscard]] std::optional<ctrl::QueueCounts> counts() const;
  /// Tasks of other hosts' jobs that have ended here and are not on their way home yet.
  [[nodiscard]] std::int64_t unreturned() const;

 private:
  Async<ctrl::api::Response> list(ctrl::api::Call call);
  Async<Result<JobPtr>> find(std::string name);
  Async<ctrl::api::Response> show(ctrl::api::Call call);
  Async<ctrl::api::Response> explain(ctrl::api::Call call);
  Async<ctrl::api::Response> change(ctrl::api::Call call, std::string verb);
  Async<ctrl::api::Response> set(ctrl::api::Call call);
  Async<ctrl::api::Response> restart(ctrl::api::Call call);
  [[nodiscard]] ctrl::api::Response unknown(const Error& error) const;
  [[nodiscard]] std::string why_one_host() const;
  Async<ctrl::api::Response> edit(
      std::string name, std::function<Result<JobEntry>(const JobEntry&, double now)> change);

  World world_;
  EngineWatch watch_;
  Leases leases_;
  Owner owner_;
  Tasks tasks_;
  HostRoom room_;
  Conductor conductor_;
};

}  // namespace flowcon::cluster::queue
