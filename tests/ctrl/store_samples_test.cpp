// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

#include <limits>
#include <map>

#include "ctrl/store/samples.h"
#include "ctrl/store/schema.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;
using namespace flowcon::ctrl::store;

namespace {

constexpr double kAll = -std::numeric_limits<double>::infinity();

struct Records {
  Records() {
    REQUIRE(sqlite3_open(":memory:", &db) == SQLITE_OK);
    REQUIRE(make_records(db).has_value());
  }
  ~Records() { sqlite3_close(db); }
  void add(std::int64_t run, const std::vector<Sample>& samples, double after = kAll) const {
    REQUIRE(SampleWriter(db).add(run, samples, after, "test").has_value());
  }
  // Times by run, and the rows that hold them.
  std::map<std::int64_t, std::vector<double>> times() {
    Statement all(db, "SELECT run,time,until,count,packed FROM samples ORDER BY run,time");
    std::map<std::int64_t, std::vector<double>> found;
    rows = 0;
    while (*all.step("test")) {
      ++rows;
      const std::vector<Sample> samples = unpacked(all.bytes(4));
      CHECK(static_cast<std::int64_t>(samples.size()) == all.integer(3));
      for (const Sample& sample : samples) {
        CHECK(sample.time >= all.number(1));
        CHECK(sample.time <= all.number(2));
        found[all.integer(0)].push_back(sample.time);
      }
    }
    return found;
  }

  sqlite3* db = nullptr;
  int rows = 0;
};

std::vector<Sample> count(double from, int number) {
  std::vector<Sample> samples;
  for (int i = 0; i < number; ++i) samples.push_back({from + i, 0.5});
  return samples;
}

}  // namespace

TEST_CASE("values are kept in rows that stay short, but for those that are known") {
  Records records;
  records.add(1, count(0, 1000), 99);
  const std::vector<double> times = records.times().at(1);
  CHECK(times.size() == 900);
  CHECK(times.front() == 100);
  CHECK(records.rows == 4);
  records.add(1, count(0, 10), 99);
  CHECK(records.times().at(1).size() == 900);
}

TEST_CASE("of each run one value in four is kept, many in a row or one") {
  Records records;
  records.add(1, count(0, 16));
  for (int i = 0; i < 16; ++i) records.add(2, count(i, 1));
  records.add(2, count(16, 1));
  REQUIRE(thin_samples(records.db, 0, 16, 4, "test").has_value());
  CHECK((records.times().at(1) == std::vector<double>{0, 4, 8, 12}));
  CHECK((records.times().at(2) == std::vector<double>{0, 4, 8, 12, 16}));
}

TEST_CASE("a row of a damaged file gives whole values or none") {
  CHECK(unpacked("").empty());
  CHECK(unpacked("damaged").empty());
  CHECK(unpacked(std::string(40, '\0')).size() == 2);
}
