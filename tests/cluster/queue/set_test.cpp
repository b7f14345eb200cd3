// SPDX-License-Identifier: Apache-2.0
// What a person changes of a job that waits.
#include "tests/cluster/queue/queue_fakes.h"

namespace flowcon::cluster::test {
namespace {

TEST_CASE("set changes what a waiting job asks for, and refuses what is wrong") {
  QueueBench bench;
  const std::string running = bench.submit("running", "cpu=3,mem=1G");
  const std::string id = bench.submit("vae", "cpu=2,mem=1G");
  CHECK_FALSE(bench.engine.runs(id));
  CHECK(bench.call("POST", "/v1/queue/vae/set", R"({"request":"cpu=two"})").status == 422);
  CHECK(bench.call("POST", "/v1/queue/vae/set", R"({"color":"red"})").status == 422);
  CHECK(bench.call("POST", "/v1/queue/other/set", R"({"retries":"1"})").status == 404);
  CHECK(bench.call("POST", "/v1/queue/vae/set", R"({"request":"cpu=1"})").status == 200);
  bench.run(3);
  CHECK(bench.engine.runs(id));
  CHECK(text_of(member(bench.job("vae"), "request"), "cpu_from") == "set");
}

TEST_CASE("set leaves the part of a request that it does not name") {
  QueueBench bench;
  bench.submit("running", "cpu=3,mem=1G");
  bench.submit("vae", "cpu=2,mem=1G");
  const auto asked = [&] { return member(bench.job("vae"), "request"); };
  bench.call("POST", "/v1/queue/vae/set", R"({"request":"mem=2G"})");
  bench.call("POST", "/v1/queue/vae/set", R"({"request":"cpu=4"})");
  bench.run(3);
  CHECK(member(asked(), "mem").to_number<double>() == 2 * kGiB);
  CHECK(member(asked(), "cpu").to_number<double>() == 4);
  bench.call("POST", "/v1/queue/vae/set", R"({"request":"none"})");
  bench.run(3);
  CHECK(text_of(asked(), "mem_from") == "label");
  CHECK(text_of(asked(), "cpu_from") == "label");
}

}  // namespace
}  // namespace flowcon::cluster::test
