// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/clock.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/seconds.h"
#include "ctrl/await.h"
#include "ctrl/pause.h"

namespace flowcon::cluster::migration {
namespace {

class TimerAlarm : public Alarm {
 public:
  explicit TimerAlarm(boost::asio::io_context& io) : timer_(io) {}

  Async<void> wait(double seconds) override {
    timer_.expires_after(nanoseconds(seconds));
    (void)co_await timer_.async_wait(kAwait);
  }
  void ring() override { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
};

}  // namespace

double SystemClock::steady() const { return steady_seconds(); }

double SystemClock::wall() const { return wall_seconds(); }

Async<void> SystemClock::pause(double seconds) { return ctrl::pause(seconds); }

std::unique_ptr<Alarm> SystemClock::make_alarm() { return std::make_unique<TimerAlarm>(io_); }

}  // namespace flowcon::cluster::migration
