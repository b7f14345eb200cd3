// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/pause.h"

#include "tests/support/catch.h"

using namespace flowcon::cluster::queue;

namespace {

using enum JobState;

double seconds_of(const std::vector<std::vector<JobStep>>& jobs) {
  PauseMeter meter;
  for (const std::vector<JobStep>& steps : jobs) meter.add(steps);
  return meter.seconds();
}

}  // namespace

TEST_CASE("what parking costs is guessed until a job was started, and has left") {
  CHECK(seconds_of({}) == PauseMeter::kUnmeasuredSave + PauseMeter::kUnmeasuredStart);
  CHECK(seconds_of({{{waiting, 0}, {starting, 10}, {running, 12}}}) ==
        PauseMeter::kUnmeasuredSave + 2);
}

TEST_CASE("a job elsewhere has to come home and to be placed anew") {
  const std::vector<JobStep> whole{{waiting, 0},   {placing, 100},   {starting, 108},
                                   {running, 109}, {returning, 200}, {done, 206}};
  CHECK(seconds_of({whole}) == PauseMeter::kUnmeasuredSave + 9 + 6);
}

TEST_CASE("a job that was parked tells how long it took to save, however long it waited then") {
  const std::vector<JobStep> parked{{waiting, 0},    {starting, 1},    {running, 2},
                                    {parking, 50},   {returning, 57},  {waiting, 60},
                                    {placing, 1000}, {starting, 1010}, {running, 1011}};
  // Starts of 1 and 11 seconds.
  CHECK(seconds_of({parked}) == 7 + 3 + 11);
}

TEST_CASE("what did not come off counts for nothing") {
  const std::vector<JobStep> unparked{{starting, 0}, {running, 1}, {parking, 10}, {running, 70}};
  CHECK(seconds_of({unparked}) == PauseMeter::kUnmeasuredSave + 1);
  const std::vector<JobStep> refused{{waiting, 0}, {placing, 5}, {waiting, 300}};
  CHECK(seconds_of({refused}) == PauseMeter::kUnmeasuredSave + PauseMeter::kUnmeasuredStart);
}

TEST_CASE("a clock that was set back makes nothing cheaper than nothing") {
  CHECK(seconds_of({{{waiting, 100}, {starting, 100}, {running, 40}, {done, 30}}}) ==
        PauseMeter::kUnmeasuredSave);
}
