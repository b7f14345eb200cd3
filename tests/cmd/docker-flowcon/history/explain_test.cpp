// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/history/explain.h"

#include <cstdlib>

#include "cmd/flowcon-sim/decide.h"
#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

// Spaces, 1.50 and 2e1 are not how render_json() would write it.
const std::string kState =
    R"({"alpha":0.030, "beta":2,"interval":2e1,"containers":[{"id":"vae","list":"WL","limit":1.50e0,"growth":null}]})";

std::string decision(const std::string& time, const std::string& algorithm,
                     const std::string& sentence, const std::string& state = kState) {
  return R"({"time":)" + time + R"(,"algorithm":")" + algorithm +
         R"(","resource":"cpu","sentence":")" + sentence + R"(","state":)" + state +
         R"(,"decision":{"interval":20}})";
}

std::string answer_of(const std::string& decisions) {
  return R"({"id":"4c01","name":"vae","decisions":[)" + decisions + "]}\n";
}

class ExplainFixture {
 public:
  ExplainFixture() { setenv("TZ", "UTC", 1); }

  Outcome run(std::vector<std::string> words, bool interactive = false) {
    words.insert(words.begin(), {"flowcon", "--socket", folder.path() + "/s", "explain"});
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{out, err};
    terminal.is_interactive = interactive;
    const int status = run_plugin(words, {}, terminal);
    return {status, out.str(), err.str()};
  }

  /// Whether the text is asked for or the last state.
  void reply(int status, const std::string& text) {
    for (const char* last : {"1", "50"})
      fake.answer(std::string("GET /v1/containers/vae/explain?last=") + last, status, text);
  }

  test::TempFolder folder;
  test::FakeDaemon fake{folder.path() + "/s"};
};

TEST_CASE_METHOD(ExplainFixture, "explain shows when, what and how to decide it again") {
  reply(200, answer_of(decision("1790000020.0", "executor", "growth 0.8 %/s is under alpha 3 %")));

  const Outcome outcome = run({"vae"});

  CHECK(outcome.status == 0);
  test::check_golden("plugin/explain.txt", outcome.out);
}

TEST_CASE_METHOD(ExplainFixture, "the latest of each resource is shown, the CPU first") {
  const auto about = [](const std::string& resource, const std::string& sentence) {
    std::string text = decision("1790000020.0", "executor", sentence);
    return text.replace(text.find("\"cpu\""), 5, "\"" + resource + "\"");
  };
  reply(200, answer_of(about("cpu", "old") + "," + about("cpu", "new") + "," + about("io", "disk") +
                       "," + about("memory", "soft")));

  const std::string out = run({"vae"}).out;

  CHECK(out.find("old") == std::string::npos);
  REQUIRE(out.find("new") != std::string::npos);
  CHECK(out.find("new") < out.find("soft"));
  CHECK(out.find("soft") < out.find("disk"));
}

TEST_CASE_METHOD(ExplainFixture, "several decisions are shown oldest first") {
  fake.answer("GET /v1/containers/vae/explain?last=3", 200,
              answer_of(decision("1790000020", "executor", "first") + "," +
                        decision("1e300", "executor", "evil\\u001b[2J\\n\\ttab") + "," +
                        decision("1790000060", "listener", "gru came; vae keeps 0.5")));

  const Outcome outcome = run({"vae", "-n", "3"});

  CHECK(outcome.status == 0);
  CHECK(outcome.out.find('\033') == std::string::npos);
  test::check_golden("plugin/explain_last.txt", outcome.out);
}

TEST_CASE_METHOD(ExplainFixture, "that flowcond has not searched all of its records is said") {
  const auto cut = [](const std::string& decisions) {
    return R"({"decisions":[)" + decisions + R"(],"cut":true})";
  };
  fake.answer("GET /v1/containers/vae/explain?last=3", 200, cut(decision("1", "executor", "one")));
  const Outcome few = run({"vae", "-n", "3"});
  CHECK(few.status == 0);
  CHECK(few.err == "There may be older decisions.\n");
  reply(200, cut(""));
  const Outcome none = run({"vae"});
  CHECK(none.status == 1);
  CHECK(none.err ==
        "no decision about vae is in the 16 MiB of records that flowcond has searched\n");
}

TEST_CASE_METHOD(ExplainFixture, "json is flowcond's answer byte for byte") {
  const std::string answer = answer_of(decision("1790000020.0", "executor",
                                                "a \xC2\x9B"
                                                "b"));
  reply(200, answer);

  CHECK(run({"vae", "--format", "json"}).out == answer);
  const Outcome shown = run({"vae", "--format", "json"}, true);
  CHECK(shown.out.find("\xC2\x9B") == std::string::npos);
  CHECK(shown.out.find("a \\u009bb") != std::string::npos);
}

TEST_CASE_METHOD(ExplainFixture,
                 "--state is the recorded state byte for byte, and can be decided") {
  reply(200, answer_of(decision("1", "executor", "x", R"({"old":1})") + "," +
                       decision("2", "executor", "y")));

  const Outcome outcome = run({"vae", "--state"});
  const auto decided = sim::find_algorithm("executor")->decide(outcome.out);

  CHECK(outcome.status == 0);
  CHECK(outcome.err == "decided by executor: flowcon-sim decide executor\n");
  CHECK(outcome.out == kState + "\n");
  CHECK(decided.has_value());
}

TEST_CASE_METHOD(ExplainFixture, "a state is said to be of the algorithm that decided on it") {
  for (const std::string name : {"listener", "milestone"}) {
    reply(200, answer_of(decision("1", name, "x", "{}")));

    const Outcome outcome = run({"vae", "--state"});

    CHECK(outcome.out == "{}\n");
    CHECK(outcome.err == "decided by " + name + ": flowcon-sim decide " + name + "\n");
    CHECK(run({"vae"}).out.ends_with(" --state | flowcon-sim decide " + name + "\n"));
  }
}

TEST_CASE_METHOD(ExplainFixture, "an algorithm that nobody knows never becomes a command to type") {
  reply(200, answer_of(decision("1", "executor; reboot", "x")));

  CHECK(run({"vae"}).out.find("reboot") == std::string::npos);
}

TEST_CASE_METHOD(ExplainFixture, "nothing recorded, and an unknown container") {
  reply(200, answer_of(""));
  const Outcome nothing = run({"vae"});
  const Outcome no_state = run({"vae", "--state"});
  fake.answer("GET /v1/containers/gone/explain?last=50", 404,
              R"({"error":"No such container: gone"})");
  const Outcome gone = run({"gone"});

  CHECK(nothing.status == 1);
  CHECK(nothing.err == "no decision about vae is recorded yet; the first comes within seconds\n");
  CHECK(no_state.status == 1);
  CHECK(no_state.out.empty());
  CHECK(gone.status == 1);
  CHECK(gone.err == "No such container: gone\n");
  fake.answer("GET /v1/queue/gone", 200, R"({"name":"gone","state":"waiting"})");
  CHECK(run({"gone"}).err == "gone waits in the queue: docker flowcon queue show gone\n");
}

TEST_CASE_METHOD(ExplainFixture, "of a job that has not run here the queue's decisions are shown") {
  const std::string text =
      answer_of(decision("1790000020", "left", "starts on gpu1", R"({"a":1})"));
  fake.answer("GET /v1/queue/vae/explain?last=50", 200, text);
  fake.answer("GET /v1/queue/vae/explain?last=1", 200, text);

  CHECK(run({"vae"}).out.find("starts on gpu1") != std::string::npos);
  CHECK(run({"vae", "--state"}).out == "{\"a\":1}\n");
}

TEST_CASE_METHOD(ExplainFixture, "of one that runs they come in between, each once") {
  const std::string both = decision("30", "left", "both", R"({"a":2})");
  fake.answer("GET /v1/containers/vae/explain?last=3", 200,
              answer_of(decision("20", "executor", "host") + "," + both));
  fake.answer(
      "GET /v1/queue/vae/explain?last=3", 200,
      answer_of(decision("5", "left", "old") + "," + decision("10", "left", "start") + "," + both));

  const std::string out = run({"vae", "-n", "3"}).out;

  CHECK(out.find("old") == std::string::npos);
  REQUIRE(out.find("start") != std::string::npos);
  REQUIRE(out.find("host") != std::string::npos);
  CHECK(out.find("start") < out.find("host"));
  CHECK(out.find("host") < out.find("both"));
  CHECK(out.find("both") == out.rfind("both"));
  fake.answer("GET /v1/queue/vae/explain?last=1", 200, answer_of(both));
  fake.answer("GET /v1/containers/vae/explain?last=1", 200,
              answer_of(decision("20", "executor", "host")));
  CHECK(run({"vae", "--state"}).out == "{\"a\":2}\n");
}

TEST_CASE_METHOD(ExplainFixture, "what started a job is shown after many decisions of its host") {
  std::string many;
  for (int i = 0; i < 50; ++i) {
    many += (many.empty() ? "" : ",") + decision(std::to_string(100 + i), "executor", "host");
  }
  std::string start = decision("10", "left", "starts on gpu1");
  start.replace(start.find("\"cpu\""), 5, "\"\"");
  reply(200, answer_of(many));
  fake.answer("GET /v1/queue/vae/explain?last=50", 200, answer_of(start));

  const std::string out = run({"vae"}).out;

  CHECK(out.find("host") != std::string::npos);
  CHECK(out.find("starts on gpu1") != std::string::npos);
}

TEST_CASE_METHOD(ExplainFixture, "of a container and a job that had one name the later is shown") {
  const auto of_job = [](const std::string& time) {
    std::string text = answer_of(decision(time, "left", "job"));
    return text.replace(text.find("4c01"), 4, "5d02");
  };
  reply(200, answer_of(decision("20", "executor", "earlier run")));
  fake.answer("GET /v1/queue/vae/explain?last=50", 200, of_job("30"));
  const std::string job = run({"vae"}).out;
  CHECK(job.find("job") != std::string::npos);
  CHECK(job.find("earlier run") == std::string::npos);
  fake.answer("GET /v1/queue/vae/explain?last=50", 200, of_job("10"));
  const std::string later = run({"vae"}).out;
  CHECK(later.find("job") == std::string::npos);
  CHECK(later.find("earlier run") != std::string::npos);
}

TEST_CASE_METHOD(ExplainFixture, "answers of a wrong shape are no crash") {
  for (const std::string answer :
       {"{}", R"({"decisions":7})", R"({"decisions":[7]})", R"({"decisions":[{}]})",
        R"({"decisions":[{"time":"nan","sentence":[],"state":7}],"decisions":[]})"}) {
    reply(200, answer);
    INFO(answer);
    CHECK(run({"vae"}).status <= 1);
    CHECK(run({"vae", "--state"}).status <= 1);
  }
}

}  // namespace
}  // namespace flowcon::plugin
