// SPDX-License-Identifier: Apache-2.0
#include "ctrl/pool.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <deque>
#include <map>

#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// A restarting engine answers within seconds; a stopped one is asked at most twelve times a minute.
constexpr auto kFirstPause = 100ms;
constexpr auto kLongestPause = 5000ms;

// What the consumer has to do: look at one container, or compare the whole list.
struct Task {
  enum class Kind { event, compare };
  Kind kind = Kind::event;
  engine::Event event;
};

// What is known of a running container: another pid or start is another life of it.
struct Known {
  std::int64_t pid = 0;
  double started = 0;
};

}  // namespace

struct Pool::Impl : std::enable_shared_from_this<Pool::Impl> {
  Impl(asio::io_context& context, engine::Client& engine_client, std::function<void()> on_change)
      : io(context),
        client(engine_client),
        wake(std::move(on_change)),
        tasks_ready(context),
        pause(context) {
    tasks_ready.expires_at(asio::steady_timer::time_point::max());
  }

  Async<void> watch();
  Async<void> consume();
  Async<void> compare();
  Async<void> look(std::string id, double time, Change::Kind kind);
  void put(Task task) {
    tasks.push_back(std::move(task));
    tasks_ready.cancel();
  }
  void emit(Change change) {
    changes.push_back(std::move(change));
    wake();
  }
  void finish(const std::string& id, double time, std::optional<int> exit_status = {});

  asio::io_context& io;
  engine::Client& client;
  std::function<void()> wake;
  EngineStatus status;
  std::deque<Task> tasks;
  std::vector<Change> changes;
  std::map<std::string, Known> known;
  asio::steady_timer tasks_ready;
  asio::steady_timer pause;
  std::int64_t last_event_ns = 0;
  bool stopped = false;
};

Async<void> Pool::Impl::watch() {
  auto self = shared_from_this();
  auto delay = kFirstPause;
  log::Repeated failures;
  while (!stopped) {
    Result<engine::Version> version = co_await client.ping();
    Error ended;
    if (version) {
      if (!status.is_reachable) {
        log::event(log::Event::engine_found, "engine " + version->engine + " at " +
                                                 client.socket() + ", API " + version->api);
      }
      status = {true, *version, ""};
      delay = kFirstPause;
      failures.reset();
      // Events may be lost while the engine is away, so the list is compared once the stream runs.
      auto connected = [this] { put({Task::Kind::compare, {}}); };
      auto sink = [this](engine::Event event) {
        last_event_ns = std::max(last_event_ns, event.time_ns);
        put({Task::Kind::event, std::move(event)});
      };
      const std::int64_t since = last_event_ns > 0 ? last_event_ns + 1 : 0;
      ended = co_await client.events(since, connected, sink);
    } else {
      ended = version.error();
    }
    if (stopped) co_return;
    if (status.is_reachable || failures.count()) {
      log::event(log::Event::engine_lost, ended.message());
    }
    status.is_reachable = false;
    status.error = ended.message();
    pause.expires_after(delay);
    co_await pause.async_wait(kAwait);
    delay = std::min(delay * 2, std::chrono::duration_cast<decltype(delay)>(kLongestPause));
  }
}

Async<void> Pool::Impl::consume() {
  auto self = shared_from_this();
  while (!stopped) {
    if (tasks.empty()) {
      tasks_ready.expires_at(asio::steady_timer::time_point::max());
      co_await tasks_ready.async_wait(kAwait);
      continue;
    }
    const Task task = std::move(tasks.front());
    tasks.pop_front();
    const double time = static_cast<double>(task.event.time_ns) / 1e9;
    if (task.kind == Task::Kind::compare) {
      co_await compare();
    } else if (task.event.action == "die") {
      finish(task.event.id, time, task.event.exit_status);
    } else if (task.event.action == "start") {
      co_await look(task.event.id, time, Change::Kind::started);
    } else if (known.contains(task.event.id)) {
      co_await look(task.event.id, time, Change::Kind::updated);
    }
  }
}

void Pool::Impl::finish(const std::string& id, double time, std::optional<int> exit_status) {
  if (known.erase(id) == 0) return;
  Change change;
  change.kind = Change::Kind::finished;
  change.container.id = id;
  change.time = time;
  change.exit_status = exit_status;
  emit(std::move(change));
}

Async<void> Pool::Impl::look(std::string id, double time, Change::Kind kind) {
  Result<engine::Container> seen = co_await client.inspect(id);
  if (!seen) {
    // Gone already, or the engine went away: then the next comparison finds out.
    log::debug(seen.error().message());
    co_return;
  }
  if (!seen->running || seen->pid <= 0) co_return;
  const auto before = known.find(id);
  const bool is_same_life = before != known.end() && before->second.pid == seen->pid &&
                            before->second.started == seen->started;
  if (is_same_life && kind == Change::Kind::started) co_return;  // told twice
  if (before != known.end() && !is_same_life) finish(id, 0);     // its end was missed
  known[id] = {seen->pid, seen->started};
  Change change;
  change.kind = is_same_life ? kind : Change::Kind::started;
  change.container = std::move(*seen);
  change.time = time;
  emit(std::move(change));
}

Async<void> Pool::Impl::compare() {
  Result<std::vector<std::string>> running = co_await client.running();
  if (!running) {
    log::warning(running.error().message());
    co_return;
  }
  std::vector<std::string> gone;
  for (const auto& [id, life] : known) {
    if (std::find(running->begin(), running->end(), id) == running->end()) gone.push_back(id);
  }
  for (const std::string& id : gone) finish(id, 0);
  for (const std::string& id : *running) co_await look(id, 0, Change::Kind::started);
}

Pool::Pool(asio::io_context& io, engine::Client& client, std::function<void()> wake)
    : impl_(std::make_shared<Impl>(io, client, std::move(wake))) {}
Pool::~Pool() { stop(); }

void Pool::start() {
  spawn(impl_->io, "engine watch", impl_->watch());
  spawn(impl_->io, "container pool", impl_->consume());
}

void Pool::stop() {
  impl_->stopped = true;
  impl_->tasks_ready.cancel();
  impl_->pause.cancel();
}

std::vector<Change> Pool::take() { return std::exchange(impl_->changes, {}); }
bool Pool::has_changes() const { return !impl_->changes.empty(); }
const EngineStatus& Pool::engine() const { return impl_->status; }

}  // namespace flowcon::ctrl
