// SPDX-License-Identifier: Apache-2.0
// FlowCon's decisions: the executor (Algorithm 1) and the listener (Algorithm 2). Pure functions:
// no clock, no I/O, no logging. The daemon, flowcon-sim and the simulator call these very ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ctrl/model.h"

namespace flowcon::ctrl::policy {

/// One container as the executor sees it.
/// Units: limit is a share of the host in (0,1], growth as in growth/growth.h and finite; empty
/// means "never had one" and "not measured".
struct Member {
  std::string id;
  List list = List::nl;
  std::optional<double> limit;
  std::optional<double> growth;
};

/// What the executor decides from. Units: interval and interval_max in seconds; alpha in units of
/// growth; beta (at least 1) has none.
struct ExecutorState {
  static constexpr const char* kAlgorithm = "executor";

  double alpha = 0.03;
  double beta = 2;
  double interval = 20;
  std::optional<double> interval_max;
  bool floor_all = false;  ///< the floor 1/(beta*n) holds for every list, not for CL alone
  std::vector<Member> containers;
};

/// A container's place and limit after a decision.
struct Placement {
  std::string id;
  List list = List::nl;
  double limit = 1;
};

struct ExecutorDecision {
  double interval = 0;                ///< seconds until the next run
  bool all_completing = false;        ///< every container is in CL: free competition and back-off
  std::vector<Placement> containers;  ///< in the order of the state
};

/// One round of Algorithm 1. Limits are at most 1, their sum may be more. Without floor_all a
/// growing container's limit has no lower bound, as published. Sums run in the order of the
/// containers, so the same state gives the same bits.
/// Source: FlowCon, Algorithm 1; misprints settled as in docs/architecture.md.
[[nodiscard]] ExecutorDecision decide_executor(const ExecutorState& state);

/// What the listener decides from: the executor's state, the interval to fall back to, and the
/// ids running now in order of arrival.
struct ListenerState {
  static constexpr const char* kAlgorithm = "listener";

  ExecutorState executor;
  double initial_interval = 20;
  std::vector<std::string> active;
};

struct ListenerDecision {
  std::vector<std::string> arrived;   ///< in the order of `active`
  std::vector<std::string> departed;  ///< in the order of the state's containers
  bool rerun = false;                 ///< the executor must run at once
  double interval = 0;                ///< seconds
  /// In the order of `active`, ready for the executor: a newcomer is in NL with limit 1, the others
  /// are as they were.
  std::vector<Member> containers;
};

/// One tick of Algorithm 2: compares the sets of containers, not their counts. An id that is twice
/// in `active` counts once.
/// Source: FlowCon, Algorithm 2.
[[nodiscard]] ListenerDecision decide_listener(const ListenerState& state);

}  // namespace flowcon::ctrl::policy
