// SPDX-License-Identifier: Apache-2.0
// What this host reports of its jobs.
#include "ctrl/daemon/own_host.h"

#include "tests/ctrl/daemon/parts.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;
using test::Ground;

namespace {

/// Four cores, and the job "a", whose metric is its loss.
struct Reporter : Ground {
  Reporter() {
    job.container.id = "a";
    metrics::Spec spec;
    spec.metric = "loss";
    job.extractor.emplace(*metrics::Extractor::create(spec, metrics::kKeptSamples));
  }
  void print(const std::string& line, double time) { job.extractor->feed(line, time); }

  Config config;
  const ctrl::Host machine{4, 1e9};
  test::FakeCgroups fs{cgroups::Mode::v2};
  Roster roster;
  Job& job = roster.jobs["a"];
  Schedule schedule{io};
  Planning planning{config, machine};
  Meter meter{io, fs, machine, machine.cores, roster.jobs};
  Controls controls{io, effects, *world.store};
  Notifier notifier{io, config, host, world.clock};
  Recorder recorder{io, effects, records_of(*world.store), config, world.clock, [] {}};
  LogFollower logs{io, roster, world.clock, [](const std::string&) { return std::string(); }};
  CarryOver carry_over{world, effects, roster, recorder, controls, logs, folder.path()};
  Shown shown;
  api::Routes routes;
  OwnHost own{OwnHost::Parts{io, effects, world, config, machine, roster, schedule, planning, meter,
                             controls, notifier, carry_over, shown, routes}};
};

}  // namespace

TEST_CASE("a job's value is relative to its first ones; a frozen job has none, nor is NaN one") {
  Reporter host;
  CHECK_FALSE(host.own.value_of("a").has_value());
  host.print("loss: 3", 100);
  host.print("loss: 4", 101);
  host.print("loss: 5", 102);
  CHECK(host.own.value_of("a") == 1.25);
  CHECK_FALSE(host.own.value_of("b").has_value());
  host.job.frozen = Moment{1e9, 0};
  CHECK_FALSE(host.own.value_of("a").has_value());
  host.job.frozen.reset();
  host.print("loss: nan", 103);
  CHECK_FALSE(host.own.value_of("a").has_value());
}

TEST_CASE("the time of a job's last value is not known where it is read from a text file") {
  Reporter host;
  CHECK_FALSE(host.own.last_value_at("a").has_value());
  host.print("loss: 3", 100);
  host.print("loss: 2", 107);
  CHECK(host.own.last_value_at("a") == 107);
  host.job.settings.log = "/logs/train.txt";
  CHECK_FALSE(host.own.last_value_at("a").has_value());
  host.job.settings.log_is_events = true;
  CHECK(host.own.last_value_at("a") == 107);
}

TEST_CASE(
    "jobs that cannot be controlled are no part of a host's use, which is at most all of it") {
  Reporter host;
  host.job.cpu_share = 0.5;
  host.job.reading.memory = 7;
  host.roster.jobs["b"].cpu_share = 0.25;
  Job& other = host.roster.jobs["c"];
  other.cpu_share = 0.125;
  other.unsupported = "its control group is not known";
  CHECK(host.own.view().jobs == std::vector<std::string>{"a", "b"});
  CHECK(host.own.view().usage == 0.75);
  REQUIRE(host.own.use_of("a").has_value());
  CHECK(host.own.use_of("a")->cores == 2);
  CHECK(host.own.use_of("a")->memory == 7);
  host.roster.jobs["b"].cpu_share = 0.75;
  CHECK(host.own.view().usage == 1);
}
