// SPDX-License-Identifier: Apache-2.0
// The queue's commands against a daemon that knows canned answers.
#include "cmd/docker-flowcon/queue/queue.h"

#include <cstdlib>

#include "base/json.h"
#include "base/seconds.h"
#include "cmd/docker-flowcon/queue/queue_view.h"
#include "tests/cmd/docker-flowcon/daemon_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

// One of each kind, and one that tries to draw on the terminal.
constexpr const char* kQueue =
    R"({"policy":"left","offer":{"cpu":8,"mem":21e9},"free":{"cpu":2,"mem":4e9},)"
    R"("starve_limit":1800,"jobs":[)"
    R"({"id":"4c01","name":"net","image":"trainings:1","command":"python3 net.py",)"
    R"("state":"running","held":false,"order":null,)"
    R"("request":{"cpu":2,"mem":3e9,"cpu_from":"label","mem_from":"estimate"},"priority":1,)"
    R"("retries":2,"attempt":1,"waited":12.4,"served":310.2,"left":6000.5,"starved":false,)"
    R"("submitted":1790000000,"started":1790000012,"ended":null,"exit":null,"note":""},)"
    R"({"id":"4c02","name":"vae","image":"trainings:1","command":"python3 vae.py",)"
    R"("state":"waiting","held":false,"order":1,)"
    R"("request":{"cpu":0.5,"mem":524288000,"cpu_from":"docker","mem_from":"doubled"},)"
    R"("priority":2.5,"retries":0,"attempt":0,"waited":185.2,"served":0,"left":480,)"
    R"("starved":true,"submitted":1790000300,"started":null,"ended":null,"exit":null,)"
    R"("note":"waits for 4 GiB"},)"
    R"({"id":"4c03","name":"gan","state":"waiting","held":true,"order":null,)"
    R"("request":{"cpu":1,"mem":2e9},"waited":4000,"left":null,"note":"held by a person"},7,)"
    R"({"id":"evil","name":"evil\u001b[2J","state":"parking\u202e","request":{"cpu":"nan","mem":-1},)"
    R"("waited":-5,"left":1e300,"note":"\u0007bell\tand\nline"},)"
    R"({"id":"4c04","name":"old","state":"failed","request":{"cpu":1,"mem":1e9},"waited":3,)"
    R"("left":null,"ended":1790000100,"exit":137,"note":"ended with 137 twice, gave up"},)"
    R"({"id":"4c05","name":"big","state":"refused","request":{"cpu":64,"mem":1e12},"waited":0,)"
    R"("submitted":1790000100,"note":"no room for 64 cores here, ever"}]})";

class QueueFixture : public DaemonFixture {
 public:
  QueueFixture() { ::setenv("TZ", "UTC", 1); }
  Outcome run(std::vector<std::string> words) {
    words.insert(words.begin(), "queue");
    return DaemonFixture::run(std::move(words));
  }
};

TEST_CASE_METHOD(QueueFixture, "queue is a table of the open jobs in order, --all of all") {
  fake.answer("GET /v1/queue", 200, kQueue);

  const Outcome open = run({});
  CHECK(open.status == 0);
  CHECK(open.err.empty());
  test::check_golden("plugin/queue.txt", open.out);
  test::check_golden("plugin/queue_all.txt", run({"--all"}).out);
  test::check_golden("plugin/queue_all.txt", run({"ls", "--all"}).out);
  CHECK(run({"list"}).out == open.out);
  CHECK(run({"--format", table_of_fields(run({"--format", "json"}).out)}).status == 0);
}

TEST_CASE_METHOD(QueueFixture, "json has exact values, templates see every field") {
  fake.answer("GET /v1/queue", 200, kQueue);

  test::check_golden("plugin/queue.json", run({"--all", "--format", "json"}).out);
  CHECK(run({"--format", "{{.Name}} {{.Request.CPU}} {{.Left}}"}).out.substr(0, 25) ==
        "net 2 6000.5\nvae 0.5 480\n");
  CHECK(run({"--format", "{{.Name}}[{{.Home}}]"}).out.find("net[]\nvae[]\n") == 0);
  CHECK(run({"--format", "{{.Nope}}", "-a"}).status == 1);
  CHECK(run({"--format", "{{"}).err.find("template parsing error") == 0);
}

TEST_CASE_METHOD(QueueFixture, "no byte of a job's text can drive the terminal") {
  fake.answer("GET /v1/queue", 200, kQueue);
  const Result<boost::json::value> answer = parse_json(kQueue);
  std::string all = run({"--all"}).out;
  for (const boost::json::value& job : answer->at("jobs").as_array()) all += show_text(job);

  CHECK(all.find("evil") != std::string::npos);
  for (const std::string bad : {"\033", "\a", "\xE2\x80\xAE", "\t"})
    CHECK(all.find(bad) == std::string::npos);
}

TEST_CASE_METHOD(QueueFixture, "an empty queue says how to submit a job") {
  fake.answer("GET /v1/queue", 200, R"({"jobs":[]})");

  const Outcome empty = run({});
  CHECK(empty.status == 0);
  CHECK(empty.out.empty());
  CHECK(empty.err ==
        "The queue is empty; submit a job with: docker flowcon submit IMAGE COMMAND\n");
  const Outcome json = run({"--format", "json"});
  CHECK((json.out + json.err).empty());
}

TEST_CASE_METHOD(QueueFixture, "GPUs are a column where a job asks for some") {
  fake.answer("GET /v1/queue", 200,
              R"({"jobs":[{"name":"vae","state":"running","request":{"cpu":1,"gpu":0.5}},)"
              R"({"name":"net","state":"running","request":{"cpu":1,"gpu":0}}]})");
  CHECK(run({}).out.find("GPU") != std::string::npos);
  CHECK(run({"--format", "{{.Name}} {{.GPUText}}"}).out == "vae 0.5\nnet 0\n");
  fake.answer("GET /v1/queue", 200, kQueue);
  CHECK(run({}).out.find("GPU") == std::string::npos);
  fake.answer("GET /v1/queue/vae?decisions=1", 200,
              R"({"name":"vae","state":"running","request":{"gpu":1,"gpu_from":"docker"}})");
  CHECK(run({"show", "vae"}).out.find("  GPU:       1 GPU, by docker's limit\n") !=
        std::string::npos);
}

TEST_CASE_METHOD(QueueFixture, "a job that was refused lately is told beside the open ones") {
  fake.answer("GET /v1/queue", 200,
              R"({"jobs":[{"name":"big","state":"refused","note":"no room, ever","submitted":)" +
                  render_number(wall_seconds() - 60) + "}]}");

  CHECK(run({}).err.find("big was refused: no room, ever; remove it first: docker rm big\n") == 0);
}

TEST_CASE_METHOD(QueueFixture, "a refused job whose name a later one has is not told of") {
  const auto job = [](const std::string& state, double age) {
    return R"({"name":"big","state":")" + state + R"(","submitted":)" +
           render_number(wall_seconds() - age) + "}";
  };
  fake.answer("GET /v1/queue", 200,
              R"({"jobs":[)" + job("running", 30) + "," + job("refused", 60) + "]}");
  CHECK(run({}).err.empty());
  fake.answer("GET /v1/queue", 200,
              R"({"jobs":[)" + job("running", 60) + "," + job("refused", 30) + "]}");
  CHECK(run({}).err.find("big was refused") == 0);
}

TEST_CASE_METHOD(QueueFixture, "a switch of one letter takes a value, as docker's do") {
  fake.answer("GET /v1/queue", 200, kQueue);
  CHECK(run({"-a=true"}).out == run({"--all"}).out);
  CHECK(run({"-a=false"}).out == run({}).out);
  CHECK(run({"-a="}).err.find("unknown shorthand flag: '=' in -a=\n") == 0);
  CHECK(run({"-a=maybe"}).status == 125);
}

TEST_CASE_METHOD(QueueFixture, "an answer that is none, and flowcond's own errors, are said") {
  fake.answer("GET /v1/queue", 200, R"({"jobs":7})");
  CHECK(run({}).err == "flowcond's answer has no list of jobs\n");
  fake.answer("GET /v1/queue", 503, R"({"error":"the journal was not read yet"})");
  const Outcome failed = run({});
  CHECK(failed.status == 1);
  CHECK(failed.err == "the journal was not read yet\n");
}

TEST_CASE_METHOD(QueueFixture,
                 "--hosts is one list of all hosts' jobs, and says where each belongs") {
  fake.answer("GET /v1/queue", 200,
              R"({"jobs":[{"name":"mine","state":"waiting","order":2},)"
              R"({"name":"gone","state":"running","host":"h2"},{"name":"old","state":"done"}]})");
  fake.answer("GET /v1/status", 200, R"({"host":"h1"})");
  fake.answer("GET /v1/peers", 200,
              R"({"peers":[{"name":"h2","state":"ok"},{"name":"h3","state":"unreachable"},)"
              R"({"name":"h4","state":"unused"},{"name":"../h5","state":"ok"}]})");
  fake.answer("GET /v1/peers/h2/queue", 200,
              R"({"jobs":[{"name":"theirs","state":"waiting","order":1},)"
              R"({"name":"last","state":"waiting","order":null}]})");
  fake.answer("GET /v1/peers/h3/queue", 502, R"({"error":"h3 does not answer"})");

  const Outcome all = run({"--hosts"});

  CHECK(all.status == 0);
  CHECK(all.err.find("WARNING: h3 does not answer\n") == 0);
  CHECK(all.err.find("h4") == std::string::npos);
  CHECK(run({"--hosts", "--format", "{{.Name}} {{.Home}} {{.HostText}}"}).out ==
        "gone h1 h2\ntheirs h2 --\nmine h1 --\nlast h2 --\n");
  CHECK(all.out.find("HOME") < all.out.find("HOST"));
  CHECK(run({"--hosts", "--all"}).out.find("old") != std::string::npos);
}

constexpr const char* kShown =
    R"({"id":"4c02","name":"vae","image":"trainings:1","command":"python3 vae.py --epochs 40",)"
    R"("state":"waiting","held":true,"order":2,)"
    R"("request":{"cpu":2,"mem":3e9,"cpu_from":"label","mem_from":"doubled"},"priority":1,)"
    R"("retries":3,"attempt":1,"waited":185.2,"served":40,"left":480,"starved":true,)"
    R"("submitted":1790000000,"started":1790000060,"ended":null,"exit":null,)"
    R"("note":"waits for 4 GiB",)"
    R"("estimate":{"seconds_train":{"expected":1234,"upper":2000,"basis":"repeat","rows":5},)"
    R"("cpu_seconds":{"expected":3000,"upper":9000,"basis":"forest","rows":120},)"
    R"("cpu":{"expected":1.84,"upper":2.5,"basis":"repeat","rows":5},)"
    R"("mem":{"expected":2.5e9,"upper":3e9,"basis":"repeat","rows":5},)"
    R"("net":{"expected":183500,"upper":2e6,"basis":"family","rows":3},)"
    R"("gpu_util":{"expected":45.2,"upper":80,"basis":"family","rows":3},)"
    R"("io":{"expected":null,"upper":null,"basis":"none","rows":0}},)"
    R"("decision":{"time":1790000200,"algorithm":"left","state":{},"decision":{},)"
    R"("sentence":"vae waits: net and gan come before it"},)"
    R"("placement":{"time":1790000060,"algorithm":"place","state":{},"decision":{},)"
    R"("sentence":"goes to gpu1 (2 workers), gpu2 (1 worker): score 0.2"},)"
    R"("steps":[{"state":"waiting","time":1790000000,"note":""},)"
    R"({"state":"running","time":1790000060,"note":""},)"
    R"({"state":"waiting","time":1790000100,"note":"killed for memory at 3.1 GiB"}],)"
    R"("warnings":["flowcon.queue: \"maybe\u001b\" is neither true nor hold",7]})";

TEST_CASE_METHOD(QueueFixture, "show has everything of a job as sections, or as flowcond sent it") {
  fake.answer("GET /v1/queue/vae?decisions=1", 200, kShown);

  test::check_golden("plugin/queue_show.txt", run({"show", "vae"}).out);
  CHECK(run({"show", "--format", "json", "vae"}).out == std::string(kShown) + "\n");
}

TEST_CASE_METHOD(QueueFixture, "show leaves out the sections of which nothing is known") {
  fake.answer("GET /v1/queue/a?decisions=1", 200,
              R"({"name":"a","estimate":null,"decision":null})");

  const std::string text = run({"show", "a"}).out;
  CHECK(text.find("Request:") != std::string::npos);
  for (const char* heading : {"Estimate:", "Decision:", "Steps:", "Warnings:"})
    CHECK(text.find(heading) == std::string::npos);
}

TEST_CASE_METHOD(QueueFixture, "each decision of a person is one call a job, and goes on") {
  for (const std::string action : {"hold", "release", "cancel", "park"}) {
    fake.answer("POST /v1/queue/a/" + action, 200,
                R"({"name":"a","state":"waiting","note":"waits for 4 GiB\u001b"})");
    fake.answer("POST /v1/queue/b/" + action, 409, R"({"error":"b has ended"})");
    fake.answer("POST /v1/queue/c/" + action, 200, R"({"name":"c","state":"waiting","note":""})");

    const Outcome outcome = run({action, "a", "b", "nope", "c"});

    CHECK(outcome.status == 1);
    CHECK(outcome.out == "a\nc\n");
    CHECK(outcome.err == "a: waits for 4 GiB\xEF\xBF\xBD\nb has ended\nnothing canned here\n");
    CHECK(fake.requests().back().body == "{}");
  }
}

TEST_CASE_METHOD(QueueFixture, "set sends what was said as text, and none takes back") {
  fake.answer("POST /v1/queue/vae/set", 200, R"({"name":"vae","state":"waiting","note":""})");

  CHECK(run({"set", "vae", "--priority", "2"}).out == "vae\n");
  CHECK(run({"set", "--request=cpu=2,mem=3G", "--retries", "1", "vae"}).status == 0);
  CHECK(run({"set", "vae", "--priority=none", "--request=none", "--retries=none"}).status == 0);
  REQUIRE(fake.requests().size() == 3);
  CHECK(fake.requests()[0].body == R"({"priority":"2"})");
  CHECK(fake.requests()[1].body == R"({"request":"cpu=2,mem=3G","retries":"1"})");
  CHECK(fake.requests()[2].body == R"({"priority":"none","request":"none","retries":"none"})");
  fake.answer("POST /v1/queue/vae/set", 422, R"({"error":"this host offers 8 cores"})");
  const Outcome wrong = run({"set", "vae", "--request", "cpu=64"});
  CHECK(wrong.status == 1);
  CHECK(wrong.err == "this host offers 8 cores\n");
}

TEST_CASE_METHOD(QueueFixture, "what cannot be a job's name never gets into a request") {
  for (const std::string name : {"..", "a/b", "", "a b", "-a", "a\r\nX: y"}) {
    CHECK(run({"hold", "--", name}).err.find("No such job: ") == 0);
    CHECK(run({"show", "--", name}).err.find("No such job: ") == 0);
  }
  CHECK(fake.requests().empty());
}

TEST_CASE_METHOD(DaemonFixture, "status counts the jobs beside its table, and only there") {
  fake.answer("GET /v1/status", 200,
              R"({"containers":[],"policy":"milestone","queue":{"waiting":2,"running":3}})");
  CHECK(run({"status"}).err == "queue: 2 wait, 3 run\n");
  CHECK(run({"status", "-q"}).err.empty());
  CHECK(run({"status", "--format", "json"}).err.empty());
  fake.answer("GET /v1/status", 200, R"({"containers":[],"queue":{"waiting":0,"running":0}})");
  CHECK(run({"status"}).err.empty());
}

TEST_CASE("help of the commands under queue") {
  for (const std::string name : {"cancel", "hold", "park", "release", "set", "show"}) {
    test::check_golden("plugin/help_queue_" + name + ".txt",
                       run_words({"flowcon", "queue", name, "--help"}).out);
  }
}

TEST_CASE("memory has two significant digits") {
  CHECK(size_text(3e9) == "2.8GiB");
  CHECK(size_text(524288000) == "500MiB");
  CHECK(size_text(1023) == "1KiB");
  CHECK(size_text(0) == "0B");
  CHECK(size_text(1e17) == "89PiB");
  CHECK(size_text(std::nullopt) == "--");
  CHECK(size_text(-1) == "--");
  CHECK(size_text(1e300) == "--");
}

}  // namespace
}  // namespace flowcon::plugin
