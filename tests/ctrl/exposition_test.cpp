// SPDX-License-Identifier: Apache-2.0
// The text that Prometheus reads, and the port where it does.
#include "ctrl/exposition.h"

#include <cctype>
#include <cmath>
#include <set>
#include <string>

#include "ctrl/api/loopback.h"
#include "ctrl/api/scrape.h"
#include "tests/support/catch.h"

using namespace flowcon::ctrl;

namespace {

TEST_CASE("samples stand below the words about their metric, in the order of the table") {
  Exposition out;
  out.add("flowcon_containers", {{"state", "paused"}}, 2);
  out.add("flowcon_engine_up", 1);
  out.add("flowcon_containers", {{"state", "controlled"}}, 0);

  CHECK(out.text() ==
        "# HELP flowcon_engine_up 1 while the Docker Engine answers.\n"
        "# TYPE flowcon_engine_up gauge\n"
        "flowcon_engine_up 1\n"
        "# HELP flowcon_containers Containers by state.\n"
        "# TYPE flowcon_containers gauge\n"
        "flowcon_containers{state=\"paused\"} 2\n"
        "flowcon_containers{state=\"controlled\"} 0");
}

TEST_CASE("numbers are exact, and those that are none have Prometheus' words") {
  Exposition out;
  for (const double value :
       std::initializer_list<double>{0.1, 1e300, -2.0, NAN, INFINITY, -INFINITY}) {
    out.add("flowcon_container_value", {{"container", "a"}}, value);
  }
  std::string values;
  const std::string text = out.text() + "\n";
  const std::string head = "flowcon_container_value{container=\"a\"} ";
  for (std::size_t at = text.find(head); at != std::string::npos; at = text.find(head, at + 1)) {
    values += text.substr(at + head.size(), text.find('\n', at) - at - head.size()) + " ";
  }

  CHECK(values == "0.1 1e+300 -2 NaN +Inf -Inf ");
}

TEST_CASE("a label's value cannot leave its quotes, and is cut where it is long") {
  Exposition out;
  out.add("flowcon_container_info",
          {{"container", "a"}, {"metric", "x\"} 9\nflowcon_engine_up 0\\"}, {"image", "\xff\xfe"}},
          1);
  Exposition cut;
  cut.add("flowcon_build_info", {{"version", std::string(100000, 'v')}}, 1);

  const std::string text = out.text();
  CHECK(text.find("metric=\"x\\\"} 9\\nflowcon_engine_up 0\\\\\"") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
  CHECK(text.find('\xff') == std::string::npos);
  CHECK(cut.text().size() < 500);
}

TEST_CASE("metrics are named once, and as Prometheus names them") {
  std::set<std::string_view> names;
  for (const Family& family : families()) {
    INFO(family.name);
    CHECK(names.insert(family.name).second);
    const bool is_ours = family.name.starts_with("flowcon_");
    CHECK((is_ours || family.name.starts_with("process_")));
    CHECK((family.type == "gauge" || family.type == "counter"));
    CHECK(family.name.ends_with("_total") == (family.type == "counter"));
    CHECK(family.help.ends_with("."));
  }
}

TEST_CASE("metrics are listened for on this host alone") {
  for (const auto& [text, address, port] :
       {std::tuple{"127.0.0.1:9469", "127.0.0.1", 9469}, std::tuple{"127.1.2.3:0", "127.1.2.3", 0},
        std::tuple{"localhost:80", "127.0.0.1", 80}, std::tuple{"[::1]:65535", "::1", 65535}}) {
    INFO(text);
    const auto parsed = api::parse_loopback(text);
    REQUIRE(parsed.has_value());
    CHECK(parsed->address == address);
    CHECK(parsed->port == port);
  }
  for (const char* wrong : {"", "9469", ":9469", "0.0.0.0:9469", "192.168.1.1:9469", "[::]:9469",
                            "::1:9469", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
                            "127.0.0.1:1x", "[127.0.0.1]:1", "gpu1:9469", "[::ffff:127.0.0.1]:1"}) {
    INFO(wrong);
    CHECK_FALSE(api::parse_loopback(wrong).has_value());
  }
}

}  // namespace
