// SPDX-License-Identifier: Apache-2.0
// How often a container is tried to be moved after that failed, and where to no more. Pure.
#pragma once

#include <map>
#include <set>
#include <string>

namespace flowcon::cluster {

class Attempts {
 public:
  /// A container is tried so often in all.
  static constexpr int kMost = 3;

  /// It could not be moved to `target`, at `now`: not there again, and nowhere before `wait`
  /// seconds, twice as many after each failure.
  void fail(const std::string& container, const std::string& target, double now, double wait);
  [[nodiscard]] bool may_try(const std::string& container, double now) const;
  [[nodiscard]] bool is_exhausted(const std::string& container) const;
  [[nodiscard]] bool is_refused(const std::string& container, const std::string& target) const;
  void forget(const std::string& container) { all_.erase(container); }
  void forget_all() { all_.clear(); }

 private:
  struct Entry {
    int failures = 0;
    double again = 0;
    std::set<std::string> targets;
  };
  std::map<std::string, Entry> all_;
};

}  // namespace flowcon::cluster
