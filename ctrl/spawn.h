// SPDX-License-Identifier: Apache-2.0
// Starting coroutines that nobody waits for. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "ctrl/log.h"

namespace flowcon::ctrl {

/// Runs `coroutine` on the loop. An exception that leaves it is a bug of ours: it is logged with
/// `name` and ends the daemon, whose service manager starts it again.
template <class Coroutine>
void spawn(boost::asio::io_context& io, std::string name, Coroutine&& coroutine) {
  boost::asio::co_spawn(io, std::forward<Coroutine>(coroutine),
                        [name = std::move(name)](std::exception_ptr failure) {
                          if (!failure) return;
                          try {
                            std::rethrow_exception(failure);
                          } catch (const std::exception& e) {
                            log::error(name + " ended: " + e.what());
                          }
                          std::abort();
                        });
}

}  // namespace flowcon::ctrl
