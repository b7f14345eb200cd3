// SPDX-License-Identifier: Apache-2.0
// A table of a thousand jobs on ten busy hosts, for every policy: nothing is lost on the way.
#include <algorithm>
#include <cmath>
#include <string>

#include "base/random.h"
#include "sim/engine.h"
#include "sim/trace.h"
#include "tests/sim/schedules.h"
#include "tests/support/catch.h"

using namespace flowcon::sim;

namespace {

constexpr std::size_t kJobs = 1000;

// One job every seven seconds, of one to four cores and one to a hundred minutes; one in ten
// crashes or is killed. More than ten hosts of eight cores can do while they come.
Schedule busy_table() {
  flowcon::Random random(7);
  std::string table = "job_id,submit_s,duration_s,gpus_or_nodes,model,status\n";
  for (std::size_t i = 0; i < kJobs; ++i) {
    const auto workers = 1 + random.below(4);
    const double share = static_cast<double>(random.below(1000)) / 1000;
    const double seconds = 60 * std::pow(100, share);
    const std::uint64_t fate = random.below(20);
    table += std::to_string(i) + "," + std::to_string(20 * i / 3) + "," + std::to_string(seconds) +
             "," + std::to_string(workers) + ",model-" + std::to_string(random.below(12)) + "," +
             (fate == 0   ? "failed"
              : fate == 1 ? "killed"
                          : "") +
             "\n";
  }
  ScheduleOptions options;
  options.hosts = 10;
  flowcon::Result<Schedule> schedule = parse_trace(table, "table", {}, options);
  REQUIRE(schedule.has_value());
  return std::move(*schedule);
}

}  // namespace

TEST_CASE("of a thousand jobs each ends once, with all of its work done, under every policy") {
  const Schedule schedule = busy_table();
  double cores = 0;
  for (const HostSpec& host : schedule.hosts) cores += host.cores;
  for (const PolicyKind& kind : policies()) {
    INFO(kind.name);
    PolicySet set = kind.make(schedule, {});
    const RunResult result = run(schedule, set, {});
    REQUIRE(result.jobs.size() == kJobs);
    double worked = 0;
    double last = 0;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < kJobs; ++i) {
      const JobSpec& spec = schedule.jobs[i];
      const Outcome& outcome = result.jobs[i];
      worked += outcome.worked;
      last = std::max(last, outcome.finished);
      const double alone = outcome.worked / spec.parallelism;
      const bool is_whole = std::fabs(outcome.worked - spec.end_work()) <= 1e-9 * spec.work;
      const bool is_late_enough = outcome.finished - spec.arrival >= alone * (1 - 1e-9);
      const bool is_killed = outcome.end == Outcome::End::killed;
      const auto expected = spec.crash_at ? Outcome::End::crashed : Outcome::End::complete;
      if (is_killed ? !spec.kill_after : outcome.end != expected || !is_whole) ++wrong;
      if (!is_late_enough || outcome.moves > 2) ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(result.worked == Approx(worked).epsilon(1e-12));
    CHECK(last * cores >= worked);
  }
}
