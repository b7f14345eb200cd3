// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/affinity.h"

#include <random>
#include <string>
#include <vector>

#include "tests/cluster/policy/queue_states.h"

namespace {

using namespace flowcon::test;
using policy::Amounts;
using policy::QueueJob;
using policy::QueueNode;
using policy::Room;

// " p0=1 w0=2", or "none".
std::string place_of(const std::vector<QueueNode>& nodes, const QueueJob& job) {
  Room room(nodes, {"cpu", "gpu"});
  policy::Refusals refusals;
  const auto place = find_place(room, group_of(job, room).minimum, refusals);
  return place ? shown(*place) : "none";
}

}  // namespace

TEST_CASE("a job that fits on one node goes to the idlest one that holds it whole") {
  CHECK(place_of({node("a", 10, 5), node("b", 10, 8), node("c", 20, 12)}, job("j", 0, 2, 2, 2)) ==
        " w1=2");
  // Of two that are equally idle the first listed; idle is a share of what the node has.
  CHECK(place_of({node("a", 10, 5), node("b", 20, 10)}, job("j", 0, 2, 2, 2)) == " w0=2");
  // The idlest holds part of it, the next one all.
  CHECK(place_of({node("a", 4), node("b", 10, 9)}, job("j", 0, 3, 3, 2)) == " w1=3");
  CHECK(place_of({node("a", 10)}, with_ps(job("j", 0, 2, 2, 3), 1, 4)) == " p0=1 w0=2");
}

TEST_CASE("idleness counts all resources that a node has, to nine digits") {
  const QueueNode cpu{"a", {{"cpu", 10}, {"mem", 10}}, {{"cpu", 10}, {"mem", 1}}};
  const QueueNode both{"b", {{"cpu", 10}, {"mem", 10}}, {{"cpu", 6}, {"mem", 6}}};
  CHECK(place_of({cpu, both}, job("j", 0, 1, 1, 1)) == " w1=1");
  // A resource without a cap counts nothing; what is idle of it can still be asked for.
  const QueueNode bare{"a", {{"gpu", 0}}, {{"cpu", 100}}};
  CHECK(place_of({bare, node("b", 10, 1)}, job("j", 0, 1, 1, 1)) == " w1=1");
  CHECK(place_of({bare, node("b", 10, 1)}, job("j", 0, 1, 1, 50)) == " w0=1");
  CHECK(place_of({node("a", 1, 0.5), node("b", 1, 0.5000000004)}, job("j", 0, 1, 1, 0.1)) ==
        " w0=1");
  CHECK(place_of({node("a", 1, 0.5), node("b", 1, 0.5000000006)}, job("j", 0, 1, 1, 0.1)) ==
        " w1=1");
}

TEST_CASE("a job that no node holds is spread, parameter servers first on each") {
  CHECK(place_of({node("a", 10, 4), node("b", 10, 6), node("c", 10, 2)}, job("j", 0, 5, 5, 2)) ==
        " w0=2 w1=3");
  // Five cores hold both parameter servers and then no worker, whose three do not fit on b.
  CHECK(place_of({node("a", 5, 5), node("b", 10, 4)}, with_ps(job("j", 0, 3, 3, 2), 2, 2)) ==
        "none");
  CHECK(place_of({node("a", 5, 5), node("b", 10, 6)}, with_ps(job("j", 0, 3, 3, 2), 2, 2)) ==
        " p0=2 w1=3");
}

TEST_CASE("a job starts as a whole or not at all") {
  CHECK(place_of({node("a", 10, 4), node("b", 10, 3)}, job("j", 0, 4, 4, 2)) == "none");
  CHECK(place_of({node("a", 10, 4)}, with_ps(job("j", 0, 1, 1, 2), 1, 5)) == "none");
  CHECK(place_of({}, job("j", 0, 1, 1, 0)) == "none");
}

TEST_CASE("a request fits up to 1e-9, and only what is above 0 counts") {
  CHECK(place_of({node("a", 10, 2 - 1e-9)}, job("j", 0, 1, 1, 2)) == " w0=1");
  CHECK(place_of({node("a", 10, 2 - 2e-9)}, job("j", 0, 1, 1, 2)) == "none");
  CHECK(place_of({node("a", 10, -3)}, job("j", 0, 7, 7, 0)) == " w0=7");
  QueueJob gpu = job("j", 0, 1, 1, 1);
  gpu.worker_request.emplace_back("gpu", 1);
  CHECK(place_of({node("a", 10)}, gpu) == "none");
  gpu.worker_request.back().second = 0;
  CHECK(place_of({node("a", 10)}, gpu) == " w0=1");
}

TEST_CASE("what could be held is told by each kind of tasks alone, and by all together") {
  const Amounts narrow{{"cpu", 8}, {"mem", 8}}, wide{{"cpu", 2}, {"mem", 32}};
  const Amounts worker{{"cpu", 2}, {"mem", 2}}, ps{{"cpu", 1}, {"mem", 8}}, third{{"cpu", 8.0 / 3}};
  const auto holds = [&](const Amounts& request, std::int64_t workers, std::int64_t servers) {
    return policy::could_hold({&narrow, &wide}, {request, workers}, {ps, servers});
  };
  // Though the first one, which is as idle, would get the parameter server.
  CHECK(holds(worker, 4, 1));
  CHECK(holds(worker, 5, 0));
  CHECK_FALSE(holds(worker, 5, 1));
  CHECK_FALSE(holds(worker, 6, 0));
  CHECK_FALSE(holds(worker, 1, 6));
  CHECK(holds(third, 3, 0));
  CHECK_FALSE(holds(third, 4, 0));
  CHECK_FALSE(policy::could_hold({}, {worker, 1}, {ps, 0}));
}

TEST_CASE("the order of idleness is kept as the room changes") {
  std::mt19937 random(7);
  std::vector<QueueNode> nodes;
  for (int i = 0; i < 9; ++i) nodes.push_back(node("n" + std::to_string(i), 4 + i % 3));
  Room room(nodes, {"cpu"});
  for (int step = 0; step < 500; ++step) {
    const std::size_t at = random() % nodes.size();
    const policy::Needs needs{{0, (1 + drawn(random, 3)) / 2}};
    const bool takes = random() % 2 == 0 && room.fits(at, needs);
    takes ? room.take(at, needs, 1) : room.give(at, needs, 1);
    auto& idle = nodes[at].idle[0].second;
    idle += (takes ? -1 : 1) * needs[0].amount;
    if (step % 3 != 0) continue;
    CHECK(room.idlest_first() == Room(nodes, {"cpu"}).idlest_first());
  }
}

TEST_CASE("what was refused before changes no answer") {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    std::vector<QueueNode> nodes;
    for (int i = 0; i < 4; ++i) {
      const Amounts cap{{"cpu", 8}, {"mem", 8}};
      nodes.push_back(
          {std::to_string(i), cap, {{"cpu", drawn(random, 9)}, {"mem", drawn(random, 9)}}});
    }
    Room room(nodes, {});
    policy::Refusals kept;
    for (int step = 0; step < 40; ++step) {
      policy::Gang gang;
      for (policy::Needs* needs : {&gang.ps_needs, &gang.worker_needs}) {
        for (const std::size_t kind : {0, 1}) {
          if (random() % 4 > 0) needs->push_back({kind, 1 + drawn(random, 4)});
        }
      }
      gang.ps = static_cast<std::int64_t>(random() % 3);
      gang.workers = static_cast<std::int64_t>(1 + random() % 4);
      gang.whole = whole_of(gang, room.kinds());
      policy::Refusals none;
      const auto place = find_place(room, gang, kept);
      const auto expected = find_place(room, gang, none);
      REQUIRE(place.has_value() == expected.has_value());
      const std::size_t node = random() % 4;
      if (step % 3 == 2) room.give(node, {{0, 2}, {1, 2}}, 1);
      if (!place) continue;
      CHECK(shown(*place) == shown(*expected));
      for (const auto& here : place->ps) room.take(here.node, gang.ps_needs, here.count);
      for (const auto& here : place->workers) room.take(here.node, gang.worker_needs, here.count);
    }
  }
}

TEST_CASE("a refusal outlives what a node gets back that is not enough for it") {
  Room room({node("a", 8, 3), node("b", 8, 2)}, {"cpu"});
  policy::Refusals refusals;
  const policy::Needs two{{0, 2}};
  refusals.add(room, two, 4, 2);
  room.give(0, {{0, 0.5}}, 1);
  CHECK(refusals.covers(room, two, 4));
  CHECK(refusals.covers(room, {{0, 3}}, 5));
  CHECK_FALSE(refusals.covers(room, two, 3));
  room.give(1, two, 1);
  CHECK_FALSE(refusals.covers(room, two, 4));
}

TEST_CASE("the first node with room from a place on is found as by looking at each") {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    std::vector<QueueNode> nodes;
    const std::size_t size = random() % 9;
    for (std::size_t i = 0; i < size; ++i) {
      nodes.push_back(
          {std::to_string(i), {}, {{"cpu", drawn(random, 4)}, {"mem", drawn(random, 4)}}});
    }
    const Room room(nodes, {"cpu", "mem"});
    policy::Needs needs;
    for (const std::size_t kind : {0, 1}) {
      if (random() % 3 > 0) needs.push_back({kind, 1 + drawn(random, 3)});
    }
    for (std::size_t from = 0; from <= size; ++from) {
      std::size_t expected = from;
      while (expected < size && !room.fits(expected, needs)) ++expected;
      CHECK(room.first_fit(needs, from) == (expected < size ? expected : Room::kNone));
    }
  }
}
