// SPDX-License-Identifier: Apache-2.0
// Time that the test turns, and an engine that keeps containers in memory. For .cpp files only: it
// includes Asio.
#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/json_reader.h"
#include "cluster/migration/plan/architecture.h"
#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/refusals.h"
#include "cluster/migration/run/world.h"
#include "ctrl/await.h"
#include "ctrl/spawn.h"
#include "tests/cluster/cluster_fakes.h"

namespace flowcon::cluster::test {

using namespace migration;

/// Time passes only where nothing else is to be done.
class FakeClock : public Clock {
 public:
  explicit FakeClock(boost::asio::io_context& io) : io_(io) {}

  [[nodiscard]] double steady() const override;
  [[nodiscard]] double wall() const override;
  Async<void> pause(double seconds) override;
  std::unique_ptr<Alarm> make_alarm() override;

  /// To the next one that waits; false, and to `end`, where that would be after it.
  bool advance(double end);

 private:
  using Waiting = std::multimap<double, boost::asio::steady_timer*>;

  class FakeAlarm : public Alarm {
   public:
    explicit FakeAlarm(FakeClock& clock) : clock_(clock), timer_(clock.io_) {}
    ~FakeAlarm() override { forget(); }
    Async<void> wait(double seconds) override {
      timer_.expires_at(boost::asio::steady_timer::time_point::max());
      clock_.waiting_.emplace(clock_.now_ + seconds, &timer_);
      (void)co_await timer_.async_wait(kAwait);
      forget();
    }
    void ring() override { timer_.cancel(); }

   private:
    void forget() {
      std::erase_if(clock_.waiting_, [&](const auto& one) { return one.second == &timer_; });
    }
    FakeClock& clock_;
    boost::asio::steady_timer timer_;
  };

  boost::asio::io_context& io_;
  double now_ = 1000;
  Waiting waiting_;
};

/// A container of the fake engine.
struct Box {
  std::string id, name;
  Copy copy = Copy::created;
  std::int64_t exit_code = 0;
  int lives = 0;  ///< how often it was started
  boost::json::object policy{{"Name", "no"}};
  std::map<std::string, std::string> labels;
  bool is_saved = false;  ///< it ended because it was asked to save
  std::vector<VolumePlace> volumes;
  std::string image;
};

class FakeEngine : public Engine {
 public:
  explicit FakeEngine(Clock& clock) : clock_(clock) {}

  Async<Result<Seen>> look(std::string name) override;
  Async<Result<Seen>> look_made(std::string id) override;
  Async<Result<std::vector<std::string>>> volumes_made(std::string id) override;
  Async<Result<std::vector<DataVolume>>> data_volumes() override;
  Async<Result<Volumes>> look_at_volumes(Description description) override;
  Async<Result<Conflicts>> conflicts(std::string, Plan plan) override;
  Async<Result<std::string>> root() override;
  Async<Result<std::string>> why_no_criu() override;
  Async<Result<std::string>> containers_folder() override;
  Async<Result<std::string>> make(std::string name, Plan plan, std::string id,
                                  std::string) override;
  Async<Result<std::string>> create(std::string name, boost::json::object body,
                                    std::string) override;
  Async<Result<void>> set_memory(std::string, double bytes, double) override;
  Async<Result<void>> set_policy(std::string container, boost::json::object policy) override;
  Async<Result<void>> start(std::string container, std::string) override;
  Async<Result<void>> stop(std::string container) override;
  Async<Result<void>> stop_at_once(std::string container) override;
  Async<Result<void>> kill(std::string container, int) override;
  Async<bool> has_printed(Seen seen) override;
  Async<std::string> last_words(Seen) override;
  Async<Result<std::string>> changes(std::string) override;
  Async<Result<std::int64_t>> execute(std::string, std::vector<std::string>, double) override;
  Async<Result<void>> make_checkpoint(std::string container, std::string, double) override;
  Async<Result<void>> remove_checkpoint(std::string, std::string) override;
  Async<Result<void>> remove(std::string container) override;
  Async<Result<void>> remove_ended(std::string container) override;
  Async<Result<void>> keep_network(std::string name) override;
  Async<Result<void>> drop_networks() override;
  Async<Result<void>> remove_volume(std::string name) override;
  [[nodiscard]] static std::string folder_of(const std::string& volume);
  Async<Result<ctrl::engine::Version>> ping() override;
  Async<Result<std::vector<std::string>>> images() override;
  Async<Result<About>> about() override;
  Async<Result<std::vector<ctrl::engine::Listed>>> list() override;
  Async<Error> events(std::int64_t, std::function<void()> connected,
                      std::function<void(ctrl::engine::EngineEvent)> sink, std::string) override;
  Async<Result<std::vector<Removal>>> removals(double) override;
  Async<Result<Seen>> with_own_labels(bool, Seen seen) override;

  /// It ends, by itself or by `signal` of a person.
  void end(const std::string& container, Copy how, std::int64_t exit_code);
  void end_dumped();
  void tell(const std::string& action, const std::string& container);
  void tell(const ctrl::engine::EngineEvent& event);
  [[nodiscard]] bool runs() const;
  [[nodiscard]] Box* first() { return boxes_.empty() ? nullptr : &boxes_.begin()->second; }

  std::map<std::string, Box> boxes_;
  std::set<std::string> data_;                  ///< names of volumes
  std::map<std::string, std::string> volumes_;  ///< others, and the moves they were made for
  std::set<std::string> used_;                  ///< of these, by containers of others
  std::set<std::string> swarm_;
  std::string architecture_ = "amd64";
  std::string user_mapping_;
  std::vector<std::string> images_;
  double stream_lasts_ = 1e9;  ///< seconds; of events
  bool is_deaf_ = false;       ///< nobody gets its events
  bool loses_kill_ = false;    ///< the answer to a signal
  std::function<void()> on_execute_;
  std::function<void(const std::string& id)> on_remove_ended_;
  std::vector<std::string> leftovers_;  ///< of the engine before: this one ends them
  std::vector<Removal> removals_;       ///< that it remembers
  std::vector<std::string> acts_;
  std::vector<std::string> conflicts_;
  std::vector<std::string> volume_obstacles_;
  std::string refuses_start_;
  std::string refuses_create_;
  std::string refuses_network_;
  int created_ = 0;
  std::set<std::string> networks_;
  std::string last_words_;
  boost::json::value inspect_;  ///< of the container that is to be moved
  std::int64_t exit_code_ = 0;
  bool is_dead_ = false;
  std::string is_silent_about_;  ///< id of a container that is not answered for
  bool ignores_signals_ = false;
  /// Seconds from CRIU's checkpoint until the engine has seen the end of what it dumped; none:
  /// there is no CRIU.
  std::optional<double> dump_is_seen_after_;
  std::map<std::string, double> dumped_;  ///< container -> when its end is seen
  bool fails_at_start_ = false;
  bool forgets_ = false;  ///< what it did before it was asked for events
  std::function<void()> on_start_;

 private:
  [[nodiscard]] Seen seen(const Box& box) const;
  Async<Result<void>> halt(std::string container);

  Clock& clock_;
  int made_ = 0;
  // One who follows the events, as long as it does.
  struct Listener {
    Listener(FakeEngine& engine, std::function<void(ctrl::engine::EngineEvent)> the_sink)
        : all(engine.listeners_), sink(std::move(the_sink)) {
      all->push_back(this);
    }
    ~Listener() { std::erase(*all, this); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    std::shared_ptr<std::vector<const Listener*>> all;  // coroutines outlive the engine
    std::function<void(ctrl::engine::EngineEvent)> sink;
  };
  std::shared_ptr<std::vector<const Listener*>> listeners_ =
      std::make_shared<std::vector<const Listener*>>();
};

}  // namespace flowcon::cluster::test
