// SPDX-License-Identifier: Apache-2.0
// When the loop goes round next, and what it has to do then. For .cpp files only: it includes Asio.
#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/seconds.h"
#include "ctrl/async.h"
#include "ctrl/await.h"

namespace flowcon::ctrl {

/// Units: seconds on the steady clock.
struct Schedule {
  explicit Schedule(boost::asio::io_context& io) : timer(io) {}

  bool is_run_due = false;      ///< the policy has to decide
  bool is_compare_due = false;  ///< who shares the host has changed outside of the event stream
  bool is_apply_due = false;    ///< a person decided something, or a job saves itself
  double next_run = 0;
  double next_look = 0;

  [[nodiscard]] bool is_deciding(double now) const { return is_run_due || now >= next_run; }
  void wake() { timer.cancel(); }
  /// Until something is due, or wake().
  Async<void> wait() {
    if (is_compare_due || is_apply_due) co_return;
    timer.expires_at(
        boost::asio::steady_timer::time_point(nanoseconds(std::min(next_look, next_run))));
    co_await timer.async_wait(kAwait);
  }

  boost::asio::steady_timer timer;
};

}  // namespace flowcon::ctrl
