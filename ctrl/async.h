// SPDX-License-Identifier: Apache-2.0
// The name of a coroutine's type without Asio's headers, so that they stay in .cpp files.
#pragma once

namespace boost::asio {
class any_io_executor;
class io_context;
template <class T, class Executor>
class awaitable;
}  // namespace boost::asio

namespace flowcon {

/// What a coroutine of ours returns. Parameters of such functions are values, never references.
template <class T>
using Async = boost::asio::awaitable<T, boost::asio::any_io_executor>;

}  // namespace flowcon
