// SPDX-License-Identifier: Apache-2.0
// Asks flowcond for `docker flowcon top`, on threads of its own: whatever takes its time, keys do
// not wait for it.
#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cmd/docker-flowcon/daemon_client.h"
#include "cmd/docker-flowcon/top/state.h"

namespace flowcon::plugin {

/// An answer of flowcond.
struct TopNews {
  enum class Kind { status, cluster, done, explained };
  Kind kind = Kind::status;
  Result<boost::json::value> answer = boost::json::value();
  TopAction action;  ///< done, explained: what it answers
};

class TopFeed {
 public:
  /// Looks every `interval_seconds`. A byte in `wake_file` says that there is news. Its calls block
  /// all signals.
  TopFeed(const DaemonClient& daemon, double interval_seconds, int wake_file);
  TopFeed(const TopFeed&) = delete;
  TopFeed& operator=(const TopFeed&) = delete;
  /// Waits for nothing: a call under way ends by itself, and its answer is dropped.
  ~TopFeed();

  /// Asks for what a key wanted: post or explain.
  void ask(const TopAction& action);

  /// What has come since the last call, in order.
  [[nodiscard]] std::vector<TopNews> take_news();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace flowcon::plugin
