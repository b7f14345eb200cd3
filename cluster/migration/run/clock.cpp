// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/clock.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

#include "ctrl/pause.h"

namespace flowcon::cluster::migration {
namespace {

class TimerAlarm : public Alarm {
 public:
  explicit TimerAlarm(boost::asio::io_context& io) : timer_(io) {}

  Async<void> wait(double seconds) override {
    timer_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(seconds)));
    (void)co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }
  void ring() override { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
};

}  // namespace

double SystemClock::steady() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double SystemClock::wall() const {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Async<void> SystemClock::pause(double seconds) { return ctrl::pause(seconds); }

std::unique_ptr<Alarm> SystemClock::make_alarm() { return std::make_unique<TimerAlarm>(io_); }

}  // namespace flowcon::cluster::migration
