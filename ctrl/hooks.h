// SPDX-License-Identifier: Apache-2.0
// Tells events to the program and the address that an admin named: one call after the other, beside
// the loop, never waited for. What comes too often, or while a hundred wait, is counted and left
// out.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "ctrl/async.h"
#include "ctrl/config.h"
#include "ctrl/events.h"
#include "ctrl/hook_gate.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {

class Hooks {
 public:
  struct Counts {
    std::uint64_t calls = 0;      ///< of a program or an address, those that failed among them
    std::uint64_t failures = 0;   ///< not started, ended with a status other than 0, or killed
    std::uint64_t held_back = 0;  ///< events
  };

  /// `config` and `io` have to outlive it; a changed configuration holds from the next event on.
  Hooks(boost::asio::io_context& io, const Config& config, std::string host);
  /// `now` in seconds on the steady clock.
  void tell(const Event& event, double now);
  /// Nothing is called any more; a program that runs goes on by itself.
  void end();
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Call {
    std::vector<std::string> words;
    std::string input;
  };
  Async<void> work();

  boost::asio::io_context& io_;
  const Config& config_;
  std::string host_;
  HookGate gate_;
  std::deque<Call> waiting_;
  Counts counts_;
  log::Repeated failures_;
  bool is_working_ = false;
};

}  // namespace flowcon::ctrl
