// SPDX-License-Identifier: Apache-2.0
// What is kept: samples, usage and decisions go to the store, in order, retried while it cannot be
// written, bounded always. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ctrl/async.h"
#include "ctrl/config.h"
#include "ctrl/effects.h"
#include "ctrl/job.h"
#include "ctrl/log.h"
#include "ctrl/policy/host_policy.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl {

/// What is new of a job's values since it was last asked.
[[nodiscard]] store::Look look_of(Job& job);

/// Where records go; called on the effects thread. As the methods of store::Store.
struct Records {
  std::function<Result<void>(const std::vector<store::Look>&, const std::vector<store::Round>&)>
      record;
  std::function<Result<bool>(double before, double now)> forget_before;
  std::function<Result<bool>(double now)> make_room;
};

[[nodiscard]] Records records_of(store::Store& store);

class Recorder {
 public:
  /// Looks, and bytes of decisions, that wait while nothing can be written; write() drops the
  /// oldest beyond that.
  static constexpr std::size_t kMostWaiting = 4000;
  static constexpr std::size_t kMostRounds = 16U << 20;
  /// Written at once: what waits for long is more than fits into what is free of a small store.
  static constexpr std::size_t kLooksAtOnce = 200;
  static constexpr std::size_t kRoundsAtOnce = 256U << 10;  ///< bytes

  /// All have to outlive it. `wall`: seconds since the epoch. `at_forgetting` is called when old
  /// records were looked for, once an hour.
  Recorder(boost::asio::io_context& io, Effects& effects, Records records, const Config& config,
           std::function<Moment()> clock, std::function<void()> at_forgetting);

  void add(store::Look look);
  void add(double time, const policy::Rounds& rounds);
  /// Writes what waits, unless that is under way; what cannot be written waits on.
  void write();
  /// Nothing old is forgotten any more.
  void stop() { is_stopping_ = true; }
  [[nodiscard]] bool is_writing() const { return is_writing_; }
  /// No values wait, and none are on their way.
  [[nodiscard]] bool is_idle() const { return looks_.empty() && !is_writing_; }
  /// Why nothing can be written; "" = it can.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  Async<void> flush();
  Async<void> write_all();
  void take_back(std::vector<store::Look>& looks, std::vector<store::Round>& rounds);
  void drop_oldest();
  Async<void> forget_old();

  boost::asio::io_context& io_;
  Effects& effects_;
  Records records_;
  const Config& config_;
  std::function<Moment()> clock_;
  std::function<void()> at_forgetting_;
  std::vector<store::Look> looks_;
  std::vector<store::Round> rounds_;
  std::uint64_t lost_ = 0;
  std::string problem_;
  bool is_writing_ = false;
  bool is_stopping_ = false;
  Moment flushed_;          ///< when it last was
  double next_forget_ = 0;  // wall
  log::Repeated troubles_;
};

}  // namespace flowcon::ctrl
