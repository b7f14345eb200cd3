// SPDX-License-Identifier: Apache-2.0
// Volumes that jobs only read: one copy of each on the other host, kept for later jobs; both
// halves, through the real migrator, with fakes of engine, files, journal, network and clock.
#include "cluster/migration/plan/data_volume.h"
#include "cluster/migration/plan/refusals.h"
#include "tests/cluster/migration/run/births.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::test;

namespace {

const std::string kSecond(32, '5');

class Data : public Births {
 public:
  Data() {
    Inspected inspected("20.10-plain");
    inspected.value.as_object()["Mounts"] =
        boost::json::array{{{"Type", "volume"},
                            {"Name", "corpus"},
                            {"Driver", "local"},
                            {"Destination", "/data"},
                            {"Source", FakeEngine::folder_of("corpus")},
                            {"RW", false}}};
    source.engine.inspect_ = target.engine.inspect_ = inspected.value;
    add_volume(*source.engine.first());
  }
  static void add_volume(Box& box) {
    box.volumes = {{"corpus", "/data", FakeEngine::folder_of("corpus")}};
  }
  /// A second ticket with the same volume.
  void add_ticket(const std::string& name) {
    Box box;
    box.id = std::string(64, '7');
    box.name = name;
    add_volume(box);
    source.engine.boxes_[box.id] = box;
  }
  /// The engine there says by what name the task has it.
  void tell_name() { target.engine.inspect_.at("Mounts").at(0).as_object()["Name"] = copy(); }
  /// The only copy's name.
  [[nodiscard]] std::string copy() const {
    return target.engine.data_.size() == 1 ? *target.engine.data_.begin() : "";
  }
  [[nodiscard]] bool is_whole() const {
    return target.files.marks_.contains(FakeEngine::folder_of(copy()));
  }
  /// Its task has ended and comes home.
  void come_home() {
    tell_name();
    set_out_for_home();
    REQUIRE(comes_to(source, kReturn, "done"));
    REQUIRE(comes_to(target, kReturn, "done"));
  }
};

}  // namespace

TEST_CASE("data of a job goes along once, and is there for the next job") {
  Data hosts;
  hosts.be_born();
  const std::string copy = hosts.copy();
  CHECK(copy == data_volume_name(host_id('1'), "corpus", "a"));
  CHECK(hosts.is_whole());
  CHECK(hosts.target.goods.parts_.at("volume-0") == "bytes of volume-0");
  hosts.come_home();
  CHECK(hosts.target.engine.boxes_.empty());
  // It stays there, and nothing of it comes back.
  CHECK(hosts.copy() == copy);
  CHECK_FALSE(hosts.source.goods.parts_.contains("volume-0"));

  hosts.target.goods.parts_.clear();
  hosts.add_ticket("next");
  REQUIRE(hosts.bear("next", kSecond).empty());
  hosts.source.migrator().release(kSecond);
  REQUIRE(hosts.comes_to(hosts.source, kSecond, "done"));
  CHECK(hosts.target.engine.runs());
  CHECK_FALSE(hosts.target.goods.parts_.contains("volume-0"));
  CHECK(hosts.copy() == copy);
}

TEST_CASE("data that has changed since is other data") {
  Data hosts;
  hosts.be_born();
  hosts.come_home();
  hosts.target.goods.parts_.clear();
  hosts.source.files.content_ = "b";
  hosts.add_ticket("next");
  REQUIRE(hosts.bear("next", kSecond).empty());
  hosts.source.migrator().release(kSecond);
  REQUIRE(hosts.comes_to(hosts.source, kSecond, "done"));
  CHECK(hosts.target.goods.parts_.contains("volume-0"));
  CHECK(hosts.target.engine.data_.size() == 2);
}

TEST_CASE("data that changes while it is sent is not taken for whole") {
  Data hosts;
  hold_at("source.transfer:5");
  REQUIRE(hosts.bear().empty());
  REQUIRE(hosts.comes_to(hosts.source, kBirth, "transfer"));
  hosts.source.files.content_ = "b";
  hold_at("");
  hosts.source.migrator().release(kBirth);
  REQUIRE(hosts.comes_to(hosts.source, kBirth, "undone"));
  REQUIRE(hosts.comes_to(hosts.target, kBirth, "undone"));
  CHECK_FALSE(hosts.target.engine.runs());
  CHECK(hosts.target.files.marks_.empty());
  // What is left of it goes.
  hosts.pass(61);
  CHECK(hosts.target.engine.data_.empty());
}

TEST_CASE("two jobs do not bring the same data at once: the second one waits and finds it") {
  Data hosts;
  hosts.add_ticket("next");
  hold_at("source.transfer:5");
  REQUIRE(hosts.bear().empty());
  REQUIRE(hosts.comes_to(hosts.source, kBirth, "transfer"));
  REQUIRE(hosts.bear("next", kSecond).empty());
  hosts.pass(3);
  CHECK(hosts.step(hosts.target, kSecond).empty());
  hold_at("");
  REQUIRE(hosts.comes_to(hosts.target, kBirth, "ready"));
  hosts.target.goods.parts_.clear();
  REQUIRE(hosts.comes_to(hosts.target, kSecond, "ready"));
  CHECK_FALSE(hosts.target.goods.parts_.contains("volume-0"));
}

TEST_CASE("data that is removed while a job counts on it makes the job wait, not run without it") {
  Data hosts;
  hosts.be_born();
  hosts.come_home();
  hosts.add_ticket("next");
  hold_at("target.reserve:5");
  REQUIRE(hosts.bear("next", kSecond).empty());
  REQUIRE(hosts.comes_to(hosts.target, kSecond, "reserve"));
  hosts.target.files.marks_.clear();
  hosts.target.engine.data_.clear();
  hold_at("");
  REQUIRE(hosts.comes_to(hosts.source, kSecond, "undone"));
  CHECK_FALSE(hosts.target.engine.runs());
  const std::string reason = hosts.passage(hosts.source, kSecond)->entry.reason;
  INFO(reason);
  CHECK(is_passing_refusal(reason));
}

TEST_CASE("what is beyond data-cache goes when no container has it any more") {
  Data hosts;
  hosts.target.host.config_.queue.data_cache = 99;  // a copy has 100 bytes
  hosts.be_born();
  hosts.pass(200);
  CHECK_FALSE(hosts.copy().empty());
  hosts.come_home();
  hosts.pass(61);
  CHECK(hosts.target.engine.data_.empty());
}

TEST_CASE("where the disk has no room what is kept gives way, if there is enough then") {
  Data hosts;
  hosts.be_born();
  hosts.come_home();
  const std::string copy = hosts.copy();
  // Changed, so that another copy of 100 bytes has to come.
  hosts.source.files.content_ = "b";
  hosts.add_ticket("next");
  const bool is_enough = GENERATE(true, false);
  hosts.target.files.free_ = [&hosts, &copy, is_enough] {
    const bool is_kept = hosts.target.engine.data_.contains(copy);
    return std::uint64_t{is_enough ? 50U : 0U} + (is_kept ? 0 : is_enough ? 100 : 20);
  };
  if (!is_enough) hosts.target.files.marks_.at(FakeEngine::folder_of(copy)).bytes = 20;
  REQUIRE(hosts.bear("next", kSecond).empty());
  if (is_enough) hosts.source.migrator().release(kSecond);
  REQUIRE(hosts.comes_to(hosts.source, kSecond, is_enough ? "done" : "undone"));
  CHECK(hosts.target.engine.data_.contains(copy) != is_enough);
  CHECK(hosts.target.goods.moved_.size() == 1);  // the image that both need
}

TEST_CASE("a host that says it brings data home is refused: its owner has that") {
  Data hosts;
  hosts.be_born();
  // The task's engine calls the volume as its owner does, so it goes along as any other.
  hosts.set_out_for_home();
  REQUIRE(hosts.comes_to(hosts.target, kReturn, "undone"));
  CHECK(hosts.passage(hosts.target, kReturn)->entry.reason.find("did not take") !=
        std::string::npos);
  CHECK(hosts.source.goods.parts_.empty());
}

TEST_CASE("a container that has another host's data is no longer moved on") {
  Data hosts;
  hosts.be_born();
  hosts.tell_name();
  MoveOrder order;
  order.container = hosts.target.engine.first()->id;
  order.target = host_id('1');
  order.method = Method::app;
  CHECK(hosts.begin(hosts.target, order).find("it reads data of the host") != std::string::npos);
}

TEST_CASE("flowcond of either side is killed while data goes along: one task runs with all of it") {
  struct Row {
    bool is_source;
    std::string step;
    bool is_born;
  };
  const auto row =
      GENERATE(Row{true, "reserve", false}, Row{true, "transfer", false}, Row{true, "start", true},
               Row{false, "reserve", false}, Row{false, "transfer", false},
               Row{false, "ready", true}, Row{false, "start", true});
  const bool is_there = GENERATE(false, true);
  INFO((row.is_source ? "source." : "target.") << row.step << (is_there ? ", there" : ""));
  Data hosts;
  if (is_there) {
    hosts.be_born();
    hosts.come_home();
  }
  hosts.add_ticket("next");
  TwoHosts::Side& side = row.is_source ? hosts.source : hosts.target;
  hold_at((row.is_source ? "source." : "target.") + row.step + ":5");
  REQUIRE(hosts.bear("next", kSecond).empty());
  hosts.source.migrator().release(kSecond);
  REQUIRE(hosts.comes_to(side, kSecond, row.step));
  hosts.pass(0.01);
  hosts.restart(side);
  hold_at("");
  if (row.is_born && !row.is_source) hosts.source.migrator().release(kSecond);
  REQUIRE(hosts.comes_to(hosts.source, kSecond, row.is_born ? "done" : "undone"));
  CHECK(hosts.target.engine.runs() == row.is_born);
  if (row.is_born) CHECK(hosts.is_whole());
  // What has not come whole is not kept.
  hosts.pass(61);
  CHECK(hosts.target.engine.data_.size() == hosts.target.files.marks_.size());
}
