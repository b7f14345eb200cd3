// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/controls.h"

#include "tests/ctrl/daemon/parts.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;
using test::Ground;

namespace {

struct Desk : Ground {
  Controls controls{io, effects, *world.store};

  // What flowcond knows after a restart.
  Controls again() {
    Controls next(io, effects, *world.store);
    REQUIRE(get(next.read()).has_value());
    return next;
  }
  std::size_t kept() { return world.store->choices()->size(); }
};

// It has one container, and says of another one nothing.
struct Engine : Containers {
  void start() override {}
  void stop() override {}
  std::vector<Change> take() override { return {}; }
  [[nodiscard]] bool has_changes() const override { return false; }
  [[nodiscard]] const EngineStatus& engine() const override { return status; }
  [[nodiscard]] std::string problem() const override { return ""; }
  Async<Result<engine::Container>> inspect(std::string name) override {
    if (name == "there") co_return engine::Container();
    co_return errno_error(name == "gone" ? ENOENT : EIO, "inspect");
  }
  EngineStatus status;
};

Control pinned() {
  Control control;
  control.pin = Pin{0.5, 2e9};
  control.values["weight"] = "2";
  return control;
}

}  // namespace

TEST_CASE("overrides are there again after a restart") {
  Desk desk;
  REQUIRE(desk.get(desk.controls.save("a", pinned())).has_value());
  CHECK(desk.controls.of("a") == pinned());
  CHECK(desk.again().of("a") == pinned());
  CHECK(desk.again().of("b") == Control());
}

TEST_CASE("overrides that are cleared leave nothing behind") {
  Desk desk;
  REQUIRE(desk.get(desk.controls.save("a", pinned())).has_value());
  REQUIRE(desk.get(desk.controls.save("a", Control())).has_value());
  CHECK(desk.kept() == 0);
}

TEST_CASE("what was chosen for a container goes with it, and with nothing else") {
  Desk desk;
  for (const char* id : {"there", "gone", "unknown"}) {
    REQUIRE(desk.get(desk.controls.save(id, pinned())).has_value());
  }
  REQUIRE(desk.get(desk.controls.pause_all(true)).has_value());
  Engine engine;
  desk.run(desk.controls.forget_gone(&engine));
  CHECK(desk.again().of("there") == pinned());
  CHECK(desk.again().of("unknown") == pinned());
  CHECK(desk.again().of("gone") == Control());
  CHECK(desk.again().is_all_paused());
  CHECK(desk.kept() == 3);
}

TEST_CASE("an adopted container stays adopted when its overrides are cleared") {
  Desk desk;
  store::Choice choice;
  choice.id = "a";
  choice.settings = R"({"metric":"loss"})";
  REQUIRE(desk.get(desk.controls.save(choice)).has_value());
  REQUIRE(desk.get(desk.controls.save("a", pinned())).has_value());
  REQUIRE(desk.get(desk.controls.save("a", Control())).has_value());
  CHECK(desk.again().adopted_with("a") == R"({"metric":"loss"})");
  CHECK_FALSE(desk.controls.is_released("a"));
}

TEST_CASE("a released container stays released until it is forgotten") {
  Desk desk;
  store::Choice choice;
  choice.id = "a";
  choice.released = true;
  REQUIRE(desk.get(desk.controls.save(choice)).has_value());
  CHECK(desk.again().is_released("a"));
  REQUIRE(desk.get(desk.controls.forget("a")).has_value());
  CHECK_FALSE(desk.controls.is_released("a"));
  CHECK_FALSE(desk.again().is_released("a"));
}

TEST_CASE("control of all stays suspended across a restart, until it is resumed") {
  Desk desk;
  REQUIRE(desk.get(desk.controls.pause_all(true)).has_value());
  CHECK(desk.again().is_all_paused());
  REQUIRE(desk.get(desk.controls.pause_all(false)).has_value());
  CHECK_FALSE(desk.again().is_all_paused());
  CHECK(desk.kept() == 0);
}

TEST_CASE("a pin that ended is saved in the background") {
  Desk desk;
  REQUIRE(desk.get(desk.controls.save("a", pinned())).has_value());
  Control ended = pinned();
  ended.pin.reset();
  desk.controls.save_ended_pin("a", ended);
  desk.until([&] { return desk.controls.of("a") == ended; });
  CHECK(desk.again().of("a") == ended);
}
