// SPDX-License-Identifier: Apache-2.0
// For programs that do one thing at a time. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <utility>

namespace flowcon::ctrl {

/// Runs the coroutine that make() begins to its end, on a loop of its own, and returns what it
/// does.
template <class Make>
auto run_alone(Make make) -> typename decltype(make())::value_type {
  boost::asio::io_context io(1);
  typename decltype(make())::value_type made;
  std::exception_ptr failed;
  boost::asio::co_spawn(io, std::move(make), [&](std::exception_ptr failure, auto value) {
    failed = failure;
    made = std::move(value);
    io.stop();
  });
  io.run();
  if (failed) std::rethrow_exception(failed);
  return made;
}

}  // namespace flowcon::ctrl
