// SPDX-License-Identifier: Apache-2.0
// How our coroutines wait for Asio. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace flowcon {

/// For co_await: the error is a value.
inline constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace flowcon
