// SPDX-License-Identifier: Apache-2.0
// Resources of this host's jobs, estimated from earlier ones, here and on the hosts that this
// one knows: learns from their profiles on a thread beside the loop, and answers on the loop by
// what was learnt last. Decides nothing. For .cpp files only: it includes Asio.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cluster/queue/image_facts.h"
#include "cluster/queue/peer_profiles.h"
#include "ctrl/api/routes.h"
#include "ctrl/async.h"
#include "ctrl/estimate/estimate.h"
#include "ctrl/estimate/features.h"
#include "ctrl/extension.h"
#include "ctrl/helper_threads.h"

namespace flowcon::ctrl {
class Exposition;
}  // namespace flowcon::ctrl

namespace flowcon::cluster::queue {

/// Errors: ENOENT there is no such image; else the engine's.
using AskImage = std::function<Async<Result<ImageFacts>>(std::string image)>;

class Estimates {
 public:
  /// Between two trainings, and two readings of the profiles that look() begins; and between two
  /// readings without a job_ended(). Seconds.
  static constexpr double kSoonest = 60;
  static constexpr double kLatest = 300;

  /// Host and network have to outlive it. `wall`: seconds since the epoch.
  Estimates(ctrl::LocalHost& host, Network& network, AskImage ask_image,
            std::function<double()> wall);

  /// look() does something from now on.
  Async<void> begin();
  /// Begins to read the profiles where that is due, and to learn anew where a twentieth of them is
  /// new. Returns at once. `now`: as of Extension::look().
  void look(double now);
  /// There may be a new profile.
  void job_ended() { is_due_ = true; }
  /// This host's own profiles have been read and learnt once, or cannot be; before that nothing can
  /// be estimated.
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  /// How often was learnt: the same number, the same estimates.
  [[nodiscard]] std::uint64_t learnings() const { return learnings_; }
  /// Of each label that was ever measured, if this host runs it; none before is_ready(). Where
  /// other hosts report runs, `upper` is no less than what those here say of a request. The
  /// command is as the engine describes the container, its image's variables too.
  [[nodiscard]] std::vector<ctrl::estimate::LabelEstimate> estimate(
      const ctrl::estimate::Command& command) const;
  /// POST /v1/estimate and GET /v1/estimate/check.
  [[nodiscard]] ctrl::api::Routes routes();
  void add_metrics(ctrl::Exposition& out) const;
  /// The store is not used any more.
  void end() { is_ended_ = true; }

 private:
  using Rows = std::vector<ctrl::estimate::EndedProfile>;
  struct Learnt;

  Async<Result<Rows>> read();
  Async<void> refresh();
  void judge(const Rows& own);
  Async<void> learn_from(Rows own);
  /// `own`: of `rows` this host's, where others report some too.
  Async<void> learn(Rows rows, Rows own);
  Async<ctrl::api::Response> answer_estimate(ctrl::api::Call call);
  Async<ctrl::api::Response> answer_check(ctrl::api::Call call);

  ctrl::LocalHost& host_;
  AskImage ask_image_;
  std::function<double()> wall_;
  PeerProfiles others_;
  std::shared_ptr<Learnt> learnt_;                  // used on the loop alone; null = nothing yet
  std::set<std::pair<std::string, double>> known_;  // key and end of what was learnt from
  std::uint64_t forgotten_ = 0;                     // PeerProfiles::forgotten() then
  std::uint64_t learnings_ = 0;
  double judged_ =
      0;  // since the epoch; the end of the last run that was compared, or learnt first
  std::map<std::string, std::deque<double>> errors_;  // of the last runs, by label
  bool is_begun_ = false;
  bool is_ended_ = false;
  bool is_ready_ = false;
  bool is_due_ = true;
  bool is_working_ = false;
  bool is_checking_ = false;
  double next_ = 0;    // steady; not before it
  double latest_ = 0;  // steady; then in any case
  ctrl::HelperThreads threads_{2};
};

}  // namespace flowcon::cluster::queue
