// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/parking.h"

#include <boost/asio/awaitable.hpp>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "base/json.h"
#include "cluster/migration/run/deaf.h"

namespace flowcon::cluster::queue {
namespace {

using ctrl::Async;
using migration::Copy;
using migration::Seen;

constexpr double kLook = 0.2;  // seconds between two looks whether it has ended

}  // namespace

Async<Result<void>> Parking::save_by_command(JobPtr job) {
  std::string id = job->entry.id;
  std::vector<std::string> words = job->ticket->checkpoint.command;
  const double timeout = job->ticket->checkpoint.timeout;
  const Result<std::int64_t> status =
      co_await world_.engine.execute(std::move(id), std::move(words), timeout);
  if (!status) co_return status.error();
  if (*status != 0) {
    co_return bad_input("its checkpoint command failed with status " + std::to_string(*status));
  }
  job->has_saved = true;
  if (job->entry.state != JobState::parking) co_return Result<void>();
  std::string again = job->entry.id;
  co_return co_await world_.engine.stop(std::move(again));
}

Async<Result<void>> Parking::save_by_signal(JobPtr job) {
  const ctrl::Checkpoint& how = job->ticket->checkpoint;
  const int signal = how.signal > 0 ? how.signal : SIGTERM;
  const double until = world_.clock.steady() + how.timeout;
  std::string id = job->entry.id;
  const Result<void> sent = co_await world_.engine.kill(std::move(id), signal);
  // One that has ended hears no signal.
  if (!sent && sent.error().code) co_return sent;
  for (;;) {
    std::string again = job->entry.id;
    const Result<Seen> seen = co_await world_.engine.look(std::move(again));
    if (!seen && seen.error().code == boost::system::errc::no_such_file_or_directory) break;
    if (seen && seen->copy != Copy::running) break;
    if (world_.is_ended || job->entry.state != JobState::parking) break;
    if (world_.clock.steady() >= until) {
      const std::string shell = seen ? migration::why_deaf(seen->pid, signal) : "";
      co_return bad_input("it has not ended " + render_number(how.timeout) + " s after " +
                          ctrl::signal_name(signal) + (shell.empty() ? "" : ": " + shell));
    }
    co_await world_.clock.pause(kLook);
  }
  co_return Result<void>();
}

Async<Result<void>> Parking::save(JobPtr job) {
  if (!job->ticket || !job->ticket->saves_itself) {
    co_return bad_input(
        "its labels do not say how it saves itself (flowcon.checkpoint.signal or "
        ".command)");
  }
  if (!job->ticket->checkpoint.command.empty()) {
    co_return co_await save_by_command(std::move(job));
  }
  co_return co_await save_by_signal(std::move(job));
}

}  // namespace flowcon::cluster::queue
