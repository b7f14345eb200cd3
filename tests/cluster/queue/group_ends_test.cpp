// SPDX-License-Identifier: Apache-2.0
// What becomes of tasks that have come to an end, that never began, or that come too late.
#include <vector>

#include "tests/cluster/queue/group_entries.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::queue {
namespace {

TEST_CASE("a ticket that was started while its group ended is stopped, and all start again") {
  JobEntry entry = group_in(JobState::returning);
  entry.group->then = JobState::waiting;
  all_are(entry, JobState::cancelled);
  GroupFacts facts = facts_of(entry);
  facts.copy = TicketCopy::running;
  facts.life = "1";
  CHECK(group_step(entry, facts).deeds == std::vector<GroupDeed>{{GroupAct::halt, 0}});
  entry.group->tasks.clear();
  facts.copy = TicketCopy::ended;
  entry = *group_step(entry, facts).entry;
  CHECK(entry.state == JobState::waiting);
  CHECK_FALSE(group_step(entry, facts).entry);
}

TEST_CASE("a ticket that was started to leave the queue is left alone") {
  JobEntry entry = group_in(JobState::returning);
  entry.group->then = JobState::cancelled;
  all_are(entry, JobState::cancelled);
  GroupFacts facts = facts_of(entry);
  facts.copy = TicketCopy::running;
  const GroupStep step = group_step(entry, facts);
  CHECK(step.deeds.empty());
  CHECK(step.entry->state == JobState::cancelled);
}

TEST_CASE("where a server went with its host those that cannot save themselves are asked once") {
  JobEntry entry = group_in(JobState::running, 3);
  all_are(entry, JobState::running);
  entry.is_unparkable = true;
  task(entry, 2).is_ps = true;
  end_task(entry, 2, TaskEnd::lost);
  GroupFacts facts = facts_of(entry);
  facts.saves_itself = true;
  entry = *group_step(entry, facts).entry;
  REQUIRE(entry.state == JobState::parking);
  for (const std::size_t worker : {0, 1}) {
    task(entry, worker).is_unparkable = true;
    task(entry, worker).since = entry.since;
  }
  CHECK(group_step(entry, facts).entry->state == JobState::returning);
}

TEST_CASE("a job is done when its workers are, however its servers end") {
  JobEntry entry = group_in(JobState::returning, 3);
  all_are(entry, JobState::done);
  end_task(entry, 0, TaskEnd::done);
  end_task(entry, 1, TaskEnd::done);
  task(entry, 2).is_ps = true;
  end_task(entry, 2, GENERATE(TaskEnd::memory, TaskEnd::stopped, TaskEnd::failed));
  CHECK(*step_of(entry).entry->group->then == JobState::done);
}

TEST_CASE("of a worker that never began nothing is kept, and it goes before others come") {
  JobEntry entry = group_in(JobState::running, 4);
  entry.group->elastic = ctrl::Elastic::join;
  all_are(entry, JobState::running);
  task(entry, 2).attempt = 0;
  task(entry, 2).state = JobState::cancelled;
  task(entry, 2).has_left = true;
  task(entry, 3).state = JobState::waiting;
  task(entry, 3).version = 1;
  task(entry, 3).id.clear();
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::remove, 2}});
}

TEST_CASE("of workers that have left the oldest go, so that others may join, but for the first") {
  JobEntry entry = group_in(JobState::running, 40);
  entry.group->elastic = ctrl::Elastic::join;
  all_are(entry, JobState::running);
  for (std::size_t number = 0; number < 38; ++number) {
    end_task(entry, number, TaskEnd::failed);
    task(entry, number).has_left = true;
  }
  for (std::size_t left = 37; left > 32; --left) {
    REQUIRE(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::remove, 1}});
    entry.group->tasks.erase(entry.group->tasks.begin() + 1);
  }
  CHECK(step_of(entry).deeds.empty());
  CHECK(task(entry, 0).name == "net-w0");
  CHECK(task(entry, 1).name == "net-w6");
}

TEST_CASE("in a group with nearly as many tasks as there may be the last that has left is kept") {
  JobEntry entry = group_in(JobState::running, kMostTasks);
  entry.group->elastic = ctrl::Elastic::join;
  entry.group->workers = {1, kMostTasks};
  all_are(entry, JobState::running);
  for (const std::size_t number : {1, 2}) {
    end_task(entry, number, TaskEnd::failed);
    task(entry, number).has_left = true;
  }
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::remove, 1}});
  entry.group->tasks.erase(entry.group->tasks.begin() + 1);
  CHECK(step_of(entry).deeds.empty());
}

TEST_CASE("where a worker that may join is killed for memory all start again with more, once") {
  JobEntry entry = group_in(JobState::running, 4);
  entry.group->elastic = GENERATE(ctrl::Elastic::join, ctrl::Elastic::torchrun);
  entry.group->workers = {1, 4};
  all_are(entry, JobState::running);
  end_task(entry, 1, TaskEnd::memory, "was killed for memory");
  task(entry, 1).least_memory = 5e9;
  SECTION("the first time") {
    entry = *step_of(entry).entry;
    REQUIRE(entry.state == JobState::returning);
    for (const std::size_t other : {0, 2, 3}) task(entry, other).state = JobState::cancelled;
    entry = *step_of(entry).entry;
    CHECK(*entry.group->then == JobState::waiting);
    CHECK(entry.has_doubled);
    CHECK(entry.least_memory == 5e9);
  }
  SECTION("then the others go on without it") {
    entry.has_doubled = true;
    entry = *step_of(entry).entry;
    CHECK(entry.state == JobState::running);
    CHECK(task(entry, 1).has_left);
  }
  SECTION("and so they do where none comes in its place") {
    end_task(entry, 2, TaskEnd::done);
    entry = *step_of(entry).entry;
    CHECK(entry.state == JobState::running);
    CHECK(task(entry, 1).has_left);
  }
}

TEST_CASE("after each worker that fails soon after its start it takes longer until one joins") {
  JobEntry entry = group_in(JobState::running, 4);
  entry.group->elastic = ctrl::Elastic::join;
  all_are(entry, JobState::running);
  CHECK_FALSE(has_just_failed(*entry.group, 100));
  const auto fails = [&](std::size_t number, double since, double served) {
    end_task(entry, number, TaskEnd::failed);
    task(entry, number).has_left = true;
    task(entry, number).since = since;
    task(entry, number).served = served;
  };
  fails(1, 100, 2);
  CHECK(has_just_failed(*entry.group, 109));
  CHECK_FALSE(has_just_failed(*entry.group, 110));
  fails(2, 200, 2);
  CHECK(has_just_failed(*entry.group, 219));
  CHECK_FALSE(has_just_failed(*entry.group, 220));
  CHECK_FALSE(has_just_failed(*entry.group, 50));  // the clock was set back
  // As long as torchrun's agent waits for the others, and what comes before that.
  fails(3, 300, 90);
  CHECK(has_just_failed(*entry.group, 339));
  fails(3, 300, 600);
  CHECK_FALSE(has_just_failed(*entry.group, 301));
}

TEST_CASE("a task's name is known though it was given up, and no other one") {
  JobEntry entry = group_in(JobState::running);
  entry.group->next_worker = 12;
  entry.group->next_ps = 1;
  CHECK(had_task(entry, "net-w11"));
  CHECK(had_task(entry, "net-s0"));
  for (const char* other : {"net-w12", "net-w", "net-w01", "net-s1", "net", "other-w0", ""}) {
    CHECK_FALSE(had_task(entry, other));
  }
}

}  // namespace
}  // namespace flowcon::cluster::queue
