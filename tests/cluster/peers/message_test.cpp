// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/message.h"

#include "tests/support/catch.h"

namespace flowcon::cluster::peers {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef";

State some_state() {
  State state;
  state.id = kId;
  state.name = "h1";
  state.incarnation = 3;
  state.sequence = 7;
  state.counts = {1, 2, 3};
  state.usage = 0.25;
  state.cores = 0.5;
  state.memory = 1LL << 40;
  state.containers = 6;
  state.draining = true;
  return state;
}

// The rendered state with one member's text replaced.
std::string with(const std::string& before, const std::string& after) {
  std::string text = render(some_state());
  const auto at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

TEST_CASE("a state is read as it was rendered") {
  const auto read = parse_state(render(some_state()));
  REQUIRE(read.has_value());
  CHECK(render(*read) == render(some_state()));
  CHECK(read->counts.wc == 2);
  CHECK(read->draining);
}

TEST_CASE("a state may tell what the host gives to jobs") {
  CHECK_FALSE(parse_state(render(some_state()))->offer_cpu);
  State state = some_state();
  state.offer_cpu = 0;
  state.offer_mem = 1e9;
  const auto read = parse_state(render(state));
  REQUIRE(read.has_value());
  CHECK(read->offer_cpu == 0.0);
  CHECK(read->offer_mem == 1e9);
  CHECK(is_news(some_state(), state));
  state.offer_gpu = 2;
  CHECK(parse_state(render(state))->offer_gpu == 2.0);
  CHECK_FALSE(read->offer_gpu);
  CHECK(is_news(*read, state));
  state.offer_mem = -1;
  CHECK_FALSE(parse_state(render(state)).has_value());
}

TEST_CASE("a state may tell whom the host knows") {
  CHECK_FALSE(parse_state(render(some_state()))->knows);
  State state = some_state();
  state.knows.emplace();
  CHECK(parse_state(render(state))->knows == state.knows);
  state.knows->push_back(kId);
  CHECK(parse_state(render(state))->knows == state.knows);
  CHECK(is_news(some_state(), state));
  CHECK_FALSE(is_news(state, state));
  const std::string told = render(state);
  for (const char* wrong : {R"(["h2"])", R"([7])", R"({})", R"(null)"}) {
    CAPTURE(wrong);
    std::string text = told;
    text.replace(text.find("[\""), kId.size() + 4, wrong);
    const auto read = parse_state(text);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().message().find("knows") != std::string::npos);
  }
  state.knows->assign(1001, kId);
  CHECK_FALSE(parse_state(render(state)).has_value());
}

TEST_CASE("members of newer versions are ignored, and none may be missing") {
  CHECK(parse_state(with("{\"protocol\"", "{\"gpus\":[{\"a\":1}],\"protocol\"")).has_value());
  CHECK_FALSE(parse_state(with(",\"draining\":true", "")).has_value());
}

TEST_CASE("a state out of range is refused with the member's name") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"\"usage\":0.25", "\"usage\":1.01"},
      {"\"usage\":0.25", "\"usage\":-0.1"},
      {"\"usage\":0.25", "\"usage\":\"nan\""},
      {"\"usage\":0.25", "\"usage\":null"},
      {"\"cores\":0.5", "\"cores\":0"},
      {"\"cores\":0.5", "\"cores\":1e300"},
      {"\"pc\":1", "\"pc\":-1"},
      {"\"pc\":1", "\"pc\":1.5"},
      {"\"cc\":3", "\"cc\":1000001"},
      {"\"sequence\":7", "\"sequence\":0"},
      {"\"sequence\":7", "\"sequence\":9007199254740994"},
      {"\"incarnation\":3", "\"incarnation\":-3"},
      {"\"memory\":1099511627776", "\"memory\":1e30"},
      {"\"containers\":6", "\"containers\":[]"},
      {"\"name\":\"h1\"", "\"name\":\"\""},
      {"\"name\":\"h1\"", "\"name\":\"" + std::string(256, 'a') + "\""},
      {"\"id\":\"0", "\"id\":\"G"},
      {"\"id\":\"0", "\"id\":\""}};
  for (const auto& [before, after] : wrong) {
    CAPTURE(after);
    const auto read = parse_state(with(before, after));
    REQUIRE_FALSE(read.has_value());
    const std::string member = after.substr(1, after.find('"', 1) - 1);
    CHECK(read.error().what.find(member) != std::string::npos);
  }
}

TEST_CASE("a name that would move a terminal's cursor is made harmless") {
  const auto read = parse_state(with("\"h1\"", "\"h1\\u001b[2J\\n\""));
  REQUIRE(read.has_value());
  CHECK(read->name.find('\x1b') == std::string::npos);
  CHECK(read->name.find('\n') == std::string::npos);
}

TEST_CASE("another major version of the protocol is refused with what to do") {
  const auto newer = parse_state(with("\"protocol\":1", "\"protocol\":2"));
  REQUIRE_FALSE(newer.has_value());
  CHECK(newer.error().what.find("update docker-flowcon here") != std::string::npos);
  CHECK(choose_protocol({1, 3}, {2, 5}).value() == 3);
  CHECK(choose_protocol({2, 3}, {1, 2}).value() == 2);
  CHECK(choose_protocol({2, 3}, {1, 1}).error().what.find("on the peer") != std::string::npos);
}

TEST_CASE("a message that is too long or half is refused") {
  CHECK_FALSE(parse_state(std::string(kMaxMessage + 1, ' ')).has_value());
  const std::string whole = render(some_state());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    REQUIRE_FALSE(parse_state(whole.substr(0, size)).has_value());
  }
}

TEST_CASE("hello is read as it was rendered, and refused where it makes no sense") {
  Hello hello{{1, 4}, "0.9.0", "h2", kId, 12};
  const auto read = parse_hello(render(hello));
  REQUIRE(read.has_value());
  CHECK(render(*read) == render(hello));
  hello.protocol = {3, 2};
  CHECK_FALSE(parse_hello(render(hello)).has_value());
  hello.protocol = {0, 2};
  CHECK_FALSE(parse_hello(render(hello)).has_value());
  CHECK_FALSE(parse_hello("[]").has_value());
  CHECK_FALSE(parse_hello(R"({"protocol":3})").has_value());
}

TEST_CASE("drain is true or false and nothing else") {
  CHECK(parse_drain(render_drain(true)).value());
  CHECK_FALSE(parse_drain(render_drain(false)).value());
  CHECK_FALSE(parse_drain(R"({"draining":"yes"})").has_value());
  CHECK_FALSE(parse_drain("{}").has_value());
}

TEST_CASE("news is what changes a decision, not a little more use and not the sequence") {
  const State before = some_state();
  State now = before;
  now.sequence = 8;
  now.usage += 0.04;
  CHECK_FALSE(is_news(before, now));
  now.usage = before.usage + 0.06;
  CHECK(is_news(before, now));
  now = before;
  now.counts.pc = 0;
  CHECK(is_news(before, now));
  now = before;
  now.draining = false;
  CHECK(is_news(before, now));
}

}  // namespace
}  // namespace flowcon::cluster::peers
