// SPDX-License-Identifier: Apache-2.0
// What a job's owner asks the host of its task, and what that says (docs/peers.md), as JSON. Pure;
// all of it comes from another machine: ranges and texts are checked here, once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "base/result.h"
#include "cluster/queue/job.h"

namespace flowcon::cluster::queue {

enum class TaskVerb {
  look,     ///< how is it?
  save,     ///< it is to save itself and to end
  stop,     ///< it is to end
  fetch,    ///< what it has written is to come home
  discard,  ///< it is to be removed with all that it has written
  claim,    ///< made before there was room for it: that is to be kept for it now
};
[[nodiscard]] const char* name(TaskVerb verb);

struct TaskCall {
  TaskVerb verb = TaskVerb::look;
  std::string birth;
  std::string key;        ///< save: which time it is asked; fetch: the id of the return
  bool is_early = false;  ///< claim: others have its cores yet
};

/// How a task is. Units: bytes; seconds.
struct TaskView {
  TicketCopy copy = TicketCopy::unknown;
  std::string life;
  std::int64_t status = 0;  ///< of one that has ended, and how it did:
  bool was_killed_for_memory = false;
  bool was_stopped = false;
  bool was_interrupted = false;
  double memory = 0;         ///< that it asked for or used, the greater
  bool is_saving = false;    ///< it was asked to, and has not ended
  std::string save_key;      ///< of the last save
  std::string save_failure;  ///< why that has not ended it
  bool has_saved = false;
  std::string undone_back;     ///< id of a return that is over here, and has brought nothing home
  std::optional<double> left;  ///< CPU seconds
  std::optional<double> width;
  std::optional<double> done;  ///< share, by its progress counter
};

[[nodiscard]] Result<TaskCall> parse_task_call(std::string_view text);
[[nodiscard]] std::string render(const TaskCall& call);
[[nodiscard]] Result<TaskView> parse_task_view(std::string_view text);
[[nodiscard]] std::string render(const TaskView& view);

/// The number `name`, if it is there; complains of one that is not from 0 to 10^18.
[[nodiscard]] std::optional<double> amount_in(FieldReader& reader, std::string_view name);

/// Ids of births: those of which something is new, or those that their owner does not know.
inline constexpr std::size_t kMostBirths = 256;
[[nodiscard]] Result<std::vector<std::string>> parse_births(std::string_view text);
[[nodiscard]] std::string render_births(const std::vector<std::string>& births);

}  // namespace flowcon::cluster::queue
