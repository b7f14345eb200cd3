// SPDX-License-Identifier: Apache-2.0
// What is left behind: images that nobody uses, containers of a journal that was lost.
#include "cluster/migration/run/cache.h"
#include "cluster/migration/run/lost.h"
#include "tests/cluster/migration/run/migrator_fakes.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::test;

namespace {

class Caching : public OneHost {
 public:
  Caching() { ctrl::spawn(io, "cache", cache.run()); }
  ~Caching() {
    world.is_ended = true;
    cache.wake();
    pass(0);
  }
  /// An image of 50 bytes that a move has brought, wanted at that second.
  void keep_image(const std::string& id, double wanted) {
    host.goods.images_.insert(id);
    host.goods.moved_[id] = {id, 50, wanted};
  }
  /// `moved_` without the rest of it.
  [[nodiscard]] std::set<std::string> kept() const {
    std::set<std::string> ids;
    for (const auto& [id, image] : host.goods.moved_) ids.insert(id);
    return ids;
  }
  Cache cache{world, open};
};

std::string digest(char digit) { return "sha256:" + std::string(64, digit); }

}  // namespace

TEST_CASE(
    "images that moves brought stay up to data-cache; the one wanted longest ago goes first") {
  Caching host;
  host.host.host.config_.queue.data_cache = 120;
  host.keep_image(digest('a'), 300);
  host.keep_image(digest('b'), 100);
  host.pass(61);
  CHECK(host.kept().size() == 2);
  host.keep_image(digest('c'), 200);
  host.pass(59);
  CHECK(host.kept() == std::set<std::string>{digest('a'), digest('c')});
  host.host.host.config_.queue.data_cache = 0;
  host.cache.wake();
  host.pass(1);
  CHECK(host.kept().empty());
}

TEST_CASE("an image that a container or a move under way has stays, whatever data-cache says") {
  Caching host;
  host.host.host.config_.queue.data_cache = 0;
  const MovePtr move = host.add(Side::target, Step::transfer);
  move->plan.image.id = digest('a');
  Box box;
  box.id = std::string(64, '1');
  box.image = digest('b');
  host.host.engine.boxes_[box.id] = box;
  host.keep_image(digest('a'), 1);
  host.keep_image(digest('b'), 2);
  host.pass(61);
  CHECK(host.kept().size() == 2);
  host.open.drop(move->entry.id);
  host.host.engine.boxes_.clear();
  host.pass(60);
  CHECK(host.kept().empty());
}

TEST_CASE("what a move leaves that ends while others are swept is swept at once, too") {
  Caching host;
  host.host.host.config_.queue.data_cache = 0;
  const MovePtr move = host.add(Side::target, Step::transfer);
  move->plan.image.id = digest('a');
  host.keep_image(digest('a'), 1);
  host.keep_image(digest('b'), 2);
  host.host.goods.on_removal_ = [&] {
    host.open.drop(move->entry.id);
    host.cache.wake();
    host.host.goods.on_removal_ = nullptr;
  };
  host.cache.wake();
  host.pass(1);
  CHECK(host.kept().empty());
}

TEST_CASE("an image that lost its name when it could not be removed is removed later") {
  Caching host;
  FakeGoods& goods = host.host.goods;
  goods.loses_names_ = true;
  host.host.host.config_.queue.data_cache = 0;
  host.keep_image(digest('a'), 1);
  host.pass(61);
  CHECK(goods.images_.contains(digest('a')));
  goods.loses_names_ = false;
  host.pass(6);
  CHECK_FALSE(goods.images_.contains(digest('a')));
}

TEST_CASE("an image without a name that could not be removed is tried again each five seconds") {
  Caching host;
  FakeGoods& goods = host.host.goods;
  goods.keeps_images_ = true;
  const MovePtr move = host.add(Side::target, Step::transfer);
  move->plan.image.id = digest('a');
  host.cache.leave(digest('a'));
  host.cache.wake();
  host.pass(20);
  CHECK(goods.removals_.empty());  // a move under way needs it
  host.open.drop(move->entry.id);
  host.pass(11);
  CHECK(goods.removals_.size() >= 2);
  goods.keeps_images_ = false;
  host.pass(6);
  const std::size_t tried = goods.removals_.size();
  host.pass(20);
  CHECK(goods.removals_.size() == tried);
}

TEST_CASE("a host that lost its journal names what may be half migrated, and touches nothing") {
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
  CHECK(host.host.host.warnings_[0].starts_with("container job-a may be half migrated"));
  CHECK(host.host.host.warnings_[1].starts_with("container job-c may be half migrated"));
  CHECK(host.host.engine.acts_.empty());
}
