// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/status/status.h"

#include <sstream>

#include "base/json.h"
#include "cmd/docker-flowcon/status/view.h"
#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/cmd/docker-flowcon/utf8_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

// Three containers: one that learns, one with nothing known, one that tries to draw on the
// terminal.
const char* const kStatus = R"({"version":"0.1.0","api":1,"host":"gpu1","cores":2,"cgroup":"v1",
  "limit_mode":"weight","dry_run":false,
  "engine":{"reachable":true,"version":"20.10.24","api":"1.41","error":""},
  "policy":"milestone","alpha":0.03,"beta":2,"interval":40,"initial_interval":20,"all_completing":false,"warnings":[],
  "containers":[
   {"id":"4c01db0b339c7d8b5c1f2e0a9d8c7b6a5f4e3d2c1b0a99887766554433221100","name":"vae",
    "image":"trainings:1","state":"controlled","list":"CL","limit":0.25,"growth":0.0012,
    "verdict":"measured","metric":"loss","goal":"min","value":0.0431,"values":118,
    "progress":{"done":12,"total":40,"from":"counter"},"left":310.5,"cpu":0.24,"memory":412356608,"since":1790000000.25,
    "note":"","warnings":[]},
   {"id":"4c01aa00112233445566778899aabbccddeeff00112233445566778899aabbcc","name":"gru-wikitext",
    "image":"trainings:1","state":"controlled","list":"NL","limit":1,"growth":null,
    "verdict":"unmeasured","metric":null,"goal":null,"value":null,"values":0,
    "progress":null,"cpu":null,"memory":null,"since":1790000020,
    "note":"no metric found yet in 12 lines of the log; name it with the label flowcon.metric","warnings":["unknown label flowcon.metrik"]},
   {"id":"ffee","name":"evil\u001b[2J","image":"x","state":"unsupported","list":"WL","limit":0.5,
    "growth":"nan","verdict":"diverging","metric":"acc\u009b31m\ttab\nline","goal":"max",
    "value":"inf","values":3,"progress":{"done":1,"total":0},"cpu":1e300,"memory":-1,"since":0,
    "note":"\u202egnirts","warnings":[7,"\u0007bell"]}]})";

class StatusFixture {
 public:
  StatusFixture() { fake.answer("GET /v1/status", 200, kStatus); }

  Outcome run(std::vector<std::string> words) {
    words.insert(words.begin(), {"flowcon", "--socket", folder.path() + "/s", "status"});
    return run_words(words);
  }

  test::TempFolder folder;
  test::FakeDaemon fake{folder.path() + "/s"};
};

TEST_CASE_METHOD(StatusFixture, "status is a table on stdout and its warnings are on stderr") {
  const Outcome outcome = run({});

  CHECK(outcome.status == 0);
  test::check_golden("plugin/status.txt", outcome.out);
  test::check_golden("plugin/status_warnings.txt", outcome.err);
}

TEST_CASE_METHOD(StatusFixture, "--no-trunc shows whole ids and notes") {
  test::check_golden("plugin/status_no_trunc.txt", run({"--no-trunc"}).out);
}

TEST_CASE_METHOD(StatusFixture, "json is one object a line with whole ids and exact values") {
  const Outcome outcome = run({"--format", "json"});

  test::check_golden("plugin/status.json", outcome.out);
  std::istringstream lines(outcome.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CHECK(parse_json(line).has_value());
  }
  CHECK(count == 3);
}

TEST_CASE_METHOD(StatusFixture, "no byte of a container's text can drive the terminal") {
  const std::vector<std::string> formats{"", "json", "{{json .}}",
                                         "{{.Name}}{{.Metric}}{{.Note}}{{.Warnings}}{{.Score}}",
                                         "table {{.Metric}}\t{{.Note}}"};
  for (const std::string& format : formats) {
    const Outcome outcome = run({"--no-trunc", "--format", format});

    const std::string all = outcome.out + outcome.err;
    INFO(all);
    CHECK(all.find('\033') == std::string::npos);
    CHECK(all.find("\xC2\x9B") == std::string::npos);
    CHECK(all.find('\a') == std::string::npos);
    CHECK(all.find("\xE2\x80\xAE") == std::string::npos);
  }
}

TEST_CASE_METHOD(StatusFixture, "containers are chosen by name, id or a unique beginning") {
  struct Row {
    std::vector<std::string> words;
    int status;
    std::string out;
    std::string err;
  };
  const std::string id = "4c01db0b339c7d8b5c1f2e0a9d8c7b6a5f4e3d2c1b0a99887766554433221100";
  const std::vector<Row> rows{
      {{"vae"}, 0, "vae\n", ""},
      {{"gru-wikitext", "vae"}, 0, "gru-wikitext\nvae\n", ""},
      {{id}, 0, "vae\n", ""},
      {{"4c01d"}, 0, "vae\n", ""},
      {{"4c01"}, 1, "", "Multiple IDs found with provided prefix: 4c01\n"},
      {{"nope"}, 1, "", "No such container: nope\n"},
      {{"nope", "vae"}, 1, "vae\n", "No such container: nope\n"},
      {{""}, 1, "", "No such container: \n"},
  };
  for (const Row& row : rows) {
    std::vector<std::string> words = row.words;
    words.insert(words.end(), {"--format", "{{.Name}}"});

    const Outcome outcome = run(words);

    CHECK(outcome.status == row.status);
    CHECK(outcome.out == row.out);
    CHECK(outcome.err.substr(outcome.err.size() - row.err.size()) == row.err);
  }
}

TEST_CASE_METHOD(StatusFixture, "-q prints ids only") {
  CHECK(run({"-q", "vae"}).out == "4c01db0b339c\n");
  CHECK(run({"-q", "--no-trunc", "vae"}).out ==
        "4c01db0b339c7d8b5c1f2e0a9d8c7b6a5f4e3d2c1b0a99887766554433221100\n");
}

TEST_CASE_METHOD(StatusFixture, "templates see every field, a table of them has headings") {
  CHECK(run({"vae", "--format", "{{.Name}} {{.Progress.Done}} {{.LimitPerc}} {{.MemUsage}}"}).out ==
        "vae 12 25% 393.3MiB\n");
  CHECK(run({"vae", "--format", "table {{.Name}}\\t{{.CPUPerc}}\\t{{.Progress.Total}}"}).out ==
        "NAME      CPU %     TOTAL\nvae       24%       40\n");
  CHECK(run({"vae", "--format", table_of_fields(run({"vae", "--format", "json"}).out)}).status ==
        0);
  CHECK(run({"vae", "--format", "{{.Progress.From}} {{.Progress.Within}}"}).out ==
        "counter <no value>\n");
  CHECK(run({"--format", "{{with .Progress}}{{.From}} {{end}}"}).out ==
        "counter \n\n<no value> \n");
  const Outcome wrong = run({"--format", "{{.nope}}"});
  CHECK(wrong.status == 1);
  CHECK(wrong.err.find("template parsing error: template: :1:2: executing \"\" at <.nope>") == 0);
}

TEST_CASE_METHOD(StatusFixture, "a bad template is refused before the daemon is asked") {
  const Outcome outcome = run({"--format", "{{.Name"});

  CHECK(outcome.status == 1);
  CHECK(outcome.err == "template parsing error: template: :1: unclosed action\n");
  CHECK(fake.requests().empty());
}

TEST_CASE_METHOD(StatusFixture, "without containers there is the heading alone") {
  fake.answer("GET /v1/status", 200, R"({"containers":[]})");

  CHECK(run({}).out ==
        "CONTAINER ID   NAME      LIST      LIMIT     CPU %     GROWTH    METRIC    PROGRESS   "
        "NOTE\n");
  CHECK(run({"--format", "json"}).out.empty());
}

TEST_CASE_METHOD(StatusFixture, "an engine that is away and a dry run are said on stderr") {
  fake.answer("GET /v1/status", 200,
              R"({"dry_run":true,"engine":{"reachable":false,"error":"connection refused"},
                  "warnings":["the disk is full"],"containers":[]})");

  CHECK(run({}).err ==
        "WARNING: the engine does not answer flowcond: connection refused\n"
        "WARNING: flowcond runs with --dry-run: limits are planned, not written\n"
        "WARNING: the disk is full\n");
}

TEST_CASE_METHOD(StatusFixture, "members that are missing or of a wrong kind are unknown") {
  fake.answer("GET /v1/status", 200,
              R"({"engine":7,"warnings":{},"containers":[{},7,{"id":3,"name":[],"limit":"much",
                  "progress":4,"warnings":"x","value":{},"growth":[]}]})");

  const Outcome outcome = run({"--format", "json"});

  const std::string unknown =
      R"({"ID":"","Name":"","Image":"","State":"","List":"","Limit":null,"Growth":null,)"
      R"("Verdict":"","Metric":null,"Goal":null,"Value":null,"Values":null,"Progress":null,)"
      R"("Left":null,"CPU":null,"Memory":null,"IO":null,"Network":null,"GPU":null,"Resources":null,)"
      R"("Weight":null,"Floor":null,"Ceiling":null,"OnlyGrow":null,"Pinned":null,"Since":null,)"
      R"("Reason":"","Note":"","Warnings":[]})"
      "\n";
  CHECK(outcome.status == 0);
  CHECK(outcome.out == unknown + unknown);
  CHECK(outcome.err.empty());
}

TEST_CASE_METHOD(StatusFixture, "a part of an epoch is shown with two digits") {
  fake.answer("GET /v1/status", 200,
              R"({"containers":[{"progress":{"done":0.142857143,"total":2}}]})");

  CHECK(run({"--format", "{{.ProgressPerc}}"}).out == "0.14/2 (7.1%)\n");
}

TEST_CASE_METHOD(StatusFixture, "lists and growth are shown where they decide about the CPU") {
  fake.answer("GET /v1/status", 200, R"({"policy":"milestone","containers":[]})");
  CHECK(run({}).out == "CONTAINER ID   NAME      LIMIT     CPU %     METRIC    PROGRESS   NOTE\n");
  fake.answer("GET /v1/status", 200, R"({"policy":"flowcon","containers":[]})");
  CHECK(run({}).out.find("   LIST      LIMIT     CPU %     GROWTH    ") != std::string::npos);
}

TEST_CASE_METHOD(StatusFixture, "--filter keeps the containers that fit, and their warnings") {
  fake.answer("GET /v1/status", 200, R"({"warnings":["the disk is full"],"containers":[
      {"name":"vae-1","id":"aa1","image":"x:1","list":"CL","warnings":["first"]},
      {"name":"vae-2","id":"ab2","image":"x:2","list":"NL","warnings":["second"]},
      {"name":"gru","id":"ac3","image":"x:1","list":"NL"}]})");
  const auto names = [&](std::vector<std::string> filters) {
    filters.insert(filters.end(), {"--format", "{{.Name}}"});
    return run(filters).out;
  };
  CHECK(names({"--filter", "name=vae"}) == "vae-1\nvae-2\n");
  CHECK(names({"--filter", "name=vae", "--filter", "list=NL"}) == "vae-2\n");
  CHECK(names({"--filter", "list=CL", "--filter=list=NL"}) == "vae-1\nvae-2\ngru\n");
  CHECK(names({"--filter", "id=a", "--filter", "image=x:1"}) == "vae-1\ngru\n");
  CHECK(names({"--filter", "metric=loss"}).empty());
  const Outcome other = run({"--filter", "list=CL", "gru"});
  CHECK(other.status == 0);
  CHECK(other.err == "WARNING: the disk is full\n");
  CHECK(run({"-q=false", "--filter", "list=CL", "--format", "{{.Name}}", "gru", "vae-1"}).out ==
        "vae-1\n");
  CHECK(run({"--filter", "name=vae-1"}).err ==
        "WARNING: the disk is full\nWARNING: vae-1: first\n");
  CHECK(run({"vae-2"}).err == "WARNING: the disk is full\nWARNING: vae-2: second\n");
  CHECK(run({"--filter", "colour=red"}).status == 125);
  CHECK(run({"--filter", "name"}).status == 125);
}

TEST_CASE_METHOD(StatusFixture, "an epoch of unknown many is shown with the share of it") {
  fake.answer("GET /v1/status", 200,
              R"({"containers":[{"progress":{"done":4,"total":null,"within":0.0533}}]})");

  CHECK(run({"--format", "{{.ProgressPerc}}"}).out == "epoch 4, 5 %\n");
}

constexpr const char* kPeers =
    R"({"peers":[{"name":"h2","state":"reachable"},{"name":"h3","state":"unknown"},)"
    R"({"name":"h1b","state":"unused"}]})";

TEST_CASE_METHOD(StatusFixture,
                 "--all shows the containers of all hosts, and who could not be asked") {
  fake.answer("GET /v1/status", 200, R"({"host":"h1","containers":[{"id":"a1","name":"vae"}]})");
  fake.answer("GET /v1/peers", 200, kPeers);
  fake.answer("GET /v1/peers/h2/status", 200,
              R"({"host":"x","containers":[{"id":"b2","name":"gru"}]})");
  fake.answer("GET /v1/peers/h3/status", 502, R"({"error":"h3 cannot be asked: it fell silent"})");

  const Outcome all = run({"--all", "--format", "{{.Host}} {{.Name}}"});
  CHECK(all.status == 0);
  CHECK(all.out == "h1 vae\nh2 gru\n");
  CHECK(all.err == "WARNING: h3 cannot be asked: it fell silent\n");
  CHECK(run({"-a"}).out.find("HOST") == 0);
  CHECK(run({}).out.find("HOST") == std::string::npos);
}

TEST_CASE_METHOD(StatusFixture, "of containers of one name all are shown") {
  fake.answer("GET /v1/status", 200, R"({"host":"h1","containers":[{"id":"a1","name":"vae"}]})");
  fake.answer("GET /v1/peers", 200, R"({"peers":[{"name":"h2","state":"reachable"}]})");
  fake.answer("GET /v1/peers/h2/status", 200, R"({"containers":[{"id":"b2","name":"vae"}]})");

  CHECK(run({"--all", "--format", "{{.Host}} {{.Name}}", "vae"}).out == "h1 vae\nh2 vae\n");
}

TEST_CASE_METHOD(StatusFixture, "a container of another host is found by its name") {
  fake.answer("GET /v1/status", 200, R"({"host":"h1","containers":[{"id":"a1","name":"vae"}]})");
  fake.answer("GET /v1/peers", 200, kPeers);
  fake.answer("GET /v1/peers/h2/status", 200, R"({"containers":[{"id":"b2","name":"gru"}]})");
  fake.answer("GET /v1/peers/h3/status", 502, R"({"error":"h3 cannot be asked"})");

  const Outcome found = run({"--format", "{{.Host}} {{.Name}}", "gru"});
  CHECK(found.status == 0);
  CHECK(found.out == "h2 gru\n");
  const Outcome nowhere = run({"lstm"});
  CHECK(nowhere.status == 1);
  CHECK(nowhere.out.empty());
  CHECK(nowhere.err.find("No such container: lstm\n") != std::string::npos);
  fake.answer("GET /v1/queue/lstm", 200, R"({"name":"lstm","state":"waiting"})");
  CHECK(run({"lstm"}).err.find("lstm waits in the queue: docker flowcon queue show lstm\n") !=
        std::string::npos);
}

TEST_CASE_METHOD(StatusFixture, "an answer without containers is an error") {
  fake.answer("GET /v1/status", 200, "{}");

  const Outcome outcome = run({});

  CHECK(outcome.status == 1);
  CHECK(outcome.err == "flowcond's status has no list of containers\n");
}

TEST_CASE("a remote docker is sent to its own host, unless a socket was chosen") {
  const test::TempFolder folder;

  const Outcome remote = run_words({"-H", "ssh://gpu2", "flowcon", "status"});
  const Outcome chosen =
      run_words({"-H", "ssh://gpu2", "flowcon", "status", "--socket", folder.path() + "/s"});

  CHECK(remote.status == 1);
  CHECK(remote.err.find("ssh ssh://gpu2 docker flowcon status") != std::string::npos);
  CHECK(chosen.err.compare(0, 21, "Cannot connect to flo") == 0);
}

// --watch for three looks; `between` is called before the second and the third.
struct WatchRun {
  Outcome outcome;
  WatchRun(StatusFixture& fixture, bool interactive, const Environment& environment,
           const std::function<void(int)>& between,
           const std::function<void(Terminal&)>& measure = {}) {
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal{out, err};
    terminal.is_interactive = interactive;
    terminal.height = 8;
    terminal.measure = measure;
    const Invocation invocation;
    const Session session{invocation, environment, terminal, fixture.folder.path() + "/s", true};
    StatusOptions options;
    options.watch = true;
    options.format = "table {{.Name}}\\t{{.List}}";
    int looks = 1;
    outcome.status = run_status(session, options, [&] {
      if (looks == 3) return false;
      between(++looks);
      return true;
    });
    outcome.out = out.str();
    outcome.err = err.str();
  }
};

TEST_CASE_METHOD(StatusFixture, "--watch on a pipe prints a table a look and no escape sequences") {
  const WatchRun watch(*this, false, {}, [](int) {});

  CHECK(watch.outcome.status == 0);
  test::check_golden("plugin/watch_pipe.txt", watch.outcome.out);
  // What did not change is said once.
  CHECK(watch.outcome.err ==
        "WARNING: gru-wikitext: unknown label flowcon.metrik\n"
        "WARNING: evil\xEF\xBF\xBD[2J: \xEF\xBF\xBD"
        "bell\n");
}

TEST_CASE_METHOD(StatusFixture, "--watch on a terminal draws over the screen before") {
  const WatchRun watch(*this, true, {}, [](int) {});

  CHECK(watch.outcome.err.empty());
  test::check_golden("plugin/watch_terminal.txt", watch.outcome.out);
}

std::string thirty_jobs() {
  std::string containers;
  for (int i = 0; i < 30; ++i) {
    containers += (i > 0 ? "," : "") + std::string("{\"name\":\"job") + std::to_string(i) + "\"}";
  }
  return "{\"containers\":[" + containers + "]}";
}

TEST_CASE_METHOD(StatusFixture, "--watch never draws more rows than the terminal has") {
  fake.answer("GET /v1/status", 200, thirty_jobs());

  const WatchRun watch(*this, true, {}, [](int) {});

  // Eight rows: the heading, five jobs, the sign for more, and one for the cursor.
  const std::size_t second = watch.outcome.out.find("\033[H", 8);
  CHECK(watch.outcome.out.substr(0, second) ==
        "\033[2J\033[HNAME      LIST\033[K\njob0      \033[K\njob1      \033[K\njob2      "
        "\033[K\njob3      \033[K\njob4      \033[K\n…\033[K\n\033[J");
}

TEST_CASE_METHOD(StatusFixture, "--watch asks for the terminal's size at each look") {
  fake.answer("GET /v1/status", 200, thirty_jobs());
  int looks = 0;

  const WatchRun watch(
      *this, true, {}, [](int) {},
      [&looks](Terminal& terminal) { terminal.height = ++looks == 1 ? 8U : 5U; });

  // Five rows: the heading, two jobs, the sign for more, and one for the cursor.
  const std::size_t second = watch.outcome.out.find("\033[H", 8);
  const std::size_t third = watch.outcome.out.find("\033[H", second + 1);
  CHECK(looks == 3);
  CHECK(watch.outcome.out.substr(second, third - second) ==
        "\033[HNAME      LIST\033[K\njob0      \033[K\njob1      \033[K\n…\033[K\n\033[J");
}

TEST_CASE_METHOD(StatusFixture, "--watch knows how many rows a line of wide characters takes") {
  const Utf8Fixture utf8;
  fake.answer("GET /v1/status", 200, R"({"containers":[{"name":"日本語訓練中"}]})");

  struct Size {
    unsigned width;
    unsigned rows;  // that each of both lines takes; of 5 columns a wide character leaves one free
  };
  for (const Size size : {Size{10, 2}, Size{5, 4}}) {
    const WatchRun watch(
        *this, true, {}, [](int) {},
        [size](Terminal& terminal) {
          terminal.width = size.width;
          terminal.height = 2 * size.rows;  // one of them is the cursor's
        });

    const std::size_t second = watch.outcome.out.find("\033[H", 8);
    CHECK(watch.outcome.out.substr(0, second) ==
          "\033[2J\033[HNAME           LIST\033[K\n…\033[K\n\033[J");
  }
}

TEST_CASE_METHOD(StatusFixture, "a dumb terminal gets no escape sequences; NO_COLOR is no such") {
  const Environment no_color{{"NO_COLOR", "1"}};
  const Environment dumb{{"TERM", "dumb"}};

  CHECK(WatchRun(*this, true, no_color, [](int) {}).outcome.out.starts_with("\033[2J\033[H"));
  CHECK(WatchRun(*this, true, dumb, [](int) {}).outcome.out.find('\033') == std::string::npos);
}

TEST_CASE_METHOD(StatusFixture,
                 "--watch says that the daemon went away and goes on when it is back") {
  const WatchRun watch(*this, false, {}, [this](int look) {
    fake.answer("GET /v1/status", look == 2 ? 503 : 200,
                look == 2 ? R"({"error":"flowcond is stopping"})" : kStatus);
  });

  CHECK(watch.outcome.status == 0);
  CHECK(watch.outcome.err.find("WARNING: flowcond is stopping. Trying again\n") !=
        std::string::npos);
  const std::string table = "NAME";
  const std::size_t first = watch.outcome.out.find(table);
  const std::size_t second = watch.outcome.out.find(table, first + 1);
  CHECK(first == 0);
  CHECK(second != std::string::npos);
  CHECK(watch.outcome.out.find(table, second + 1) == std::string::npos);
}

TEST_CASE_METHOD(StatusFixture, "--watch without a daemon at its start fails at once") {
  fake.answer("GET /v1/status", 503, R"({"error":"not ready"})");

  const WatchRun watch(*this, false, {}, [](int) { FAIL("there was a second look"); });

  CHECK(watch.outcome.status == 1);
  CHECK(watch.outcome.err == "not ready\n");
}

}  // namespace
}  // namespace flowcon::plugin
