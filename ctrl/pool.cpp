// SPDX-License-Identifier: Apache-2.0
#include "ctrl/pool.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <limits>
#include <map>
#include <set>

#include "base/seconds.h"
#include "ctrl/await.h"
#include "ctrl/log.h"
#include "ctrl/look_queue.h"
#include "ctrl/settings.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// A restarting engine answers within seconds; a stopped one is asked at most twelve times a minute.
constexpr auto kFirstPause = 100ms;
constexpr auto kLongestPause = 5000ms;

// What is known of a running container: another pid or start is another life of it.
struct Known {
  std::int64_t pid = 0;
  double started = 0;
  bool is_frozen = false;
  bool has_labels = true;  ///< it is known which are its own
  /// What `docker update` gives; its event may be lost.
  std::uint64_t cpu_shares = 0;
  std::int64_t cpu_quota_us = 0, cpu_period_us = 0, nano_cpus = 0;
  bool operator==(const Known&) const = default;
};

// One failure is no news: what was asked may be on its way to its end.
constexpr int kNewsFailures = 3;

// True if the kernel has no such process, so that a container said to run in it does not.
bool has_no_process(std::int64_t pid) {
  return pid > 0 && pid <= std::numeric_limits<pid_t>::max() &&
         ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace

struct Pool::Impl : std::enable_shared_from_this<Pool::Impl> {
  Impl(asio::io_context& context, engine::Client& engine_client, bool images_count,
       std::function<void()> on_change, PoolTimes often)
      : io(context),
        client(engine_client),
        image_labels(images_count),
        wake(std::move(on_change)),
        times(often),
        pause(context),
        pulse(context),
        retry(context) {}

  Async<void> watch();
  Async<void> prove_life();
  Async<void> compare(bool is_whole);
  Async<void> look(Look order);
  Async<Result<engine::Container>> see(Look order);
  void take_event(const engine::EngineEvent& event);
  void look_at_due();
  void take_seen(const Look& order, engine::Container seen);
  void emit(Change change) {
    changes.push_back(std::move(change));
    wake();
  }
  void finish(const std::string& id, double time, std::optional<int> exit_status = {});

  asio::io_context& io;
  engine::Client& client;
  bool image_labels;
  std::function<void()> wake;
  PoolTimes times;
  EngineStatus status;
  LookQueue looks;
  log::Repeated look_failures;
  std::string look_problem;  ///< of the last look that failed
  std::vector<Change> changes;
  std::map<std::string, Known> known;
  std::set<std::string>
      doubted;  ///< known ones without a process, which the engine was asked about
  asio::steady_timer pause;
  asio::steady_timer pulse;
  asio::steady_timer retry;
  std::function<void()> end_stream;  ///< of the events, while there is one
  std::optional<Error> silence;      ///< why it was ended from here
  double next_compare = 0;
  bool is_comparing = false;
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
        log::event(log::MessageId::engine_found, "engine " + version->engine + " at " +
                                                     client.socket() + ", API " + version->api);
      }
      status = {true, *version, ""};
      silence.reset();
      delay = kFirstPause;
      failures.reset();
      auto connected = [this, self](std::function<void()> end) {
        end_stream = std::move(end);
        // Events may be lost while the engine is away, so the list is compared once the stream
        // runs.
        spawn(io, "container list", compare(true));
      };
      auto sink = [this](engine::EngineEvent event) {
        last_event_ns = std::max(last_event_ns, event.time_ns);
        take_event(event);
      };
      const std::int64_t since = last_event_ns > 0 ? last_event_ns + 1 : 0;
      ended = co_await client.events(since, connected, sink);
      end_stream = nullptr;
      if (silence) ended = *std::exchange(silence, std::nullopt);
    } else {
      ended = version.error();
    }
    if (stopped) co_return;
    if (status.is_reachable || failures.count()) {
      log::event(log::MessageId::engine_lost, ended.message());
    }
    status.is_reachable = false;
    status.error = ended.message();
    pause.expires_after(delay);
    co_await pause.async_wait(kAwait);
    delay = std::min(delay * 2, std::chrono::duration_cast<decltype(delay)>(kLongestPause));
  }
}

// A stream of events that is silent looks the same whether nothing happens or nobody is there.
Async<void> Pool::Impl::prove_life() {
  auto self = shared_from_this();
  while (!stopped) {
    pulse.expires_after(nanoseconds(times.ping_every));
    co_await pulse.async_wait(kAwait);
    if (stopped) co_return;
    if (!status.is_reachable || !end_stream) continue;
    Result<engine::Version> alive = co_await client.ping();
    if (stopped || !end_stream) continue;
    if (!alive) {
      silence = alive.error();
      end_stream();
    } else if (steady_seconds() >= next_compare) {
      spawn(io, "container list", compare(false));
    }
  }
}

void Pool::Impl::take_event(const engine::EngineEvent& event) {
  const double time = static_cast<double>(event.time_ns) / 1e9;
  if (event.action == "die") {
    looks.end(event.id);
    // Also of one that is not known yet: it may be under control by command.
    finish(event.id, time, event.exit_status);
    return;
  }
  // An update of one that is not known may be of one that was missed.
  looks.ask(event.id, time, event.action != "start");
  look_at_due();
}

void Pool::Impl::look_at_due() {
  if (stopped) return;
  for (Look& order : looks.take(steady_seconds())) spawn(io, "container", look(std::move(order)));
  const std::optional<double> next = looks.next();
  if (!next) return;
  retry.expires_at(asio::steady_timer::time_point(nanoseconds(*next)));
  retry.async_wait([self = shared_from_this()](const boost::system::error_code& code) {
    if (!code) self->look_at_due();
  });
}

void Pool::Impl::finish(const std::string& id, double time, std::optional<int> exit_status) {
  doubted.erase(id);
  known.erase(id);
  Change change;
  change.kind = Change::Kind::finished;
  change.container.id = id;
  change.time = time;
  change.exit_status = exit_status;
  emit(std::move(change));
}

// The container, and which of its labels are its own.
Async<Result<engine::Container>> Pool::Impl::see(Look order) {
  std::string id = order.id;
  Result<engine::Container> seen = co_await client.inspect(std::move(id), order.patience);
  if (!seen || image_labels || !has_settings(seen->labels)) co_return seen;
  std::string image = seen->image_id;
  Result<Labels> given = bad_input("the engine does not say which image it has");
  if (!image.empty()) given = co_await client.image_labels(std::move(image), order.patience);
  if (!given) seen->label_problem = given.error().message();
  // Until it is known all count as the image's.
  Labels own = own_labels(seen->labels, given ? *given : seen->labels);
  for (const auto& [label, value] : seen->labels) {
    if (!own.contains(label)) seen->image_labels[label] = value;
  }
  seen->labels = std::move(own);
  co_return seen;
}

Async<void> Pool::Impl::look(Look order) {
  auto self = shared_from_this();
  Look asked = order;
  Result<engine::Container> seen = co_await see(std::move(asked));
  if (stopped) co_return;
  const bool is_gone = is_absent(seen);
  const bool is_stale = looks.is_stale(order.id);
  const std::string problem = seen ? seen->label_problem : seen.error().message();
  if (!is_gone && !problem.empty()) {
    look_problem = "container " + order.id.substr(0, 12) + ": " + problem;
    if (look_failures.count()) log::warning(look_problem + "; asking again");
  }
  looks.finish(order.id, is_gone || problem.empty(), steady_seconds());
  if (seen && !is_stale) take_seen(order, std::move(*seen));
  look_at_due();
}

void Pool::Impl::take_seen(const Look& order, engine::Container seen) {
  if (!seen.running || seen.pid <= 0) return;
  const std::string id = seen.id;
  const Known life{
      seen.pid,        seen.started,      seen.is_frozen,     seen.label_problem.empty(),
      seen.cpu_shares, seen.cpu_quota_us, seen.cpu_period_us, seen.nano_cpus};
  const auto before = known.find(id);
  const bool is_known = before != known.end();
  const bool is_same_life =
      is_known && before->second.pid == life.pid && before->second.started == life.started;
  if (is_same_life && before->second == life && !order.is_update) return;  // told twice
  const bool had_labels = !is_same_life || before->second.has_labels;
  if (is_known && !is_same_life) finish(id, 0);  // its end was missed
  known[id] = life;
  Change change;
  change.kind = is_same_life && had_labels ? Change::Kind::updated : Change::Kind::started;
  change.container = std::move(seen);
  change.time = order.time;
  emit(std::move(change));
}

// `is_whole`: events may have been lost, so that what is known may be out of date.
Async<void> Pool::Impl::compare(bool is_whole) {
  auto self = shared_from_this();
  next_compare = steady_seconds() + times.compare_every;
  if (is_comparing && !is_whole) co_return;
  is_comparing = true;
  const std::map<std::string, Known> before = known;
  const std::size_t asked = looks.asked();
  Result<std::vector<engine::Listed>> running = co_await client.running();
  is_comparing = false;
  if (stopped) co_return;
  if (!running) {
    log::warning(running.error().message());
    next_compare = 0;  // with the next ping
    co_return;
  }
  std::set<std::string> listed;
  for (const engine::Listed& one : *running) {
    listed.insert(one.id);
    const auto found = known.find(one.id);
    bool is_news = found == known.end() || found->second.is_frozen != one.is_frozen();
    if (!is_news && has_no_process(found->second.pid)) is_news = doubted.insert(one.id).second;
    if (is_whole || is_news) looks.ask(one.id, 0, false);
  }
  // What the list was asked for before it came may have changed meanwhile.
  for (const auto& [id, life] : before) {
    const auto now = known.find(id);
    if (!listed.contains(id) && now != known.end() && now->second == life) finish(id, 0);
  }
  looks.keep(listed, asked);
  if (looks.failing(1) == 0) look_failures.reset();
  if (is_whole) looks.begin_anew();
  look_at_due();
}

Pool::Pool(asio::io_context& io, engine::Client& client, bool image_labels,
           std::function<void()> wake, PoolTimes times)
    : impl_(std::make_shared<Impl>(io, client, image_labels, std::move(wake), times)) {}
Pool::~Pool() { stop(); }

void Pool::start() {
  spawn(impl_->io, "engine watch", impl_->watch());
  spawn(impl_->io, "engine pulse", impl_->prove_life());
}

void Pool::stop() {
  impl_->stopped = true;
  impl_->pause.cancel();
  impl_->pulse.cancel();
  impl_->retry.cancel();
}

std::vector<Change> Pool::take() { return std::exchange(impl_->changes, {}); }
bool Pool::has_changes() const { return !impl_->changes.empty(); }
const EngineStatus& Pool::engine() const { return impl_->status; }

std::string Pool::problem() const {
  const std::size_t count = impl_->looks.failing(kNewsFailures);
  if (count == 0) return "";
  return "the engine does not describe " + std::to_string(count) +
         (count == 1 ? " container" : " containers") +
         ", not controlled until it does; flowcond asks again: " + impl_->look_problem;
}

}  // namespace flowcon::ctrl
