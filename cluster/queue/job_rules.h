// SPDX-License-Identifier: Apache-2.0
// What the rules of a job that runs here (job.cpp) and of one whose task runs on another host
// (job_elsewhere.cpp) share. Private to both.
#pragma once

#include <string>

#include "cluster/queue/job.h"

namespace flowcon::cluster::queue {

/// The same entry, to be written with a note.
[[nodiscard]] JobEntry written(JobEntry entry, double now, const std::string& note);
/// It was killed for memory, and asks for `least` from now on, whatever a person set before.
[[nodiscard]] JobEntry doubled(JobEntry entry, double least);
/// A person has removed its container.
[[nodiscard]] JobEntry taken_away(JobEntry entry);
/// In another state.
[[nodiscard]] JobEntry moved(JobEntry entry, JobState state, double now,
                             const std::string& note = "");
[[nodiscard]] Step write(JobEntry entry, Act act = Act::none);
/// It is over, with the status of `facts` where the copy there has ended.
[[nodiscard]] Step close(const JobEntry& entry, const JobFacts& facts, JobState state,
                         const std::string& note);
/// What becomes of it, whose run has ended as `facts` say.
[[nodiscard]] Step ended(const JobEntry& entry, const JobFacts& facts);
/// Its start came to nothing: it waits again, and is held where that was refused too often.
[[nodiscard]] Step not_started(const JobEntry& entry, double now, const std::string& why,
                               bool was_refused);
/// Is this what it is ordered, and does the order fit the entry?
[[nodiscard]] bool is_ordered(const JobEntry& entry, const JobFacts& facts, Order::Op op);
/// That an order makes on another host.
[[nodiscard]] Task task_for(const Order& order);
/// Of a job that runs.
[[nodiscard]] Step park_where_ordered(const JobEntry& entry, const JobFacts& facts);
/// The next thing to do for a job that has a task.
[[nodiscard]] Step step_elsewhere(const JobEntry& entry, const JobFacts& facts);

}  // namespace flowcon::cluster::queue
