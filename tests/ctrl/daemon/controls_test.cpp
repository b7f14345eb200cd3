// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/controls.h"

#include <boost/asio/post.hpp>
#include <cerrno>
#include <functional>
#include <set>

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

// It has one container, and says of some nothing.
struct Engine : Containers {
  void start() override {}
  void stop() override {}
  std::vector<Change> take() override { return {}; }
  [[nodiscard]] bool has_changes() const override { return false; }
  [[nodiscard]] const EngineStatus& engine() const override { return status; }
  [[nodiscard]] std::string problem() const override { return ""; }
  Async<Result<engine::Container>> inspect(std::string name) override {
    if (name == has) co_return engine::Container();
    co_return errno_error(name == "gone" ? ENOENT : EIO, "inspect");
  }
  EngineStatus status;
  std::string has = "there";
};

constexpr double kDay = 86400;

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
  desk.run(desk.controls.forget_gone(&engine, 1000));
  desk.run(desk.controls.forget_gone(&engine, 1000 + kDay - 1));
  CHECK(desk.kept() == 4);
  desk.run(desk.controls.forget_gone(&engine, 1000 + kDay));
  CHECK(desk.again().of("there") == pinned());
  CHECK(desk.again().of("unknown") == pinned());
  CHECK(desk.again().of("gone") == Control());
  CHECK(desk.again().is_all_paused());
  CHECK(desk.kept() == 3);
}

TEST_CASE("what was chosen stays where an engine has lost its containers for less than a day") {
  Desk desk;
  REQUIRE(desk.get(desk.controls.save("gone", pinned())).has_value());
  Engine engine;
  desk.run(desk.controls.forget_gone(&engine, 1000));
  engine.has = "gone";
  desk.run(desk.controls.forget_gone(&engine, 5000));
  engine.has = "";
  desk.run(desk.controls.forget_gone(&engine, 1000 + kDay));
  CHECK(desk.again().of("gone") == pinned());
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

TEST_CASE("a pause that could not put the limits back is tried again, also by itself") {
  for (const bool is_asked : {true, false}) {
    test::Host there;
    run_two(there);
    there.fs.fail_write(1, EIO);
    CHECK(there.ask("POST", "/v1/containers/a/pause") == 500);
    CHECK(there.weight("a") != "100");
    CHECK(there.status_of("a").at("note").as_string().find("restoring") == 0);
    if (is_asked) CHECK(there.ask("POST", "/v1/containers/a/pause") == 200);
    for (int tick = 0; tick < 3 && !is_asked; ++tick) there.pass();
    CHECK(there.weight("a") == "100");
    CHECK(there.status_of("a").at("note").as_string().find("restoring") != 0);
  }
}

TEST_CASE("a limit that others set while control is suspended is the original then") {
  test::Host there;
  run_two(there);
  const std::string group = "docker/" + test::Host::id_of("a");
  REQUIRE(there.ask("POST", "/v1/containers/a/pause") == 200);
  there.fs.set(group, "cpu.max", "50000 100000");
  REQUIRE(there.ask("POST", "/v1/containers/a/resume") == 200);
  there.pass();
  CHECK(there.weight("a") != "100");
  CHECK(there.fs.text(group, "cpu.max") == "50000 100000");
  there.end();
  CHECK(there.weight("a") == "100");
  CHECK(there.fs.text(group, "cpu.max") == "50000 100000");
}

TEST_CASE("a limit of flowcond that systemd brings back meanwhile is no original") {
  test::Host there;
  run_two(there);
  const std::string ours = there.weight("a");
  REQUIRE(ours != "100");
  REQUIRE(there.ask("POST", "/v1/containers/a/pause") == 200);
  there.fs.set("docker/" + test::Host::id_of("a"), "cpu.weight", ours);
  REQUIRE(there.ask("POST", "/v1/containers/a/resume") == 200);
  there.pass();
  there.end();
  CHECK(there.weight("a") == "100");
}

TEST_CASE("each container is shown once while control of all is being suspended") {
  test::Host there;
  run_two(there);
  bool is_asking = true;
  std::set<std::size_t> counts;
  std::function<void()> look = [&] {
    if (!is_asking) return;
    const auto status = parse_json(status_of(there.daemon->snapshot(), 0));
    counts.insert(status->at("containers").as_array().size());
    boost::asio::post(*there.io, look);
  };
  boost::asio::post(*there.io, look);
  CHECK(there.ask("POST", "/v1/pause") == 200);
  is_asking = false;
  CHECK(counts == std::set<std::size_t>{2});
  there.end();
}
