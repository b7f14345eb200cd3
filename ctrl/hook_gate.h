// SPDX-License-Identifier: Apache-2.0
// Which events become a call of a hook, and what it is sent. Pure: time is an argument.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ctrl/events.h"

namespace flowcon::ctrl {

/// Holds events back that come too often: the same kind for the same container within `interval`
/// seconds, and more than 60 calls a minute of all.
class HookGate {
 public:
  static constexpr double kBurst = 60;       ///< calls at once
  static constexpr double kPerSecond = 1.0;  ///< that are possible again after that

  /// True if the hook is to be called. `now` in seconds on a clock that never goes back.
  [[nodiscard]] bool admit(const Event& event, double interval, double now);
  /// Events held back since the last call, for the next one to report; begins anew.
  [[nodiscard]] std::uint64_t take_held_back() { return std::exchange(held_back_, 0); }
  /// An admitted event that found no room.
  void hold_back() { ++held_back_; }

 private:
  std::map<std::string, double> last_;  ///< kind and container -> its last call
  double tokens_ = kBurst;
  double filled_at_ = 0;
  std::uint64_t held_back_ = 0;
};

/// One JSON object with a line end, as docs/metrics.md has it.
[[nodiscard]] std::string render_event(const Event& event, std::string_view host,
                                       std::uint64_t held_back);

/// The program and its words out of "/path/program WORD…", parted by blanks; none for "".
/// Errors: the program is no absolute path; longer than 4,000 bytes.
[[nodiscard]] Result<std::vector<std::string>> parse_hook(const std::string& text);

/// Errors: not http:// or https:// with a host, a byte that no address has, longer than 2,000
/// bytes.
[[nodiscard]] Result<void> check_webhook(const std::string& url);

/// The program that posts to an address; it reads webhook_input() on its stdin.
[[nodiscard]] std::vector<std::string> webhook_words();
/// curl's configuration: `url`, which may hold a secret and so is on no command line, and what to
/// post.
[[nodiscard]] std::string webhook_input(const std::string& url, std::string_view body);

/// Seconds that a call may take.
inline constexpr double kLongestHookCall = 30;

/// Why a call failed, in words: it was killed when its time was over (`is_late`), or its status,
/// with what it wrote last on stderr.
[[nodiscard]] std::string render_failure(int status, bool is_late, std::string said);

}  // namespace flowcon::ctrl
