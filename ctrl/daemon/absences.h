// SPDX-License-Identifier: Apache-2.0
// Containers that the engine does not know, and since when. An engine whose disk is not mounted
// knows none, and has them back after its next start.
#pragma once

#include <map>
#include <string>

namespace flowcon::ctrl {

class Absences {
 public:
  /// The engine has it.
  void see(const std::string& id) { since_.erase(id); }
  /// The engine says at `now` (steady, seconds) that it has none. True where it said so a day
  /// before, too, and nothing else since: it is gone for good, and asked about no more.
  [[nodiscard]] bool is_gone(const std::string& id, double now) {
    constexpr double kDay = 86400;
    const auto since = since_.try_emplace(id, now).first;
    if (now - since->second < kDay) return false;
    since_.erase(since);
    return true;
  }

 private:
  std::map<std::string, double> since_;  // steady
};

}  // namespace flowcon::ctrl
