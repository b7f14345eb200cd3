// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/bounds.h"

#include <functional>

#include "base/json.h"
#include "cluster/migration/plan/refusals.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

using Maker = std::function<std::string(int)>;

std::string joined(int count, const Maker& make) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i > 0 ? "," : "") + make(i);
  return text;
}

// Why a plan whose HostConfig has these members is too much.
std::string why(const std::string& host, const std::string& body = "") {
  const auto plan = parse_json(R"({"body": {)" + body + R"("HostConfig": {)" + host + "}}}");
  REQUIRE(plan.has_value());
  return beyond_bounds(*plan);
}

const Maker kPort = [](int i) {
  return "\"" + std::to_string(i + 1) + R"(/tcp": [{"HostPort": "2"}])";
};
const Maker kMount = [](int i) {
  return R"({"Type": "bind", "Source": "/x", "Target": "/m)" + std::to_string(i) + "\"}";
};
const Maker kFolder = [](int i) { return "\"/t" + std::to_string(i) + "\": \"\""; };
const Maker kDevice = [](int) { return std::string(R"({"PathOnHost": "/dev/null"})"); };
const Maker kExposed = [](int i) { return "\"" + std::to_string(i + 1) + "/tcp\": {}"; };

TEST_CASE("64 ports, mounts and devices are looked at, one more is refused by its bound") {
  CHECK(why("") == "");
  CHECK(beyond_bounds(nullptr) == "");
  CHECK(why("\"PortBindings\": {" + joined(64, kPort) + "}") == "");
  const std::string ports = "a container with more than 64 ports is not accepted";
  CHECK(why("\"PortBindings\": {" + joined(65, kPort) + "}") == ports);
  CHECK(why("\"PortBindings\": {" + joined(60000, kPort) + "}") == ports);
  const Maker binding = [](int) { return std::string("{}"); };
  CHECK(why("\"PortBindings\": {\"80/tcp\": [" + joined(65, binding) + "]}") == ports);
  CHECK(why("\"Mounts\": [" + joined(60, kMount) + "], \"Tmpfs\": {" + joined(4, kFolder) + "}") ==
        "");
  const std::string mounts = "a container with more than 64 mounts is not accepted";
  CHECK(why("\"Mounts\": [" + joined(60, kMount) + "], \"Tmpfs\": {" + joined(5, kFolder) + "}") ==
        mounts);
  CHECK(why("\"Mounts\": [" + joined(30000, kMount) + "]") == mounts);
  CHECK(why("\"Devices\": [" + joined(64, kDevice) + "]") == "");
  CHECK(why("\"Devices\": [" + joined(64, kDevice) + "], \"DeviceRequests\": [{}]") ==
        "a container with more than 64 devices is not accepted");
}

TEST_CASE("what an image exposes counts as ports where all of it is published") {
  const std::string exposed = "\"ExposedPorts\": {" + joined(101, kExposed) + "}, ";
  CHECK(why("", exposed) == "");
  CHECK(why("\"PublishAllPorts\": true", exposed) ==
        "a container with more than 64 ports is not accepted");
}

TEST_CASE("no other list is endless either") {
  const Maker word = [](int i) { return "\"a" + std::to_string(i) + "\""; };
  CHECK(why("\"Dns\": [" + joined(1024, word) + "]") == "");
  CHECK(why("\"Dns\": [" + joined(1025, word) + "]") != "");
  const Maker member = [](int i) { return "\"a" + std::to_string(i) + "\": 1"; };
  CHECK(why(joined(129, member)) != "");
  CHECK(why("", joined(129, member) + ",") != "");
}

TEST_CASE("one host has two seats of eight") {
  CHECK(why_no_seat(0, 0, 0) == "");
  CHECK(why_no_seat(1, 7, 7) == "");
  CHECK(why_no_seat(2, 2, 2).find("2 containers of that host") == 0);
  CHECK(why_no_seat(0, 0, 8) == "too many containers are on their way here");
  CHECK(why_no_seat(1, 7, 7, 63) == "");
  CHECK(why_no_seat(0, 0, 0, 64) == "64 tasks of that host wait here to be started");
  CHECK(why_no_seat(0, 8, 0) == "8 migrations from that host are not over here");
  // There is one again when others have arrived.
  for (const std::string& why : {why_no_seat(2, 2, 2), why_no_seat(0, 0, 8),
                                 why_no_seat(0, 0, 0, 64), why_no_seat(0, 8, 0)}) {
    CHECK(is_passing_refusal("h2 refuses: " + why));
  }
}

TEST_CASE("a reservation ends when nobody speaks of it, and after a day whoever does") {
  CHECK(why_reservation_ends(10, 600, false) == "");
  CHECK(why_reservation_ends(700, 601, true) == "");
  CHECK(why_reservation_ends(700, 601, false) == "nothing was heard of the source for a long time");
  CHECK(why_reservation_ends(24 * 3600 - 1, 0, true) == "");
  CHECK(why_reservation_ends(24 * 3600 + 1, 0, true) ==
        "it was reserved a day ago and has not come");
}

TEST_CASE("all parts of a move have one budget, and a part that comes again has its own back") {
  constexpr std::uint64_t kGiB = 1ULL << 30;
  Budget budget(kGiB);
  CHECK(budget.left() == 6 * kGiB);
  budget.begin("volume-0");
  CHECK(budget.take("volume-0", 4 * kGiB).has_value());
  budget.begin("volume-1");
  CHECK(budget.take("volume-1", 2 * kGiB).has_value());
  const Result<void> more = budget.take("volume-1", 1);
  REQUIRE_FALSE(more.has_value());
  CHECK(more.error().code == std::errc::file_too_large);
  budget.begin("volume-1");
  CHECK(budget.left() == 2 * kGiB);
  CHECK(budget.take("volume-1", 2 * kGiB).has_value());
  CHECK(Budget(~0ULL).left() == ~0ULL);
  CHECK(Budget(0).left() == 4 * kGiB);
}

TEST_CASE("a disk counts as full while a twentieth of it is left, or a GiB") {
  constexpr std::uint64_t kGiB = 1ULL << 30;
  CHECK(spare_of(100 << 20) == 5 << 20);
  CHECK(spare_of(1000 * kGiB) == kGiB);
  CHECK_FALSE(is_full({100 << 20, (5 << 20) + 1, 0, 0}));
  CHECK(is_full({100 << 20, 5 << 20, 0, 0}));
  CHECK(is_full({1000 * kGiB, kGiB, 1000, 500}));
  CHECK(is_full({1000 * kGiB, 500 * kGiB, 1000, 10}));
  CHECK_FALSE(is_full({1000 * kGiB, 500 * kGiB, 1000, 11}));
}

}  // namespace
}  // namespace flowcon::cluster::migration
