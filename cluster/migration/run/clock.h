// SPDX-License-Identifier: Apache-2.0
// The time that a move goes by, so that a test can turn it.
#pragma once

#include <memory>

#include "ctrl/async.h"

namespace flowcon::cluster::migration {

/// Something to wait for that may be ended early. One coroutine waits at a time.
class Alarm {
 public:
  virtual ~Alarm() = default;
  virtual Async<void> wait(double seconds) = 0;
  /// Ends the wait, if there is one.
  virtual void ring() = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;
  /// Seconds that never go back.
  [[nodiscard]] virtual double steady() const = 0;
  /// Seconds since the epoch.
  [[nodiscard]] virtual double wall() const = 0;
  virtual Async<void> pause(double seconds) = 0;
  [[nodiscard]] virtual std::unique_ptr<Alarm> make_alarm() = 0;
};

class SystemClock : public Clock {
 public:
  explicit SystemClock(boost::asio::io_context& io) : io_(io) {}
  [[nodiscard]] double steady() const override;
  [[nodiscard]] double wall() const override;
  Async<void> pause(double seconds) override;
  [[nodiscard]] std::unique_ptr<Alarm> make_alarm() override;

 private:
  boost::asio::io_context& io_;
};

}  // namespace flowcon::cluster::migration
