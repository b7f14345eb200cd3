// SPDX-License-Identifier: Apache-2.0
// Entries of a group and its tasks, and what a step makes of them.
#pragma once

#include <cstddef>
#include <string>

#include "cluster/queue/group.h"

namespace flowcon::cluster::queue {

inline JobEntry group_in(JobState state, std::size_t tasks = 2) {
  JobEntry entry;
  entry.id = std::string(64, 'a');
  entry.name = "net";
  entry.state = state;
  entry.version = 1;
  entry.group = Group();
  entry.group->workers = {2, 2};
  for (std::size_t i = 0; i < tasks; ++i) {
    JobEntry task;
    task.id = std::string(64, static_cast<char>('b' + i));
    task.name = "net-w" + std::to_string(i);
    task.task_of = entry.id;
    task.version = 1;
    entry.group->tasks.push_back(task);
  }
  return entry;
}

inline JobEntry& task(JobEntry& entry, std::size_t number) { return entry.group->tasks.at(number); }
inline const JobEntry& task(const JobEntry& entry, std::size_t number) {
  return entry.group->tasks.at(number);
}

inline void all_are(JobEntry& entry, JobState state) {
  for (JobEntry& one : entry.group->tasks) {
    one.state = state;
    one.version = 3;
    one.attempt = 1;
  }
}

inline void end_task(JobEntry& entry, std::size_t number, TaskEnd end,
                     const std::string& note = "") {
  task(entry, number).end = end;
  task(entry, number).note = note;
  task(entry, number).state =
      end == TaskEnd::done || end == TaskEnd::saved ? JobState::done : JobState::failed;
}

inline GroupFacts facts_of(const JobEntry& entry) {
  GroupFacts facts;
  facts.now = 100;
  facts.copy = TicketCopy::created;
  facts.ready.assign(entry.group->tasks.size(), false);
  return facts;
}

inline GroupStep step_of(const JobEntry& entry) { return group_step(entry, facts_of(entry)); }

}  // namespace flowcon::cluster::queue
