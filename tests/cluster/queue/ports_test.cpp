// SPDX-License-Identifier: Apache-2.0
// Ports of this machine's loopback interface.
#include "cluster/queue/ports.h"

#include <chrono>
#include <memory>

#include "tests/cluster/queue/group_tasks.h"
#include "tests/cluster/queue/queue_fakes.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::test {
namespace {

struct PortBench : QueueBench {
  PortBench() {
    host.config_.queue.advertise = "127.0.0.1";
    host.config_.queue.group_ports = {41500, 41599};
  }
  template <class Made>
  Made result(Async<Made> asked) {
    const auto made = std::make_shared<std::optional<Made>>();
    ctrl::spawn(io, "ask", keep(std::move(asked), made));
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!*made && std::chrono::steady_clock::now() < until) {
      io.restart();
      io.run_one_for(std::chrono::milliseconds(100));
    }
    REQUIRE(made->has_value());
    return **made;
  }
  template <class Made>
  static Async<void> keep(Async<Made> asked, std::shared_ptr<std::optional<Made>> made) {
    *made = co_await std::move(asked);
  }
  std::vector<queue::Endpoint> lease(std::size_t count) {
    const auto leased = result(ports.lease(count, ""));
    REQUIRE(leased.has_value());
    return *leased;
  }
  std::string refusal(std::size_t count) {
    const auto leased = result(ports.lease(count, ""));
    return leased ? "" : leased.error().message();
  }

  queue::World world{
      host,
      engine,
      clock,
      rows,
      network,
      moves,
      [](const ctrl::estimate::Command&) { return std::vector<ctrl::estimate::LabelEstimate>(); },
      [] { return std::uint64_t{1}; },
      [] { return 0.0; }};
  std::set<std::int64_t> kept;
  queue::Ports ports{world, [this] { return kept; }};
};

TEST_CASE("a leased port can be reached until its task is to listen there") {
  PortBench bench;
  const auto two = bench.lease(2);
  REQUIRE(two.size() == 2);
  CHECK(two[0].port != two[1].port);
  CHECK(two[0].address == "127.0.0.1");
  CHECK(two[0].interface == "lo");
  CHECK(bench.result(bench.ports.try_all(two)).empty());
  bench.ports.hush({two[1].port}, "another host");
  bench.ports.hush({two[0].port}, "");
  const auto failures = bench.result(bench.ports.try_all(two));
  REQUIRE(failures.size() == 1);
  CHECK(failures[0] == "127.0.0.1 port " + std::to_string(two[0].port) + ": Connection refused");
}

TEST_CASE("no port is leased twice, nor one that a container has or anybody listens at") {
  PortBench bench;
  bench.host.config_.queue.group_ports = {41600, 41604};
  boost::asio::ip::tcp::acceptor other(bench.io,
                                       {boost::asio::ip::make_address("127.0.0.1"), 41601}, false);
  bench.engine.create("net-w7", {{migration::kPortLabel, "41602"}, {ctrl::kMovedLabel, "b"}});
  bench.engine.create("ticket", {{migration::kPortLabel, "41600"}});
  bench.kept = {41604};
  const auto first = bench.lease(1);
  CHECK(first[0].port == 41600);
  bench.ports.hush({41600}, "");
  CHECK(bench.lease(1)[0].port == 41603);
  const auto none = bench.result(bench.ports.lease(1, ""));
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().what ==
        "its ports 41600 to 41604 (group-ports) are in use, or it may not listen");
  // Some will be free later; more than there are never.
  CHECK(none.error().code == boost::system::errc::resource_unavailable_try_again);
  const auto never = bench.result(bench.ports.lease(6, ""));
  CHECK(never.has_error());
  CHECK_FALSE(static_cast<bool>(never.error().code));
  // An image may take long; or nothing comes of it.
  bench.run(590);
  CHECK_FALSE(bench.refusal(1).empty());
  bench.run(11);
  CHECK(bench.lease(1)[0].port == 41600);
  bench.ports.drop({41600}, "");
  CHECK(bench.lease(1)[0].port == 41600);
}

TEST_CASE("no host gets more ports than one job could have tasks") {
  PortBench bench;
  bench.host.config_.queue.group_ports = {42000, 42400};
  CHECK(bench.lease(250).size() == 250);
  CHECK(bench.refusal(7).starts_with("it has leased 250 ports to that host already"));
  CHECK(bench.lease(6).size() == 6);
}

TEST_CASE("ports that no task has come free, those of this host sooner") {
  PortBench bench;
  bench.host.config_.queue.group_ports = {42000, 42400};
  const std::vector<queue::Endpoint> first = bench.lease(150);
  REQUIRE(bench.result(bench.ports.lease(150, "another host")).has_value());
  bench.kept = {first.front().port, first.back().port};
  CHECK_FALSE(bench.refusal(120).empty());
  bench.run(601);
  CHECK(bench.lease(148).size() == 148);
  CHECK_FALSE(bench.result(bench.ports.lease(150, "another host")).has_value());
  bench.run(3000);
  CHECK(bench.result(bench.ports.lease(150, "another host")).has_value());
}

TEST_CASE("what another host has leased the next flowcond leases to nobody else") {
  PortBench bench;
  const std::string who = host_id('2');
  const auto leased = bench.result(bench.ports.lease(1, who));
  REQUIRE(leased.has_value());
  const std::int64_t port = leased->front().port;
  bench.ports.hush({port}, who);
  const auto nothing = [] { return true; };
  REQUIRE(bench.result(bench.host.effects_.run(nothing)));  // it is written beside the loop
  bench.run(100);
  queue::Ports next(bench.world, [] { return std::set<std::int64_t>(); });
  const auto first_of = [&] { return bench.result(next.lease(1, ""))->front().port; };
  CHECK(first_of() != port);
  next.drop({port}, who);
  CHECK(first_of() == port);
}

TEST_CASE("and for as long as it would have") {
  PortBench bench;
  const auto leased = bench.result(bench.ports.lease(1, host_id('2')));
  REQUIRE(leased.has_value());
  bench.ports.hush({leased->front().port}, host_id('2'));
  const auto nothing = [] { return true; };
  REQUIRE(bench.result(bench.host.effects_.run(nothing)));
  bench.run(3000);
  queue::Ports next(bench.world, [] { return std::set<std::int64_t>(); });
  bench.run(601);
  CHECK(bench.result(next.lease(1, ""))->front().port == leased->front().port);
}

TEST_CASE("a host leases ports only at an address that it has") {
  PortBench bench;
  bench.host.config_.queue.advertise = "192.0.2.7";
  CHECK(bench.refusal(1) == "advertise = 192.0.2.7 is no address of it");
  bench.host.config_.queue.advertise.clear();
  CHECK(bench.refusal(1) == "it has no advertise in its flowcon.conf");
  CHECK(queue::interface_of("127.0.0.1") == "lo");
  CHECK(queue::interface_of("nonsense").empty());
}

}  // namespace
}  // namespace flowcon::cluster::test
