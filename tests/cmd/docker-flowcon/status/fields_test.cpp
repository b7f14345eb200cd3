// SPDX-License-Identifier: Apache-2.0
// What status shows of every resource and of what people decided.
#include <cstdlib>

#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

// A job that a person pinned, one that is paused and has a GPU, one that lies about everything.
const char* const kStatus = R"({"version":"0.1.0","api":1,"paused":false,"containers":[
   {"id":"4c01db0b339c7d8b5c1f2e0a9d8c7b6a5f4e3d2c1b0a99887766554433221100","name":"vae",
    "image":"trainings:1","state":"controlled","list":"CL","limit":0.5,"growth":0.0012,
    "verdict":"measured","metric":"loss","goal":"min","value":0.0431,"values":118,
    "progress":{"done":12,"total":40,"from":"counter"},"left":310.5,"cpu":0.24,"memory":412356608,"io":183500.5,"network":12,
    "gpu":null,"resources":{"cpu":{"list":"CL","limit":0.5,"growth":0.0012},
      "memory":{"list":"WL","limit":0.25,"growth":0.02},"io":{"list":"NL","limit":1,"growth":null}},
    "weight":2,"floor":0.1,"ceiling":0.75,"only_grow":true,
    "pinned":{"limit":0.5,"until":1790007200.0},"since":1790000000.25,
    "reason":"pinned by a person","note":"","warnings":[]},
   {"id":"4c01aa00112233445566778899aabbccddeeff00112233445566778899aabbcc","name":"gru",
    "image":"trainings:1","state":"paused","list":"NL","limit":1,"growth":null,
    "verdict":"unmeasured","cpu":0.5,"memory":1024,"io":null,"network":null,
    "gpu":{"use":0.93,"memory":2147483648},"pinned":null,"note":"it has printed nothing yet"},
   {"id":"ffee","name":"evil","state":"paused\u001b[2J","gpu":{"use":"\u001b[31m","memory":1e308},
    "io":1e308,"network":"-inf","ceiling":"inf","floor":1e300,"weight":"\u009b1m","only_grow":"yes",
    "pinned":{"limit":1e300,"until":1e300},"reason":"\u001b]0;x\u0007","resources":{"cpu":
    {"list":"\u001b[1m","limit":[],"growth":{}},"memory":7}}]})";

class StatusFieldsFixture {
 public:
  StatusFieldsFixture() {
    setenv("TZ", "UTC", 1);
    fake.answer("GET /v1/status", 200, kStatus);
  }

  Outcome run(std::vector<std::string> words) {
    words.insert(words.begin(), {"flowcon", "--socket", folder.path() + "/s", "status"});
    return run_words(words);
  }

  test::TempFolder folder;
  test::FakeDaemon fake{folder.path() + "/s"};
};

TEST_CASE_METHOD(StatusFieldsFixture, "the table's columns stay; a person's decisions are notes") {
  test::check_golden("plugin/status_control.txt", run({}).out);
}

TEST_CASE_METHOD(StatusFieldsFixture, "json has every field with exact values") {
  test::check_golden("plugin/status_control.json", run({"--format", "json"}).out);
}

TEST_CASE_METHOD(StatusFieldsFixture, "templates see the fields of every resource") {
  const Outcome all =
      run({"--format",
           "table {{.Name}}\\t{{.BlockIO}}\\t{{.NetIO}}\\t{{.GPUPerc}}\\t{{.GPUMem}}\\t"
           "{{.FloorPerc}}\\t{{.CeilingPerc}}\\t{{.Weight}}\\t{{.OnlyGrow}}\\t"
           "{{.PinnedText}}\\t{{.State}}\\t{{.Reason}}"});
  const Outcome nested = run({"vae", "--format",
                              "{{.IO}} {{.Network}} {{.Pinned.Limit}} {{.Resources.CPU.List}} "
                              "{{.Resources.Memory.Growth}} {{.Floor}} {{.Ceiling}}"});

  CHECK(all.status == 0);
  test::check_golden("plugin/status_resources.txt", all.out);
  CHECK(nested.out == "183500.5 12 0.5 CL 0.02 0.1 0.75\n");
}

TEST_CASE_METHOD(StatusFieldsFixture, "no new field can drive the terminal") {
  const std::vector<std::string> formats{"json", "{{json .}}", "{{.State}}{{.Reason}}{{.GPU}}",
                                         "{{.Resources}}{{.Weight}}{{.OnlyGrow}}{{.Pinned}}"};
  for (const std::string& format : formats) {
    const Outcome outcome = run({"--no-trunc", "--format", format});

    CHECK(outcome.status == 0);
    CHECK(outcome.out.find('\033') == std::string::npos);
    CHECK(outcome.out.find("\xC2\x9B") == std::string::npos);
    CHECK(outcome.out.find('\a') == std::string::npos);
  }
}

TEST_CASE_METHOD(StatusFieldsFixture, "control that is paused for all is said on stderr") {
  fake.answer("GET /v1/status", 200, R"({"paused":true,"containers":[]})");

  CHECK(run({}).err ==
        "WARNING: control of all containers is paused; resume it with: docker flowcon resume "
        "--all\n");
}

}  // namespace
}  // namespace flowcon::plugin
