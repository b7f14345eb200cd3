// SPDX-License-Identifier: Apache-2.0
// Waiting in a coroutine. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/seconds.h"
#include "ctrl/await.h"

namespace flowcon::ctrl {

inline boost::asio::awaitable<void> pause(double seconds) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  timer.expires_after(nanoseconds(seconds));
  (void)co_await timer.async_wait(kAwait);
}

}  // namespace flowcon::ctrl
