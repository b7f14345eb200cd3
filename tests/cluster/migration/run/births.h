// SPDX-License-Identifier: Apache-2.0
// A job's ticket on one host, and its task on the other. For .cpp files only: it includes Asio.
#pragma once

#include <optional>
#include <string>

#include "tests/cluster/migration/run/two_hosts.h"

namespace flowcon::cluster::test {

inline const std::string kBirth(32, 'b');
inline const std::string kReturn(32, 'c');

class Births : public TwoHosts {
 public:
  Births() {
    Box& ticket = *source.engine.first();
    ticket.copy = Copy::created;
    ticket.lives = 0;
    ticket.policy = {{"Name", "no"}};
    id = ticket.id;
    target.engine.inspect_ = source.engine.inspect_;
  }

  /// The error's sentence, or "".
  std::string begin(Side& side, MoveOrder order) {
    std::string said = "?";
    auto life = [&]() -> Async<void> {
      const Result<std::string> begun = co_await side.migrator().begin(order);
      said = begun ? "" : begun.error().message();
    };
    ctrl::spawn(io, "test", life);
    (void)until([&] { return said != "?"; });
    return said;
  }
  std::string bear(const std::string& ticket = "plain", const std::string& birth = kBirth) {
    MoveOrder order;
    order.container = ticket;
    order.target = host_id('2');
    order.method = Method::birth;
    order.id = birth;
    order.request = {{"cpu", 1.0}, {"mem", 1e9}};
    return begin(source, order);
  }
  std::string go_home(const std::string& move = kReturn) {
    MoveOrder order;
    order.container = target.engine.first()->id;
    order.target = host_id('1');
    order.method = Method::home;
    order.id = move;
    order.birth = kBirth;
    return begin(target, order);
  }
  /// "start", or "" where the journal has no such move.
  std::string step(Side& side, const std::string& move) {
    const auto found = side.rows.rows_.find(move);
    if (found == side.rows.rows_.end()) return "";
    return name(parse_entry(found->second.entry)->step);
  }
  bool comes_to(Side& side, const std::string& move, const std::string& wanted) {
    return until([&] { return step(side, move) == wanted; });
  }
  std::optional<Passage> passage(Side& side, const std::string& move) {
    std::optional<Passage> found;
    bool is_over = false;
    auto life = [&]() -> Async<void> {
      auto said = co_await side.migrator().passage(move);
      if (said) found = *said;
      is_over = true;
    };
    ctrl::spawn(io, "test", life);
    (void)until([&] { return is_over; });
    return found;
  }
  /// The birth is done; its task runs.
  void be_born() {
    REQUIRE(bear().empty());
    source.migrator().release(kBirth);
    REQUIRE(comes_to(source, kBirth, "done"));
    REQUIRE(comes_to(target, kBirth, "done"));
    REQUIRE(target.engine.runs());
  }
  void end_task(std::int64_t status) {
    const Copy how = status == 0 ? Copy::finished : Copy::failed;
    target.engine.end(target.engine.first()->id, how, status);
  }
  /// Its task has ended, and its way home begins.
  void set_out_for_home(std::int64_t status = 0) {
    end_task(status);
    source.migrator().expect(kReturn, kBirth);
    REQUIRE(go_home().empty());
  }
  [[nodiscard]] const Box* ticket() const {
    const auto found = source.engine.boxes_.find(id);
    return found == source.engine.boxes_.end() ? nullptr : &found->second;
  }

  std::string id;  ///< of the ticket
};

}  // namespace flowcon::cluster::test
