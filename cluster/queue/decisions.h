// SPDX-License-Identifier: Apache-2.0
// The last decisions about the jobs of all hosts, as the coordinator has made them, and as the
// owner of a job shows them.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ctrl/policy/algorithm.h"
#include "ctrl/policy/round.h"

namespace flowcon::cluster::queue {

class Decisions {
 public:
  /// What is decided: who runs and with how many workers, or on which hosts.
  enum class About { order, placement };

  /// Beyond so many bytes of state and decision only the sentence is kept or shown.
  static constexpr std::size_t kMostShown = 1 << 18;

  /// `time`: seconds since the epoch. With a sentence for each job what is too large is not kept.
  void note(About about, double time, const std::vector<std::string>& jobs,
            ctrl::policy::Round round, const std::vector<std::string>& sentences = {});
  /// Forgets jobs that are not among these.
  void keep(const std::set<std::string_view>& jobs);
  /// {"decision":…,"placement":…}: each null, or its time, algorithm, state, decision (null where
  /// they are too large) and sentence. A round is decided once more when it is first asked about.
  [[nodiscard]] boost::json::object about(const std::string& job) const;

 private:
  struct Explained {
    ctrl::policy::Round round;
    std::function<std::string(const ctrl::policy::About&)> say;
  };
  struct Decided {
    double time = 0;
    std::shared_ptr<Explained> kept;
    std::string sentence;  ///< "" = the round says it
  };
  [[nodiscard]] static boost::json::value view_of(const Decided& decided, const std::string& job);

  std::map<std::string, std::map<About, Decided>, std::less<>> all_;
};

/// The same as another host tells it: two members, each an object or null. Whatever else it sends
/// counts as null.
[[nodiscard]] boost::json::object decisions_in(std::string_view text);

}  // namespace flowcon::cluster::queue
