// SPDX-License-Identifier: Apache-2.0
#include "cgroups/io.h"
#include "tests/support/catch.h"

using namespace flowcon::cgroups;

namespace {

bool is_disk(const std::string& name) { return name != "sda1"; }

}  // namespace

TEST_CASE("the host's I/O is that of its whole disks, reads and writes") {
  const auto moved = parse_diskstats(
      "   8       0 sda 10 0 100 5 20 0 300 7 0 1 2\n"
      "   8       1 sda1 10 0 100 5 20 0 300 7 0 1 2\n"
      "   7       0 loop0 10 0 1000 5 20 0 3000 7 0 1 2\n"
      " 254       0 dm-0 10 0 100 5 20 0 300 7 0 1 2\n"
      " 259       0 nvme0n1 1 0 8 5 2 0 16 7 0 1 2 0 0 0 0\n",
      is_disk);
  REQUIRE(moved.has_value());
  CHECK(*moved == (100 + 300 + 8 + 16) * 512);
}

TEST_CASE("a line that is cut counts nothing, one that holds no number is an error") {
  CHECK(*parse_diskstats("8 0 sda 1 2\n", is_disk) == 0);
  CHECK_FALSE(parse_diskstats("8 0 sda 10 0 many 5 20 0 300 7\n", is_disk).has_value());
}

TEST_CASE("this host says what its disks have moved") {
  CHECK(read_host_io().has_value());
  CHECK_FALSE(read_host_io("/nonexistent").has_value());
}
