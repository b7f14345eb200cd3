// SPDX-License-Identifier: Apache-2.0
// A job over two hosts, of which one or the network between them is struck at each moment of what
// it does. A program of its own: it takes minutes.
#include "tests/cluster/queue/spread_queues.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::test {
namespace {

enum class Victim { owner, host, network };
const char* name(Victim victim) {
  return victim == Victim::owner ? "owner" : victim == Victim::host ? "host" : "network";
}

// A job over both hosts; flowcond of one of them is killed, or the network between them goes, for
// two seconds.
class Struck : public SpreadQueues {
 public:
  Struck(Victim victim, double after) : victim_(victim), strike_(clock.steady() + after) {}

  void strike_in(double seconds) { strike_ = clock.steady() + seconds; }
  bool passed() const { return back_ == 0 && has_struck_; }

  // So long, or until it is so and the strike is over. False, and `wrong` says why, where anything
  // was as it must never be.
  template <class IsSo>
  bool go_on(IsSo is_so, double most = 250) {
    for (const double until = clock.steady() + most; clock.steady() < until;) {
      strike();
      for (Side* side : {&h1, &h2}) {
        for (const auto& [name, box] : tasks_of(side->engine)) {
          if (box->lives > 1) wrong = name + " was started twice";
        }
      }
      if (both() > 6) wrong = "a task runs twice";
      if (!wrong.empty()) return false;
      run(0.1);
      if (passed() && h2.is_up && is_so()) return true;
    }
    wrong = "it is " + state("net") + ": " + note("net") + ", " + std::to_string(both()) + " run";
    return false;
  }
  // Asked for until it has come.
  template <class IsSo>
  bool insist(const std::string& verb, const std::string& body, IsSo is_so) {
    double next = 0;
    return go_on([&] {
      if (is_so()) return true;
      if (clock.steady() >= next) call("POST", "/v1/queue/net/" + verb, body);
      next = clock.steady() + 5;
      return false;
    });
  }
  // Nobody strikes any more: it comes to its end.
  std::string ends() {
    if (!wrong.empty()) return wrong;
    if (!go_on([&] { return both() == 6 && state("net") == "running"; })) return wrong;
    end_all();
    if (!go_on([&] { return state("net") == "done"; })) return wrong;
    run(15);
    return h1.engine.boxes_.empty() ? "" : "a task is left";
  }
  std::string wrong;

 private:
  void strike() {
    Side& side = victim_ == Victim::owner ? h2 : h1;
    if (!has_struck_ && clock.steady() >= strike_) {
      has_struck_ = true;
      back_ = clock.steady() + 2;
      victim_ == Victim::network ? void(is_cut = true) : kill(side);
    }
    if (back_ == 0 || clock.steady() < back_) return;
    back_ = 0;
    is_cut = false;
    if (!side.is_up) start(side);
  }

  Victim victim_;
  double strike_ = 0;
  bool has_struck_ = false;
  double back_ = 0;
};

constexpr double kNever = 1e9;
const Labels kJoins{{"flowcon.workers", "1:6"}, {"flowcon.elastic", "join"}};
const Labels kSaves{{"flowcon.workers", "6"}, {"flowcon.checkpoint.signal", "SIGUSR1"}};

std::string struck_while_starting(Victim victim, double after) {
  Struck hosts(victim, after);
  hosts.submit("net", 1, {{"flowcon.workers", "6"}});
  return hosts.ends();
}

std::string struck_while_resizing(Victim victim, double after) {
  Struck hosts(victim, kNever);
  hosts.submit("net", 1, kJoins);
  if (!hosts.until([&] { return hosts.both() == 6; }, 120)) return "it does not grow";
  hosts.strike_in(after);
  const auto is_small = [&] { return hosts.job("net").at("workers") == 2 && hosts.both() == 2; };
  if (!hosts.insist("set", R"({"workers":"2"})", is_small)) return hosts.wrong;
  hosts.call("POST", "/v1/queue/net/set", R"({"workers":"none"})");
  return hosts.ends();
}

std::string struck_while_growing(Victim victim, double after) {
  Struck hosts(victim, kNever);
  hosts.submit("net", 1, kJoins);
  if (!hosts.until([&] { return hosts.both() == 6; }, 120)) return "it does not grow";
  hosts.call("POST", "/v1/queue/net/set", R"({"workers":"2"})");
  if (!hosts.until([&] { return hosts.both() == 2; }, 120)) return "it does not shrink";
  hosts.run(20);
  hosts.call("POST", "/v1/queue/net/set", R"({"workers":"6"})");
  hosts.strike_in(after);
  return hosts.ends();
}

std::string struck_while_parking(Victim victim, double after) {
  Struck hosts(victim, kNever);
  hosts.submit("net", 1, kSaves);
  if (!hosts.until([&] { return hosts.both() == 6; }, 120)) return "it does not start";
  hosts.run(20);
  hosts.strike_in(after);
  const auto is_parked = [&] {
    return hosts.state("net") == "waiting" && hosts.job("net").at("held").as_bool();
  };
  if (!hosts.insist("park", "{}", is_parked)) return hosts.wrong;
  if (hosts.both() > 0) return "parked, it runs";
  hosts.call("POST", "/v1/queue/net/release", "{}");
  return hosts.ends();
}

std::string struck_while_ending(Victim victim, double after) {
  Struck hosts(victim, kNever);
  hosts.submit("net", 1, {{"flowcon.workers", "6"}});
  if (!hosts.until([&] { return hosts.both() == 6; }, 120)) return "it does not start";
  hosts.run(20);
  hosts.end_all();
  hosts.strike_in(after);
  if (!hosts.go_on([&] { return hosts.state("net") == "done"; })) return hosts.wrong;
  hosts.run(15);
  return hosts.h1.engine.boxes_.empty() ? "" : "a task is left";
}

std::string struck_while_cancelled(Victim victim, double after) {
  Struck hosts(victim, kNever);
  hosts.submit("net", 1, {{"flowcon.workers", "6"}});
  if (!hosts.until([&] { return hosts.both() == 6; }, 120)) return "it does not start";
  hosts.strike_in(after);
  const auto is_over = [&] { return hosts.state("net") == "cancelled"; };
  if (!hosts.insist("cancel", "{}", is_over)) return hosts.wrong;
  hosts.run(15);
  if (hosts.both() > 0) return "cancelled, it runs";
  return hosts.h1.engine.boxes_.empty() ? "" : "a task is left";
}

// At each fraction of a second of what it takes.
void strike_at_each(std::string (*story)(Victim, double), double most) {
  const Victim victim = GENERATE(Victim::owner, Victim::host, Victim::network);
  for (double after = 0; after < most; after += 0.4) {
    INFO(name(victim) << " after " << after << " s");
    REQUIRE(story(victim, after) == "");
  }
}

TEST_CASE("struck while it starts, a job over two hosts runs as a whole, once") {
  strike_at_each(struck_while_starting, 12);
}
TEST_CASE("struck while it shrinks, a job over two hosts keeps the workers that it is to have") {
  strike_at_each(struck_while_resizing, 6);
}
TEST_CASE("struck while it grows, a job over two hosts gets the workers that it is to have") {
  strike_at_each(struck_while_growing, 8);
}
TEST_CASE("struck while it is parked, a job over two hosts comes back as a whole") {
  strike_at_each(struck_while_parking, 8);
}
TEST_CASE("struck while it ends, a job over two hosts is done and leaves nothing") {
  strike_at_each(struck_while_ending, 6);
}
TEST_CASE("struck while it is cancelled, a job over two hosts leaves nothing") {
  strike_at_each(struck_while_cancelled, 6);
}

}  // namespace
}  // namespace flowcon::cluster::test
