// SPDX-License-Identifier: Apache-2.0
// What the engine's client and its byte streams share: how the engine is reached and asked.
// For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "ctrl/async.h"
#include "ctrl/upload.h"

namespace flowcon::ctrl::engine {

using Stream =
    boost::beast::basic_stream<boost::asio::local::stream_protocol, boost::asio::any_io_executor>;
inline constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);
inline constexpr std::uint64_t kMaxBody = 64U << 20;  // a list of 1,000 containers has about 2 MiB

/// A connection that must be through with all that is asked of it within `limit`.
/// Errors: no engine (says how to start it), no right to its socket.
Async<Result<std::shared_ptr<Stream>>> connect(std::string socket, std::chrono::nanoseconds limit);

/// Asks for `target`, with the headers that all our requests have.
template <class Body>
[[nodiscard]] boost::beast::http::request<Body> request_for(const std::string& method,
                                                            const std::string& target) {
  namespace http = boost::beast::http;
  http::request<Body> request;
  request.method_string(method);
  request.target(target);
  request.version(11);
  request.set(http::field::host, "docker");
  request.set(http::field::user_agent, "flowcond/" FLOWCON_VERSION);
  request.keep_alive(false);
  return request;
}

/// One request and the whole answer, with its headers.
Async<Result<boost::beast::http::response<boost::beast::http::string_body>>> exchange(
    std::string socket, std::string method, std::string target, std::string body, double seconds);

}  // namespace flowcon::ctrl::engine
