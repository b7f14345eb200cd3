// SPDX-License-Identifier: Apache-2.0
// The history that tune replays, what it prints, and the file it writes. The search itself is
// tested in tests/sim.
#include "cmd/docker-flowcon/tune/tune.h"

#include <cstdlib>
#include <filesystem>

#include "base/json.h"
#include "cmd/docker-flowcon/files.h"
#include "cmd/docker-flowcon/text/format.h"
#include "cmd/docker-flowcon/tune/view.h"
#include "tests/cmd/docker-flowcon/plugin_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/fake_daemon.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

namespace json = boost::json;

constexpr double kBegin = 1790000000;

std::string content(const std::string& path) {
  Result<std::string> text = read_file(path, 1 << 24);
  return text ? *text : text.error().message();
}

// A run of `seconds` that used `cpu` of the host; looked at each second, it printed each second.
json::object recorded(double started, double seconds, double cpu) {
  json::array samples;
  json::array usage;
  for (double t = 1; t <= seconds; ++t) {
    samples.push_back(json::array{started + t, 1 / t});
    usage.push_back(json::array{started + t, cpu, 1024, nullptr, nullptr});
  }
  return {{"started", started},
          {"finished", started + seconds},
          {"goal", "min"},
          {"samples", std::move(samples)},
          {"usage", std::move(usage)},
          {"stays", json::array()}};
}

class TuneFixture {
 public:
  TuneFixture() {
    setenv("TZ", "UTC", 1);
    fake.answer("GET /v1/status", 200,
                R"({"host":"gpu1","cores":4,"policy":"flowcon","limit_mode":"quota","alpha":0.01,)"
                R"("beta":3,"interval":40,"initial_interval":10,"interval_max":160,"observe":1,)"
                R"("floor_all":false,"growth":{"estimator":"paper","normalise":"range",)"
                R"("directed":false},"containers":[]})");
  }

  // Asked for with --since BEGIN.
  void serve(const std::vector<json::object>& histories) {
    json::array runs;
    for (std::size_t i = 0; i < histories.size(); ++i) {
      const std::string id = "4c0" + std::to_string(i);
      runs.push_back({{"id", id},
                      {"name", "job" + std::to_string(i)},
                      {"image", "t:1"},
                      {"training", i == 1 ? "t:1 python a.py --token=secret" : ""},
                      {"counter", i == 1},
                      {"moved", histories[i].contains("moved")},
                      {"finished", histories[i].at("finished")}});
      fake.answer("GET /v1/containers/" + id + "/history", 200, render_json(histories[i]));
    }
    // Two parts: the first run, and the others.
    const std::string query = "since=1790000000&started=1790000000&after=1";
    const json::array others(runs.begin() + 1, runs.end());
    runs.resize(1);
    fake.answer("GET /v1/runs?since=1790000000", 200,
                render_json(json::object{{"runs", runs}, {"next", query}}));
    fake.answer("GET /v1/runs?" + query, 200,
                render_json(json::object{{"runs", others}, {"next", nullptr}}));
  }

  Outcome run(std::vector<std::string> words) {
    words.insert(words.begin(), {"flowcon", "--socket", folder.path() + "/s", "tune"});
    words.insert(words.end(), {"--since", "1790000000"});
    return run_words(words);
  }

  test::TempFolder folder;
  test::FakeDaemon fake{folder.path() + "/s"};
};

TEST_CASE_METHOD(TuneFixture, "what is saved has the present setting and the runs, and why not") {
  json::object running = recorded(kBegin, 20, 0.5);
  running["finished"] = nullptr;
  json::object silent = recorded(kBegin, 20, 0.5);
  silent["samples"] = json::array();
  json::object moved = recorded(kBegin, 20, 0.5);
  moved["stays"] = json::array{json::object{{"host", "gpu2"}}};
  json::object left = recorded(kBegin, 20, 0.5);
  left["moved"] = true;
  serve(
      {recorded(kBegin + 100, 30, 0.25), recorded(kBegin, 20, 0.5), running, silent, moved, left});
  const std::string path = folder.path() + "/week.json";

  const Outcome outcome = run({"--save", path});

  CHECK(outcome.status == 0);
  CHECK(outcome.out == path + "\n");
  CHECK(outcome.err ==
        "2 runs on gpu1 since 2026-09-21 14:13:20; left out: 1 fewer than 8 values, 1 "
        "not ended, 2 was on other hosts, too\n");
  const Result<TuneHistory> history = parse_tune_history(content(path), path);
  REQUIRE(history.has_value());
  CHECK(history->cores == 4);
  CHECK(history->base.present == sim::TuneSetting{"flowcon", true, 0.01, 3, 10, 160});
  CHECK(history->base.observe == 1);
  CHECK_FALSE(history->base.floor_all);
  CHECK(history->base.growth.estimator == ctrl::growth::Estimator::paper);
  CHECK(history->base.growth.normalise == ctrl::growth::Normalise::range);
  CHECK_FALSE(history->base.growth.directed);
  CHECK(history->left_out.size() == 3);
  REQUIRE(history->runs.size() == 2);
  CHECK(history->runs[0].name == "job1");
  // Its command is nobody's business.
  CHECK(history->runs[0].training.substr(0, 5) == "t:1 #");
  CHECK(content(path).find("secret") == std::string::npos);
  CHECK(history->runs[0].has_counter);
  CHECK(history->runs[1].training == "t:1");
  CHECK_FALSE(history->runs[1].has_counter);
  CHECK(history->runs[0].work == Approx(40));
  CHECK(history->runs[1].cores == Approx(1));
  CHECK(render_tune_history(*history) == content(path));
}

TEST_CASE_METHOD(TuneFixture, "a history saved to stdout is all that stdout gets") {
  serve({recorded(kBegin, 20, 1)});
  const std::string path = folder.path() + "/week.json";
  CHECK(run({"--save", path}).status == 0);

  CHECK(run({"--save", "/dev/stdout"}).out == content(path));
}

TEST_CASE_METHOD(TuneFixture, "a saved history says the same as flowcond") {
  serve({recorded(kBegin, 20, 1), recorded(kBegin + 100, 20, 1), recorded(kBegin + 200, 20, 1)});
  const std::string path = folder.path() + "/week.json";
  CHECK(run({"--save", path}).status == 0);

  const Outcome asked = run({"--format", "json"});
  const Outcome loaded = run({"--format", "json", "--from", path});

  CHECK(asked.status == 0);
  CHECK(asked.out == loaded.out);
  CHECK(asked.err == loaded.err);
  // They never met, so nothing is better.
  CHECK(asked.err.find("The current setting is as good as any") != std::string::npos);
  const Result<json::value> present = parse_json(asked.out.substr(0, asked.out.find('\n')));
  REQUIRE(present.has_value());
  CHECK(present->at("Seconds").at("Mean").to_number<double>() == 20);
  CHECK(present->at("Policy") == "flowcon");
  CHECK(present->at("Recommended") == false);
}

TEST_CASE_METHOD(TuneFixture, "nothing is written where nothing is better") {
  serve({recorded(kBegin, 20, 1), recorded(kBegin + 100, 20, 1), recorded(kBegin + 200, 20, 1)});
  std::filesystem::create_directory(folder.path() + "/d");

  const Outcome outcome = run({"--apply", "--config-dir", folder.path() + "/d"});

  CHECK(outcome.status == 0);
  CHECK(outcome.err.find("Nothing is written.") != std::string::npos);
  CHECK(std::filesystem::is_empty(folder.path() + "/d"));
}

TEST_CASE_METHOD(TuneFixture, "too few runs are refused with what to do") {
  serve({recorded(kBegin, 20, 1), recorded(kBegin + 100, 20, 1)});

  const Outcome outcome = run({});

  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("it takes 3 ended runs, better thirty") != std::string::npos);
}

TEST_CASE_METHOD(TuneFixture, "what cannot be done is told before anything is asked") {
  const Outcome no_folder = run({"--apply", "--config-dir", folder.path() + "/none"});
  CHECK(no_folder.status == 1);
  CHECK(no_folder.err.find("/none (flowcond's package makes it") != std::string::npos);
  CHECK(fake.requests().empty());
  CHECK(run({"--save", "a", "--from", "b"}).status == 125);
  CHECK(run({"--save", "a", "--apply"}).status == 125);
  CHECK(run({"--objective", "best"}).status == 125);
  CHECK(run({"--from", folder.path() + "/none.json"}).err.find("No such file") !=
        std::string::npos);
}

// --- what a file may hold

std::string with(const std::string& before, const std::string& after) {
  std::string text =
      R"({"flowcon_history":1,"host":"h","cores":8,"policy":"flowcon","limit_mode":"weight",)"
      R"("alpha":0.03,"beta":2,"initial_interval":20,"interval_max":320,"observe":5,)"
      R"("floor_all":true,"growth":{},"left_out":{},"runs":[{"name":"a","training":"t",)"
      R"("started":1,"seconds":9,"cpu_seconds":9,"cores":1,"values":9,"counter":false,)"
      R"("goal":"min","points":[[0.5,2],[1,1]]}]})";
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

TEST_CASE("a file that is no history is refused with the place") {
  REQUIRE(parse_tune_history(with("", ""), "f").has_value());
  const auto sentence = [](const std::string& text) {
    const Result<TuneHistory> history = parse_tune_history(text, "f\033[2J");
    return history ? "it was taken" : history.error().message();
  };
  const auto holds = [&](const std::string& text, const std::string& words) {
    const std::string said = sentence(text);
    INFO(said);
    CHECK(said.substr(0, 1) == "f");
    CHECK(said.find('\033') == std::string::npos);
    CHECK(said.find(words) != std::string::npos);
  };
  holds("", "");
  holds("[]", "is no history that docker flowcon tune --save");
  holds(with(":1,", ":2,"), "is no history that docker flowcon tune --save");
  holds(with("\"cores\":8", "\"cores\":0"), "cores: must be from 0.01 to 100000");
  holds(with("\"cores\":8", "\"cores\":\"x\""), "cores: must be a number");
  holds(with("\"policy\":\"flowcon\"", "\"policy\":\"x\""),
        "policy: must be one of flowcon|milestone");
  holds(with("\"interval_max\":320", "\"interval_max\":3"),
        "interval_max: must be from 20 to 86400");
  holds(with("\"runs\":[", "\"runs\":[7,"), "runs[0]: must be an object");
  holds(with("\"cpu_seconds\":9", "\"cpu_seconds\":-1"), "runs[0].cpu_seconds: must be from 1e-06");
  holds(with("\"values\":9", "\"values\":1e300"), "runs[0].values: must be from 8 to 1");
  holds(with("[[0.5,2],[1,1]]", "[[0.5,2]]"), "runs[0].points: must have 2 to 400 elements");
  holds(with("[1,1]", "[0.4,1]"), "runs[0].points[1]: must be a share of the work");
  holds(with("[1,1]", "[1,\"inf\"]"), "runs[0].points[1]: must be a share of the work");
  holds(with("[1,1]", "7"), "runs[0].points[1]: must be a share of the work");
  holds(with("\"counter\":false,", ""), "runs[0].counter");
  std::string many = "{}";
  for (int i = 0; i < 300; ++i) many += ",{}";
  holds(with("\"runs\":[", "\"runs\":[" + many + ","), "runs: must have at most 300 elements");
}

TEST_CASE("names in a file are made safe") {
  const Result<TuneHistory> history =
      parse_tune_history(with("\"host\":\"h\"", "\"host\":\"\\u001b[2J\\n# x\""), "f");
  REQUIRE(history.has_value());
  CHECK(history->host.find('\033') == std::string::npos);
  CHECK(history->host.find('\n') == std::string::npos);
}

// --- what is printed and written

TuneHistory small_history() {
  setenv("TZ", "UTC", 1);
  TuneHistory history;
  history.host = "gpu1";
  history.cores = 8;
  history.runs.resize(42);
  history.runs.front().started = kBegin;
  history.left_out = {{"fewer than 8 values", 1}, {"not ended", 2}};
  return history;
}

sim::Tuning small_tuning() {
  sim::Tuning tuning;
  tuning.mean = 1234.56;
  tuning.t90 = 300;
  tuning.makespan = 39273.21;
  sim::TuneSetting milestone;
  milestone.policy = "milestone";
  sim::TuneSetting other;
  other.alpha = 0.01;
  other.interval = 10;
  tuning.others = {{milestone, {-23.64, 4.3}, {-11.3, 13}, {-0.02, 0.01}, {14.7, 5}},
                   {other, {-0.4, 0.4}, {1.04, 0.6}, {0, 0}, {5.8, 2.9}}};
  tuning.free = {std::nullopt, {-1.9, 0.7}, {4.6, 2.1}, {0, 0}, {9.2, 3.8}};
  tuning.best = 0;
  return tuning;
}

TEST_CASE("the table has what each setting changes, and its effect with its error") {
  const Result<Format> table = Format::parse("", tune_table());
  REQUIRE(table.has_value());
  const Result<std::string> text =
      table->render(tune_rows(small_history(), small_tuning(), false), tune_headings());
  REQUIRE(text.has_value());
  test::check_golden("plugin/tune.txt", *text);
  const Result<Format> lines = Format::parse("json", tune_table());
  REQUIRE(lines.has_value());
  const Result<std::string> exact =
      lines->render(tune_rows(small_history(), small_tuning(), true), tune_headings());
  REQUIRE(exact.has_value());
  test::check_golden("plugin/tune.json", *exact);
}

TEST_CASE("each field of a setting has a heading") {
  const auto rows = tune_rows(small_history(), small_tuning(), false);
  const Result<Format> table =
      Format::parse(table_of_fields(render_json(rows.front())), tune_table());
  REQUIRE(table.has_value());
  const Result<std::string> text = table->render(rows, tune_headings());
  CHECK((text ? "" : text.error().message()) == "");
}

TEST_CASE("the verdict says what a gain costs, and that a difference within the error is none") {
  const TuneHistory history = small_history();
  sim::Tuning tuning = small_tuning();
  CHECK(verdict_text(history, tuning, sim::Objective::mean) ==
        "Best is: policy milestone. Expected effect on mean JCT: -23.6 ± 4.3 %. It costs: "
        "the worst run +14.7 ± 5.0 %.");
  tuning.free.mean = {-24, 1};
  CHECK(verdict_text(history, tuning, sim::Objective::mean)
            .ends_with(" But no control at all would be as good."));
  tuning.best.reset();
  CHECK(verdict_text(history, tuning, sim::Objective::mean)
            .ends_with(" But no control at all would be better."));
  CHECK(verdict_text(history, tuning, sim::Objective::t90) ==
        "The current setting is as good as any: no other changes time to 90 % by more than twice "
        "its error and 1 %.");
}

TEST_CASE("the drop-in is a configuration with its reasons") {
  const std::string text = render_drop_in(small_history(), small_tuning().others[0],
                                          "/etc/flowcon/flowcon.conf.d/90-tune.conf", kBegin);
  test::check_golden("plugin/tune_drop_in.txt", text);
}

}  // namespace
}  // namespace flowcon::plugin
