// SPDX-License-Identifier: Apache-2.0
// A lock between coroutines of one thread: even there the world changes at every co_await. For
// .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "ctrl/await.h"

namespace flowcon::ctrl {

class Mutex {
 public:
  explicit Mutex(boost::asio::io_context& io) : freed_(io) {
    freed_.expires_at(boost::asio::steady_timer::time_point::max());
  }

  /// Holds the lock until it is destroyed.
  class Guard {
   public:
    explicit Guard(Mutex* mutex) : mutex_(mutex) {}
    Guard(Guard&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
    Guard& operator=(Guard&&) = delete;
    ~Guard() {
      if (mutex_ == nullptr) return;
      mutex_->is_locked_ = false;
      mutex_->freed_.cancel_one();
    }

   private:
    Mutex* mutex_;
  };

  [[nodiscard]] boost::asio::awaitable<Guard> lock() {
    while (is_locked_) {
      co_await freed_.async_wait(kAwait);
    }
    is_locked_ = true;
    co_return Guard(this);
  }

 private:
  boost::asio::steady_timer freed_;
  bool is_locked_ = false;
};

}  // namespace flowcon::ctrl
