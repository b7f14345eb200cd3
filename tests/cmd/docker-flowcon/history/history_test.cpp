// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/history/history.h"

#include <cstdlib>

#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

const std::string kHistory =
    R"({"id":"4c01","name":"vae","metric":"loss","goal":"min","started":1790000000.1,)"
    R"("finished":null,"samples":[[1790000003.2,0.871],[1790000043.5,"nan"]],)"
    R"("usage":[[1790000020,0.48,412356608,183500.5,null],[1790000040,0.5,412356608]],)"
    R"("decisions":[[1790000020,"NL",1,0.021],[1790000040,"CL",0.25,null]]})";

class HistoryFixture {
 public:
  HistoryFixture() {
    setenv("TZ", "UTC", 1);
    fake.answer("GET /v1/containers/vae/history", 200, kHistory);
  }

  Outcome run(std::vector<std::string> words) {
    words.insert(words.begin(), {"flowcon", "--socket", folder.path() + "/s", "history"});
    return run_words(words);
  }

  test::TempFolder folder;
  test::FakeDaemon fake{folder.path() + "/s"};
};

TEST_CASE_METHOD(HistoryFixture, "history is a table of decisions, of samples or of usage") {
  const std::string tables =
      run({"vae"}).out + "\n" + run({"vae", "--samples"}).out + "\n" + run({"vae", "--usage"}).out;

  CHECK(run({"vae", "--decisions"}).out == run({"vae"}).out);
  test::check_golden("plugin/history.txt", tables);
}

TEST_CASE_METHOD(HistoryFixture,
                 "csv is RFC 4180 with a header, exact numbers and empty unknowns") {
  CHECK(run({"vae", "--format", "csv"}).out ==
        "time,list,limit,growth\r\n1790000020,NL,1,0.021\r\n1790000040,CL,0.25,\r\n");
  CHECK(run({"vae", "--format", "csv", "--samples"}).out ==
        "time,value\r\n1790000003.2,0.871\r\n1790000043.5,nan\r\n");
  CHECK(run({"vae", "--format", "csv", "--usage"}).out ==
        "time,cpu,memory_bytes,io_bytes_per_second,network_bytes_per_second\r\n"
        "1790000020,0.48,412356608,183500.5,\r\n1790000040,0.5,412356608,,\r\n");
  fake.answer("GET /v1/containers/vae/history", 200,
              R"({"decisions":[[1,"a,\"b\"\r\n\u001b",0.5,1]]})");
  CHECK(
      run({"vae", "--format", "csv"}).out ==
      "time,list,limit,growth\r\n1,\"a,\"\"b\"\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\",0.5,1\r\n");
}

TEST_CASE_METHOD(HistoryFixture, "json is the API's, with what was asked for") {
  CHECK(run({"vae", "--format", "json"}).out == kHistory + "\n");
  CHECK(run({"vae", "--format", "json", "--samples", "--decisions", "--since", "1790000030"}).out ==
        R"({"id":"4c01","name":"vae","metric":"loss","goal":"min","started":1790000000.1,)"
        R"("finished":null,"samples":[[1790000043.5,"nan"]],)"
        R"("decisions":[[1790000040,"CL",0.25,null]]})"
        "\n");
}

TEST_CASE_METHOD(HistoryFixture, "--since leaves older rows out") {
  CHECK(run({"vae", "--format", "csv", "--since", "2026-09-21T14:14:00Z"}).out ==
        "time,list,limit,growth\r\n1790000040,CL,0.25,\r\n");
  CHECK(run({"vae", "--format", "csv", "--since", "2100-01-01"}).out ==
        "time,list,limit,growth\r\n");
}

TEST_CASE_METHOD(HistoryFixture, "rows of a wrong shape are unknown cells") {
  fake.answer(
      "GET /v1/containers/vae/history", 200,
      R"({"decisions":[7,[],["x","\u001b[2J",{},[]],[1e300,"NL",1e300,"-inf"]],"usage":{}})");

  test::check_golden("plugin/history_wrong.txt", run({"vae"}).out + run({"vae", "--usage"}).out +
                                                     run({"vae", "--samples"}).out);
  CHECK(run({"vae", "--since", "1h"}).status == 0);
}

TEST_CASE_METHOD(HistoryFixture, "profiles are a table, the last one first, or a history in JSON") {
  const std::string first =
      R"({"family":"vae python3 vae.py --lr #","key":"sha256:1 a","age":7200,)"
      R"("features":{"arg.lr":0.1},"labels":{"seconds_launch":2,"seconds_train":90,)"
      R"("cpu_seconds":160.5,"mem":412356608,"io":1000}})";
  const std::string second =
      R"({"family":"\u001b[2J","key":"k","age":60,"features":{},"labels":{"seconds_save":1}})";
  // The first one to end was saved later.
  fake.answer("GET /v1/profiles", 200,
              R"({"profiles":[)" + second + R"(],"next":"since=0&after=1"})");
  fake.answer("GET /v1/profiles?since=0&after=1", 200,
              R"({"profiles":[)" + first + R"(],"next":null})");
  test::check_golden("plugin/history_profiles.txt", run({"--profiles"}).out);
  CHECK(run({"--profiles", "--format", "json"}).out == "[" + first + "," + second + "]\n");
  // One page that names itself is no endless list.
  fake.answer("GET /v1/profiles?since=1790000030", 200,
              R"({"profiles":[],"next":"since=1790000030"})");
  CHECK(run({"--profiles", "--format", "json", "--since", "1790000030"}).out == "[]\n");
}

TEST_CASE_METHOD(HistoryFixture, "profiles are of all containers, a history is of one") {
  CHECK(run({}).status == 125);
  CHECK(run({"--profiles", "vae"}).status == 125);
  CHECK(run({"--profiles", "--usage"}).status == 125);
  CHECK(run({"--profiles", "--format", "csv"}).status == 125);
}

TEST_CASE_METHOD(HistoryFixture, "a container that nothing is known of is flowcond's error") {
  fake.answer("GET /v1/containers/gone/history", 404, R"({"error":"No such container: gone"})");

  const Outcome outcome = run({"gone"});

  CHECK(outcome.status == 1);
  CHECK(outcome.err == "No such container: gone\n");
  fake.answer("GET /v1/queue/gone", 200, R"({"name":"gone","state":"placing"})");
  CHECK(run({"gone"}).err == "gone waits in the queue: docker flowcon queue show gone\n");
}

}  // namespace
}  // namespace flowcon::plugin
