// SPDX-License-Identifier: Apache-2.0
// The rows of `docker flowcon top`, one per container, read from flowcond's answers. Pure. Every
// text is safe for a terminal.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/model.h"

namespace flowcon::plugin {

/// One container. Shares are of the host, 0 to 1; memory in bytes, io in bytes per second. Empty =
/// unknown.
struct TopRow {
  std::string id;  ///< as it came
  std::string name;
  std::string image;
  std::string host;
  bool is_elsewhere = false;  ///< on another host than the one that answers
  std::string state;          ///< as docs/api.md has it
  std::string list;           ///< NL, WL, CL
  std::string metric;
  std::string goal;
  std::string verdict;
  std::string reason;
  std::string note;
  std::vector<std::string> warnings;
  ctrl::PerResource<std::optional<double>> limits;
  std::optional<double> growth;
  std::optional<double> value;
  ctrl::PerResource<std::optional<double>> use;
  std::optional<double> progress;  ///< 0 to 1
  std::optional<double> left;      ///< seconds
  std::optional<double> weight;
  std::optional<double> floor;
  std::optional<double> ceiling;
  std::optional<double> pinned;
  std::optional<double> pinned_until;  ///< seconds since the epoch
  std::vector<double> trend;           ///< the metric's values, oldest first
};

/// What is wrong with it: its note, else its first warning; "" = nothing.
[[nodiscard]] std::string problem_of(const TopRow& row);

/// The host that answers.
struct TopHost {
  std::string name;
  std::string version;
  std::string limit_mode;
  std::string policy;              ///< the current policy
  bool has_lists = true;           ///< lists and growth decide something by it
  std::optional<double> alpha;     ///< empty if the policy has none
  std::optional<double> interval;  ///< seconds; the same
  std::string queue;               ///< "2 wait, 3 run"; "" = no job
  bool is_all_completing = false;
  bool is_paused = false;
  bool is_dry_run = false;
  std::vector<std::string> warnings;
};

struct TopView {
  TopHost host;
  std::vector<TopRow> rows;
};

/// Reads GET /v1/status. Errors: no list of containers.
[[nodiscard]] Result<TopView> read_top(const boost::json::value& status);

/// The containers on other hosts, from by name GET /v1/peers/NAME/status of each.
[[nodiscard]] std::vector<TopRow> read_elsewhere(const boost::json::value& peers);

/// The decisions about a container, from its `explain`: a line each, newest first.
[[nodiscard]] std::vector<std::string> read_decisions(const boost::json::value& explained);

}  // namespace flowcon::plugin
