// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/decide.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"

namespace {

using flowcon::Result;
using flowcon::sim::Algorithm;
using flowcon::sim::Decide;
using flowcon::sim::decide_lines;
using flowcon::sim::decide_one;
using flowcon::sim::find_algorithm;
using flowcon::sim::Source;

const std::string kState = R"({"alpha":0.03,"beta":2,"interval":20,"containers":[)"
                           R"({"id":"a","list":"WL","limit":1,"growth":0.01},)"
                           R"({"id":"b","list":"NL","limit":1,"growth":null}]})";
const std::string kDecision =
    R"({"interval":20,"all_completing":false,"containers":[)"
    R"({"id":"a","list":"CL","limit":0.25},{"id":"b","list":"NL","limit":1}]})";

Decide executor() { return find_algorithm("executor")->decide; }

// Gives `text` in pieces of at most `piece` bytes.
Source source_of(std::string text, std::size_t piece) {
  return [text, piece, at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const std::size_t count = std::min({piece, size, text.size() - at});
    std::memcpy(buffer, text.data() + at, count);
    at += count;
    return Result<std::size_t>(count);
  };
}

struct Output {
  std::string text;
  int writes = 0;
  flowcon::sim::Sink sink = [this](std::string_view bytes) {
    text += bytes;
    ++writes;
    return Result<void>();
  };
};

std::string file(const std::string& name) {
  const std::string path = flowcon::test::source_path("tests/golden/flowcon-sim/" + name);
  std::ifstream in(path);
  CAPTURE(path);
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the recorded states give the recorded decisions") {
  const auto name = GENERATE(as<std::string>{}, "executor_newcomer", "executor_all_completing",
                             "listener_swap", "categorise_round", "speculate_tie", "rebalance_idle",
                             "rebalance_uneven", "balance_idle", "queue_preempt", "queue_rest",
                             "left_round", "estimate_few", "place_seeded", "place_links",
                             "place_batch", "share_devices", "allocate_greedy", "allocate_horizon");
  Output output;
  const Algorithm* algorithm = find_algorithm(name.substr(0, name.find('_')));
  REQUIRE(algorithm != nullptr);
  REQUIRE(decide_one(algorithm->decide, source_of(file(name + ".in.json"), 7), output.sink));
  flowcon::test::check_golden("flowcon-sim/" + name + ".out.json", output.text);
}

TEST_CASE("a wrong state gives one line that names the field, and no output") {
  Output output;
  const auto done = decide_one(executor(), source_of(R"({"alpha":1})", 100), output.sink);
  REQUIRE_FALSE(done);
  CHECK(done.error().message() == "beta: is missing");
  CHECK(output.writes == 0);
  CHECK_FALSE(decide_one(executor(), source_of("", 100), output.sink));
  CHECK_FALSE(decide_one(executor(), source_of(kState + kState, 1000), output.sink));
  CHECK(output.writes == 0);
}

TEST_CASE("every line has its answer, whatever the size of the reads") {
  const auto piece = GENERATE(as<std::size_t>{}, 1, 2, 17, 1000000);
  Output output;
  const std::string input = kState + "\r\n\n" + "[" + "\n" + kState;
  REQUIRE(decide_lines(executor(), source_of(input, piece), output.sink));
  CHECK(output.text == kDecision +
                           "\n"
                           "{\"error\":\"not JSON: incomplete JSON at byte 1\"}\n"
                           "{\"error\":\"not JSON: incomplete JSON at byte 2\"}\n" +
                           kDecision + "\n");
}

TEST_CASE("a line is answered before the next one is read") {
  Output output;
  int reads = 0;
  const Source source = [&](char* buffer, std::size_t) {
    if (reads == 3) return Result<std::size_t>(0);
    CHECK(std::count(output.text.begin(), output.text.end(), '\n') == reads);
    ++reads;
    std::memcpy(buffer, (kState + "\n").data(), kState.size() + 1);
    return Result<std::size_t>(kState.size() + 1);
  };
  REQUIRE(decide_lines(executor(), source, output.sink));
  CHECK(output.writes == 3);
}

TEST_CASE("a line of many megabytes is answered, and the next one too") {
  const std::string junk = R"({"junk":")" + std::string(20 << 20, 'x') + "\"}\n";
  Output output;
  REQUIRE(decide_lines(executor(), source_of(junk + kState + "\n", 4096), output.sink));
  CHECK(output.text == "{\"error\":\"alpha: is missing\"}\n" + kDecision + "\n");
}

TEST_CASE("no input gives no output") {
  Output output;
  REQUIRE(decide_lines(executor(), source_of("", 10), output.sink));
  CHECK(output.writes == 0);
}

TEST_CASE("a read or a write that fails ends the run with its error") {
  Output output;
  const Source broken = [](char*, std::size_t) -> Result<std::size_t> {
    return flowcon::errno_error(EIO, "reading");
  };
  const flowcon::sim::Sink full = [](std::string_view) -> Result<void> {
    return flowcon::errno_error(ENOSPC, "writing");
  };
  CHECK(decide_one(executor(), broken, output.sink).error().code.value() == EIO);
  CHECK(decide_lines(executor(), broken, output.sink).error().code.value() == EIO);
  CHECK(decide_one(executor(), source_of(kState, 10), full).error().code.value() == ENOSPC);
  CHECK(decide_lines(executor(), source_of(kState + "\n\n", 500), full).error().code.value() ==
        ENOSPC);
}

TEST_CASE("algorithms are found by their exact name") {
  CHECK(find_algorithm("listener") != nullptr);
  CHECK(find_algorithm("Listener") == nullptr);
  CHECK(find_algorithm("") == nullptr);
}

TEST_CASE("with CBC a decision that is proven is as without it, and a wrong state is an error") {
  const Decide plain = find_algorithm("allocate")->decide;
  const Decide with = flowcon::sim::with_cbc(1);
  for (const char* name : {"allocate_greedy", "allocate_horizon"}) {
    const std::string state = file(std::string(name) + ".in.json");
    REQUIRE(with(state).has_value());
    CHECK(*with(state) == *plain(state));
  }
  for (const char* state : {"", "{}", R"({"allocator":"milp","nodes":-1})"}) {
    REQUIRE_FALSE(with(state).has_value());
    CHECK(with(state).error().message() == plain(state).error().message());
  }
}
