// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/estimate.h"

#include "base/json.h"
#include "tests/cmd/docker-flowcon/daemon_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

constexpr const char* kEstimate =
    R"({"labels":{"seconds_launch":{"expected":4.2,"upper":6,"basis":"repeat","rows":5},)"
    R"("seconds_train":{"expected":12340,"upper":20000,"basis":"forest","rows":123},)"
    R"("cpu":{"expected":1.84,"upper":2.5,"basis":"repeat","rows":5},)"
    R"("mem":{"expected":2.5e9,"upper":3e9,"basis":"repeat","rows":5},)"
    R"("io":{"expected":183500,"upper":2e6,"basis":"family\u001b","rows":"x"},)"
    R"("new\u202elabel":{"expected":0.1234,"upper":null,"basis":"family","rows":3},)"
    R"("net":{"expected":null,"upper":null,"basis":"none","rows":0}},)"
    R"("runs":123,"image":"sha256:ab"})";

TEST_CASE_METHOD(DaemonFixture, "estimate sends the command as flowcond records it") {
  fake.answer("POST /v1/estimate", 200, kEstimate);

  const Outcome outcome =
      run({"estimate", "-e", "EPOCHS=40", "--env=A=b=c", "-e", "NOT_SET_ANYWHERE", "my-image",
           "python3", "vae.py", "--epochs", "40", "-e", "X"});
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  test::check_golden("plugin/estimate.txt", outcome.out);
  REQUIRE(fake.requests().size() == 1);
  CHECK(fake.requests()[0].body ==
        R"({"image":"my-image","command":"python3 vae.py --epochs 40 -e X",)"
        R"("environment":[["EPOCHS","40"],["A","b=c"]]})");
}

TEST_CASE("a variable without a value has the one of the environment, as with docker") {
  EstimateOptions options;
  options.words = {"image"};
  options.environment = {"HERE", "NOT_HERE"};

  CHECK(render_json(estimate_body(options, {{"HERE", "1"}})) ==
        R"({"image":"image","command":"","environment":[["HERE","1"]]})");
}

TEST_CASE_METHOD(DaemonFixture, "json is what flowcond answered, and its errors are said") {
  fake.answer("POST /v1/estimate", 200, R"({"labels":{},"runs":0,"image":""})");
  CHECK(run({"estimate", "--format", "json", "image"}).out ==
        "{\"labels\":{},\"runs\":0,\"image\":\"\"}\n");
  fake.answer("POST /v1/estimate", 422, R"({"error":"the command is longer than 4 KiB"})");
  const Outcome wrong = run({"estimate", "image"});
  CHECK(wrong.status == 1);
  CHECK(wrong.err == "the command is longer than 4 KiB\n");
}

TEST_CASE_METHOD(DaemonFixture, "of a command that is not known it says what it takes") {
  for (const std::string labels :
       {"{}", R"({"cpu":{"expected":null,"upper":null,"basis":"none","rows":0}})"}) {
    fake.answer("POST /v1/estimate", 200, R"({"runs":1,"labels":)" + labels + "}");
    const Outcome outcome = run({"estimate", "image", "python3", "x\033"});
    CHECK(outcome.status == 0);
    CHECK(outcome.out.empty());
    CHECK(outcome.err ==
          "Nothing is known of image python3 x\xEF\xBF\xBD yet: it takes 3 runs like it that ended "
          "with status 0, or 20 of any kind, and flowcond has recorded 1 run\n");
  }
}

TEST_CASE_METHOD(DaemonFixture, "--check shows how good the estimates were") {
  fake.answer("GET /v1/estimate/check", 200,
              R"({"runs":123,"labels":{"seconds_train":{"runs":103,"r2":0.9132,"above":0.0777},)"
              R"("mem":{"runs":20,"r2":null,"above":0}}})");
  test::check_golden("plugin/estimate_check.txt", run({"estimate", "--check"}).out);

  fake.answer("GET /v1/estimate/check", 200, R"({"runs":0,"labels":{}})");
  const Outcome nothing = run({"estimate", "--check"});
  CHECK(nothing.out.empty());
  CHECK(nothing.err ==
        "There is nothing to check yet: that takes 21 runs that ended with status 0\n");
}

}  // namespace
}  // namespace flowcon::plugin
