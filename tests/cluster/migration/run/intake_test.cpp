// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/intake.h"

#include "tests/cluster/migration/run/mover_fakes.h"

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
