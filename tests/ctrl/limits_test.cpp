// SPDX-License-Identifier: Apache-2.0
#include "ctrl/limits.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ctrl/effects.h"
#include "tests/support/catch.h"
#include "tests/support/fake_cgroups.h"
#include "tests/support/fake_systemd.h"

namespace flowcon::ctrl {
namespace {

/// One container in a systemd scope, with a limit that control has written.
class Scope {
 public:
  explicit Scope(cgroups::Mode mode = cgroups::Mode::v2)
      : fs_(mode, {{kGroup, mode == cgroups::Mode::v2 ? test::FakeCgroups::v2_group()
                                                      : test::FakeCgroups::v1_group()}}) {
    std::string pattern = std::filesystem::temp_directory_path() / "flowcon-limits-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    std::string notice;
    auto opened = store::Store::open(folder_ + "/flowcon.db", &notice);
    REQUIRE(opened.has_value());
    store_ = std::move(*opened);
    fs_.set(kGroup, "cpu.weight", "10");
    fs_.set(kGroup, "cpu.max", "10000 100000");
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  Result<void> restore(
      const cgroups::CpuSetting& setting, const std::string& life = "",
      const std::function<void()>& meanwhile = [] {}) {
    store::Original original{
        "4f", "job", {kGroup, kGroup, kGroup, "docker-4f.scope"}, {setting}, life};
    boost::asio::io_context io(1);
    Effects effects;
    Limits limits(fs_, effects, *store_);
    Limits::PutBack there = limits.put_back(original);
    meanwhile();
    auto done = boost::asio::co_spawn(io, limits.finish(std::move(there)), boost::asio::use_future);
    io.run();
    effects.finish();
    return done.get();
  }
  /// Undoes on a group of the given name; `life`: of the container's when it was limited.
  void undo(const std::string& group, const cgroups::CpuSetting& setting,
            const std::string& life = "") {
    Effects effects;
    Limits limits(fs_, effects, *store_);
    store::Original original{"4f", "job", {group, group, group, ""}, {setting}, life};
    REQUIRE(store_->save_originals({original}).has_value());
    limits.undo(original);
    effects.finish();
    CHECK(store_->originals()->empty());
  }
  /// What a start makes of the row that an earlier run has left.
  Limits::Leftovers start_with(const cgroups::Setting& setting, bool has_all_limits = true) {
    const store::Original original{"4f",    "job", {kGroup, kGroup, kGroup, "", kGroup},
                                   setting, "",    has_all_limits};
    REQUIRE(store_->save_originals({original}).has_value());
    boost::asio::io_context io(1);
    Effects effects;
    Limits limits(fs_, effects, *store_);
    auto done = boost::asio::co_spawn(io, limits.restore_leftovers({}), boost::asio::use_future);
    io.run();
    effects.finish();
    return *done.get();
  }
  static std::vector<Outcome> applied(boost::asio::io_context& io, Effects& effects, Limits& limits,
                                      std::vector<Target> targets) {
    auto done =
        boost::asio::co_spawn(io, limits.apply(std::move(targets)), boost::asio::use_future);
    io.run();
    effects.finish();
    return done.get();
  }
  /// Limits it, as a container of that life.
  Outcome apply(const cgroups::CpuSetting& setting, const std::string& life) {
    boost::asio::io_context io(1);
    Effects effects;
    Limits limits(fs_, effects, *store_);
    Target target;
    target.container = {
        "4f", "job", {kGroup, kGroup, kGroup, ""}, {{100, std::nullopt, 100000}}, life};
    target.setting.cpu = setting;
    std::vector<Target> targets{target};
    return applied(io, effects, limits, std::move(targets)).front();
  }
  /// Limits it so often, and waits for all that this has on the effects thread.
  void apply_often(std::uint64_t times) {
    boost::asio::io_context io(1);
    Effects effects;
    Limits limits(fs_, effects, *store_);
    std::vector<Target> targets;
    for (std::uint64_t i = 0; i < times; ++i) {
      Target target;
      target.container = {"4f",
                          "job",
                          {kGroup, kGroup, kGroup, "docker-4f.scope"},
                          {{100, std::nullopt, 100000}},
                          ""};
      target.is_original_saved = true;
      target.setting.cpu = {20 + i, 20000, 100000};
      targets.push_back(std::move(target));
    }
    const auto outcomes = applied(io, effects, limits, std::move(targets));
    for (const Outcome& outcome : outcomes) CHECK(outcome.is_written);
  }
  /// Gives it another soft limit or I/O weight, where BFQ schedules its disk.
  Outcome change(const std::function<void(cgroups::Setting&)>& make) {
    boost::asio::io_context io(1);
    Effects effects;
    Limits limits(fs_, effects, *store_);
    cgroups::BlockDevice disk;
    disk.number = "8:0";
    disk.scheduler = "bfq";
    const cgroups::Group group{kGroup, kGroup, kGroup, "docker-4f.scope", kGroup};
    limits.find_mechanism(group, {disk});
    const auto present = cgroups::read_setting(fs_, group, limits.mechanism());
    REQUIRE(present.has_value());
    Target target;
    target.container = {"4f", "job", group, *present, ""};
    target.is_original_saved = true;
    target.present = target.setting = *present;
    make(target.setting);
    std::vector<Target> targets{target};
    return applied(io, effects, limits, std::move(targets)).front();
  }
  /// Limits its memory, lifts that, and restores it after `between`.
  Result<void> soften_and_restore(const std::function<void()>& between) {
    boost::asio::io_context io(1);
    Effects effects;
    Limits limits(fs_, effects, *store_);
    Target soft;
    soft.container = {"4f",
                      "job",
                      {kGroup, kGroup, kGroup, "docker-4f.scope"},
                      {{100, std::nullopt, 100000}},
                      ""};
    soft.is_original_saved = true;
    soft.setting.cpu = {20, 20000, 100000};
    soft.setting.memory.soft_bytes = 1U << 20;
    Target lifted = soft;
    lifted.present = soft.setting;
    lifted.setting.memory = {};
    std::vector<Target> targets{soft, lifted};
    auto written =
        boost::asio::co_spawn(io, limits.apply(std::move(targets)), boost::asio::use_future);
    io.run();
    for (const Outcome& outcome : written.get()) CHECK(outcome.is_written);
    between();
    io.restart();
    auto done = boost::asio::co_spawn(io, limits.restore(soft.container), boost::asio::use_future);
    io.run();
    effects.finish();
    CHECK_FALSE(limits.is_untold("4f"));
    return done.get();
  }
  /// Limits CPU and memory of two in its group. flowcond ends while the memory of the first is
  /// about to be written, and that comes after all has been put back.
  std::vector<Outcome> stop_while_writing_memory() {
    boost::asio::io_context io(1);
    Effects effects;
    Limits limits(fs_, effects, *store_);
    std::promise<void> put_back;
    const std::shared_future<void> is_back = put_back.get_future();
    std::atomic<bool> is_reached = false;
    fs_.at_write = [&](const std::string&, const std::string& file) {
      if (file != "memory.high" || is_reached.exchange(true)) return;
      boost::asio::post(io, [&limits] { limits.stop(); });
      is_back.wait();
    };
    Target target;
    target.container = {
        "4f", "job", {kGroup, kGroup, kGroup, ""}, {{100, std::nullopt, 100000}}, ""};
    target.is_original_saved = true;
    target.setting.cpu = {20, 20000, 100000};
    target.setting.memory.soft_bytes = 1U << 20;
    std::vector<Target> targets{target, target};
    targets.back().setting.cpu.weight = 30;
    auto done =
        boost::asio::co_spawn(io, limits.apply(std::move(targets)), boost::asio::use_future);
    io.run();
    CHECK(text("cpu.weight") == "30");
    CHECK(limits.put_back(target.container).before.has_value());
    put_back.set_value();
    effects.finish();
    fs_.at_write = nullptr;
    return done.get();
  }
  [[nodiscard]] std::string text(const std::string& file) const { return fs_.text(kGroup, file); }
  test::FakeCgroups& fs() { return fs_; }

  static constexpr const char* kGroup = "system.slice/docker-4f.scope";

 private:
  test::FakeCgroups fs_;
  std::string folder_;
  std::unique_ptr<store::Store> store_;
};

}  // namespace

TEST_CASE("a restored quota is exact in the kernel, after systemd has written its rounded one") {
  Scope scope;
  test::FakeSystemd systemd;
  systemd.on_told = [&scope] { scope.fs().set(Scope::kGroup, "cpu.max", "34000 100000"); };
  const cgroups::CpuSetting original{20, 33300, 100000};
  REQUIRE(scope.restore(original).has_value());
  systemd.join();
  CHECK(systemd.properties ==
        cgroups::unit_properties(original, true, cgroups::Rounding::whole_percent));
  CHECK(scope.text("cpu.weight") == "20");
  CHECK(scope.text("cpu.max") == "33300 100000");
}

TEST_CASE("a limit is back at once, and systemd is told of it later, whatever was written since") {
  Scope scope;
  test::FakeSystemd systemd;
  const cgroups::CpuSetting original{20, 33300, 100000};
  const auto again = [&scope] { scope.fs().set(Scope::kGroup, "cpu.weight", "10"); };
  REQUIRE(scope.restore(original, "", again).has_value());
  systemd.join();
  CHECK(systemd.properties ==
        cgroups::unit_properties(original, true, cgroups::Rounding::whole_percent));
  CHECK(scope.text("cpu.weight") == "20");
}

TEST_CASE("a limit is restored in the kernel where systemd cannot be told") {
  Scope scope;
  ::setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
  const auto restored = scope.restore({100, std::nullopt, 50000});
  ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
  REQUIRE(restored.has_value());
  CHECK(scope.text("cpu.weight") == "100");
  CHECK(scope.text("cpu.max") == "max 50000");
}

TEST_CASE("a systemd that does not answer is left alone for a while, whatever is limited") {
  Scope scope;
  test::MuteBus bus;
  scope.apply_often(5);
  CHECK(bus.callers() == 2);
  CHECK(scope.text("cpu.weight") == "24");
}

TEST_CASE("a restore asks a systemd that was mute again, and tells it what it was not told") {
  Scope scope;
  auto bus = std::make_unique<test::MuteBus>();
  std::unique_ptr<test::FakeSystemd> systemd;
  const auto answer = [&] {
    CHECK(bus->callers() == 2);
    bus.reset();
    systemd = std::make_unique<test::FakeSystemd>(1);
  };
  REQUIRE(scope.soften_and_restore(answer).has_value());
  systemd->join();
  const cgroups::UnitProperty lifted{"MemoryHigh", UINT64_MAX};
  CHECK(std::count(systemd->properties.begin(), systemd->properties.end(), lifted) == 1);
}

TEST_CASE("what cannot be read for want of something is not taken for no limit") {
  Scope scope;
  scope.fs().set(Scope::kGroup, "memory.high", "4096000");
  scope.fs().fail_reads("memory.high", EMFILE);
  const cgroups::CpuSetting original{20, 33300, 100000};
  CHECK(scope.start_with({original}).failed.size() == 1);
  CHECK(scope.text("memory.high") == "4096000");
  scope.fs().fail_reads("memory.high", 0);
  CHECK(scope.start_with({original}).restored == 1);
  CHECK(scope.text("memory.high") == "max");
}

TEST_CASE("of a container whose CPU alone was limited a start restores the CPU's limit alone") {
  Scope scope;
  scope.fs().set(Scope::kGroup, "memory.high", "4096000");
  scope.fs().set(Scope::kGroup, "io.max", "8:0 rbps=1048576 wbps=max riops=max wiops=max");
  cgroups::Setting former{{20, 33300, 100000}};
  former.memory.soft_bytes = 8192000;
  CHECK(scope.start_with(former, false).restored == 1);
  CHECK(scope.text("cpu.weight") == "20");
  CHECK(scope.text("memory.high") == "4096000");
  CHECK(scope.text("io.max") == "8:0 rbps=1048576 wbps=max riops=max wiops=max");
}

TEST_CASE("a soft limit that a job has outgrown by the time of its writing is not written") {
  Scope scope;
  // With a tenth more it is between 16 and 17 times 64 KiB.
  scope.fs().set(Scope::kGroup, "memory.current", "1000000");
  test::FakeSystemd systemd;
  const Outcome kept =
      scope.change([](cgroups::Setting& setting) { setting.memory.soft_bytes = 16U * 65536; });
  systemd.join();
  CHECK(kept.is_written);
  CHECK(kept.is_memory_kept);
  CHECK(scope.text("memory.high") == "max");
  CHECK(std::none_of(systemd.properties.begin(), systemd.properties.end(),
                     [](const auto& property) { return property.name == "MemoryHigh"; }));
  ::setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
  const Outcome lowered =
      scope.change([](cgroups::Setting& setting) { setting.memory.soft_bytes = 17U * 65536; });
  ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
  CHECK_FALSE(lowered.is_memory_kept);
  CHECK(scope.text("memory.high") == std::to_string(17 * 65536));
}

TEST_CASE("a soft limit is raised whatever a job needs by then") {
  Scope scope;
  scope.fs().set(Scope::kGroup, "memory.high", "65536");
  scope.fs().set(Scope::kGroup, "memory.current", "1000000");
  ::setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
  const Outcome raised =
      scope.change([](cgroups::Setting& setting) { setting.memory.soft_bytes = 2U * 65536; });
  ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
  CHECK(raised.is_written);
  CHECK(scope.text("memory.high") == "131072");
}

TEST_CASE("a stop does not wait for a memory limit, and what the container had is written last") {
  Scope scope;
  for (const Outcome& outcome : scope.stop_while_writing_memory()) {
    CHECK(outcome.is_written);
    CHECK(outcome.is_memory_kept);
  }
  const auto is_limit = [](const auto& one) { return one.text == "1048576"; };
  CHECK(std::ranges::count_if(scope.fs().writes(), is_limit) == 1);
  CHECK(scope.text("memory.high") == "max");
  CHECK(scope.text("cpu.weight") == "100");
}

TEST_CASE("an I/O weight is exact on cgroup v1, after systemd has written its rounded one") {
  Scope scope(cgroups::Mode::v1);
  test::FakeSystemd systemd;
  systemd.on_told = [&scope] { scope.fs().set(Scope::kGroup, "blkio.bfq.weight", "181"); };
  const Outcome outcome = scope.change([](cgroups::Setting& setting) { setting.io.weight = 333U; });
  systemd.join();
  CHECK(outcome.is_written);
  CHECK(std::any_of(systemd.properties.begin(), systemd.properties.end(),
                    [](const auto& property) { return property.name == "IOWeight"; }));
  CHECK(scope.text("blkio.bfq.weight") == "333");
}

TEST_CASE("what cannot be restored at a start is still known as it was") {
  Scope scope;
  const cgroups::CpuSetting original{20, 33300, 100000};
  scope.fs().fail_write(1, EINVAL);
  const Limits::Leftovers failed = scope.start_with({original});
  CHECK(failed.restored == 0);
  REQUIRE(failed.failed.size() == 1);
  CHECK(failed.failed[0].setting.cpu == original);
  CHECK(scope.start_with({original}).restored == 1);
  CHECK(scope.text("cpu.weight") == "20");
}

TEST_CASE("a cap on a disk that was taken away does not stand in the way of the rest") {
  Scope scope;
  cgroups::Setting setting{{20, 33300, 100000}};
  setting.io.caps["8:16"].read_bytes = 1048576;
  scope.fs().fail_write(3, ENODEV);
  CHECK(scope.start_with(setting).restored == 1);
  CHECK(scope.text("cpu.weight") == "20");
}

TEST_CASE("a container said to have ended that lives on has its own limits again") {
  Scope scope;
  scope.undo(Scope::kGroup, {20, 33300, 100000});
  CHECK(scope.text("cpu.weight") == "20");
  CHECK(scope.text("cpu.max") == "33300 100000");
}

TEST_CASE("a container that has ended needs nothing but to be forgotten") {
  Scope scope;
  scope.undo("system.slice/docker-5f.scope", {20, 33300, 100000});
  CHECK(scope.text("cpu.weight") == "10");
}

TEST_CASE("the limits of a former life are not brought back to a container started again") {
  Scope scope;
  const std::string former = scope.fs().life("cpu", Scope::kGroup);
  scope.fs().remove(Scope::kGroup);
  scope.fs().add(Scope::kGroup, test::FakeCgroups::v2_group());
  scope.undo(Scope::kGroup, {20, 33300, 100000}, former);
  REQUIRE(scope.restore({20, 33300, 100000}, former).has_value());
  CHECK(scope.fs().writes().empty());
  CHECK(scope.text("cpu.max") == "max 100000");
  scope.undo(Scope::kGroup, {20, 33300, 100000}, scope.fs().life("cpu", Scope::kGroup));
  CHECK(scope.text("cpu.max") == "33300 100000");
}

TEST_CASE("nothing is written to a container that was started again before its end was told") {
  Scope scope;
  const std::string former = scope.fs().life("cpu", Scope::kGroup);
  scope.fs().remove(Scope::kGroup);
  scope.fs().add(Scope::kGroup, test::FakeCgroups::v2_group());
  const Outcome late = scope.apply({50, 20000, 100000}, former);
  CHECK(late.is_gone);
  CHECK_FALSE(late.is_written);
  CHECK(scope.fs().writes().empty());
  CHECK(scope.apply({50, 20000, 100000}, scope.fs().life("cpu", Scope::kGroup)).is_written);
  CHECK(scope.text("cpu.max") == "20000 100000");
}

}  // namespace flowcon::ctrl
