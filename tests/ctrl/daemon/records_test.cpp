// SPDX-License-Identifier: Apache-2.0
// What the API shows of records.
#include "ctrl/daemon/records.h"

#include <algorithm>

#include "ctrl/spawn.h"
#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

Async<void> ask(const api::Routes* routes, std::string target, std::vector<unsigned>* statuses) {
  api::Request request;
  request.method = "GET";
  request.target = std::move(target);
  const api::Response response = co_await api::answer(routes, std::move(request));
  statuses->push_back(response.status);
}

}  // namespace

TEST_CASE("of records that are asked for at once four are read, and the others are not") {
  test::Host host;
  host.begin();
  host.start("a");
  host.pass();
  std::vector<unsigned> statuses;
  for (int i = 0; i < 6; ++i) {
    const std::string target = i % 2 == 0 ? "/v1/containers/a/explain" : "/v1/containers/a/history";
    spawn(*host.io, "test", ask(&host.daemon->routes(), target, &statuses));
  }
  host.io->restart();
  while (statuses.size() < 6) {
    host.io->run_one_for(std::chrono::seconds(1));
    if (host.io->stopped()) host.io->restart();
  }
  CHECK(std::count(statuses.begin(), statuses.end(), 503U) == 2);
  // Their places are free again.
  CHECK(host.ask("GET", "/v1/containers/a/history") != 503);
}

TEST_CASE("an id without records is explained by what was decided since a moment alone") {
  test::Host host;
  const std::string state = R"({"jobs":[{"id":"waits"}]})";
  {
    std::string notice;
    auto store = store::Store::open(host.folder.path() + "/flowcon.db", &notice);
    REQUIRE(store.has_value());
    REQUIRE((*store)->record({}, {{1e9, "left", "", state, "{}"}}).has_value());
  }
  host.begin();
  CHECK(host.ask("GET", "/v1/containers/waits/explain") == 404);
  REQUIRE(host.ask("GET", "/v1/containers/waits/explain?since=999999999") == 200);
  const boost::json::value answer = host.json();
  REQUIRE(answer.at("decisions").as_array().size() == 1);
  CHECK(answer.at("decisions").at(0).at("state").at("jobs").at(0).at("id") == "waits");
  REQUIRE(host.ask("GET", "/v1/containers/waits/explain?since=1000000001") == 200);
  CHECK(host.json().at("decisions").as_array().empty());
}

TEST_CASE("runs come in parts, all or those since a moment") {
  test::Host host;
  {
    std::string notice;
    auto store = store::Store::open(host.folder.path() + "/flowcon.db", &notice);
    REQUIRE(store.has_value());
    for (int i = 0; i < 3; ++i) {
      store::Look look;
      look.run.id = look.run.name = "run " + std::to_string(i);
      look.run.training = std::string(200'000, 'x');
      look.run.started = 1e9 + i;
      look.run.finished = 1e9 + 10 + i;
      REQUIRE((*store)->record({look}, {}).has_value());
    }
  }
  host.begin();
  const auto names = [&](std::string query) {
    std::string found;
    for (int part = 0; part < 10; ++part) {
      REQUIRE(host.ask("GET", "/v1/runs" + query) == 200);
      CHECK(host.said.body.size() < 500'000);
      const boost::json::value answer = host.json();
      for (const boost::json::value& run : answer.at("runs").as_array()) {
        found += std::string(run.at("name").as_string()) + " ";
      }
      if (answer.at("next").is_null()) return found;
      query = "?" + std::string(answer.at("next").as_string());
    }
    return found + "and so on";
  };
  CHECK(names("") == "run 0 run 1 run 2 ");
  CHECK(names("?since=1000000010.5") == "run 1 run 2 ");
  CHECK(names("?since=2000000000").empty());
}
