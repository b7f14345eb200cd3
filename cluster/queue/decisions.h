// SPDX-License-Identifier: Apache-2.0
// The last decisions about the jobs of all hosts, as the coordinator has made them, and as the
// owner of a job shows them.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ctrl/policy/round.h"

namespace flowcon::cluster::queue {

class Decisions {
 public:
  /// What is decided: who runs and with how many workers, or on which hosts.
  enum class About { order, placement };

  /// `time`: seconds since the epoch.
  void note(About about, double time, const std::vector<std::string>& jobs,
            std::shared_ptr<const ctrl::policy::Round> round);
  /// Forgets jobs that are not among these.
  void keep(const std::set<std::string_view>& jobs);
  /// {"decision":…,"placement":…}: each null, or its time, algorithm, state, decision and sentence.
  [[nodiscard]] boost::json::object about(const std::string& job) const;

 private:
  struct Decided {
    double time = 0;
    std::shared_ptr<const ctrl::policy::Round> round;
  };
  [[nodiscard]] static boost::json::value view_of(const Decided& decided, const std::string& job);

  std::map<std::string, std::map<About, Decided>, std::less<>> all_;
};

/// The same as another host tells it: two members, each an object or null. Whatever else it sends
/// counts as null.
[[nodiscard]] boost::json::object decisions_in(std::string_view text);

}  // namespace flowcon::cluster::queue
