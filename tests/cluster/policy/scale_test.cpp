// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/scale.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/cluster/policy/queue_states.h"

namespace {

using namespace flowcon::test;
using policy::QueuedGroup;
using policy::QueueJob;
using policy::QueueNode;
using policy::Room;
using policy::ScaleInOptions;

// "on 0: a@0 a@0 b@1", or "none".
std::string taken(const std::vector<QueueNode>& nodes, const std::vector<QueueJob>& running,
                  const QueueJob& newcomer, const ScaleInOptions& options = {}) {
  Room room(nodes, {"cpu"});
  std::vector<QueuedGroup> groups;
  for (const QueueJob& job : running) groups.push_back(group_of(job, room));
  std::vector<QueuedGroup*> order;
  for (QueuedGroup& group : groups) order.push_back(&group);
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return comes_before(*a, *b); });
  const auto found = scale_in(room, order, group_of(newcomer, room), options);
  if (!found) return "none";
  std::string text = "on " + std::to_string(found->node) + ':';
  for (const policy::Removal& removal : found->removals) {
    text += ' ' + std::string(removal.group->id) + '@' + std::to_string(removal.node);
  }
  return text;
}

const QueueJob kNewcomer = since(job("new", 0.9, 1, 1, 4), 100);

}  // namespace

TEST_CASE("the order by weight is exact, then by arrival, then by the bytes of the id") {
  const Room room({}, {"cpu"});
  const auto before = [&](const QueueJob& a, const QueueJob& b) {
    return comes_before(group_of(a, room), group_of(b, room)) &&
           !comes_before(group_of(b, room), group_of(a, room));
  };
  const QueueJob plain = since(job("b", 0.5, 1, 1, 1), 10);
  CHECK(before(job("b", 0.5 + 1e-13, 1, 1, 1), plain));
  CHECK(before(since(job("c", 0.5, 1, 1, 1), 9), plain));
  CHECK(before(since(job("a", 0.5, 1, 1, 1), 10), plain));
  CHECK(before(plain, since(job("\xC3\xA9", 0.5, 1, 1, 1), 10)));
}

TEST_CASE("the job of least weight gives first, then the one that came last") {
  const std::vector<QueueNode> nodes{node("n", 12, 0), node("m", 12, 0)};
  const QueueJob a = since(on(job("a", 0.6, 1, 9, 4), {{0, 2}}), 5);
  const QueueJob b = since(on(job("b", 0.5, 1, 9, 4), {{1, 2}}), 4);
  CHECK(taken(nodes, {a, b}, kNewcomer) == "on 1: b@1");
  CHECK(taken(nodes, {since(a, 6), since(job("c", 0.6, 1, 1, 1), 7)}, kNewcomer) == "on 0: a@0");
  QueueJob late = since(on(job("late", 0.6, 1, 9, 4), {{1, 2}}), 6);
  CHECK(taken(nodes, {a, late}, kNewcomer) == "on 1: late@1");
  late.since = a.since;
  CHECK(taken(nodes, {late, a}, kNewcomer) == "on 0: a@0");
}

TEST_CASE("jobs of greater weight and older ones of the same weight give nothing") {
  const std::vector<QueueNode> nodes{node("n", 12, 0)};
  const auto at = [&](double weight, double when) {
    return taken(nodes, {since(on(job("a", weight, 1, 9, 4), {{0, 2}}), when)}, kNewcomer);
  };
  CHECK(at(0.95, 200) == "none");
  CHECK(at(0.9, 99) == "none");
  CHECK(at(0.9, 100) == "on 0: a@0");
  CHECK(at(0.9, 101) == "on 0: a@0");
  CHECK(at(0.9 + 5e-13, 101) == "on 0: a@0");
  CHECK(at(0.9 + 5e-13, 99) == "none");
  CHECK(at(0.9 - 5e-13, 99) == "none");
  CHECK(at(0.9 - 2e-12, 99) == "on 0: a@0");
  CHECK(at(0.9 + 2e-12, 101) == "none");
}

TEST_CASE("a job keeps its minimum, and gives first where it has no parameter server") {
  const std::vector<QueueNode> nodes{node("n", 12, 0), node("m", 12, 0)};
  CHECK(taken(nodes, {on(job("a", 0.5, 2, 9, 4), {{0, 2}})}, kNewcomer) == "none");
  CHECK(taken(nodes, {on(job("a", 0.5, 2, 9, 4), {{0, 1}, {1, 2}}, {{0, 1}})}, kNewcomer) ==
        "on 1: a@1");
  // What it may give is gone before its node with the parameter server is reached.
  CHECK(taken(nodes, {on(job("a", 0.5, 2, 9, 2), {{0, 2}, {1, 1}}, {{1, 1}})}, kNewcomer) ==
        "none");
}

TEST_CASE("what was taken off in thought stays off for the jobs that follow") {
  const std::vector<QueueNode> nodes{node("n", 12, 0), node("m", 12, 0)};
  const QueueJob a = on(job("a", 0.5, 1, 9, 2), {{0, 1}, {1, 1}});
  const QueueJob b = on(job("b", 0.6, 1, 9, 2), {{0, 2}});
  CHECK(taken(nodes, {a, b}, kNewcomer) == "on 0: a@0 b@0");
  const QueueJob c = on(job("c", 0.55, 1, 9, 2), {{1, 2}});
  const QueueJob d = on(job("d", 0.7, 1, 9, 4), {{0, 2}});
  CHECK(taken(nodes, {a, c, d}, kNewcomer) == "on 0: a@0 c@1 d@0");
  CHECK(taken(nodes, {a, c, d}, kNewcomer, {true, true}) == "on 0: a@0 d@0");
}

TEST_CASE("the test after the last worker of a node can be left out, as printed") {
  const std::vector<QueueNode> nodes{node("n", 12, 0)};
  const QueueJob a = on(job("a", 0.5, 1, 9, 4), {{0, 2}});
  const QueueJob b = on(job("b", 0.5, 1, 9, 2), {{0, 3}});
  CHECK(taken(nodes, {a}, kNewcomer, {false, false}) == "on 0: a@0");
  CHECK(taken(nodes, {b}, kNewcomer, {false, false}) == "on 0: b@0 b@0");
  const QueueJob last = on(job("c", 0.5, 0, 9, 4), {{0, 1}});
  CHECK(taken(nodes, {last}, kNewcomer, {false, false}) == "none");
  CHECK(taken(nodes, {last}, kNewcomer, {true, false}) == "on 0: c@0");
  // The next job's test finds it, although that gives nothing itself.
  const QueueJob keeper = on(job("k", 0.6, 1, 9, 1), {{0, 1}});
  CHECK(taken(nodes, {last, keeper}, kNewcomer, {false, false}) == "on 0: c@0");
}

TEST_CASE("a job grows node by node up to its maximum") {
  Room room({node("n", 12, 5), node("m", 12, 7), node("k", 12, 9)}, {"cpu"});
  const QueueJob a = on(job("a", 0.5, 1, 6, 2), {{1, 1}});
  QueuedGroup group = group_of(a, room);
  policy::Refusals refusals;
  const auto added = scale_out(room, group, refusals);
  REQUIRE(added.size() == 2);
  CHECK(added[0].node == 0);
  CHECK(added[0].count == 2);
  CHECK(added[1].node == 1);
  CHECK(added[1].count == 3);
  CHECK(shown(group.placed) == " w0=2 w1=4");
  CHECK(group.workers == 6);
  CHECK(*room.idle(0) == 1);
  CHECK(*room.idle(1) == 1);
  CHECK(scale_out(room, group, refusals).empty());
}

TEST_CASE("a job that found no room grows again once some is given back") {
  Room room({node("n", 12, 1)}, {"cpu"});
  const QueueJob a = job("a", 0.5, 1, 6, 2);
  QueuedGroup group = group_of(a, room);
  policy::Refusals refusals;
  CHECK(scale_out(room, group, refusals).empty());
  CHECK(scale_out(room, group, refusals).empty());
  room.give(0, {{0, 1.0}}, 1);
  CHECK(scale_out(room, group, refusals).size() == 1);
}

TEST_CASE("a worker that leaves is counted where it was") {
  const Room room({node("n", 12), node("m", 12)}, {"cpu"});
  const QueueJob a = on(job("a", 0.5, 1, 6, 2), {{0, 1}, {1, 2}});
  QueuedGroup group = group_of(a, room);
  remove_worker(group, 1);
  remove_worker(group, 0);
  CHECK(shown(group.placed) == " w1=1");
  CHECK(group.workers == 1);
}
