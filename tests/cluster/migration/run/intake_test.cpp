// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/intake.h"

#include "tests/cluster/migration/run/migrator_fakes.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::test;

namespace {

struct Arrivals : OneHost {
  Arrivals() {
    move = add(Side::target, Step::transfer);
    move->plan.parts.push_back({"path", PartKind::path, "/ckpt"});
  }
  unsigned take(const std::string& part, const std::string& bytes = "x") {
    return await(intake.take(move, part, cluster::test::pull_of(bytes))).status;
  }
  MovePtr move;
  Intake intake{world};
};

}  // namespace

TEST_CASE("all parts and the life make a copy that is received") {
  Arrivals stand;
  CHECK(stand.take("path") == 200);
  CHECK_FALSE(stand.move->travel.is_received);
  CHECK(stand.take("life", "{}") == 200);
  CHECK(stand.move->travel.is_received);
  CHECK(stand.move->arrival.taking.empty());
  CHECK(stand.move->account.bytes == 3);
}

TEST_CASE("what was not announced, and what comes at another step, is turned down") {
  Arrivals stand;
  CHECK(stand.take("volume-0") == 422);
  CHECK(stand.take("image") == 422);
  stand.move->entry.step = Step::ready;
  CHECK(stand.take("path") == 422);
  stand.move->entry.step = Step::undo;
  CHECK(stand.take("path") == 422);
  CHECK(stand.host.goods.parts_.empty());
}

TEST_CASE("an image that was asked for and that another move has brought is no error") {
  Arrivals stand;
  stand.move->travel.has_asked = true;
  stand.host.goods.refuses_images_ = "the layers make no image";
  CHECK(stand.take("image") == 200);
  stand.move->entry.step = Step::ready;
  CHECK(stand.take("image") == 422);
}

TEST_CASE("a part that cannot be kept is said, and may come again") {
  Arrivals stand;
  stand.host.goods.refuses_parts_ = "no tar archive";
  CHECK(stand.take("path") == 422);
  CHECK(stand.move->trouble == "no tar archive");
  stand.host.goods.refuses_parts_.clear();
  CHECK(stand.take("path") == 200);
}

TEST_CASE("a move that is given up takes nothing more") {
  Arrivals stand;
  stand.move->give_up = "a person cancelled it";
  CHECK(stand.take("path") == 422);
  CHECK_FALSE(stand.move->travel.received.contains("path"));
}

TEST_CASE("no more parts of one move come at once than there are connections that may have died") {
  Arrivals stand;
  stand.move->arrival.bodies = kMostBodies;
  CHECK(stand.take("path") == 503);
}

TEST_CASE("what is read whole has its length") {
  Arrivals stand;
  CHECK(*stand.await(read_all(cluster::test::pull_of("abc"), 3)) == "abc");
  const Result<std::string> long_one = stand.await(read_all(cluster::test::pull_of("abcd"), 3));
  CHECK(long_one.error().code == boost::system::errc::file_too_large);
}

namespace {

// A body whose connection is dead: after its first bytes nothing comes, for as long as `world`
// says.
ctrl::Pull dead_after(OneHost& stand, const std::string& bytes) {
  auto left = std::make_shared<std::string>(bytes);
  return [left, &stand]() -> Async<Result<std::string>> {
    std::string piece = std::exchange(*left, "");
    if (piece.empty()) co_await stand.clock.pause(300);
    co_return piece;
  };
}

}  // namespace

TEST_CASE("a try whose connection is dead has ended before the next one of its part begins") {
  Arrivals stand;
  std::optional<unsigned> first;
  std::vector<std::string> open, seen;
  stand.host.goods.is_taking_ = [&](const std::string& part, bool begins) {
    if (begins) seen.push_back(std::to_string(open.size()));
    begins ? open.push_back(part) : open.pop_back();
  };
  auto old = [&]() -> Async<void> {
    first = (co_await stand.intake.take(stand.move, "path", dead_after(stand, "ha"))).status;
  };
  ctrl::spawn(stand.io, "old", old);
  stand.pass(2);
  CHECK_FALSE(first.has_value());
  const double began = stand.clock.steady();
  CHECK(stand.take("path", "all") == 200);
  CHECK(stand.clock.steady() - began < 5);
  CHECK(first == 409);
  CHECK(stand.host.goods.parts_["path"] == "all");
  CHECK(seen == std::vector<std::string>{"0", "0"});
}

TEST_CASE("a volume that two moves fill is filled by one after the other") {
  Arrivals stand;
  const MovePtr other = stand.add(Side::target, Step::transfer, "second");
  for (const MovePtr& move : {stand.move, other}) {
    move->plan.parts = {{"volume-0", PartKind::volume, "/data"}};
  }
  stand.host.goods.volumes_of_ = [](const std::string&) {
    return std::vector<VolumePlace>{{"data", "/data", "/volumes/data"}};
  };
  std::optional<unsigned> first;
  auto old = [&]() -> Async<void> {
    first = (co_await stand.intake.take(other, "volume-0", dead_after(stand, "ha"))).status;
  };
  ctrl::spawn(stand.io, "old", old);
  stand.pass(2);
  other->entry.step = Step::undo;
  CHECK(stand.take("volume-0", "all") == 200);
  CHECK(first == 422);
  CHECK(stand.host.goods.parts_["volume-0"] == "all");
}
