// SPDX-License-Identifier: Apache-2.0
// Asks flowcond for `docker flowcon top`, on threads of its own, so that keys never wait for an
// answer.
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
  enum class Kind { status, peers, done, explained };
  Kind kind = Kind::status;
  Result<boost::json::value> answer = boost::json::value();  ///< peers: by name the status of each
  TopAction action;  ///< done, explained: the action it answers
};

class TopFeed {
 public:
  /// Updates every `interval_seconds`, and writes a byte into `wake_file` for each answer. Its
  /// calls block all signals.
  TopFeed(const DaemonClient& daemon, double interval_seconds, int wake_file);
  TopFeed(const TopFeed&) = delete;
  TopFeed& operator=(const TopFeed&) = delete;
  /// Waits for nothing: a call under way ends by itself, and its answer is dropped.
  ~TopFeed();

  /// Sends the request of a key: post or explain.
  void ask(const TopAction& action);

  /// The answers since the last call, in order.
  [[nodiscard]] std::vector<TopNews> take_news();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace flowcon::plugin
