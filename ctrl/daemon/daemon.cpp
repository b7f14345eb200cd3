// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/daemon.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "ctrl/api/scrape.h"
#include "ctrl/daemon/daemon_state.h"
#include "ctrl/log.h"
#include "ctrl/logs/tail_helper.h"
#include "ctrl/service.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

namespace asio = boost::asio;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
// Seconds for moves to come back. TimeoutStopSec of the unit leaves as much again for the rest.
constexpr double kSettleTime = 45;

Host host_of_this_machine(const Config& config) {
  Host host;
  host.cores = static_cast<double>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  if (config.cores > 0) host.cores = config.cores;
  host.memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return host;
}

}  // namespace

Daemon::Daemon(asio::io_context& io, const Config& config, World world)
    : io_(io),
      config_(config),
      host_(host_of_this_machine(config)),
      world_(std::move(world)),
      limits_(*world_.fs, effects_, *world_.store),
      containers_(world_.containers([this] { wake(); })),
      tails_(io),
      planning_(config_, host_),
      meter_(io, *world_.fs, effects_, host_, jobs_),
      notifier_(io, config_, host_name(), [this] { return moment(); }),
      recorder_(
          io, effects_, records_of(*world_.store), config_, [this] { return moment().wall; },
          [this] { spawn(io_, "past logs", forget_past_logs()); }),
      pass_(io),
      timer_(io),
      watchdog_timer_(io) {}

Async<void> Daemon::run() {
  co_await begin();
  while (!is_stopping_) {
    co_await wait();
    co_await pass();
  }
  co_await release_all();
}

Async<void> Daemon::pass() {
  const auto guard = co_await pass_.lock();
  const Moment now = moment();
  take_changes(now);
  co_await follow_freezing(now);
  look(now);
  const bool is_deciding = is_run_due_ || now.steady >= next_run_;
  if (is_deciding) decide(now);
  co_await apply(now);
  co_await takeover_.restore_unclaimed(&limits_, now.steady, is_stopping_);
  record(now, is_deciding);
  notifier_.follow(jobs_, recorder_.problem(), engine_problem(*containers_));
  if (companion_) companion_->look(now.steady);
}

Async<void> Daemon::begin() {
  spawn(io_, "watchdog", watchdog());
  auto read = [this] { return world_.store->choices(); };
  Result<std::vector<store::Choice>> choices = co_await effects_.run(std::move(read));
  if (choices) {
    for (store::Choice& choice : *choices) choices_[choice.id] = std::move(choice);
    is_all_paused_ = control_of("").is_paused;
  } else {
    warn(choices.error().message());
  }
  auto read_positions = [this] { return world_.store->positions(); };
  auto positions = co_await effects_.run(std::move(read_positions));
  if (positions) {
    positions_ = std::move(*positions);
  } else {
    warn(positions.error().message());
  }
  co_await read_pasts();
  co_await read_trainings();
  co_await meter_.begin();
  co_await take_over(moment());
  if (config_.dry_run) {
    log::info("dry run: limits are planned and shown, none is written");
  } else {
    std::set<std::string> stay = takeover_.kept();
    Result<Limits::Leftovers> restored = co_await limits_.restore_leftovers(std::move(stay));
    if (!restored) {
      warn(restored.error().message());
    } else if (restored->restored > 0) {
      log::event(log::Event::limits_left, "restored the limits of " +
                                              std::to_string(restored->restored) +
                                              " containers that an earlier run left behind");
    }
    if (restored) {
      for (store::Original& original : restored->failed) takeover_.keep(std::move(original));
    }
  }
  const Moment now = moment();
  started_ = now.wall;
  next_look_ = now.steady + config_.observe;
  next_run_ = now.steady + planning_.interval();
  containers_->start();
  if (companion_) co_await companion_->begin();
  service::tell_ready("watching " + config_.engine);
}

Async<void> Daemon::wait() {
  if (is_stopping_ || is_compare_due_ || is_apply_due_ || containers_->has_changes()) co_return;
  const double due = std::min(next_look_, next_run_);
  timer_.expires_at(
      asio::steady_timer::time_point(std::chrono::duration_cast<asio::steady_timer::duration>(
          std::chrono::duration<double>(due))));
  co_await timer_.async_wait(kAwait);
}

void Daemon::wake() { timer_.cancel(); }

void Daemon::apply_limits() {
  is_apply_due_ = true;
  wake();
}

Snapshot Daemon::snapshot() const {
  return {config_,      host_,     *world_.fs,       jobs_,
          active_,      planning_, recorder_,        notifier_,
          *containers_, tails_,    companion_.get(), start_warnings_,
          counts_,      started_,  is_all_paused_,   is_short_of_memory_};
}

void Daemon::stop() {
  if (is_stopping_) return;
  is_stopping_ = true;
  recorder_.stop();
  service::tell_stopping();
  wake();
}

void Daemon::reload(const Result<Config>& config) {
  if (!config) {
    log::event(log::Event::config_refused,
               "the configuration is not read again: " + config.error().message());
    return;
  }
  std::string changed, waiting;
  for (const Option& option : options()) {
    const std::string text = option.show(*config);
    if (text == option.show(config_)) continue;
    std::string& list = option.needs_restart ? waiting : changed;
    list += (list.empty() ? "" : ", ") + option.name + " = " + text;
    if (!option.needs_restart) option.copy(config_, *config);
  }
  log::set_level(config_.log_level);
  log::event(log::Event::config_read,
             "configuration read again: " + (changed.empty() ? "nothing changed" : changed));
  if (!waiting.empty()) log::warning("these take effect at the next start: " + waiting);
  planning_.configure(config_, jobs_);
  is_run_due_ = true;
  apply_limits();
}

void Daemon::warn(const std::string& sentence) {
  log::warning(sentence);
  start_warnings_.push_back(sentence);
}

Async<void> Daemon::watchdog() {
  const double every = service::watchdog_seconds();
  while (every > 0 && !is_stopping_) {
    service::tell_alive();
    watchdog_timer_.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(
        std::chrono::duration<double>(every)));
    co_await watchdog_timer_.async_wait(kAwait);
  }
}

Async<void> Daemon::release_all() {
  if (companion_) co_await companion_->settle(kSettleTime);
  if (companion_) companion_->end();
  const auto guard = co_await pass_.lock();
  containers_->stop();
  notifier_.end();
  watchdog_timer_.cancel();
  const Moment now = moment();
  std::size_t restored = 0;
  const std::set<std::string> left = leave_limits();
  co_await takeover_.restore_unclaimed(&limits_, now.steady, true);
  for (auto& [id, job] : jobs_) {
    job.read_until = tails_.stop(id, false);
    if (!job.is_limited || left.contains(id)) continue;
    store::Original original = original_of(job);
    Result<void> done = co_await limits_.restore(std::move(original));
    if (done) {
      ++restored;
    } else {
      log::error(done.error().message());
    }
  }
  while (!ending_.empty()) {
    const std::string id = ending_.begin()->first;
    settle(id, tails_.stop(id, false));
  }
  record(now, false);
  while (recorder_.is_writing()) {
    timer_.expires_after(std::chrono::milliseconds(5));
    co_await timer_.async_wait(kAwait);
  }
  effects_.finish();
  log::event(log::Event::stopped,
             "stopped; limits of " + std::to_string(restored) + " containers restored" +
                 (left.empty() ? ""
                               : ", those of " + std::to_string(left.size()) +
                                     " are left to the flowcond that follows"));
}

namespace {

// One daemon a state folder: two would restore each other's limits.
Result<std::shared_ptr<void>> lock_state(const std::string& folder) {
  // Passed through by sshd on its way to the keys of peers; what is in it is not for others.
  if (::mkdir(folder.c_str(), 0711) != 0 && errno != EEXIST) {
    return errno_error(errno, "making the state folder " + folder + " (another one: --state-dir)");
  }
  const std::string path = folder + "/lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return errno_error(errno, "opening " + path);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int why = errno;
    ::close(fd);
    if (why == EWOULDBLOCK) {
      return bad_input("another flowcond uses the state in " + folder +
                       " (stop it, or give --state-dir)");
    }
    return errno_error(why, "locking " + path);
  }
  // Held until it is let go of: a thread that the kernel holds keeps what the process has open.
  return std::shared_ptr<void>(nullptr, [fd](void*) { ::close(fd); });
}

// A followed log is an open file; the usual soft limit of 1,024 would end at as many containers.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) log::debug("the limit of open files stays low");
}

}  // namespace

Result<void> run_daemon(const Config& config, const ConfigSource& source,
                        const MakeCompanion& companion) {
  log::set_level(config.log_level);
  raise_descriptor_limit();
  Result<std::unique_ptr<cgroups::CgroupFs>> fs = cgroups::open_kernel_cgroups();
  if (!fs) return fs.error();
  const auto locked = lock_state(config.state_dir);
  if (!locked) return locked.error();
  std::string store_notice;
  store::Options store_options;
  store_options.most_bytes = static_cast<std::uint64_t>(config.store_size) << 20U;
  auto patience = std::make_optional<service::Patience>();
  auto store = store::Store::open(config.state_dir + "/flowcon.db", &store_notice, store_options);
  patience.reset();
  if (!store) return store.error();

  asio::io_context io(1);
  std::string socket_notice;
  auto server = api::Server::listen(io, config.socket, config.socket_group, &socket_notice);
  if (!server) return server.error();

  Daemon daemon(io, config, real_world(io, config, std::move(*fs), std::move(*store)));
  for (const std::string& notice : {store_notice, socket_notice}) {
    if (!notice.empty()) daemon.warn(notice);
  }
  auto accompanied = companion(daemon);
  if (!accompanied) return accompanied.error();
  daemon.accompany(std::move(*accompanied));
  std::unique_ptr<api::Scrape> scrape;
  if (!config.metrics_listen.empty()) {
    auto listening = api::Scrape::listen(io, config.metrics_listen,
                                         [&daemon] { return metrics_of(daemon.snapshot()); });
    // Jobs are controlled all the same.
    if (listening) {
      scrape = std::move(*listening);
    } else {
      daemon.warn(listening.error().message());
    }
  }
  for (const std::string& path : service::drop_other_sockets()) {
    daemon.warn("systemd listens at " + path +
                " for flowcond, which no option names: change flowcond.socket (systemctl edit) or "
                "the options socket and peer-socket");
  }
  asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&daemon](const boost::system::error_code& code, int) {
    if (!code) daemon.stop();
  });
  ::signal(SIGPIPE, SIG_IGN);
  asio::signal_set reloads(io, SIGHUP);
  const auto reload_at_each = [&]() -> Async<void> {
    for (;;) {
      const auto [code, number] = co_await reloads.async_wait(kAwait);
      if (code) co_return;
      service::tell_reloading();
      daemon.reload(source());
      service::tell_ready("watching " + config.engine);
    }
  };
  spawn(io, "reload", reload_at_each);
  (*server)->serve([&daemon](api::Request request) { return daemon.answer(std::move(request)); });
  const auto whole_life = [&]() -> Async<void> {
    co_await daemon.run();
    (*server)->close();
    if (scrape) scrape->close();
    io.stop();
  };
  spawn(io, "daemon", whole_life);
  io.run();
  return {};
}

void end_process(int status) {
  if (logs::living_helpers() == 0) std::exit(status);
  std::fflush(nullptr);
  ::_exit(status);
}

}  // namespace flowcon::ctrl
