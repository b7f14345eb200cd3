// SPDX-License-Identifier: Apache-2.0
// A host with an engine and a queue of the test's own, all on one loop, whose time the test turns.
// For .cpp files only: it includes Asio.
#pragma once

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "cluster/queue/job_json.h"
#include "cluster/queue/queue.h"
#include "tests/cluster/migration/run/migrator_fakes.h"

namespace flowcon::cluster::test {

inline constexpr double kGiB = 1024.0 * 1024 * 1024;

/// The engine's answer on a container, as far as the queue reads it.
boost::json::object inspect_of(const std::string& id, const std::string& name);

class QueueEngine : public FakeEngine {
 public:
  explicit QueueEngine(Clock& clock) : FakeEngine(clock), clock_(clock) {}

  Async<Result<Seen>> look(std::string name) override;
  Async<Result<std::vector<ctrl::engine::Listed>>> list() override;
  Async<Result<void>> start(std::string container, std::string checkpoint) override;

  Async<Result<std::string>> create(std::string name, boost::json::object body,
                                    std::string image) override;

  /// `docker create`; its id.
  std::string create(const std::string& name, const std::map<std::string, std::string>& labels,
                     const boost::json::object& host_config = {});
  void end_with(const std::string& id, std::int64_t status);
  void kill_for_memory(const std::string& id);
  [[nodiscard]] bool runs(const std::string& id) const;
  [[nodiscard]] int lives(const std::string& id) const { return boxes_.at(id).lives; }

  std::map<std::string, boost::json::object> inspects_;
  std::set<std::string> oom_;
  bool is_start_unheard_ = false;  ///< the next one's answer is lost
  int unheard_lists_ = 0;          ///< so many of the next ones get no answer
  bool is_made_late_ = false;      ///< the next container, by a request that nobody waits for
  std::string lacks_;              ///< what each start needs, and it has not: it answers with 404

 private:
  Clock& clock_;
  int tickets_ = 0;
};

class QueueFakeRows : public queue::Rows {
 public:
  Async<Result<void>> save(ctrl::store::QueueRow row) override;
  Async<Result<std::vector<ctrl::store::QueueRow>>> read(std::size_t most) override;
  Async<Result<bool>> has(std::string id) override;
  Async<Result<std::optional<ctrl::store::QueueRow>>> find(std::string name) override;
  Async<Result<void>> drop(std::string id) override;
  Async<Result<void>> forget(std::size_t most, std::vector<std::string> there) override;

  [[nodiscard]] bool is_whole() const override;

  std::map<std::string, ctrl::store::QueueRow> rows_;
  bool is_whole_ = true;
  bool is_full_ = false;
  std::function<bool(const queue::JobEntry&)> is_locked_;  ///< one save of such fails, by no errno
  bool is_unreadable_ = false;
  std::size_t kept_ = 0;  ///< of those that have ended, beside those whose container is there
  std::vector<std::string> there_;
  std::size_t read_at_most_ = 1000;  ///< of those that have ended, as if others were newer
};

class QueueHost : public FakeHost {
 public:
  using FakeHost::FakeHost;
  [[nodiscard]] std::optional<ctrl::InUse> use_of(const std::string& id) const override;
  void tell(ctrl::Event event) override;

  std::map<std::string, ctrl::InUse> uses_;
  std::vector<ctrl::Event> told_;
};

/// One host: 4 cores, 8 GiB of memory on offer.
struct QueueBench {
  QueueBench();
  ~QueueBench();
  QueueBench(const QueueBench&) = delete;
  QueueBench& operator=(const QueueBench&) = delete;

  /// flowcond starts; what it knew is what was written.
  void begin();
  /// It is killed, and starts again.
  void restart();

  void poll();
  /// Time passes, with a pass of the daemon each half second.
  void run(double seconds);

  /// The answer of an endpoint and its status.
  struct Answered {
    int status = 0;
    boost::json::value body;
  };
  Answered call(const std::string& method, const std::string& target, const std::string& body = "");
  static Async<void> answer(ctrl::api::Routes routes, ctrl::api::Request request,
                            std::shared_ptr<Answered> answered);

  [[nodiscard]] boost::json::value job(const std::string& name);
  [[nodiscard]] std::string state(const std::string& name) { return text_of(job(name), "state"); }
  [[nodiscard]] std::string note(const std::string& name) { return text_of(job(name), "note"); }

  /// A job that asks for so much; its container.
  std::string submit(const std::string& name, const std::string& request,
                     std::map<std::string, std::string> labels = {});
  /// What earlier runs of "NAME.py" took.
  void expect_seconds(const std::string& name, double seconds);

  boost::asio::io_context io;
  QueueHost host{io};
  FakeClock clock{io};
  QueueEngine engine{clock};
  QueueFakeRows rows;
  FakeNetwork network;
  FakeMoves moves;
  std::map<std::string, std::vector<ctrl::estimate::LabelEstimate>> estimates;
  std::vector<std::unique_ptr<queue::Queue>> former;
  double booted = 0;
  std::size_t most_jobs = queue::kMostJobs;
  std::uint64_t learnings = 1;  ///< from earlier runs; 0: not yet
  std::unique_ptr<queue::Queue> queue;
  bool passes = true;  ///< of the daemon
};

}  // namespace flowcon::cluster::test
