// SPDX-License-Identifier: Apache-2.0
// What a job's owner does about its task on another host: has it made there by a birth, asks its
// host how it is, has it saved, stopped and brought home. Decides nothing. For .cpp files only: it
// includes Asio.
#pragma once

#include <optional>
#include <string>

#include "cluster/queue/jobs.h"
#include "cluster/queue/task_json.h"
#include "cluster/queue/world.h"

namespace flowcon::cluster::queue {

class Errands {
 public:
  explicit Errands(World& world) : world_(world) {}

  /// All that is known of the task of a job that has one.
  struct Heard {
    TaskFacts facts;
    bool is_avoided = false;  ///< its host turned it down, be it for a moment, or is silent
    std::string save_failure;
    bool has_saved = false;
    std::optional<double> left;   ///< CPU seconds
    std::optional<double> width;  ///< cores
    std::optional<double> done;   ///< share
    std::string trouble;          ///< why its host is not heard, for people
  };
  Async<Heard> gather(JobPtr job);

  /// Carries an act out whose job has a task. Errors: it was not; one without code is a refusal of
  /// what was asked.
  Async<Result<void>> carry_out(JobPtr job, Act act);

  /// Its ticket's docker limit, to what it asks for since it was killed for memory. Errors: the
  /// engine's.
  Async<Result<void>> raise_memory(JobPtr job);

 private:
  Async<Result<TaskView>> call(std::string host, TaskCall call);
  Async<Result<void>> bear(JobPtr job);
  Async<Result<void>> ask(std::string host, TaskCall asked);

  World& world_;
};

/// Which time a job is asked to save itself.
[[nodiscard]] std::string save_key(const JobEntry& entry);

}  // namespace flowcon::cluster::queue
