// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/explain_allocate.h"

#include "cluster/policy/algorithms.h"
#include "tests/support/catch.h"
#include "tests/support/json_text.h"

namespace {

using flowcon::test::parsed;

constexpr const char* kGreedy = R"({"allocator":"greedy","nodes":16,"jobs":[)"
                                R"({"id":"a","nodes":8,"train_time":30,"n_min":1,"n_max":16},)"
                                R"({"id":"b","nodes":8,"train_time":50,"n_min":1,"n_max":8},)"
                                R"({"id":"q","nodes":0,"train_time":0,"n_min":1,"n_max":4},)"
                                R"({"id":"p","nodes":0,"train_time":0,"n_min":1,"n_max":4}]})";

constexpr const char* kHorizon =
    R"({"allocator":"milp","nodes":5,"steps":2,"minutes":60,"jobs":[)"
    R"({"id":"a","left":8,"n_min":4,"n_max":4,"now":2},{"id":"b","left":2,"n_min":1,"n_max":1},)"
    R"({"id":"c","left":2,"n_min":1,"n_max":1}]})";

std::string sentence(const char* state, const char* id) {
  flowcon::ctrl::policy::About about;
  about.id = id;
  return sentence_about(*flowcon::cluster::policy::find_algorithm("allocate"), state, about);
}

// "a 2 nodes > 4 nodes"
std::string changes_of(const char* state) {
  const auto& algorithm = *flowcon::cluster::policy::find_algorithm("allocate");
  const auto decision = algorithm.decide(state);
  REQUIRE(decision);
  std::string text;
  for (const auto& change : algorithm.changes(parsed(state), parsed(*decision))) {
    if (!text.empty()) text += ", ";
    text += change.id + ' ' + change.from + " > " + change.to;
  }
  return text;
}

}  // namespace

TEST_CASE("a recorded allocation says what happens to a job") {
  CHECK(sentence(kGreedy, "a") == "keeps 8 nodes");
  CHECK(sentence(kGreedy, "b") ==
        "gives half away and keeps 4 nodes: it ran longest, and another job waits");
  CHECK(sentence(kGreedy, "q") == "starts with 4 nodes");
  CHECK(sentence(kGreedy, "p") == "waits: no node is idle, and no job gives it half of its own");
  CHECK(sentence(kGreedy, "x") == "the job is not in this decision");
  CHECK(sentence(kHorizon, "a") ==
        "4 nodes, then 4: serves 64 % of the 8 node hours left within 120 minutes");
  CHECK(sentence(kHorizon, "b") ==
        "1 node, then 1: serves 100 % of the 2 node hours left within 120 minutes");
  CHECK(sentence(kHorizon, "c") ==
        "waits: the least numbers of the jobs before it leave too few of 5 nodes");
  CHECK(sentence(kHorizon, "x") == "the job is not in this decision");
}

TEST_CASE("idle nodes too few for the first of the queue are told to those that wait") {
  const char* state = R"({"allocator":"greedy","nodes":3,"jobs":[)"
                      R"({"id":"a","nodes":2,"train_time":3,"n_min":1,"n_max":4},)"
                      R"({"id":"q","nodes":0,"train_time":0,"n_min":2,"n_max":4}]})";
  CHECK(sentence(state, "q") == "waits: 1 node of 3 is idle, too few for it or for one before it");
  const char* grown = R"({"allocator":"greedy","nodes":4,"jobs":[)"
                      R"({"id":"a","nodes":2,"train_time":3,"n_min":1,"n_max":4}]})";
  CHECK(sentence(grown, "a") == "gets 4 nodes: idle ones go to the jobs that ran shortest");
}

TEST_CASE("an allocation changes what has another number of nodes than before") {
  CHECK(changes_of(kGreedy) == "b 8 nodes > 4 nodes, q 0 nodes > 4 nodes");
  CHECK(changes_of(kHorizon) == "a 2 nodes > 4 nodes, b  > 1 node");
}
