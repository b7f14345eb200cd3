// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/group.h"

#include <string>

#include "tests/cluster/queue/group_entries.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::queue {
namespace {

Order order_for(Order::Op op, std::vector<TaskPlace> places) {
  return {op, 1, "", "", std::move(places), 0};
}

// Steps until nothing is written any more.
JobEntry settled(JobEntry entry) {
  for (int turn = 0; turn < 5; ++turn) {
    const GroupStep step = step_of(entry);
    if (!step.entry) break;
    entry = *step.entry;
  }
  return entry;
}

TEST_CASE("an order makes the entries of all tasks, with numbers that were never used") {
  JobEntry entry = group_in(JobState::waiting, 0);
  entry.group->ps = 1;
  entry.group->next_worker = 4;
  GroupFacts facts = facts_of(entry);
  facts.order = order_for(Order::Op::start, {{std::string(32, 'f'), 2, 1}});
  const GroupStep step = group_step(entry, facts);
  REQUIRE(step.entry);
  CHECK(step.entry->state == JobState::placing);
  CHECK(step.entry->group->tasks[0].at == std::string(32, 'f'));
  CHECK(step.entry->group->network.empty());
  REQUIRE(step.entry->group->tasks.size() == 3);
  CHECK(step.entry->group->tasks[1].name == "net-w5");
  CHECK(step.entry->group->tasks[2].name == "net-s0");
  CHECK_FALSE(step.entry->group->tasks[1].is_ps);
  CHECK(step.entry->group->tasks[2].is_ps);
  facts.order->version = 2;
  CHECK_FALSE(group_step(entry, facts).entry);
}

TEST_CASE("nothing starts before all are ready") {
  JobEntry entry = group_in(JobState::placing);
  task(entry, 1).id.clear();
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::make, 1}});
  task(entry, 1).id = std::string(64, 'e');
  GroupFacts facts = facts_of(entry);
  facts.ready = {true, false};
  CHECK_FALSE(group_step(entry, facts).entry);
  facts.ready = {true, true};
  REQUIRE(group_step(entry, facts).entry);
  CHECK(group_step(entry, facts).entry->state == JobState::starting);
  CHECK(group_step(entry, facts).entry->attempt == 1);
  CHECK(step_of(group_in(JobState::starting)).deeds ==
        std::vector<GroupDeed>{{GroupAct::start, 0}, {GroupAct::start, 1}});
}

TEST_CASE("no host is sent more than two tasks at a time") {
  JobEntry entry = group_in(JobState::placing, 4);
  for (JobEntry& one : entry.group->tasks) one.at = std::string(32, 'f');
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::place, 0}, {GroupAct::place, 1}});
  task(entry, 0).state = task(entry, 1).state = JobState::placing;
  CHECK(step_of(entry).deeds.empty());
  GroupFacts facts = facts_of(entry);
  facts.ready[1] = true;
  CHECK(group_step(entry, facts).deeds == std::vector<GroupDeed>{{GroupAct::place, 2}});
}

TEST_CASE("where one cannot be placed the others are taken back, and the third time it is held") {
  JobEntry entry = group_in(JobState::placing);
  entry.refusals = 2;
  task(entry, 0).version = 3;
  task(entry, 0).note = "h2: no room";
  CHECK_FALSE(step_of(entry).entry->is_held);  // there may be in a moment
  task(entry, 0).refusals = 1;
  const GroupStep step = step_of(entry);
  REQUIRE(step.entry);
  CHECK(step.entry->state == JobState::returning);
  CHECK(step.entry->note == "net-w0: h2: no room");
  CHECK(step.entry->is_held);
  CHECK(step_of(*step.entry).deeds ==
        std::vector<GroupDeed>{{GroupAct::cancel, 1}, {GroupAct::cancel, 0}});
}

TEST_CASE("servers stop once no worker runs, so that what one has written can come home") {
  JobEntry entry = group_in(JobState::running, 3);
  all_are(entry, JobState::running);
  task(entry, 2).is_ps = true;
  end_task(entry, 0, TaskEnd::done, "");
  end_task(entry, 1, TaskEnd::done, "");
  task(entry, 0).state = JobState::returning;  // into a volume that the server has there
  entry = settled(entry);
  CHECK(entry.state == JobState::returning);
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::cancel, 2}});
  task(entry, 2).state = JobState::cancelled;
  CHECK(step_of(entry).deeds.empty());
  task(entry, 0).state = JobState::done;
  CHECK(settled(entry).state == JobState::done);
}

TEST_CASE("an attempt is over when one task fails, and decided when all are over") {
  JobEntry entry = group_in(JobState::running);
  all_are(entry, JobState::running);
  CHECK_FALSE(step_of(entry).entry);
  end_task(entry, 0, TaskEnd::failed, "ended with status 1");
  task(entry, 0).status = 1;
  entry = settled(entry);
  CHECK(entry.state == JobState::returning);
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::cancel, 1}});

  SECTION("by the failure") {
    task(entry, 1).state = JobState::cancelled;
    CHECK(settled(entry).state == JobState::failed);
    CHECK(settled(entry).status == 1);
    CHECK(settled(entry).note == "net-w0: ended with status 1");
  }
  SECTION("by the kill for memory that was heard of later") {
    end_task(entry, 1, TaskEnd::memory, "was killed for memory");
    task(entry, 1).least_memory = 5e9;
    entry = settled(entry);
    CHECK(entry.state == JobState::returning);
    CHECK(entry.has_doubled);
    CHECK(entry.least_memory == 5e9);
    CHECK(step_of(entry).deeds ==
          std::vector<GroupDeed>{{GroupAct::remove, 1}, {GroupAct::remove, 0}});
    entry.group->tasks.clear();
    CHECK(settled(entry).state == JobState::waiting);
  }
  SECTION("by the host that went") {
    end_task(entry, 1, TaskEnd::interrupted, "was interrupted");
    entry = settled(entry);
    entry.group->tasks.clear();
    CHECK(settled(entry).state == JobState::waiting);
    CHECK(settled(entry).retries == 0);
  }
}

TEST_CASE("a group is done when its workers are, whatever its servers do") {
  JobEntry entry = group_in(JobState::running, 3);
  entry.group->ps = 1;
  task(entry, 2).is_ps = true;
  all_are(entry, JobState::running);
  end_task(entry, 0, TaskEnd::done);
  CHECK_FALSE(step_of(entry).entry);
  end_task(entry, 1, TaskEnd::done);
  entry = settled(entry);
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::cancel, 2}});
  task(entry, 2).state = JobState::cancelled;
  CHECK(settled(entry).state == JobState::done);
}

JobEntry elastic_group() {
  JobEntry entry = group_in(JobState::running, 3);
  entry.group->workers = {1, 4};
  entry.group->elastic = ctrl::Elastic::join;
  all_are(entry, JobState::running);
  return entry;
}

GroupStep placed_anew(const JobEntry& entry, std::vector<TaskPlace> places) {
  GroupFacts facts = facts_of(entry);
  facts.order = order_for(Order::Op::resize, std::move(places));
  facts.order->version = entry.version;
  return group_step(entry, facts);
}

GroupStep resized(const JobEntry& entry, std::int64_t workers) {
  return placed_anew(entry, {{"", workers, 0}});
}

TEST_CASE("workers that may join come one by one, and the last ones go first") {
  JobEntry entry = elastic_group();
  CHECK_FALSE(resized(entry, 5).entry);
  CHECK_FALSE(resized(entry, 0).entry);
  GroupStep step = resized(entry, 4);
  REQUIRE(step.entry);
  CHECK(present(*step.entry->group, false) == 4);
  CHECK(step.entry->note == "grows from 3 to 4 workers");
  CHECK(step_of(*step.entry).deeds == std::vector<GroupDeed>{{GroupAct::make, 3}});
  step = resized(entry, 1);
  REQUIRE(step.entry);
  CHECK(step.entry->note == "shrinks from 3 to 1 worker");
  CHECK(step_of(*step.entry).deeds ==
        std::vector<GroupDeed>{{GroupAct::cancel, 2}, {GroupAct::cancel, 1}});
  entry = *step.entry;
  task(entry, 1).state = task(entry, 2).state = JobState::cancelled;
  CHECK_FALSE(step_of(entry).entry);
  end_task(entry, 0, TaskEnd::done);
  entry = settled(entry);
  CHECK(entry.state == JobState::done);
  entry = elastic_group();
  entry.group->elastic = ctrl::Elastic::no;
  CHECK_FALSE(resized(entry, 4).entry);
}

TEST_CASE("workers come and go on the hosts that are said") {
  const std::string far(32, 'f');
  JobEntry entry = elastic_group();
  task(entry, 1).at = far;
  CHECK(places_of(*entry.group) == std::vector<TaskPlace>{{"", 2, 0}, {far, 1, 0}});
  entry.group->network = "train";
  GroupStep step = placed_anew(entry, {{"", 1, 0}, {far, 1, 0}});
  REQUIRE(step.entry);
  entry.group->network.clear();
  CHECK(step_of(*step.entry).deeds == std::vector<GroupDeed>{{GroupAct::cancel, 2}});
  CHECK_FALSE(placed_anew(entry, {{"", 2, 0}, {far, 2, 0}}).entry);
  entry.group->network = "train";
  step = placed_anew(entry, {{"", 2, 0}, {far, 2, 0}});
  REQUIRE(step.entry);
  CHECK(task(*step.entry, 3).at == far);
  step = placed_anew(entry, {{"", 2, 0}});
  REQUIRE(step.entry);
  CHECK(task(*step.entry, 1).has_left);
  CHECK_FALSE(placed_anew(entry, {{far, 1, 0}, {far, 2, 0}}).entry);
}

TEST_CASE("tasks are on several hosts where these have a network in common") {
  const std::string far(32, 'f');
  JobEntry entry = group_in(JobState::waiting, 0);
  entry.group->ps = 1;
  GroupFacts facts = facts_of(entry);
  facts.order = order_for(Order::Op::start, {{"", 1, 0}, {far, 1, 1}});
  CHECK_FALSE(group_step(entry, facts).entry);
  facts.network = "train";
  const GroupStep step = group_step(entry, facts);
  REQUIRE(step.entry);
  CHECK(step.entry->group->network == "train");
  CHECK(step.entry->group->tasks[0].at.empty());
  CHECK(step.entry->group->tasks[1].at == far);
  CHECK(step.entry->group->tasks[2].at == far);
  CHECK(step.entry->group->tasks[2].alias == "aaaaaaaaaaaa-s0");

  SECTION("those that may join later have it from the beginning, others do without") {
    facts.order = order_for(Order::Op::start, {{far, 2, 1}});
    CHECK(group_step(entry, facts).entry->group->network.empty());
    CHECK(task(*group_step(entry, facts).entry, 0).alias.empty());
    entry.group->workers = {2, 3};
    entry.group->elastic = ctrl::Elastic::join;
    CHECK(group_step(entry, facts).entry->group->network == "train");
  }
  SECTION("and not where less or more is ordered than it may have") {
    facts.order = order_for(Order::Op::start, {{"", 1, 0}, {far, 2, 1}});
    CHECK_FALSE(group_step(entry, facts).entry);
    facts.order = order_for(Order::Op::start, {{"", 1, 0}, {far, 1, 0}});
    CHECK_FALSE(group_step(entry, facts).entry);
  }
}

TEST_CASE("tasks in the network of their hosts are made once all know where they listen") {
  JobEntry entry = group_in(JobState::waiting, 0);
  GroupFacts facts = facts_of(entry);
  facts.network = kHostNetwork;
  facts.is_in_network = true;
  facts.order = order_for(Order::Op::start, {{"", 2, 0}});
  entry = *group_step(entry, facts).entry;
  CHECK(entry.group->network == kHostNetwork);
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::lease, 0}});
  task(entry, 0).endpoint = Endpoint{"192.0.2.7", 29500, "eth1"};
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::lease, 1}});
  task(entry, 1).endpoint = Endpoint{"192.0.2.7", 29501, "eth1"};
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::make, 0}, {GroupAct::make, 1}});
}

TEST_CASE("of tasks with published ports servers alone are told where they listen before") {
  const std::string far(32, 'f');
  JobEntry entry = group_in(JobState::waiting, 0);
  entry.group->ps = 1;
  GroupFacts facts = facts_of(entry);
  facts.network = kPublished;
  facts.order = order_for(Order::Op::start, {{"", 1, 1}, {far, 1, 0}});
  const GroupStep begun = group_step(entry, facts);
  REQUIRE(begun.entry);
  entry = *begun.entry;
  CHECK(entry.group->network == kPublished);
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::lease, 2}});
  task(entry, 2).endpoint = Endpoint{"192.0.2.7", 29500, "eth1"};
  CHECK(step_of(entry).deeds.front().act == GroupAct::make);
}

TEST_CASE("no worker comes any more once one has done its part") {
  JobEntry entry = elastic_group();
  end_task(entry, 1, TaskEnd::done);
  CHECK_FALSE(resized(entry, 4).entry);
  CHECK(resized(entry, 1).entry);
}

TEST_CASE("a worker that is on its way when one has done its part does not start any more") {
  JobEntry entry = *resized(elastic_group(), 4).entry;
  task(entry, 3).name = "net-w3";
  task(entry, 3).id = std::string(64, 'f');
  task(entry, 3).state = GENERATE(JobState::waiting, JobState::placing);
  end_task(entry, 0, TaskEnd::done);
  const GroupStep step = step_of(entry);
  REQUIRE(step.entry);
  CHECK(task(*step.entry, 3).has_left);
  CHECK(step.entry->note == "net-w3 is not needed any more; goes on with 2 workers");
  CHECK(step_of(*step.entry).deeds == std::vector<GroupDeed>{{GroupAct::cancel, 3}});
  end_task(entry, 1, TaskEnd::done);
  end_task(entry, 2, TaskEnd::done);
  entry = settled(entry);
  CHECK(entry.state == JobState::returning);
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::cancel, 3}});
}

TEST_CASE("workers that may join are done without when they fail, while enough are left") {
  JobEntry entry = elastic_group();
  end_task(entry, 1, TaskEnd::failed, "ended with status 1");
  entry = settled(entry);
  CHECK(entry.state == JobState::running);
  CHECK(task(entry, 1).has_left);
  CHECK(entry.note == "net-w1: ended with status 1; goes on with 2 workers");
  end_task(entry, 0, TaskEnd::lost, "is without its host");
  entry = settled(entry);
  CHECK(entry.state == JobState::running);
  end_task(entry, 2, TaskEnd::failed, "ended with status 2");
  CHECK(settled(entry).state == JobState::failed);
}

TEST_CASE("the last worker that runs is not done without for one that is to join") {
  JobEntry entry = *resized(elastic_group(), 4).entry;
  CHECK(task(entry, 3).attempt == 0);
  end_task(entry, 0, TaskEnd::failed, "ended with status 1");
  end_task(entry, 1, TaskEnd::failed, "ended with status 1");
  end_task(entry, 2, TaskEnd::failed, "ended with status 1");
  task(entry, 3).state = GENERATE(JobState::waiting, JobState::starting);
  const JobEntry next = settled(entry);
  CHECK_FALSE(next.group->tasks.at(0).has_left);
  CHECK(next.state == JobState::returning);
}

TEST_CASE("a job whose workers have all left waits again, and is not done") {
  JobEntry entry = elastic_group();
  for (JobEntry& one : entry.group->tasks) {
    one.state = JobState::cancelled;
    one.has_left = true;
  }
  entry = settled(entry);
  CHECK(*entry.group->then == JobState::waiting);
  CHECK(entry.group->why == "none of its workers is left");
}

TEST_CASE("a first worker elsewhere is not done without where its volumes come home") {
  JobEntry entry = elastic_group();
  entry.group->network = "train";
  const std::string far(32, 'f');
  GroupFacts facts = facts_of(entry);
  facts.has_volumes = true;
  SECTION("since what comes would replace what the others write until then") {
    task(entry, 0).at = far;
    end_task(entry, 0, GENERATE(TaskEnd::failed, TaskEnd::lost));
    const GroupStep step = group_step(entry, facts);
    REQUIRE(step.entry);
    CHECK(step.entry->state == JobState::returning);
    CHECK_FALSE(task(*step.entry, 0).has_left);
  }
  SECTION("but it is where nothing comes, and so are the others") {
    const bool is_first = GENERATE(false, true);
    const bool is_away = GENERATE(false, true);
    const std::size_t one = is_first ? 0 : 1;
    if (is_away) task(entry, one).at = far;
    if (is_away && is_first) facts.has_volumes = false;
    end_task(entry, one, TaskEnd::failed);
    const GroupStep step = group_step(entry, facts);
    REQUIRE(step.entry);
    CHECK(step.entry->state == JobState::running);
    CHECK(task(*step.entry, one).has_left);
  }
}

TEST_CASE("where the first of torchrun's agents fails all start again while they may") {
  JobEntry entry = elastic_group();
  entry.group->elastic = ctrl::Elastic::torchrun;
  entry.retries = GENERATE(0, 1);
  const bool starts_again = entry.retries > 0;
  end_task(entry, 0, TaskEnd::failed, "ended with status 1");
  entry = settled(entry);
  REQUIRE(entry.state == JobState::returning);
  task(entry, 1).state = task(entry, 2).state = JobState::cancelled;
  entry = settled(entry);
  CHECK(*entry.group->then == (starts_again ? JobState::waiting : JobState::failed));
  CHECK(entry.retries == 0);
}

TEST_CASE("torchrun's agents do without each other, but not without the first one") {
  JobEntry entry = elastic_group();
  entry.group->elastic = ctrl::Elastic::torchrun;
  end_task(entry, 2, TaskEnd::failed, "ended with status 1");
  entry = settled(entry);
  REQUIRE(entry.state == JobState::running);
  CHECK(task(entry, 2).has_left);
  end_task(entry, 0, TaskEnd::interrupted, "is without its host");
  entry = settled(entry);
  CHECK_FALSE(task(entry, 0).has_left);
  CHECK(entry.state != JobState::running);
}

TEST_CASE("a worker that joins and cannot be had does not end the others") {
  JobEntry entry = *resized(elastic_group(), 4).entry;
  GroupFacts facts = facts_of(entry);
  facts.make_refusal = "the name is in use";
  GroupStep step = group_step(entry, facts);
  REQUIRE(step.entry);
  CHECK(step.entry->state == JobState::running);
  CHECK(step_of(*step.entry).deeds == std::vector<GroupDeed>{{GroupAct::remove, 3}});
  task(entry, 3).id = std::string(64, 'f');
  task(entry, 3).version = 4;
  task(entry, 3).note = "h1 refuses";
  step = step_of(entry);
  REQUIRE(step.entry);
  CHECK(task(*step.entry, 3).has_left);
}

TEST_CASE("a job that cannot be made for the moment is not held for that") {
  for (const bool may_be_made_later : {false, true}) {
    JobEntry entry = elastic_group();
    entry.state = JobState::placing;
    for (int round = 0; round < 3; ++round) {
      GroupFacts facts = facts_of(entry);
      facts.make_refusal = "h1 does not answer";
      facts.may_be_made_later = may_be_made_later;
      GroupStep step = group_step(entry, facts);
      REQUIRE(step.entry);
      entry = *step.entry;
      entry.state = JobState::placing;
    }
    CHECK(entry.is_held != may_be_made_later);
  }
}

TEST_CASE("parking waits for each worker") {
  JobEntry entry = group_in(JobState::parking);
  all_are(entry, JobState::running);
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::save, 1}, {GroupAct::save, 0}});
  end_task(entry, 0, TaskEnd::saved);
  task(entry, 1).state = JobState::parking;
  CHECK(step_of(entry).deeds.empty());

  SECTION("and is over when the last has saved itself") {
    end_task(entry, 1, TaskEnd::saved);
    entry = settled(entry);
    entry.group->tasks.clear();
    entry = settled(entry);
    CHECK(entry.state == JobState::waiting);
    CHECK(entry.has_parked);
    CHECK(entry.has_saved);
    CHECK_FALSE(entry.is_unparkable);
  }
  SECTION("where one runs on after others have saved themselves all start again") {
    task(entry, 1).state = JobState::running;
    task(entry, 1).is_unparkable = true;
    entry = settled(entry);
    CHECK(entry.state == JobState::returning);
    CHECK(entry.is_unparkable);
    CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::cancel, 1}});
  }
}

TEST_CASE("a worker that fails since its partners have gone leaves those their time that save") {
  JobEntry entry = group_in(JobState::parking);
  all_are(entry, JobState::parking);
  end_task(entry, 1, GENERATE(TaskEnd::unsaved, TaskEnd::failed), "ended with status 1");
  CHECK_FALSE(step_of(entry).entry);
  CHECK(step_of(entry).deeds.empty());
  end_task(entry, 0, TaskEnd::saved);
  CHECK(step_of(entry).entry->state == JobState::returning);
}

TEST_CASE("each is asked again that could not be saved an earlier time") {
  JobEntry entry = group_in(JobState::parking);
  all_are(entry, JobState::running);
  entry.since = 50;
  task(entry, 0).is_unparkable = true;
  task(entry, 0).since = 40;
  CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::save, 1}, {GroupAct::save, 0}});
  end_task(entry, 1, TaskEnd::saved);
  task(entry, 0).since = 60;
  CHECK(step_of(entry).entry->state == JobState::returning);
}

TEST_CASE("where one saves itself after its time all start again from that") {
  JobEntry entry = group_in(JobState::running);
  entry.is_unparkable = true;
  all_are(entry, JobState::running);
  end_task(entry, 0, TaskEnd::saved, "has saved itself");
  GroupFacts facts = facts_of(entry);
  facts.saves_itself = true;
  SECTION("whatever becomes of the others, and are not asked again") {
    const TaskEnd other = GENERATE(TaskEnd::none, TaskEnd::failed);
    task(entry, 1).state = other == TaskEnd::none ? JobState::cancelled : JobState::failed;
    task(entry, 1).end = other;
    entry = settled(entry);
    CHECK(*entry.group->then == JobState::waiting);
    CHECK(entry.is_unparkable);
  }
  SECTION("or the others go on without it, where they can") {
    entry.group->elastic = ctrl::Elastic::join;
    entry.group->workers = {1, 2};
    entry = *group_step(entry, facts).entry;
    CHECK(entry.state == JobState::running);
    CHECK(task(entry, 0).has_left);
  }
}

TEST_CASE("all run on where one cannot be saved, though one was to join") {
  JobEntry entry = group_in(JobState::parking);
  entry.group->elastic = ctrl::Elastic::join;
  all_are(entry, JobState::running);
  task(entry, 0).is_unparkable = true;
  task(entry, 1).state = JobState::cancelled;
  task(entry, 1).attempt = 0;
  REQUIRE(step_of(entry).entry);
  CHECK(step_of(entry).entry->state == JobState::running);
}

TEST_CASE("a worker that was to join does not keep the others from being parked") {
  JobEntry entry = group_in(JobState::parking, 3);
  entry.group->elastic = ctrl::Elastic::join;
  all_are(entry, JobState::running);
  task(entry, 1).state = JobState::placing;
  task(entry, 2).state = JobState::waiting;
  task(entry, 2).id.clear();
  CHECK(step_of(entry).deeds ==
        std::vector<GroupDeed>{{GroupAct::remove, 2}, {GroupAct::cancel, 1}, {GroupAct::save, 0}});
}

TEST_CASE("where one goes with its host the others save themselves, and all start again") {
  JobEntry entry = group_in(JobState::running, 3);
  entry.group->workers = {3, 3};
  all_are(entry, JobState::running);
  end_task(entry, 1, TaskEnd::lost, "is without its host");
  GroupFacts facts = facts_of(entry);
  SECTION("that cannot be done by each job") {
    const GroupStep step = group_step(entry, facts);
    REQUIRE(step.entry);
    CHECK(step.entry->state == JobState::returning);
  }
  SECTION("and go on from that") {
    facts.saves_itself = true;
    entry = *group_step(entry, facts).entry;
    CHECK(entry.state == JobState::parking);
    CHECK(entry.note == "net-w1: is without its host; the others save themselves");
    CHECK(step_of(entry).deeds == std::vector<GroupDeed>{{GroupAct::save, 2}, {GroupAct::save, 0}});
    end_task(entry, 0, TaskEnd::saved);
    end_task(entry, 2, TaskEnd::saved);
    entry = settled(entry);
    entry.group->tasks.clear();
    entry = settled(entry);
    CHECK(entry.state == JobState::waiting);
    CHECK(entry.has_parked);
    CHECK(entry.note == "net-w1: is without its host");
  }
  SECTION("unless one hangs") {
    facts.saves_itself = true;
    entry = *group_step(entry, facts).entry;
    end_task(entry, 0, TaskEnd::saved);
    task(entry, 2).is_unparkable = true;
    task(entry, 2).since = 100;
    entry = settled(entry);
    CHECK(entry.state == JobState::returning);
    CHECK(entry.is_unparkable);
  }
}

TEST_CASE("a ticket that is started beside its tasks is stopped, one that is removed ends them") {
  JobEntry entry = group_in(JobState::running);
  all_are(entry, JobState::running);
  GroupFacts facts = facts_of(entry);
  facts.copy = TicketCopy::running;
  CHECK(group_step(entry, facts).deeds == std::vector<GroupDeed>{{GroupAct::halt, 0}});
  facts.copy = TicketCopy::absent;
  const GroupStep step = group_step(entry, facts);
  REQUIRE(step.entry);
  CHECK(step.entry->group->then == JobState::cancelled);
  facts.copy = TicketCopy::unknown;
  CHECK_FALSE(group_step(entry, facts).entry);
}

TEST_CASE("one that waits and is started by hand leaves the queue") {
  const JobEntry entry = group_in(JobState::waiting, 0);
  GroupFacts facts = facts_of(entry);
  facts.copy = TicketCopy::running;
  REQUIRE(group_step(entry, facts).entry);
  CHECK(group_step(entry, facts).entry->state == JobState::cancelled);
}

}  // namespace
}  // namespace flowcon::cluster::queue
