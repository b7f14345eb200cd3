// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/queue_policies.h"

#include "tests/support/catch.h"

namespace flowcon::cluster::policy {
namespace {

WaitingTask task(const std::string& id, double since, double cores) {
  WaitingTask one;
  one.id = id;
  one.since = since;
  one.waited = 1000 - since;
  one.request = {{"cpu", cores}, {"mem", 1e9}};
  return one;
}

// It runs on the first node.
WaitingTask runs(WaitingTask one, double served, bool is_parkable) {
  one.placed = whole_on(0, one);
  one.served = served;
  one.waited = 0;
  one.is_parkable = is_parkable;
  return one;
}

QueueView view_with(double idle_cores, std::vector<WaitingTask> jobs) {
  QueueView view;
  view.now = 1000;
  view.starve_limit = 1e6;
  view.pause = 10;
  view.nodes.push_back({"h1", {{"cpu", 4}, {"mem", 8e9}}, {{"cpu", idle_cores}, {"mem", 8e9}}});
  view.jobs = std::move(jobs);
  return view;
}

std::string starts(const char* policy, const QueueView& view) {
  const QueuePolicyKind* kind = find_queue_policy(policy);
  REQUIRE(kind != nullptr);
  const Result<QueuePlan> plan = kind->decide(view);
  REQUIRE(plan.has_value());
  std::string all;
  for (const QueuePlan::Start& start : plan->starts) all += start.job + " ";
  for (const std::string& id : plan->parks) all += "-" + id + " ";
  return all;
}

TEST_CASE("each policy of the queue has a name and a summary, and no other is found") {
  for (const QueuePolicyKind& kind : queue_policies()) {
    CHECK(find_queue_policy(kind.name) == &kind);
    CHECK_FALSE(kind.summary.empty());
  }
  CHECK(find_queue_policy("none") == nullptr);
}

TEST_CASE("left starts the shortest first, kod2 the one that asks for least, fifo the earliest") {
  WaitingTask large = task("large", 1, 3), small = task("small", 2, 2), quick = task("quick", 3, 3);
  large.left = 500;
  small.left = 900;
  quick.left = 50;
  const QueueView view = view_with(3, {large, small, quick});
  CHECK(starts("left", view) == "quick ");
  CHECK(starts("kod2", view) == "small ");
  CHECK(starts("fifo", view) == "large ");
}

TEST_CASE("left parks a job that is to go elsewhere, for one that fits only where it runs") {
  WaitingTask small = runs(task("small", 1, 1), 100, true), large = task("large", 2, 4);
  small.left = 5000;
  large.left = 50;
  QueueView view = view_with(3, {small, large});
  view.nodes.push_back({"h2", {{"cpu", 2}, {"mem", 8e9}}, {{"cpu", 2}, {"mem", 8e9}}});
  CHECK(starts("left", view) == "large -small ");
}

TEST_CASE("left parks a group of which a part is to go elsewhere, for one that takes its place") {
  WaitingTask group = runs(task("group", 1, 2), 100, true), large = task("large", 2, 3);
  group.workers = 2;
  group.may_spread = true;
  group.placed.workers = {{0, 1}, {1, 1}};
  group.left = 5000;
  large.left = 50;
  QueueView view = view_with(2, {group, large});
  view.nodes.push_back({"h2", {{"cpu", 4}, {"mem", 8e9}}, {{"cpu", 2}, {"mem", 8e9}}});
  CHECK(starts("left", view) == "large -group ");
}

TEST_CASE("left parks a group that ends sooner elsewhere for one that starts after it") {
  WaitingTask group = runs(task("group", 1, 2), 100, true), large = task("large", 2, 3);
  group.workers = 2;
  group.may_spread = true;
  group.placed.workers = {{0, 1}, {1, 1}};
  group.left = 1000;
  large.left = 5000;
  QueueView view = view_with(2, {group, large});
  view.nodes.push_back({"h2", {{"cpu", 4}, {"mem", 8e9}}, {{"cpu", 2}, {"mem", 8e9}}});
  CHECK(starts("left", view) == "large -group ");
  view.jobs.pop_back();
  CHECK(starts("left", view).empty());
}

TEST_CASE("left parks nobody for one that may not start before a starved one") {
  WaitingTask fixed = runs(task("fixed", 1, 2), 100, false);
  WaitingTask slow = runs(task("slow", 2, 2), 100, true);
  WaitingTask quick = task("quick", 990, 2), starved = task("starved", 3, 4);
  slow.left = 9000;
  quick.left = 50;
  QueueView view = view_with(0, {fixed, slow, quick, starved});
  CHECK(starts("left", view) == "quick -slow ");
  view.starve_limit = 900;
  CHECK(starts("left", view).empty());
}

TEST_CASE("fifo starts all that fit in their order and none behind one that does not") {
  const QueueView view = view_with(3, {task("a", 1, 1), task("b", 2, 3), task("c", 3, 1)});
  CHECK(starts("fifo", view) == "a ");
  CHECK(starts("fifo", view_with(4, view.jobs)) == "a b ");
  CHECK(find_queue_policy("fifo")->keeps_order);
  CHECK_FALSE(find_queue_policy("left")->keeps_order);
}

TEST_CASE("what runs and cannot be saved keeps its room under left, what can gives it") {
  WaitingTask quick = task("quick", 500, 3);
  quick.left = 50;
  WaitingTask slow = runs(task("slow", 1, 3), 100, false);
  slow.left = 9000;
  CHECK(starts("left", view_with(1, {slow, quick})).empty());
  slow.is_parkable = true;
  CHECK(starts("left", view_with(1, {slow, quick})) == "quick -slow ");
}

TEST_CASE("nothing new comes before one that has waited too long and does not fit yet") {
  WaitingTask starved = task("starved", 1, 4), late = task("late", 990, 1);
  QueueView view = view_with(2, {starved, late});
  CHECK(starts("left", view) == "late ");
  view.starve_limit = 900;
  CHECK(starts("left", view).empty());
  // One that no host could ever hold keeps nobody waiting.
  view.jobs[0].request = {{"cpu", 5}, {"mem", 1e9}};
  CHECK(starts("left", view) == "late ");
}

TEST_CASE("one for which there would be no room though none ran keeps nobody waiting") {
  WaitingTask starved = task("starved", 1, 3), late = task("late", 990, 1);
  QueueView view = view_with(2, {starved, late});
  view.starve_limit = 900;
  view.jobs[0].weight = 1;  // KOD2's, of one that has waited too long
  view.most = {{{"cpu", 4}, {"mem", 8e9}}};
  for (const char* policy : {"left", "kod2", "fifo"}) CHECK(starts(policy, view).empty());
  view.most[0][0].second = 2;  // others use the rest
  for (const char* policy : {"left", "kod2", "fifo"}) CHECK(starts(policy, view) == "late ");
}

TEST_CASE("a priority shortens what is left, known or guessed, and lifts KOD2's weight") {
  WaitingTask plain = task("plain", 1, 3), urgent = task("urgent", 2, 3);
  urgent.priority = 4;
  CHECK(starts("left", view_with(3, {plain, urgent})) == "urgent ");
  CHECK(starts("kod2", view_with(3, {plain, urgent})) == "urgent ");
  CHECK(starts("fifo", view_with(3, {plain, urgent})) == "plain ");
  plain.left = 100;
  urgent.left = 500;
  CHECK(starts("left", view_with(3, {plain, urgent})) == "plain ");
}

TEST_CASE("a plan records the decision that it rests on, and says where each job stands") {
  const QueueView view = view_with(2, {runs(task("run", 1, 2), 5, false), task("wait", 2, 2)});
  for (const QueuePolicyKind& kind : queue_policies()) {
    const Result<QueuePlan> plan = kind.decide(view);
    REQUIRE(plan.has_value());
    CHECK(plan->rounds.size() == 1);
    REQUIRE(plan->standings.size() == 2);
    CHECK(plan->standings.front().job == "run");
  }
}

}  // namespace
}  // namespace flowcon::cluster::policy
