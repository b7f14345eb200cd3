// SPDX-License-Identifier: Apache-2.0
// The queue of this host, put together from its parts, and what people ask of it (docs/api.md). For
// .cpp files only: it includes Asio.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cluster/queue/conductor.h"
#include "cluster/queue/owner.h"
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

  ctrl::Async<void> begin() { return owner_.begin(); }
  /// After each pass of the daemon.
  void look();
  void end() { world_.is_ended = true; }

  [[nodiscard]] ctrl::api::Routes routes();
  void add_metrics(ctrl::Exposition& out) const;

  /// Is a container (full id) a job of the queue that has not ended for good?
  [[nodiscard]] bool has(const std::string& id) const;
  /// Is it asked to save itself?
  [[nodiscard]] bool is_saving(const std::string& id) const;
  /// It is parked, or about to be: its run goes on later.
  [[nodiscard]] bool goes_on(const std::string& id) const;
  /// The cores that a running job asked for; empty where nobody said, or it is no job.
  [[nodiscard]] std::optional<double> cores_of(const std::string& id) const;
  /// Jobs that wait and jobs that run; empty where there are none and never were any.
  struct Counts {
    std::size_t waiting = 0;
    std::size_t running = 0;
  };
  [[nodiscard]] std::optional<Counts> counts() const;

 private:
  ctrl::Async<ctrl::api::Response> list(ctrl::api::Call call);
  ctrl::Async<ctrl::api::Response> show(ctrl::api::Call call);
  ctrl::Async<ctrl::api::Response> change(ctrl::api::Call call, std::string verb);
  ctrl::Async<ctrl::api::Response> set(ctrl::api::Call call);
  ctrl::Async<ctrl::api::Response> edit(
      std::string name, std::function<Result<JobEntry>(const JobEntry&, double now)> change);

  World world_;
  Owner owner_;
  Conductor conductor_;
};

}  // namespace flowcon::cluster::queue
