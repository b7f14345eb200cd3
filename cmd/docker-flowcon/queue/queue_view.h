// SPDX-License-Identifier: Apache-2.0
// The daemon's queue as people and scripts see it: one object a job, whose members are the fields
// of --format. Pure: JSON in, JSON and text out.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace flowcon::plugin {

/// One job in two forms, as ContainerView has a container. `exact`: ID, Name, Image, Command,
/// State, Held, Order, Request {CPU, Memory, CPUFrom, MemoryFrom, GPU, GPUFrom}, Priority, Retries,
/// Attempt, Waited, Served, Left, Starved, Submitted, Started, Ended, Exit, Note, in docs/api.md's
/// units, null = unknown. `shown` has the same members made safe for a terminal, and the text of
/// tables' cells: StateText, OrderText, CPUText, MemoryText, GPUText, WaitedText, LeftText,
/// ExitText.
struct JobView {
  boost::json::object exact;
  boost::json::object shown;
};

/// One entry of the queue. Missing or ill-typed members count as unknown.
[[nodiscard]] JobView read_job(const boost::json::value& entry);

/// On the list of all hosts: the host that it was submitted on.
void name_home(JobView& job, const std::string& host);

/// The jobs of the answer to GET /v1/queue, in its order. Errors: the answer has no list of jobs.
[[nodiscard]] Result<std::vector<JobView>> read_queue(const boost::json::value& answer);

/// "vae was refused: WHY; remove it first: docker rm vae"; "" of one that was not.
[[nodiscard]] std::string refusal_text(const JobView& job);

/// False of done, failed, cancelled and refused.
[[nodiscard]] bool is_open_state(std::string_view state);

/// The headings of a table's columns: field to heading.
[[nodiscard]] const boost::json::object& queue_headings();

/// Bytes with two significant digits: "2.8GiB".
[[nodiscard]] std::string size_text(std::optional<double> bytes);

/// "2 wait, 3 run" of the answer to GET /v1/status; "" without a job.
[[nodiscard]] std::string queue_counts(const boost::json::value& status);

/// The answer to GET /v1/queue/NAME as sections: the job, its request, what is estimated, the last
/// decision about it, its steps, its warnings.
[[nodiscard]] std::string show_text(const boost::json::value& job);

/// A table of estimates: {LABEL: {expected, upper, basis, rows}}, in the labels' own units, those
/// with basis none left out. "" if nothing is known.
[[nodiscard]] std::string estimates_table(const boost::json::value& labels);

}  // namespace flowcon::plugin
