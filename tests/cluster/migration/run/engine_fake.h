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

  [[nodiscard]] double steady() const override { return now_; }
  [[nodiscard]] double wall() const override { return 1.8e9 + now_; }
  Async<void> pause(double seconds) override {
    FakeAlarm alarm(*this);
    co_await alarm.wait(seconds);
  }
  std::unique_ptr<Alarm> make_alarm() override { return std::make_unique<FakeAlarm>(*this); }

  /// To the next one that waits; false, and to `end`, where that would be after it.
  bool advance(double end) {
    if (waiting_.empty() || waiting_.begin()->first > end) {
      now_ = std::max(now_, end);
      return false;
    }
    const auto first = waiting_.begin();
    now_ = std::max(now_, first->first);
    first->second->cancel();
    waiting_.erase(first);
    return true;
  }

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

  Async<Result<Seen>> look(std::string name) override {
    const bool is_silent = is_dead_ || name == is_silent_about_;
    if (is_silent) co_return bad_input("the engine does not answer");
    end_dumped();
    for (const auto& [id, box] : boxes_) {
      if (id == name || box.name == name) co_return seen(box);
    }
    co_return errno_error(ENOENT, "no container is called " + name);
  }
  Async<Result<Seen>> look_made(std::string id) override {
    if (is_dead_) co_return bad_input("the engine does not answer");
    for (const auto& [container, box] : boxes_) {
      const auto label = box.labels.find(kMoveLabel);
      if (label != box.labels.end() && label->second == id) co_return seen(box);
    }
    Seen none;
    none.copy = Copy::absent;
    co_return none;
  }
  Async<Result<std::vector<std::string>>> volumes_made(std::string id) override {
    std::vector<std::string> names;
    for (const auto& [name, move] : volumes_) {
      if (move == id) names.push_back(name);
    }
    co_return names;
  }
  Async<Result<std::vector<DataVolume>>> data_volumes() override {
    std::vector<DataVolume> all;
    for (const std::string& name : data_) all.push_back({name, folder_of(name)});
    co_return all;
  }
  Async<Result<Volumes>> look_at_volumes(Description description) override {
    Volumes volumes;
    for (const TravellingVolume& one : description.volumes) {
      volumes.planned.push_back({one.name, {}, 0});
    }
    volumes.obstacles = volume_obstacles_;
    co_return volumes;
  }
  Async<Result<Conflicts>> conflicts(std::string, Plan plan) override {
    Conflicts found{conflicts_, "/", "runc"};
    if (!runs_on(architecture_, plan.image.architecture)) {
      found.reasons.push_back(image_is_for(plan.image.architecture));
    }
    const bool is_same = is_same_mapping(user_mapping_, plan.user_mapping);
    if (!is_same) found.reasons.emplace_back(kOtherUsers);
    co_return found;
  }
  Async<Result<std::string>> root() override { co_return std::string("/"); }
  Async<Result<std::string>> why_no_criu() override { co_return std::string(); }
  Async<Result<std::string>> containers_folder() override { co_return std::string("/fake"); }
  Async<Result<std::string>> make(std::string name, Plan plan, std::string id,
                                  std::string) override {
    Box box;
    for (const Part& part : plan.parts) {
      const std::string data = data_volume_at(plan.body, part.where);
      if (part.kind != PartKind::volume || data.empty()) continue;
      data_.insert(data);
      box.volumes.push_back({data, part.where, folder_of(data)});
    }
    for (const PlannedVolume& volume : plan.volumes) {
      if (!is_data_volume(volume.name)) volumes_[volume.name] = id;
    }
    box.id = std::string(64, static_cast<char>('a' + made_ % 6));
    box.id.replace(0, 1, 1, static_cast<char>(made_ < 6 ? box.id[1] : '0' + made_ / 6 % 10));
    ++made_;
    box.name = std::move(name);
    box.labels[kMoveLabel] = std::move(id);
    box.image = plan.image.id;
    std::string made = box.id;
    boxes_[made] = std::move(box);
    co_return made;
  }
  Async<Result<std::string>> create(std::string name, boost::json::object body,
                                    std::string) override {
    acts_.push_back("create " + name);
    if (!refuses_create_.empty()) co_return bad_input(refuses_create_);
    for (const auto& [id, other] : boxes_) {
      if (other.name == name) co_return bad_input("the name is in use");
    }
    Box box;
    box.id = std::string(62, 'c') + std::to_string(10 + created_++);
    box.name = std::move(name);
    const boost::json::value whole(body);
    for (const auto& [label, value] : object_of(whole, "Labels")) {
      box.labels[label] = std::string(value.get_string());
    }
    std::string made = box.id;
    boxes_[made] = std::move(box);
    co_return made;
  }
  Async<Result<void>> set_memory(std::string, double bytes, double) override {
    acts_.push_back("memory " + std::to_string(static_cast<std::int64_t>(bytes)));
    co_return Result<void>();
  }
  Async<Result<void>> set_policy(std::string container, boost::json::object policy) override {
    acts_.push_back(policy.empty() ? "disarm" : "arm");
    if (policy.empty()) policy = {{"Name", "no"}};
    boxes_.at(container).policy = std::move(policy);
    co_return Result<void>();
  }
  Async<Result<void>> start(std::string container, std::string) override {
    acts_.emplace_back("start");
    if (!refuses_start_.empty()) co_return bad_input(refuses_start_);
    Box& box = boxes_.at(container);
    ++box.lives;
    box.copy = Copy::running;
    if (on_start_) on_start_();
    tell("start", container);
    if (fails_at_start_) end(container, Copy::failed, 1);
    co_return Result<void>();
  }
  Async<Result<void>> stop(std::string container) override { return halt(std::move(container)); }
  Async<Result<void>> stop_at_once(std::string container) override {
    return halt(std::move(container));
  }
  Async<Result<void>> kill(std::string container, int) override {
    acts_.emplace_back("kill");
    Box& box = boxes_.at(container);
    if (box.copy != Copy::running) co_return bad_input("it is not running");
    if (ignores_signals_) co_return Result<void>();
    box.is_saved = true;
    end(container, exit_code_ == 0 ? Copy::finished : Copy::failed, exit_code_);
    if (loses_kill_) co_return errno_error(ECONNRESET, "sending a signal");
    co_return Result<void>();
  }
  Async<bool> has_printed(Seen seen) override { co_return seen.copy == Copy::running; }
  Async<std::string> last_words(Seen) override { co_return last_words_; }
  Async<Result<std::string>> changes(std::string) override { co_return std::string("[]"); }
  Async<Result<std::int64_t>> execute(std::string, std::vector<std::string>, double) override {
    if (on_execute_) on_execute_();
    co_return std::int64_t{0};
  }
  Async<Result<void>> make_checkpoint(std::string container, std::string, double) override {
    acts_.emplace_back("checkpoint");
    if (!dump_is_seen_after_) co_return bad_input("there is no CRIU here");
    boxes_.at(container).is_saved = true;
    dumped_.emplace(container, clock_.steady() + *dump_is_seen_after_);
    co_return Result<void>();
  }
  Async<Result<void>> remove_checkpoint(std::string, std::string) override {
    co_return Result<void>();
  }
  Async<Result<void>> remove(std::string container) override {
    acts_.emplace_back("remove");
    boxes_.erase(container);
    co_return Result<void>();
  }
  Async<Result<void>> remove_ended(std::string container) override {
    if (on_remove_ended_) on_remove_ended_(container);
    const auto found = boxes_.find(container);
    const bool is_running = found != boxes_.end() && found->second.copy == Copy::running;
    if (is_running) co_return Result<void>();
    co_return co_await remove(std::move(container));
  }
  Async<Result<void>> keep_network(std::string name) override {
    if (!refuses_network_.empty()) co_return bad_input(refuses_network_);
    networks_.insert(std::move(name));
    co_return Result<void>();
  }
  Async<Result<void>> drop_networks() override { co_return Result<void>(); }
  Async<Result<void>> remove_volume(std::string name) override {
    data_.erase(name);
    if (!used_.contains(name)) volumes_.erase(name);
    co_return Result<void>();
  }
  [[nodiscard]] static std::string folder_of(const std::string& volume) {
    return "/fake/volumes/" + volume + "/_data";
  }
  Async<Result<ctrl::engine::Version>> ping() override { co_return ctrl::engine::Version(); }
  Async<Result<std::vector<std::string>>> images() override { co_return images_; }
  Async<Result<About>> about() override { co_return About{architecture_, swarm_, user_mapping_}; }
  Async<Result<std::vector<ctrl::engine::Listed>>> list() override {
    std::vector<ctrl::engine::Listed> all;
    for (const auto& [id, box] : boxes_) {
      const char* state = box.copy == Copy::running ? "running" : "exited";
      ctrl::engine::Listed one{id, state, box.labels, box.image, {}, ""};
      for (const VolumePlace& volume : box.volumes) one.volumes.push_back(volume.name);
      all.push_back(std::move(one));
    }
    co_return all;
  }
  Async<Error> events(std::int64_t, std::function<void()> connected,
                      std::function<void(ctrl::engine::Event)> sink, std::string) override {
    if (is_deaf_) co_return errno_error(ETIMEDOUT, "asking for events");
    connected();
    const Listener listener(*this, std::move(sink));
    // What it remembers, as an engine does.
    for (const auto& [id, box] : boxes_) {
      if (box.lives > 0 && !forgets_) listener.sink({"start", id, 0, {}, {}});
    }
    for (const std::string& id : leftovers_) {
      boxes_.at(id).copy = Copy::finished;
      tell("kill", id);
    }
    leftovers_.clear();
    co_await clock_.pause(stream_lasts_);
    co_return bad_input("it has ended");
  }
  Async<Result<std::vector<Removal>>> removals(double) override { co_return removals_; }
  Async<Result<Seen>> with_own_labels(bool, Seen seen) override { co_return seen; }

  /// It ends, by itself or by `signal` of a person.
  void end(const std::string& container, Copy how, std::int64_t exit_code) {
    Box& box = boxes_.at(container);
    box.copy = how;
    box.exit_code = exit_code;
    tell("die", container);
  }
  void end_dumped() {
    for (auto dump = dumped_.begin(); dump != dumped_.end();) {
      const bool is_seen = clock_.steady() >= dump->second;
      if (is_seen) end(dump->first, Copy::failed, 137);
      dump = is_seen ? dumped_.erase(dump) : std::next(dump);
    }
  }
  void tell(const std::string& action, const std::string& container) {
    ctrl::engine::Event event;
    event.action = action;
    event.id = container;
    event.time_ns = static_cast<std::int64_t>(clock_.wall() * 1e9);
    tell(event);
  }
  void tell(const ctrl::engine::Event& event) {
    for (const Listener* listener : std::vector<const Listener*>(*listeners_))
      listener->sink(event);
  }
  [[nodiscard]] bool runs() const {
    return std::any_of(boxes_.begin(), boxes_.end(),
                       [](const auto& one) { return one.second.copy == Copy::running; });
  }
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
  [[nodiscard]] Seen seen(const Box& box) const {
    Seen seen;
    seen.copy = box.copy;
    seen.id = box.id;
    seen.name = box.name;
    seen.exit_code = box.exit_code;
    seen.started = box.lives == 0 ? "" : "180000" + std::to_string(box.lives);
    seen.restart_policy = box.policy;
    seen.labels = box.labels;
    seen.inspect = inspect_;
    return seen;
  }
  Async<Result<void>> halt(std::string container) {
    acts_.emplace_back("stop");
    Box& box = boxes_.at(container);
    if (box.copy == Copy::running) end(container, Copy::stopped, 143);
    co_return Result<void>();
  }

  Clock& clock_;
  int made_ = 0;
  // One who follows the events, as long as it does.
  struct Listener {
    Listener(FakeEngine& engine, std::function<void(ctrl::engine::Event)> the_sink)
        : all(engine.listeners_), sink(std::move(the_sink)) {
      all->push_back(this);
    }
    ~Listener() { std::erase(*all, this); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    std::shared_ptr<std::vector<const Listener*>> all;  // coroutines outlive the engine
    std::function<void(ctrl::engine::Event)> sink;
  };
  std::shared_ptr<std::vector<const Listener*>> listeners_ =
      std::make_shared<std::vector<const Listener*>>();
};

}  // namespace flowcon::cluster::test
