// SPDX-License-Identifier: Apache-2.0
// Follows the logs of jobs from where they were read to, and feeds each job what it prints. For
// .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ctrl/async.h"
#include "ctrl/daemon/roster.h"
#include "ctrl/logs/log_set.h"
#include "ctrl/model.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl {

class LogFollower {
 public:
  /// `carried_log`: where what a container printed on earlier hosts is kept, by its id.
  LogFollower(boost::asio::io_context& io, Roster& roster, std::function<Moment()> clock,
              std::function<std::string(const std::string&)> carried_log)
      : io_(io),
        roster_(roster),
        clock_(std::move(clock)),
        carried_log_(std::move(carried_log)),
        tails_(io) {}

  /// Where each log was read to.
  void begin(std::map<std::string, store::LogPosition> positions) {
    positions_ = std::move(positions);
  }
  /// Reads what the job printed on earlier hosts, where its log could not be given to the engine
  /// here, and then follows its log.
  void start(Job& job);
  void set_position(const std::string& id, store::LogPosition position) {
    positions_[id] = std::move(position);
  }
  void forget(const std::string& id) { positions_.erase(id); }
  [[nodiscard]] logs::LogSet& tails() { return tails_; }
  [[nodiscard]] const logs::LogSet& tails() const { return tails_; }

 private:
  void follow(Job& job);
  void feed(const std::string& id, const logs::Line& line);
  Async<void> read_carried_log(std::string id, std::uint64_t reading, std::string path);
  /// Null where the job has gone, or has begun anew since.
  [[nodiscard]] Job* job_of(const std::string& id, std::uint64_t reading);

  boost::asio::io_context& io_;
  Roster& roster_;
  std::function<Moment()> clock_;
  std::function<std::string(const std::string&)> carried_log_;
  logs::LogSet tails_;
  std::map<std::string, store::LogPosition> positions_;  // by id
  std::uint64_t readings_ = 0;                           // of carried logs, so far
};

}  // namespace flowcon::ctrl
