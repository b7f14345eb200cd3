// SPDX-License-Identifier: Apache-2.0
// What is left behind: images that nobody uses, containers of a journal that was lost.
#include "cluster/migration/run/image_sweep.h"
#include "cluster/migration/run/lost.h"
#include "tests/cluster/migration/run/mover_fakes.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::test;

TEST_CASE("images are swept each minute, and one that stayed is tried again each five seconds") {
  OneHost host;
  ImageSweep sweep(host.world, host.open);
  FakeGoods& goods = host.host.goods;
  ctrl::spawn(host.io, "sweep", sweep.run());
  host.pass(59);
  CHECK(goods.sweeps_ == 1);
  host.pass(2);
  CHECK(goods.sweeps_ == 2);
  goods.keeps_images_ = true;
  sweep.leave("sha256:x", false);
  sweep.wake();
  host.pass(11);
  CHECK(goods.removals_.size() == 3);
  goods.keeps_images_ = false;
  host.pass(11);
  CHECK(goods.removals_.size() == 4);
  host.world.is_ended = true;
  sweep.wake();
  host.pass(0);
}

TEST_CASE("an image that a move under way needs is not removed") {
  OneHost host;
  ImageSweep sweep(host.world, host.open);
  const MovePtr move = host.add(Side::target, Step::transfer);
  move->plan.image.id = "sha256:x";
  sweep.leave("sha256:x", false);
  ctrl::spawn(host.io, "sweep", sweep.run());
  host.pass(20);
  CHECK(host.host.goods.removals_.empty());
  host.open.drop(move->entry.id);
  host.pass(6);
  CHECK(host.host.goods.removals_.size() == 1);
  host.world.is_ended = true;
  sweep.wake();
  host.pass(0);
}

TEST_CASE("a host that lost its journal names what looks half migrated, and touches nothing") {
  OneHost host;
  const auto put = [&](char digit, Copy copy, const std::string& move) {
    Box box;
    box.id = std::string(64, digit);
    box.name = std::string("job-") + digit;
    box.copy = copy;
    box.labels[kMoveLabel] = move;
    host.host.engine.boxes_[box.id] = box;
  };
  put('a', Copy::stopped, "m1");
  put('b', Copy::running, "m2");
  put('c', Copy::created, "m3");
  put('d', Copy::stopped, "known");
  host.host.rows.rows_["known"] = {};
  LostMoves lost(host.world);
  ctrl::spawn(host.io, "lost", lost.name_all());
  host.pass(10);
  REQUIRE(host.host.host.warnings_.size() == 2);
  CHECK(host.host.host.warnings_[0].starts_with("container job-a looks half migrated"));
  CHECK(host.host.host.warnings_[1].starts_with("container job-c looks half migrated"));
  CHECK(host.host.engine.acts_.empty());
}
