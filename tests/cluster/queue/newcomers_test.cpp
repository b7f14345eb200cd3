// SPDX-License-Identifier: Apache-2.0
// Workers that join a running job on a host where it had none.
#include <memory>
#include <string>
#include <utility>

#include "tests/cluster/queue/spread_queues.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::test {
namespace {

// What another host says of what it can reach is what a test wants.
class ShutIn : public OpenQueues {
 public:
  ShutIn() {
    h2.network.ask_ = [shut = is_shut, ask = h2.network.ask_](
                          std::string method, std::string path,
                          std::string body) -> Async<Result<Answer>> {
      const bool is_reach =
          path == "/v1/peer/queue/ports" && *shut && body.find("\"reach\"") != std::string::npos;
      if (is_reach) co_return Answer{200, R"({"failures":["192.0.2.7: no answer"]})"};
      co_return co_await ask(std::move(method), std::move(path), std::move(body));
    };
  }
  bool says(const std::string& text) {
    return until([&] { return note("net").find(text) != std::string::npos; }, 60);
  }

  const std::shared_ptr<bool> is_shut = std::make_shared<bool>(true);  // what waits outlives this
};

TEST_CASE("a worker joins on another host only where that reaches the others") {
  ShutIn hosts;
  Labels labels{{"flowcon.workers", "1:6"}, {"flowcon.elastic", "join"}};
  if (GENERATE(false, true)) {
    for (auto* side : {&hosts.h1, &hosts.h2}) side->host.config_.queue.group_network = "ports";
    labels["flowcon.ps"] = "1";
    labels["flowcon.ps-request"] = "cpu=1,mem=1G";
  }
  hosts.h1.host.config_.queue.offer.is_none = true;
  hosts.submit("net", 1, labels);
  REQUIRE(hosts.until([&] { return running(hosts.h2.engine) == 4; }, 120));
  hosts.h1.host.config_.queue.offer.is_none = false;
  CHECK(hosts.says("h1 does not reach 192.0.2.7: no answer"));
  CHECK(running(hosts.h1.engine) == 0);
  *hosts.is_shut = false;
  CHECK(hosts.until([&] { return running(hosts.h1.engine) >= 2; }, 120));
}

}  // namespace
}  // namespace flowcon::cluster::test
