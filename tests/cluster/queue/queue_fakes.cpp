// SPDX-License-Identifier: Apache-2.0
#include "tests/cluster/queue/queue_fakes.h"

namespace flowcon::cluster::test {

boost::json::object inspect_of(const std::string& id, const std::string& name) {
  return {{"Id", id},
          {"Name", "/" + name},
          {"Image", "sha256:" + std::string(64, 'e')},
          {"Path", "python3"},
          {"Args", boost::json::array{name + ".py"}},
          {"State", {{"Status", "created"}}},
          {"Config", {{"Image", "trainer"}, {"Labels", boost::json::object()}}},
          {"HostConfig", boost::json::object()}};
}

Async<Result<Seen>> QueueEngine::look(std::string name) {
  Result<Seen> seen = co_await FakeEngine::look(std::move(name));
  if (!seen) co_return seen;
  seen->was_killed_for_memory = oom_.contains(seen->id);
  boost::json::object inspect = inspects_.at(seen->id);
  inspect["Name"] = "/" + seen->name;
  boost::json::object labels;
  for (const auto& [label, value] : seen->labels) labels[label] = value;
  inspect["Config"].as_object()["Labels"] = labels;
  seen->inspect = inspect;
  co_return seen;
}

Async<Result<std::vector<ctrl::engine::Listed>>> QueueEngine::list() {
  if (unheard_lists_ > 0) {
    --unheard_lists_;
    co_return errno_error(ETIMEDOUT, "listing containers");
  }
  std::vector<ctrl::engine::Listed> all;
  for (const auto& [id, box] : boxes_) {
    const char* state = box.copy == Copy::created   ? "created"
                        : box.copy == Copy::running ? "running"
                                                    : "exited";
    all.push_back({id, state, box.labels, "", {}, ""});
  }
  co_return all;
}

Async<Result<void>> QueueEngine::start(std::string container, std::string checkpoint) {
  if (is_start_unheard_) {
    is_start_unheard_ = false;
    std::string id = container;
    (void)co_await FakeEngine::start(std::move(container), std::move(checkpoint));
    co_return errno_error(ETIMEDOUT, "starting it");
  }
  if (!lacks_.empty()) {
    acts_.emplace_back("start");
    co_return errno_error(ENOENT, lacks_);
  }
  oom_.erase(container);
  co_return co_await FakeEngine::start(std::move(container), std::move(checkpoint));
}

Async<Result<std::string>> QueueEngine::create(std::string name, boost::json::object body,
                                               std::string image) {
  std::string called = name;
  const boost::json::object copy = body;
  Result<std::string> made =
      co_await FakeEngine::create(std::move(name), std::move(body), std::move(image));
  if (!made) co_return made;
  inspects_[*made] = inspect_of(*made, called);
  inspects_[*made]["HostConfig"] = copy.at("HostConfig");
  inspects_[*made]["Config"].as_object()["Env"] = copy.at("Env");
  tell("create", *made);
  if (std::exchange(is_made_late_, false)) co_return bad_input("the name is in use");
  co_return made;
}

std::string QueueEngine::create(const std::string& name,
                                const std::map<std::string, std::string>& labels,
                                const boost::json::object& host_config) {
  Box box;
  const int number = tickets_++;
  box.id =
      std::string(number < 6 ? 63 : 62, '0') +
      (number < 6 ? std::string(1, static_cast<char>('a' + number)) : std::to_string(10 + number));
  box.name = name;
  box.labels = labels;
  inspects_[box.id] = inspect_of(box.id, name);
  inspects_[box.id]["HostConfig"] = host_config;
  const std::string id = box.id;
  boxes_[id] = std::move(box);
  tell("create", id);
  return id;
}

void QueueEngine::end_with(const std::string& id, std::int64_t status) {
  end(id, status == 0 ? Copy::finished : Copy::failed, status);
}

void QueueEngine::kill_for_memory(const std::string& id) {
  oom_.insert(id);
  end(id, Copy::failed, 137);
}

bool QueueEngine::runs(const std::string& id) const {
  return boxes_.contains(id) && boxes_.at(id).copy == Copy::running;
}

Async<Result<void>> QueueFakeRows::save(ctrl::store::QueueRow row) {
  if (is_full_) co_return errno_error(ENOSPC, "writing the journal");
  if (is_locked_) {
    const Result<queue::JobEntry> entry = queue::parse_entry(row.entry);
    const bool is_one = entry && is_locked_(*entry);
    if (is_one) is_locked_ = nullptr;
    if (is_one) co_return bad_input("database is locked");
  }
  rows_[row.id] = std::move(row);
  co_return Result<void>();
}

Async<Result<std::vector<ctrl::store::QueueRow>>> QueueFakeRows::read(std::size_t most) {
  if (is_unreadable_) co_return errno_error(EIO, "reading the journal");
  std::vector<ctrl::store::QueueRow> all;
  for (const auto& [id, row] : rows_) {
    const bool is_kept = !row.ended || all.size() < std::min(most, read_at_most_);
    if (is_kept) all.push_back(row);
  }
  co_return all;
}

Async<Result<bool>> QueueFakeRows::has(std::string id) {
  if (is_unreadable_) co_return errno_error(EIO, "reading the journal");
  co_return rows_.contains(id);
}

Async<Result<std::optional<ctrl::store::QueueRow>>> QueueFakeRows::find(std::string name) {
  for (const auto& [id, row] : rows_) {
    const Result<queue::JobEntry> entry = queue::parse_entry(row.entry);
    if (row.ended && (id == name || (entry && entry->name == name))) co_return row;
  }
  co_return std::optional<ctrl::store::QueueRow>();
}

Async<Result<void>> QueueFakeRows::drop(std::string id) {
  rows_.erase(id);
  co_return Result<void>();
}

Async<Result<void>> QueueFakeRows::forget(std::size_t most, std::vector<std::string> there) {
  kept_ = most;
  there_ = std::move(there);
  co_return Result<void>();
}

bool QueueFakeRows::is_whole() const { return is_whole_; }

std::optional<ctrl::InUse> QueueHost::use_of(const std::string& id) const {
  const auto found = uses_.find(id);
  return found == uses_.end() ? std::nullopt : std::optional(found->second);
}

void QueueHost::tell(ctrl::Event event) { told_.push_back(std::move(event)); }

QueueBench::QueueBench() {
  host.view_.cores = 4;
  host.view_.memory = 10 * kGiB;
  begin();
}

QueueBench::~QueueBench() {
  queue->end();
  do poll();
  while (clock.advance(1e12));
}

void QueueBench::begin() {
  queue = std::make_unique<queue::Queue>(
      queue::World{host, engine, clock, rows, network, moves,
                   [this](const ctrl::estimate::Command& command) {
                     const auto found = estimates.find(command.command);
                     return found == estimates.end() ? std::vector<ctrl::estimate::LabelEstimate>()
                                                     : found->second;
                   },
                   [this] { return learnings; }, [this] { return booted; }, most_jobs});
  ctrl::spawn(io, "queue", queue->begin());
  run(3);
}

void QueueBench::restart() {
  queue->end();
  former.push_back(std::move(queue));
  begin();
}

void QueueBench::poll() {
  io.restart();
  io.poll();
}

void QueueBench::run(double seconds) {
  const double end = clock.steady() + seconds;
  double next = clock.steady();
  for (;;) {
    poll();
    if (clock.steady() >= next) {
      if (queue && passes) queue->look();
      next = clock.steady() + 0.5;
      poll();
    }
    const double until = std::min(end, next);
    while (clock.advance(until)) poll();
    if (clock.steady() >= end) break;
  }
  poll();
}

QueueBench::Answered QueueBench::call(const std::string& method, const std::string& target,
                                      const std::string& body) {
  const auto answered = std::make_shared<Answered>();
  const ctrl::api::Routes routes = queue->routes();
  ctrl::api::Request request;
  request.method = method;
  request.target = target;
  request.body = body;
  ctrl::spawn(io, "call", answer(routes, std::move(request), answered));
  run(0.1);
  return *answered;
}

Async<void> QueueBench::answer(ctrl::api::Routes routes, ctrl::api::Request request,
                               std::shared_ptr<Answered> answered) {
  const ctrl::api::Response response = co_await ctrl::api::answer(&routes, std::move(request));
  answered->status = static_cast<int>(response.status);
  const Result<boost::json::value> body = parse_json(response.body);
  if (body) answered->body = *body;
}

boost::json::value QueueBench::job(const std::string& name) {
  return call("GET", "/v1/queue/" + name + "?decisions=1").body;
}

std::string QueueBench::submit(const std::string& name, const std::string& request,
                               std::map<std::string, std::string> labels) {
  labels["flowcon.queue"] = "true";
  labels["flowcon.request"] = request;
  const std::string id = engine.create(name, labels);
  run(1.6);
  return id;
}

void QueueBench::expect_seconds(const std::string& name, double seconds) {
  estimates["python3 " + name + ".py"] = {
      {"seconds_train", seconds, seconds, ctrl::estimate::EstimateBasis::repeat, 5}};
}

}  // namespace flowcon::cluster::test
