// SPDX-License-Identifier: Apache-2.0
// What could not be read of a job's use is no 0.
#include "ctrl/daemon/meter.h"

#include <cerrno>
#include <cmath>
#include <string>

#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"

using namespace flowcon;

namespace {

const std::string kGroup = "docker/4f";

// A cgroup2 beside the v1 controllers, none of which is called "io".
class HybridCgroups : public test::SharedCgroups {
 public:
  using SharedCgroups::SharedCgroups;
  bool is_v2(const std::string& controller) const override { return controller == "io"; }
};

// One job of a hybrid host, and what is read of it.
class Metered {
 public:
  explicit Metered(double cores = 1) : meter_{io_, hybrid_, host_, cores, jobs_} {
    ctrl::Job& job = jobs_["4f"];
    job.container.id = "4f";
    job.group = {kGroup, kGroup, kGroup, "", kGroup};
  }
  const ctrl::Job& look(double seconds = 20) {
    now_ += seconds;
    meter_.look({1e9 + now_, now_}, false);
    return jobs_.at("4f");
  }
  /// One look in which all programs had used so many CPU seconds, and the job.
  double others_after(double seconds, double all, double job) {
    fs.set("", "cpuacct.usage", std::to_string(static_cast<std::uint64_t>(all * 1e9)));
    fs.set(kGroup, "cpuacct.usage", std::to_string(static_cast<std::uint64_t>(job * 1e9)));
    look(seconds);
    return meter_.cores_of_others();
  }

  test::FakeCgroups fs{cgroups::Mode::hybrid, {{kGroup, test::FakeCgroups::v1_group()}}};

 private:
  HybridCgroups hybrid_{fs};
  boost::asio::io_context io_{1};
  ctrl::Host host_;
  ctrl::Meter::Jobs jobs_;
  double now_ = 1000;
  ctrl::Meter meter_;
};

}  // namespace

TEST_CASE("on a hybrid host block I/O that the kernel does not count yet is not 0") {
  Metered metered;
  CHECK_FALSE(metered.look().traffic.io);
  metered.fs.set(kGroup, "blkio.throttle.io_service_bytes_recursive",
                 "8:0 Read 100\n8:0 Write 50\nTotal 150");
  CHECK(metered.look().traffic.io == 150U);
}

TEST_CASE("what other programs use is what all do but for the jobs, smoothed over half a minute") {
  Metered metered;
  CHECK(metered.others_after(1, 1000, 10) == 0);  // since when is not known
  CHECK(metered.others_after(30, 1030, 25) == Approx(0.5 * (1 - std::exp(-1))));
  CHECK(metered.others_after(3000, 4030, 1525) == Approx(0.5));
  CHECK(metered.others_after(3000, 7030, 4525) == Approx(0).margin(1e-6));
  CHECK(metered.others_after(3000, 7030, 4525.5) == Approx(0).margin(1e-6));
  CHECK(metered.others_after(3000, 10, 4525.5) == Approx(0).margin(1e-6));
}

TEST_CASE("other programs have the cores first that jobs may not use") {
  Metered metered(4);  // of which the host has one
  (void)metered.others_after(1, 0, 0);
  CHECK(metered.others_after(30000, 90000, 0) == Approx(0).margin(1e-6));
  CHECK(metered.others_after(30000, 195000, 0) == Approx(0.5));
}

TEST_CASE("memory counts as read once it was") {
  Metered metered;
  metered.fs.set(kGroup, "memory.usage_in_bytes", "4096");
  metered.fs.fail_reads("memory.usage_in_bytes", EMFILE);
  const ctrl::Job& job = metered.look();
  CHECK(job.has_reading);
  CHECK_FALSE((job.is_memory_read || job.has_memory));
  metered.fs.fail_reads("memory.usage_in_bytes", 0);
  metered.look();
  CHECK((job.is_memory_read && job.has_memory));
  CHECK(job.reading.memory == 4096);
  metered.fs.fail_reads("memory.usage_in_bytes", EMFILE);
  metered.look();
  CHECK_FALSE(job.is_memory_read);
  CHECK(job.has_memory);
  CHECK(job.reading.memory == 4096);
}

TEST_CASE("no soft limit is made of a memory use that could not be read yet") {
  test::Host host;
  host.config.limiting.memory_low = 2;  // always short
  host.fs.fail_reads("memory.current", EMFILE);
  host.begin();
  host.start("a", {{"flowcon.ceiling", "0.1"}});
  host.start("b");
  for (int tick = 0; tick < 3; ++tick) host.pass();
  const std::string group = "docker/" + test::Host::id_of("a");
  CHECK(host.fs.text(group, "memory.high") == "max");
  CHECK(host.status_of("a").at("note").as_string().find("memory.current") == std::string::npos);
  host.fs.fail_reads("memory.current", 0);
  for (int tick = 0; tick < 2; ++tick) host.pass();
  CHECK(host.fs.text(group, "memory.high") != "max");
}
