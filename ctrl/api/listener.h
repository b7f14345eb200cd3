// SPDX-License-Identifier: Apache-2.0
// A listening socket and its connections. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "ctrl/async.h"
#include "ctrl/await.h"

namespace flowcon::ctrl::api {

/// `Protocol` is Asio's, of streams.
template <class Protocol>
struct Listener {
  using Stream = boost::beast::basic_stream<Protocol, boost::asio::any_io_executor>;

  struct Connection {
    std::weak_ptr<Stream> stream;
    std::string caller;  ///< "" = not known
  };

  Listener(boost::asio::io_context& context, std::size_t most_open)
      : io(context), acceptor(context), most(most_open) {}

  /// Until it is closed. `serve` takes each connection and keeps this alive.
  Async<void> accept_all(std::function<void(std::shared_ptr<Stream>)> serve) {
    using namespace std::chrono_literals;
    for (;;) {
      auto [code, socket] = co_await acceptor.async_accept(kAwait);
      if (code == boost::asio::error::operation_aborted || !acceptor.is_open()) co_return;
      open.remove_if([](const Connection& one) { return one.stream.expired(); });
      if (!code && makes_room && open.size() >= most) drop_oldest();
      if (code || open.size() >= most) {
        // Out of descriptors or too many callers: breathe instead of spinning.
        boost::asio::steady_timer pause(io, 50ms);
        co_await pause.async_wait(kAwait);
        continue;
      }
      auto stream = std::make_shared<Stream>(std::move(socket));
      open.push_back({stream, ""});
      serve(std::move(stream));
    }
  }

  /// Who it is that calls on that connection.
  void name(const std::shared_ptr<Stream>& stream, const std::string& caller) {
    for (Connection& one : open) {
      if (one.stream.lock() == stream) one.caller = caller;
    }
  }

  void drop_connections() {
    for (const Connection& one : open) {
      if (const auto stream = one.stream.lock()) stream->close();
    }
  }
  /// Those of `caller` alone.
  void drop_connections(const std::string& caller) {
    for (const Connection& one : open) {
      const auto stream = one.stream.lock();
      if (stream && one.caller == caller) stream->close();
    }
  }

  /// False: it was closed before.
  bool close() {
    if (!acceptor.is_open()) return false;
    boost::system::error_code ignored;
    acceptor.close(ignored);
    drop_connections();
    return true;
  }

  void drop_oldest() {
    if (const auto stream = open.front().stream.lock()) stream->close();
    open.pop_front();
  }

  boost::asio::io_context& io;
  typename Protocol::acceptor acceptor;
  std::size_t most;         ///< connections at a time
  bool makes_room = false;  ///< the oldest one ends for a new one, which else is turned away
  std::list<Connection> open;
};

}  // namespace flowcon::ctrl::api
