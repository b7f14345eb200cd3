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

#include "ctrl/async.h"
#include "ctrl/await.h"

namespace flowcon::ctrl::api {

/// `Protocol` is Asio's, of streams.
template <class Protocol>
struct Listener {
  using Stream = boost::beast::basic_stream<Protocol, boost::asio::any_io_executor>;

  Listener(boost::asio::io_context& context, std::size_t most_open)
      : io(context), acceptor(context), most(most_open) {}

  /// Until it is closed. `serve` takes each connection and keeps this alive.
  Async<void> accept_all(std::function<void(std::shared_ptr<Stream>)> serve) {
    using namespace std::chrono_literals;
    for (;;) {
      auto [code, socket] = co_await acceptor.async_accept(kAwait);
      if (code == boost::asio::error::operation_aborted || !acceptor.is_open()) co_return;
      open.remove_if([](const std::weak_ptr<Stream>& stream) { return stream.expired(); });
      if (code || open.size() >= most) {
        // Out of descriptors or too many callers: breathe instead of spinning.
        boost::asio::steady_timer pause(io, 50ms);
        co_await pause.async_wait(kAwait);
        continue;
      }
      auto stream = std::make_shared<Stream>(std::move(socket));
      open.push_back(stream);
      serve(std::move(stream));
    }
  }

  void drop_connections() {
    for (const std::weak_ptr<Stream>& weak : open) {
      if (const auto stream = weak.lock()) stream->close();
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

  boost::asio::io_context& io;
  typename Protocol::acceptor acceptor;
  std::size_t most;  ///< connections at a time
  std::list<std::weak_ptr<Stream>> open;
};

}  // namespace flowcon::ctrl::api
