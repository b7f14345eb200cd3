// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/open_moves.h"

#include "tests/cluster/migration/run/migrator_fakes.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::test;

TEST_CASE("a move is found by its container's name and by the beginning of an id") {
  OneHost host;
  const MovePtr move = host.add(Side::source, Step::transfer);
  CHECK(host.open.find(move->entry.id) == move);
  CHECK(host.open.find("f") == nullptr);
  CHECK(host.open.find_by_container("vae") == move);
  CHECK(host.open.find_by_container(move->entry.container.substr(0, 12)) == move);
  CHECK(host.open.find_by_container(move->entry.id.substr(0, 8)) == move);
  CHECK(host.open.find_by_container("aaa") == nullptr);
  CHECK(host.open.open_with(host_id('2')) == std::vector<std::string>{"vae"});
  CHECK(host.open.open_with(host_id('3')).empty());
}

TEST_CASE("a job is saving from the request on until it has gone, on the way back too") {
  OneHost host;
  const MovePtr move = host.add(Side::source, Step::reserve);
  const std::string id = move->entry.container;
  const auto saves = [&](Step step) {
    move->entry.step = step;
    return host.open.is_saving(id);
  };
  CHECK(host.open.is_moving(id));
  CHECK_FALSE(saves(Step::reserve));
  for (const Step step : {Step::save, Step::transfer, Step::start, Step::remove})
    CHECK(saves(step));
  CHECK_FALSE(saves(Step::undo));
  move->entry.has_saved = true;
  CHECK(saves(Step::undo));
  move->entry.method = Method::home;
  CHECK_FALSE(saves(Step::transfer));
  CHECK(host.open.is_moving(id));
  move->entry.method = Method::app;
  move->entry.side = Side::target;
  CHECK_FALSE(saves(Step::save));
}

TEST_CASE("what is on its way here counts until it has shown that it runs") {
  OneHost host;
  const MovePtr move = host.add(Side::target, Step::reserve);
  host.add(Side::source, Step::reserve, "gru");
  CHECK(host.open.reserved() == 1);
  move->entry.step = Step::start;
  CHECK(host.open.reserved() == 1);
  move->entry.step = Step::confirm;
  CHECK(host.open.reserved() == 0);
}

TEST_CASE("those under way come first, then those that have ended, newest first") {
  OneHost host;
  const MovePtr first = host.add(Side::source, Step::done, "one");
  const MovePtr second = host.add(Side::source, Step::undone, "two");
  host.add(Side::source, Step::reserve, "three");
  host.open.close(first);
  host.pass(0);
  host.open.close(second);
  const auto names = [&](std::size_t most) {
    std::string all;
    for (const auto& one : host.open.list(most)) all += one.name + " ";
    return all;
  };
  CHECK(names(10) == "three two one ");
  CHECK(names(2) == "three two ");
  CHECK(host.open.all().size() == 1);
}

TEST_CASE("where a container went is known after more moves than are shown") {
  OneHost host;
  host.open.close(host.add(Side::source, Step::done, "long"));
  for (std::size_t i = 0; i < 2 * kKeptMoves; ++i) {
    host.open.close(host.add(Side::source, Step::done, "other" + std::to_string(i % 20)));
  }
  host.add(Side::target, Step::confirm, "open");
  const std::vector<Way> ways = host.open.ways();
  CHECK(ways.size() == 22);
  CHECK((ways.front().name == "open" && ways.front().is_open));
  CHECK((ways.back().name == "long" && ways.back().target == host_id('2')));
  CHECK(host.open.list(1000).size() == kKeptMoves + 1);
}
