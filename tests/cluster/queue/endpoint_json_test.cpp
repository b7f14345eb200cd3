// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/endpoint_json.h"

#include <string>

#include "tests/support/catch.h"

namespace flowcon::cluster::queue {
namespace {

const std::vector<Endpoint> kTwo{{"192.0.2.7", 29500, "eth1"}, {"2001:db8::7", 29501, "bond0.7"}};

TEST_CASE("calls about ports and their answers are read as they were written") {
  PortCall call;
  call.verb = PortCall::Verb::reach;
  call.count = 3;
  call.endpoints = kTwo;
  const Result<PortCall> read = parse_port_call(render(call));
  REQUIRE(read.has_value());
  CHECK(read->verb == PortCall::Verb::reach);
  CHECK(read->count == 3);
  CHECK(read->endpoints == kTwo);
  const auto endpoints = parse_endpoints(render(kTwo));
  REQUIRE(endpoints.has_value());
  CHECK(*endpoints == kTwo);
  const auto failures = parse_failures(render_failures({"192.0.2.7 port 29500: no answer"}));
  REQUIRE(failures.has_value());
  CHECK(failures->front() == "192.0.2.7 port 29500: no answer");
}

TEST_CASE("what another host says of ports is checked") {
  const auto refused = [](const std::string& what, const std::string& by) {
    std::string text = render(kTwo);
    text.replace(text.find(what), what.size(), by);
    return !parse_endpoints(text).has_value();
  };
  CHECK(refused("192.0.2.7", "gpu1; reboot"));
  CHECK(refused("192.0.2.7", ""));
  CHECK(refused("29500", "0"));
  CHECK(refused("29500", "65536"));
  CHECK(refused("eth1", "eth1,eth2"));
  CHECK(refused("eth1", ""));
  CHECK(refused("eth1", std::string(16, 'e')));
  CHECK_FALSE(parse_port_call(R"({"verb":"open","count":1,"endpoints":[]})").has_value());
  CHECK_FALSE(parse_port_call(R"({"verb":"lease","count":257,"endpoints":[]})").has_value());
  CHECK_FALSE(parse_port_call(std::string(1 << 20, ' ')).has_value());
}

}  // namespace
}  // namespace flowcon::cluster::queue
