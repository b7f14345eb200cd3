// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/parking.h"

#include <boost/asio/awaitable.hpp>
#include <csignal>
#include <utility>
#include <vector>

#include "base/json.h"
#include "cluster/migration/run/deaf.h"

namespace flowcon::cluster::queue {
namespace {

using migration::Copy;
using migration::Seen;

constexpr double kLook = 0.2;  // seconds between two looks whether it has ended

}  // namespace

Async<Result<void>> Parking::save_by_command(std::shared_ptr<Save> save) {
  std::string id = save->container;
  std::vector<std::string> words = save->how.command;
  const double timeout = save->how.timeout;
  const Result<std::int64_t> status =
      co_await world_.engine.execute(std::move(id), std::move(words), timeout);
  if (!status) co_return status.error();
  if (*status != 0) {
    co_return bad_input("its checkpoint command failed with status " + std::to_string(*status));
  }
  save->has_saved = true;
  if (!save->is_wanted()) co_return Result<void>();
  co_return co_await world_.engine.stop(save->container);
}

Async<Result<void>> Parking::save_by_signal(std::shared_ptr<Save> save) {
  const ctrl::Checkpoint& how = save->how;
  const int signal = how.signal > 0 ? how.signal : SIGTERM;
  const double until = world_.clock.steady() + how.timeout;
  const Result<void> sent = co_await world_.engine.kill(save->container, signal);
  // One that has ended hears no signal.
  if (!sent && sent.error().code) co_return sent;
  for (;;) {
    const Result<Seen> seen = co_await world_.engine.look(save->container);
    if (is_absent(seen)) break;
    if (seen && seen->copy != Copy::running) break;
    if (world_.is_ended || !save->is_wanted()) break;
    if (world_.clock.steady() >= until) {
      const std::string shell = seen ? migration::why_deaf(seen->pid, signal) : "";
      co_return bad_input("it has not ended " + render_number(how.timeout) + " s after " +
                          ctrl::signal_name(signal) + (shell.empty() ? "" : ": " + shell));
    }
    co_await world_.clock.pause(kLook);
  }
  co_return Result<void>();
}

Async<Result<void>> Parking::save(std::shared_ptr<Save> save) {
  if (!save->saves_itself) {
    co_return bad_input(
        "its labels do not say how it saves itself (flowcon.checkpoint.signal or "
        ".command)");
  }
  if (!save->how.command.empty()) {
    co_return co_await save_by_command(std::move(save));
  }
  co_return co_await save_by_signal(std::move(save));
}

}  // namespace flowcon::cluster::queue
