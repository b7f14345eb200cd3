// SPDX-License-Identifier: Apache-2.0
// All that a group of two tasks can come to, and what becomes of it under rules that are wrong in
// one place.
#include "tests/cluster/queue/group_model.h"

#include "tests/support/catch.h"

namespace flowcon::cluster::queue::groups {
namespace {

// What the checker says of rules that are wrong in one place.
std::string found(const Rule& rule, const Setting& setting) {
  return Explorer(rule, setting).run();
}

// group_step() but for one change, which gets the right answer to change.
template <class Change>
Rule but(Change change) {
  return [change](const JobEntry& entry, const GroupFacts& facts) {
    return change(entry, group_step(entry, facts));
  };
}

Rule without(GroupAct act) {
  return but([act](const JobEntry&, GroupStep right) {
    std::erase_if(right.deeds, [act](const GroupDeed& deed) { return deed.act == act; });
    return right;
  });
}

// group_step() that is given other tasks.
template <class Change>
Rule blind(Change change) {
  return [change](const JobEntry& entry, const GroupFacts& facts) {
    JobEntry other = entry;
    for (JobEntry& task : other.group->tasks) change(task);
    return group_step(other, facts);
  };
}

// One worker here, one there.
Setting two_workers() {
  Setting setting;
  setting.places = {{"", 1, 0}, {kThere, 1, 0}};
  return setting;
}

// A server here, and its worker there.
Setting server_and_worker() {
  Setting setting;
  setting.ps = 1;
  setting.workers = {1, 1};
  setting.places = {{"", 0, 1}, {kThere, 1, 0}};
  return setting;
}

// One worker here, and one that comes and goes there.
Setting one_or_two() {
  Setting setting;
  setting.workers = {1, 2};
  setting.elastic = ctrl::Elastic::join;
  setting.places = {{"", 1, 0}};
  setting.has_people = false;
  return setting;
}

void check_all(const Setting& setting) {
  Explorer explorer(group_step, setting);
  const std::string found = explorer.run();
  INFO(explorer.states() << " states: " << found << explorer.path());
  CHECK(found.empty());
  CHECK(explorer.states() > 4'000);
}

TEST_CASE("whatever goes wrong around two workers on two hosts, they run together or not at all") {
  check_all(two_workers());
}

TEST_CASE("whatever goes wrong around a server and its worker elsewhere, none is lost or left") {
  check_all(server_and_worker());
}

TEST_CASE("whatever goes wrong around a worker that comes and goes, none is lost or left") {
  check_all(one_or_two());
}

TEST_CASE("the checker finds tasks that start before all are there") {
  CHECK(found(
            [](const JobEntry& entry, const GroupFacts& facts) {
              GroupFacts hasty = facts;
              hasty.ready.assign(facts.ready.size(), true);
              return group_step(entry, hasty);
            },
            two_workers()) == "they start before all are there");
}

TEST_CASE("the checker finds a group that waits again while a task of it is there") {
  CHECK(found(but([](const JobEntry& entry, GroupStep right) {
                if (entry.state != JobState::placing || !right.entry) return right;
                if (right.entry->state == JobState::returning)
                  right.entry->state = JobState::waiting;
                return right;
              }),
              two_workers()) == "one that waits has tasks");
}

TEST_CASE("the checker finds a group that is done when its first worker is") {
  CHECK(found(but([](const JobEntry& entry, GroupStep right) {
                if (entry.state != JobState::running || !is_finishing(*entry.group)) return right;
                right.entry = entry;
                ++right.entry->version;
                right.entry->state = JobState::done;
                return right;
              }),
              two_workers()) == "what has not come to its end is done");
}

TEST_CASE("the checker finds a failed worker that is taken for done") {
  CHECK(found(blind([](JobEntry& task) {
                if (task.end == TaskEnd::failed) task.end = TaskEnd::done;
              }),
              two_workers()) == "what has not come to its end is done");
}

TEST_CASE("the checker finds a job that fails since a host of it went") {
  CHECK(found(blind([](JobEntry& task) {
                if (task.end == TaskEnd::interrupted) task.end = TaskEnd::failed;
              }),
              two_workers()) == "it has failed although a host of it went");
}

TEST_CASE("the checker finds tasks that are left running when one has failed") {
  CHECK(found(without(GroupAct::cancel), two_workers()).starts_with("no end in calm"));
}

TEST_CASE("the checker finds a server that outlives its workers") {
  CHECK(found(but([](const JobEntry& entry, GroupStep right) {
                std::erase_if(right.deeds, [&](const GroupDeed& deed) {
                  return deed.act == GroupAct::cancel && entry.group->tasks[deed.task].is_ps;
                });
                return right;
              }),
              server_and_worker())
            .starts_with("no end in calm"));
}

TEST_CASE("the checker finds a task that is forgotten while it runs") {
  CHECK(found(but([](const JobEntry&, GroupStep right) {
                for (GroupDeed& deed : right.deeds) {
                  if (deed.act == GroupAct::cancel) deed.act = GroupAct::remove;
                }
                return right;
              }),
              two_workers()) != "");
}

TEST_CASE("the checker finds containers that are left when the ticket is removed") {
  CHECK(found(but([](const JobEntry&, GroupStep right) {
                const bool removes = !right.deeds.empty() && right.deeds[0].act == GroupAct::remove;
                if (removes) right.deeds.clear();
                return right;
              }),
              two_workers())
            .starts_with("no end in calm"));
}

TEST_CASE("the checker finds a ticket that is left running beside its tasks") {
  CHECK(found(without(GroupAct::halt), two_workers()).starts_with("no end in calm"));
}

TEST_CASE("the checker finds a worker that is to go and stays") {
  CHECK(found(but([](const JobEntry& entry, GroupStep right) {
                std::erase_if(right.deeds, [&](const GroupDeed& deed) {
                  return deed.act == GroupAct::cancel && entry.group->tasks[deed.task].has_left;
                });
                return right;
              }),
              one_or_two()) != "");
}

TEST_CASE("the checker finds a version of a group that does not grow") {
  CHECK(found(but([](const JobEntry& entry, GroupStep right) {
                if (right.entry) right.entry->version = entry.version;
                return right;
              }),
              two_workers()) == "the version does not grow by one");
}

}  // namespace
}  // namespace flowcon::cluster::queue::groups
