// SPDX-License-Identifier: Apache-2.0
#include "tests/cluster/migration/run/engine_fake.h"

namespace flowcon::cluster::test {

double FakeClock::steady() const { return now_; }

double FakeClock::wall() const { return 1.8e9 + now_; }

Async<void> FakeClock::pause(double seconds) {
  FakeAlarm alarm(*this);
  co_await alarm.wait(seconds);
}

std::unique_ptr<Alarm> FakeClock::make_alarm() { return std::make_unique<FakeAlarm>(*this); }

bool FakeClock::advance(double end) {
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

Async<Result<Seen>> FakeEngine::look(std::string name) {
  const bool is_silent = is_dead_ || name == is_silent_about_;
  if (is_silent) co_return bad_input("the engine does not answer");
  end_dumped();
  for (const auto& [id, box] : boxes_) {
    if (id == name || box.name == name) co_return seen(box);
  }
  co_return errno_error(ENOENT, "no container is called " + name);
}

Async<Result<Seen>> FakeEngine::look_made(std::string id) {
  if (is_dead_) co_return bad_input("the engine does not answer");
  for (const auto& [container, box] : boxes_) {
    const auto label = box.labels.find(kMoveLabel);
    if (label != box.labels.end() && label->second == id) co_return seen(box);
  }
  Seen none;
  none.copy = Copy::absent;
  co_return none;
}

Async<Result<std::vector<std::string>>> FakeEngine::volumes_made(std::string id) {
  std::vector<std::string> names;
  for (const auto& [name, move] : volumes_) {
    if (move == id) names.push_back(name);
  }
  co_return names;
}

Async<Result<std::vector<DataVolume>>> FakeEngine::data_volumes() {
  std::vector<DataVolume> all;
  for (const std::string& name : data_) all.push_back({name, folder_of(name)});
  co_return all;
}

Async<Result<Volumes>> FakeEngine::look_at_volumes(Description description) {
  Volumes volumes;
  for (const TravellingVolume& one : description.volumes) {
    volumes.planned.push_back({one.name, {}, 0});
  }
  volumes.obstacles = volume_obstacles_;
  co_return volumes;
}

Async<Result<Conflicts>> FakeEngine::conflicts(std::string, Plan plan) {
  Conflicts found{conflicts_, "/", "runc"};
  if (!runs_on(architecture_, plan.image.architecture)) {
    found.reasons.push_back(image_is_for(plan.image.architecture));
  }
  const bool is_same = is_same_mapping(user_mapping_, plan.user_mapping);
  if (!is_same) found.reasons.emplace_back(kOtherUsers);
  co_return found;
}

Async<Result<std::string>> FakeEngine::root() { co_return std::string("/"); }

Async<Result<std::string>> FakeEngine::why_no_criu() { co_return std::string(); }

Async<Result<std::string>> FakeEngine::containers_folder() { co_return std::string("/fake"); }

Async<Result<std::string>> FakeEngine::make(std::string name, Plan plan, std::string id,
                                            std::string) {
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

Async<Result<std::string>> FakeEngine::create(std::string name, boost::json::object body,
                                              std::string) {
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

Async<Result<void>> FakeEngine::set_memory(std::string, double bytes, double) {
  acts_.push_back("memory " + std::to_string(static_cast<std::int64_t>(bytes)));
  co_return Result<void>();
}

Async<Result<void>> FakeEngine::set_policy(std::string container, boost::json::object policy) {
  acts_.push_back(policy.empty() ? "disarm" : "arm");
  if (policy.empty()) policy = {{"Name", "no"}};
  boxes_.at(container).policy = std::move(policy);
  co_return Result<void>();
}

Async<Result<void>> FakeEngine::start(std::string container, std::string) {
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

Async<Result<void>> FakeEngine::stop(std::string container) { return halt(std::move(container)); }

Async<Result<void>> FakeEngine::stop_at_once(std::string container) {
  return halt(std::move(container));
}

Async<Result<void>> FakeEngine::kill(std::string container, int) {
  acts_.emplace_back("kill");
  Box& box = boxes_.at(container);
  if (box.copy != Copy::running) co_return bad_input("it is not running");
  if (ignores_signals_) co_return Result<void>();
  box.is_saved = true;
  end(container, exit_code_ == 0 ? Copy::finished : Copy::failed, exit_code_);
  if (loses_kill_) co_return errno_error(ECONNRESET, "sending a signal");
  co_return Result<void>();
}

Async<bool> FakeEngine::has_printed(Seen seen) { co_return seen.copy == Copy::running; }

Async<std::string> FakeEngine::last_words(Seen) { co_return last_words_; }

Async<Result<std::string>> FakeEngine::changes(std::string) { co_return std::string("[]"); }

Async<Result<std::int64_t>> FakeEngine::execute(std::string, std::vector<std::string>, double) {
  if (on_execute_) on_execute_();
  co_return std::int64_t{0};
}

Async<Result<void>> FakeEngine::make_checkpoint(std::string container, std::string, double) {
  acts_.emplace_back("checkpoint");
  if (!dump_is_seen_after_) co_return bad_input("there is no CRIU here");
  boxes_.at(container).is_saved = true;
  dumped_.emplace(container, clock_.steady() + *dump_is_seen_after_);
  co_return Result<void>();
}

Async<Result<void>> FakeEngine::remove_checkpoint(std::string, std::string) {
  co_return Result<void>();
}

Async<Result<void>> FakeEngine::remove(std::string container) {
  acts_.emplace_back("remove");
  boxes_.erase(container);
  co_return Result<void>();
}

Async<Result<void>> FakeEngine::remove_ended(std::string container) {
  if (on_remove_ended_) on_remove_ended_(container);
  const auto found = boxes_.find(container);
  const bool is_running = found != boxes_.end() && found->second.copy == Copy::running;
  if (is_running) co_return Result<void>();
  co_return co_await remove(std::move(container));
}

Async<Result<void>> FakeEngine::keep_network(std::string name) {
  if (!refuses_network_.empty()) co_return bad_input(refuses_network_);
  networks_.insert(std::move(name));
  co_return Result<void>();
}

Async<Result<void>> FakeEngine::drop_networks() { co_return Result<void>(); }

Async<Result<void>> FakeEngine::remove_volume(std::string name) {
  data_.erase(name);
  if (!used_.contains(name)) volumes_.erase(name);
  co_return Result<void>();
}

std::string FakeEngine::folder_of(const std::string& volume) {
  return "/fake/volumes/" + volume + "/_data";
}

Async<Result<ctrl::engine::Version>> FakeEngine::ping() { co_return ctrl::engine::Version(); }

Async<Result<std::vector<std::string>>> FakeEngine::images() { co_return images_; }

Async<Result<About>> FakeEngine::about() { co_return About{architecture_, swarm_, user_mapping_}; }

Async<Result<std::vector<ctrl::engine::Listed>>> FakeEngine::list() {
  std::vector<ctrl::engine::Listed> all;
  for (const auto& [id, box] : boxes_) {
    const char* state = box.copy == Copy::running ? "running" : "exited";
    ctrl::engine::Listed one{id, state, box.labels, box.image, {}, ""};
    for (const VolumePlace& volume : box.volumes) one.volumes.push_back(volume.name);
    all.push_back(std::move(one));
  }
  co_return all;
}

Async<Error> FakeEngine::events(std::int64_t, std::function<void()> connected,
                                std::function<void(ctrl::engine::EngineEvent)> sink, std::string) {
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

Async<Result<std::vector<Removal>>> FakeEngine::removals(double) { co_return removals_; }

Async<Result<Seen>> FakeEngine::with_own_labels(bool, Seen seen) { co_return seen; }

void FakeEngine::end(const std::string& container, Copy how, std::int64_t exit_code) {
  Box& box = boxes_.at(container);
  box.copy = how;
  box.exit_code = exit_code;
  tell("die", container);
}

void FakeEngine::end_dumped() {
  for (auto dump = dumped_.begin(); dump != dumped_.end();) {
    const bool is_seen = clock_.steady() >= dump->second;
    if (is_seen) end(dump->first, Copy::failed, 137);
    dump = is_seen ? dumped_.erase(dump) : std::next(dump);
  }
}

void FakeEngine::tell(const std::string& action, const std::string& container) {
  ctrl::engine::EngineEvent event;
  event.action = action;
  event.id = container;
  event.time_ns = static_cast<std::int64_t>(clock_.wall() * 1e9);
  tell(event);
}

void FakeEngine::tell(const ctrl::engine::EngineEvent& event) {
  for (const Listener* listener : std::vector<const Listener*>(*listeners_)) listener->sink(event);
}

bool FakeEngine::runs() const {
  return std::any_of(boxes_.begin(), boxes_.end(),
                     [](const auto& one) { return one.second.copy == Copy::running; });
}

Seen FakeEngine::seen(const Box& box) const {
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

Async<Result<void>> FakeEngine::halt(std::string container) {
  acts_.emplace_back("stop");
  Box& box = boxes_.at(container);
  if (box.copy == Copy::running) end(container, Copy::stopped, 143);
  co_return Result<void>();
}

}  // namespace flowcon::cluster::test
