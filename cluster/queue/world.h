// SPDX-License-Identifier: Apache-2.0
// What the parts of the queue act on. Behind each there is an interface, so that a test can stand
// in for it.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/migration/run/clock.h"
#include "cluster/migration/run/engine.h"
#include "cluster/moves.h"
#include "cluster/network.h"
#include "ctrl/async.h"
#include "ctrl/estimate/estimate.h"
#include "ctrl/estimate/features.h"
#include "ctrl/extension.h"
#include "ctrl/store/store.h"

namespace flowcon::cluster::queue {

/// Jobs that may be open at once.
inline constexpr std::size_t kMostJobs = 10'000;

/// The journal of jobs. Each waits for the disk.
class Rows {
 public:
  virtual ~Rows() = default;
  /// Survives a loss of power once it returns.
  virtual Async<Result<void>> save(ctrl::store::QueueRow row) = 0;
  /// Those that have not ended, and the newest of those that have, at most `most`.
  virtual Async<Result<std::vector<ctrl::store::QueueRow>>> read(std::size_t most) = 0;
  /// Is there one of that id, ended or not?
  virtual Async<Result<bool>> has(std::string id) = 0;
  /// One that has ended, by its id or its name; of several the one that ended last.
  virtual Async<Result<std::optional<ctrl::store::QueueRow>>> find(std::string name) = 0;
  /// One that has ended, by its id.
  virtual Async<Result<void>> drop(std::string id) = 0;
  /// Of those that have ended it keeps the newest `most`, and those whose container is `there`.
  virtual Async<Result<void>> forget(std::size_t most, std::vector<std::string> there) = 0;
  /// It has lost nothing.
  [[nodiscard]] virtual bool is_whole() const = 0;
};

class StoreRows : public Rows {
 public:
  explicit StoreRows(ctrl::LocalHost& host) : host_(host) {}
  Async<Result<void>> save(ctrl::store::QueueRow row) override;
  Async<Result<std::vector<ctrl::store::QueueRow>>> read(std::size_t most) override;
  Async<Result<bool>> has(std::string id) override;
  Async<Result<std::optional<ctrl::store::QueueRow>>> find(std::string name) override;
  Async<Result<void>> drop(std::string id) override;
  Async<Result<void>> forget(std::size_t most, std::vector<std::string> there) override;
  [[nodiscard]] bool is_whole() const override { return host_.store().is_journal_whole(); }

 private:
  ctrl::LocalHost& host_;
};

/// What earlier runs say of a command: of each label, at once.
using Estimate =
    std::function<std::vector<ctrl::estimate::LabelEstimate>(const ctrl::estimate::Command&)>;

struct Job;

/// As HostRoom::give_gpus().
using GiveGpus =
    std::function<std::string(boost::json::object& body, const Job& group, std::size_t task)>;

/// Written beside the loop to the file of that name in the folder of the state, for the next
/// flowcond; "" removes it. It is not kept where the disk is slow or full.
void keep_text(ctrl::LocalHost& host, const std::string& name, std::string text);
/// What was kept so; "" = nothing.
[[nodiscard]] std::string kept_text(const ctrl::LocalHost& host, const std::string& name);

/// When this machine was booted. Unit: seconds since the epoch; 0: it does not say.
[[nodiscard]] double boot_time();

struct World {
  ctrl::LocalHost& host;
  migration::Engine& engine;
  migration::Clock& clock;
  Rows& rows;
  Network& network;
  Moves& moves;
  Estimate estimate;
  /// Grows when more earlier runs are known; 0: they are not read yet, and nothing is decided.
  std::function<std::uint64_t()> history;
  std::function<double()> booted;  ///< when this machine was, seconds since the epoch
  std::size_t most_jobs = kMostJobs;
  bool is_ended = false;  ///< nothing is done any more
  GiveGpus give_gpus = {};
};

}  // namespace flowcon::cluster::queue
