// SPDX-License-Identifier: Apache-2.0
// The daemon's status as people and scripts see it: one object a container, whose members are the
// fields of --format. Pure: JSON in, JSON and text out.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cmd/docker-flowcon/text/format.h"

namespace flowcon::plugin {

/// One container in two forms. `exact` is for JSON: ID, Name, Image, State, List, Limit, Growth,
/// Verdict, Metric, Goal, Value, Values, Progress {Done, Total, Within, From}, Left, CPU, Memory,
/// IO, Network, GPU {Use, Memory}, Resources {CPU, Memory, IO: {List, Limit, Growth}}, Weight,
/// Floor, Ceiling, OnlyGrow, Pinned {Limit, Until}, Since, Reason, Note, Warnings, in docs/api.md's
/// units, null = unknown. `shown` has the same members made safe for a terminal, the ID cut to 12
/// characters by default, and the text of tables' cells: LimitPerc, CPUPerc, MemUsage, BlockIO,
/// NetIO, GPUPerc, GPUMem, FloorPerc, CeilingPerc, PinnedText, Score, ProgressPerc, LeftText,
/// GrowthText, NoteText (overrides, then the note). Where several hosts are shown, Host.
struct ContainerView {
  boost::json::object exact;
  boost::json::object shown;
};

struct StatusView {
  std::vector<ContainerView> containers;
  /// Warnings beside the table, one sentence each, safe for a terminal.
  std::vector<std::string> warnings;
};

/// Reads the answer of GET /v1/status. Missing or ill-typed members count as unknown.
/// Errors: the answer has no list of containers.
[[nodiscard]] Result<StatusView> read_status(const boost::json::value& answer, bool truncate);

/// What was named and is not there, in a sentence.
struct Missing {
  std::string name;
  std::string sentence;
};

/// Keeps the containers that `wanted` names, by name, id or a beginning of an id that only one has,
/// in the order of `wanted`; all if it names none. Returns those that are missing.
[[nodiscard]] std::vector<Missing> select_containers(StatusView& view,
                                                     const std::vector<std::string>& wanted);

/// Adds the warnings of the containers to the daemon's.
void add_warnings_of_containers(StatusView& view);

/// A CLI11 check of KEY=VALUE.
[[nodiscard]] std::string check_filter(const std::string& filter);

/// Keeps the containers that fit: of each key given one of its values.
void filter_containers(StatusView& view, const std::vector<std::string>& filters);

/// Says of each container which host it is on: the member Host.
void name_host(StatusView& view, const std::string& host);

/// The containers in `format`; the table's headings are docker's.
[[nodiscard]] Result<std::string> render_status(const StatusView& view, const Format& format);

/// The template of the default table, with the lists where they decide about the CPU under
/// `policy`.
[[nodiscard]] std::string_view default_status_table(std::string_view policy);

}  // namespace flowcon::plugin
